//! What damaged and sparse files may allocate. The allocator counts for the whole process, so the tests
//! run one after another.
#![expect(clippy::unwrap_used, reason = "this is a test, also outside of its test functions")]

mod allocation_limits;
mod mutants;
mod sparse_segment;

use std::sync::{Mutex, MutexGuard, PoisonError};

use peak_alloc::PeakAlloc;

/// Counts the allocations of all threads.
#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// Waits until no other test measures; none begins until the guard is dropped.
fn measured_alone() -> MutexGuard<'static, ()> {
    static MEASURED: Mutex<()> = Mutex::new(());
    MEASURED.lock().unwrap_or_else(PoisonError::into_inner)
}
