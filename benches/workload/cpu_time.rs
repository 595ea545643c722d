//! Time on a processor, as Linux counts it: what a measurement on a busy machine can be held against.

use std::path::Path;

/// The thread that asks.
pub const THREAD: &str = "/proc/thread-self/schedstat";
/// All threads that live.
pub const PROCESS: &str = "/proc/self/task";

/// Nanoseconds that a thread, or all together, have had a processor so far; 0 where the system
/// does not tell. Unlike the time that passes, it does not depend on what else the machine does.
pub fn cpu_nanos(of: &str) -> u64 {
    let on_cpu = |path: &Path| -> u64 {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or_default()
    };
    match std::fs::read_dir(of) {
        Err(_) => on_cpu(Path::new(of)),
        Ok(threads) => threads.flatten().map(|it| on_cpu(&it.path().join("schedstat"))).sum(),
    }
}
