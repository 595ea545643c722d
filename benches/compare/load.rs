//! The machine of a run, its busy stages, and what this thread reads, from Linux.

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

/// Returns a warning if the machine was busy during a stage, or if that is unknown.
pub(crate) fn warning(stages: &[Stage]) -> Option<String> {
    let load = |stage: &Stage| stage.other_load.unwrap_or(-1.0);
    let busiest = stages.iter().max_by(|a, b| load(a).total_cmp(&load(b)))?;
    let Some(load) = busiest.other_load else {
        return Some("It is unknown whether the machine was busy: /proc/stat was not read.".into());
    };
    (load > BUSY_PROCESSORS).then(|| {
        format!(
            "The machine was busy: others took {load:.2} processors in “{}” (a stage is busy above \
             {BUSY_PROCESSORS:.2}). Times may be too long and ratios may be off; repeat the run \
             with nothing else running.",
            busiest.name
        )
    })
}

/// Describes the machine that makes the figures.
pub(crate) fn machine() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let field = |path: &str, name: &str| {
        let text = read(path);
        let line = text.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split(':').nth(1)).unwrap_or("unknown").trim().to_owned()
    };
    let pages = read("/sys/kernel/mm/transparent_hugepage/enabled");
    format!(
        "{}, {} processors, memory: {}, Linux {}, huge pages: {}",
        field("/proc/cpuinfo", "model name"),
        std::thread::available_parallelism().map_or(1, usize::from),
        field("/proc/meminfo", "MemTotal"),
        read("/proc/sys/kernel/osrelease").trim(),
        pages.split(['[', ']']).nth(1).unwrap_or("unknown"),
    )
}

/// Returns the read calls of this thread during some work, as the kernel counts them; `None` if it
/// does not.
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

    #[test]
    fn a_warning_names_the_busiest_stage() {
        let stage = |name: &str, other_load| Stage { name: name.into(), seconds: 1.0, other_load };
        assert_eq!(warning(&[stage("idle", Some(0.1))]), None);
        let text = warning(&[stage("a", Some(0.2)), stage("b", Some(1.25))]).expect("busy");
        assert!(text.contains("others took 1.25 processors in “b”"), "{text}");
        assert!(warning(&[stage("a", None)]).expect("unknown").contains("unknown"));
    }
}
