//! Processor time as Linux counts it. Measurements on a busy machine use it beside wall time.

use std::path::Path;

/// Path for [`cpu_nanos`]: the calling thread.
pub const THREAD: &str = "/proc/thread-self/schedstat";
/// Path for [`cpu_nanos`]: all running threads of the process.
pub const PROCESS: &str = "/proc/self/task";

/// Returns the processor time of a thread, or of all running threads, in nanoseconds.
///
/// `of` is [`THREAD`] or [`PROCESS`]. Returns 0 where the system does not provide the figure.
pub fn cpu_nanos(of: &str) -> u64 {
    let on_cpu = |path: &Path| -> u64 {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or_default()
    };
    match std::fs::read_dir(of) {
        Err(_) => on_cpu(Path::new(of)),
        Ok(threads) => {
            threads.flatten().map(|thread| on_cpu(&thread.path().join("schedstat"))).sum()
        }
    }
}

/// Returns the processor time of all threads of the process, ended ones included, in nanoseconds.
///
/// The resolution is 10 ms, the kernel's clock tick.
#[must_use]
pub fn cpu_nanos_of_all() -> u64 {
    const NANOS_PER_TICK: u64 = 10_000_000;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The program's name is in parentheses and may contain any character.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = |index| fields.split_whitespace().nth(index)?.parse().ok();
    let (user, system): (Option<u64>, Option<u64>) = (ticks(11), ticks(12));
    (user.unwrap_or(0) + system.unwrap_or(0)) * NANOS_PER_TICK
}
