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

/// Nanoseconds on a processor so far, of all threads of the program, ended ones too; in steps of the
/// kernel's hundredths of a second.
#[must_use]
pub fn cpu_nanos_of_all() -> u64 {
    const NANOS_PER_TICK: u64 = 10_000_000;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program stands in parentheses, and may hold anything.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = |index| fields.split_whitespace().nth(index)?.parse().ok();
    let (user, system): (Option<u64>, Option<u64>) = (ticks(11), ticks(12));
    (user.unwrap_or(0) + system.unwrap_or(0)) * NANOS_PER_TICK
}
