//! Where the store's locks, atomics and threads come from, and what becomes of a lock whose holder
//! panicked.
//!
//! | built with      | they are            | for                                                    |
//! |-----------------|---------------------|--------------------------------------------------------|
//! | nothing special | those of `std`      | everybody                                              |
//! | `--cfg loom`    | those of `loom`     | `tests/orders.rs`: every order of the steps of threads |
//! | `--cfg shuttle` | those of `shuttle`  | `tests/orders.rs`: a hundred thousand orders at random |
//!
//! So what is modelled is the store itself, not a copy of it. [`Arc`](std::sync::Arc) and
//! [`OnceLock`](std::sync::OnceLock) are `std`'s in all three: nobody waits for either.
//!
//! A panic while a lock is held is a bug, and what the lock guards may be half changed. Nobody
//! goes on with that: the panic spreads to whoever takes the lock next.

use std::time::Duration;
#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::{
    sync::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, atomic},
    thread::{Builder, JoinHandle, sleep},
};

#[cfg(loom)]
pub(crate) use loom::{
    sync::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, atomic},
    thread::{Builder, JoinHandle, yield_now as yield_in_model},
};
#[cfg(shuttle)]
pub(crate) use shuttle::{
    sync::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, atomic},
    thread::{Builder, JoinHandle, sleep, yield_now as yield_in_model},
};

const POISONED: &str = "no thread panics while it holds a lock of the store";

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect(POISONED)
}

pub(crate) fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().expect(POISONED)
}

pub(crate) fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().expect(POISONED)
}

/// Waits until something changed; what is waited for may still not be so.
pub(crate) fn wait<'a, T>(changed: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    changed.wait(guard).expect(POISONED)
}

/// As [`wait`], but no longer than `max`.
pub(crate) fn wait_at_most<'a, T>(
    changed: &Condvar,
    guard: MutexGuard<'a, T>,
    max: Duration,
) -> MutexGuard<'a, T> {
    changed.wait_timeout(guard, max).expect(POISONED).0
}

/// Others get their turn before a step that a model does not see, such as setting a
/// [`OnceLock`](std::sync::OnceLock), but that they must not come before.
#[cfg(not(any(loom, shuttle)))]
pub(crate) const fn yield_in_model() {}

/// In a model time stands still; others get their turn.
#[cfg(loom)]
pub(crate) fn sleep(_time: Duration) {
    loom::thread::yield_now();
}
