//! Measurements of this process and properties of the machine, from Linux.

use std::fs;

use serde::{Deserialize, Serialize};

/// The file reads of this thread as the kernel counts them, independent of the engines' counters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileReads {
    pub(crate) calls: u64,
    pub(crate) bytes: u64,
}

impl FileReads {
    /// Counts the reads of some work; `None` if the kernel does not count.
    pub(crate) fn of(work: impl FnOnce()) -> Option<Self> {
        let (idle, before) = (Self::now(), Self::now());
        work();
        // Reading the counters counts too: subtract the difference of the first two readings.
        let (idle, before, after) = (idle?, before?, Self::now()?);
        let less =
            |after: u64, before: u64, idle: u64| (after - before).saturating_sub(before - idle);
        Some(Self {
            calls: less(after.calls, before.calls, idle.calls),
            bytes: less(after.bytes, before.bytes, idle.bytes),
        })
    }

    fn now() -> Option<Self> {
        let text = fs::read_to_string("/proc/thread-self/io").ok()?;
        let number = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().parse().ok()
        };
        Some(Self { calls: number("syscr:")?, bytes: number("rchar:")? })
    }
}

/// The machine that made the figures.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Machine {
    pub(crate) processor: String,
    pub(crate) processors: usize,
    pub(crate) memory_gib: f64,
    pub(crate) kernel: String,
    /// The load average over one minute at the start of the run.
    pub(crate) load_before: f64,
    /// The load average at the end; about 1 if nothing else ran.
    pub(crate) load_after: f64,
    /// The setting of transparent huge pages.
    pub(crate) transparent_huge_pages: String,
}

impl Machine {
    pub(crate) fn describe() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let field = |text: &str, name: &str| {
            let line = text.lines().find(|line| line.starts_with(name));
            line.and_then(|line| line.split(':').nth(1)).unwrap_or("unknown").trim().to_owned()
        };
        let memory = field(&read("/proc/meminfo"), "MemTotal");
        let kib: f64 =
            memory.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0.0);
        let pages = read("/sys/kernel/mm/transparent_hugepage/enabled");
        let chosen = pages.split(['[', ']']).nth(1).unwrap_or("unknown");
        Self {
            processor: field(&read("/proc/cpuinfo"), "model name"),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            memory_gib: kib / f64::from(1 << 20),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            load_before: load(),
            load_after: load(),
            transparent_huge_pages: chosen.to_owned(),
        }
    }

    /// Records the load at the end of the run.
    pub(crate) fn finish(&mut self) {
        self.load_after = load();
    }
}

fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(0.0)
}
