//! Locks, atomics and threads, which model checkers can replace.
//!
//! | built with      | types of  | used by                                                     |
//! |-----------------|-----------|-------------------------------------------------------------|
//! | no option       | `std`     | all users                                                   |
//! | `--cfg loom`    | `loom`    | `tests/interleavings/main.rs`: all interleavings of small models        |
//! | `--cfg shuttle` | `shuttle` | `tests/interleavings/main.rs`: 100,000 random interleavings             |
//!
//! So the model checkers run the store itself. [`Arc`](std::sync::Arc) and
//! [`OnceLock`](std::sync::OnceLock) are always `std`'s, because no thread waits for either.
//!
//! A panic while a lock is held is a bug and can leave the guarded data inconsistent, so every
//! later attempt to lock it panics too.

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

/// Locks without waiting; `None` if the lock is not free. The models, which have no forks, wait.
pub(crate) fn try_read<T>(lock: &RwLock<T>) -> Option<RwLockReadGuard<'_, T>> {
    if cfg!(any(loom, shuttle)) { Some(read(lock)) } else { lock.try_read().ok() }
}

pub(crate) fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().expect(POISONED)
}

/// Waits for a notification; the caller must check its condition again.
pub(crate) fn wait<'a, T>(changed: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    changed.wait(guard).expect(POISONED)
}

/// Waits for a notification, at most for `max`; the caller must check its condition again.
pub(crate) fn wait_at_most<'a, T>(
    changed: &Condvar,
    guard: MutexGuard<'a, T>,
    max: Duration,
) -> MutexGuard<'a, T> {
    changed.wait_timeout(guard, max).expect(POISONED).0
}

/// Yields to other threads in a model; does nothing otherwise.
///
/// Called before a step that the model checker does not see, such as setting a
/// [`OnceLock`](std::sync::OnceLock).
#[cfg(not(any(loom, shuttle)))]
pub(crate) const fn yield_in_model() {}

/// Yields to other threads: a model has no time.
#[cfg(loom)]
pub(crate) fn sleep(_time: Duration) {
    loom::thread::yield_now();
}
