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
    let [user, system, ..] = ticks_of_process(&stat).unwrap_or_default()[..] else { return 0 };
    (user + system) as u64 * NANOS_PER_TICK
}

/// Processor time since boot, in clock ticks summed over all processors.
#[derive(Clone, Copy, Debug)]
pub struct Ticks {
    processors: f64,
    all: f64,
    /// Taken by all processes, and by the host for other virtual machines ("steal").
    busy: f64,
    /// Of this process and the children that it has waited for.
    own: f64,
}

impl Ticks {
    /// Returns the present counts; `None` where the system does not provide them.
    pub fn now() -> Option<Self> {
        Self::parse(
            &std::fs::read_to_string("/proc/stat").ok()?,
            &std::fs::read_to_string("/proc/self/stat").ok()?,
        )
    }

    fn parse(system: &str, process: &str) -> Option<Self> {
        let mut lines = system.lines().take_while(|line| line.starts_with("cpu"));
        let ticks = numbers(lines.next()?, 1, 8)?;
        let [user, nice, kernel, _, _, _, _, stolen] = ticks[..] else { return None };
        let own = ticks_of_process(process)?;
        Some(Self {
            processors: lines.count() as f64,
            all: ticks.iter().sum(),
            busy: user + nice + kernel + stolen,
            own: own.iter().sum(),
        })
    }

    /// Returns the processors that others took since `before`.
    #[must_use]
    pub fn load_since(self, before: Self) -> Option<f64> {
        let all = self.all - before.all;
        let others = (self.busy - before.busy) - (self.own - before.own);
        (all > 0.0).then(|| (others / all * self.processors).max(0.0))
    }
}

/// Parses `/proc/self/stat`: the ticks in user mode and in the kernel, of the process and of the
/// children that it has waited for.
fn ticks_of_process(stat: &str) -> Option<Vec<f64>> {
    // The program's name is in parentheses and may contain any character.
    numbers(stat.rsplit_once(')')?.1, 11, 4)
}

fn numbers(text: &str, first: usize, count: usize) -> Option<Vec<f64>> {
    text.split_whitespace().skip(first).take(count).map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(system: &str, own: &str) -> Ticks {
        let process = format!("7 (a (b) c) R 1 2 3 4 5 6 7 8 9 10 {own} 15 16");
        Ticks::parse(&format!("{system}\ncpu0 1\ncpu1 1\nintr 1"), &process).expect("ticks")
    }

    #[test]
    fn the_load_is_what_neither_this_process_nor_its_children_used() {
        let before = ticks("cpu  100 0 100 1000 0 0 0 0 0 0", "50 20 0 0");
        let after = ticks("cpu  160 10 130 1080 0 0 0 20 0 0", "80 30 10 0");
        // Of 200 ticks, 120 were busy or stolen, 50 of them in this process; two processors.
        assert_eq!(after.load_since(before), Some(0.7));
        assert_eq!(before.load_since(before), None, "no time has passed");
    }
}
