//! The machine of a run, the load of other processes meanwhile, and what this thread reads, from Linux.

use std::fs;

use serde::{Deserialize, Serialize};

/// A stage during which others took more than this many processors is called busy.
///
/// One measuring thread and a tenth of a processor fit together on the smallest machine with
/// two processors. More than that competes for caches, memory and the processor's frequency.
pub(crate) const BUSY_PROCESSORS: f64 = 0.10;

/// A stage of a run; the figures are written at the end of each.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Stage {
    pub(crate) name: String,
    pub(crate) seconds: f64,
    /// The processors that others took; `None` if that could not be measured.
    pub(crate) other_load: Option<f64>,
}

/// Processor time since boot, in clock ticks summed over all processors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    processors: f64,
    all: f64,
    /// Taken by all processes, and by the host for other virtual machines ("steal").
    busy: f64,
    /// Of this process and the children that it has waited for.
    own: f64,
}

impl Ticks {
    pub(crate) fn now() -> Option<Self> {
        Self::parse(
            &fs::read_to_string("/proc/stat").ok()?,
            &fs::read_to_string("/proc/self/stat").ok()?,
        )
    }

    fn parse(system: &str, process: &str) -> Option<Self> {
        let mut lines = system.lines().take_while(|line| line.starts_with("cpu"));
        let ticks = lines.next()?.split_whitespace().skip(1).take(8).map(str::parse);
        let ticks: Vec<f64> = ticks.collect::<Result<_, _>>().ok()?;
        let [user, nice, kernel, _, _, _, _, stolen] = ticks[..] else { return None };
        // The name of the process, in parentheses, may have spaces. Then fields 3, 4, …
        let (_, fields) = process.rsplit_once(')')?;
        let own = fields.split_whitespace().skip(11).take(4).map(str::parse::<f64>);
        Some(Self {
            processors: lines.count() as f64,
            all: ticks.iter().sum(),
            busy: user + nice + kernel + stolen,
            own: own.sum::<Result<f64, _>>().ok()?,
        })
    }

    /// Returns the processors that others took since `before`.
    pub(crate) fn load_since(self, before: Self) -> Option<f64> {
        let all = self.all - before.all;
        let others = (self.busy - before.busy) - (self.own - before.own);
        (all > 0.0).then(|| (others / all * self.processors).max(0.0))
    }
}

/// Returns a warning if the machine was busy during a stage, or if that is unknown.
pub(crate) fn warning(stages: &[Stage]) -> Option<String> {
    let load = |stage: &Stage| stage.other_load.unwrap_or(-1.0);
    let busiest = stages.iter().max_by(|a, b| load(a).total_cmp(&load(b)))?;
    let Some(load) = busiest.other_load else {
        return Some("It is unknown whether the machine was busy: /proc/stat was not read.".into());
    };
    (load > BUSY_PROCESSORS).then(|| {
        format!(
            "The machine was busy: others took {load:.2} processors in \u{201c}{}\u{201d} (a stage is busy above \
             {BUSY_PROCESSORS:.2}). Times may be too long and ratios may be off; repeat the run with nothing else \
             running.",
            busiest.name
        )
    })
}

/// The machine that made the figures.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Machine {
    pub(crate) processor: String,
    pub(crate) processors: usize,
    pub(crate) memory_gib: f64,
    pub(crate) kernel: String,
    /// The setting of transparent huge pages.
    pub(crate) transparent_huge_pages: String,
}

impl Machine {
    pub(crate) fn describe() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let field = |path: &str, name: &str| {
            let text = read(path);
            let line = text.lines().find(|line| line.starts_with(name));
            line.and_then(|line| line.split(':').nth(1)).unwrap_or("unknown").trim().to_owned()
        };
        let memory = field("/proc/meminfo", "MemTotal");
        let kib = memory.split(' ').next().and_then(|kib| kib.parse().ok()).unwrap_or(0.0);
        let pages = read("/sys/kernel/mm/transparent_hugepage/enabled");
        Self {
            processor: field("/proc/cpuinfo", "model name"),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            memory_gib: kib / f64::from(1 << 20),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            transparent_huge_pages: pages.split(['[', ']']).nth(1).unwrap_or("unknown").to_owned(),
        }
    }
}

/// Returns the read calls of this thread during some work, as the kernel counts them; `None` if it does not.
pub(crate) fn count_file_reads(work: impl FnOnce()) -> Option<u64> {
    let calls = || {
        let text = fs::read_to_string("/proc/thread-self/io").ok()?;
        text.lines().find_map(|line| line.strip_prefix("syscr:"))?.trim().parse::<u64>().ok()
    };
    let (idle, before) = (calls(), calls());
    work();
    // Reading the counter counts too: subtract the difference of the first two readings.
    let (idle, before, after) = (idle?, before?, calls()?);
    Some((after - before).saturating_sub(before - idle))
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

    #[test]
    fn a_warning_names_the_busiest_stage() {
        let stage = |name: &str, other_load| Stage { name: name.into(), seconds: 1.0, other_load };
        assert_eq!(warning(&[stage("idle", Some(0.1))]), None);
        let text = warning(&[stage("a", Some(0.2)), stage("b", Some(1.25))]).expect("busy");
        assert!(text.contains("others took 1.25 processors in \u{201c}b\u{201d}"), "{text}");
        assert!(warning(&[stage("a", None)]).expect("unknown").contains("unknown"));
    }
}
