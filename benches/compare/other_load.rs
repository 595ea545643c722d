//! The stages of a run, and the processor time that other processes and the host took meanwhile, from Linux.
//!
//! A run whose machine was busy has a warning at the top of its report and at the end of its text.

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
    /// The processor time of others during the stage; `None` if it could not be measured.
    #[serde(default)]
    pub(crate) other_load: Option<OtherLoad>,
}

/// The processor time of others during a stage: 1.0 is one processor all the time.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct OtherLoad {
    /// Taken by other processes and the kernel's own threads.
    pub(crate) processes: f64,
    /// Taken by the host for other virtual machines ("steal").
    pub(crate) host: f64,
}

impl OtherLoad {
    fn sum(self) -> f64 {
        self.processes + self.host
    }

    fn is_busy(self) -> bool {
        self.sum() > BUSY_PROCESSORS
    }
}

/// Measures the load of each stage.
#[derive(Debug)]
pub(crate) struct LoadMeter {
    before: Option<Ticks>,
}

impl LoadMeter {
    /// Starts measuring.
    pub(crate) fn start() -> Self {
        Self { before: Ticks::now() }
    }

    /// Returns the load since the start or the last call.
    pub(crate) fn lap(&mut self) -> Option<OtherLoad> {
        let now = Ticks::now();
        let before = std::mem::replace(&mut self.before, now)?;
        now?.since(before)
    }
}

/// Processor time since boot, in clock ticks summed over all processors.
#[derive(Clone, Copy, Debug)]
struct Ticks {
    processors: f64,
    all: f64,
    busy: f64,
    stolen: f64,
    /// Of this process and the children that it has waited for.
    own: f64,
}

impl Ticks {
    fn now() -> Option<Self> {
        let system = fs::read_to_string("/proc/stat").ok()?;
        let process = fs::read_to_string("/proc/self/stat").ok()?;
        Self::parse(&system, &process)
    }

    fn parse(system: &str, process: &str) -> Option<Self> {
        let mut lines = system.lines().take_while(|line| line.starts_with("cpu"));
        let ticks = lines.next()?.split_whitespace().skip(1).map(str::parse);
        let ticks: Vec<f64> = ticks.collect::<Result<_, _>>().ok()?;
        let [user, nice, kernel, idle, waiting, hard, soft, stolen, ..] = ticks[..] else {
            return None;
        };
        // The name of the process, in parentheses, may have spaces. Then fields 3, 4, …
        let (_, fields) = process.rsplit_once(')')?;
        let own = fields.split_whitespace().skip(11).take(4).map(str::parse::<f64>);
        let own: Vec<f64> = own.collect::<Result<_, _>>().ok()?;
        let busy = user + nice + kernel;
        Some(Self {
            processors: lines.count() as f64,
            all: busy + idle + waiting + hard + soft + stolen,
            busy,
            stolen,
            own: own.iter().sum(),
        })
    }

    fn since(self, before: Self) -> Option<OtherLoad> {
        let all = self.all - before.all;
        let part = |ticks: f64| (ticks / all * self.processors).max(0.0);
        let processes = (self.busy - before.busy) - (self.own - before.own);
        let host = self.stolen - before.stolen;
        (all > 0.0).then(|| OtherLoad { processes: part(processes), host: part(host) })
    }
}

/// Whether others used more than the limit during a stage.
pub(crate) fn is_busy(stages: &[Stage]) -> bool {
    stages.iter().filter_map(|stage| stage.other_load).any(OtherLoad::is_busy)
}

/// Returns a warning if the machine was busy during a stage, or if that is unknown.
pub(crate) fn warning(stages: &[Stage]) -> Option<String> {
    let known: Vec<_> =
        stages.iter().filter_map(|stage| Some((stage, stage.other_load?))).collect();
    if known.is_empty() && !stages.is_empty() {
        return Some(
            "It is unknown whether the machine was busy: /proc/stat could not be read.".to_owned(),
        );
    }
    let busy = known.iter().filter(|(_, load)| load.is_busy());
    let (stage, load) = busy.clone().max_by(|a, b| a.1.sum().total_cmp(&b.1.sum()))?;
    Some(format!(
        "The machine was busy in {} of {} stages, most in \u{201c}{}\u{201d}: other processes used \
         {:.2} processors and the host took {:.2} (a stage is busy above {BUSY_PROCESSORS:.2} in \
         all). Times may be too long and ratios may be off; repeat the run with nothing else \
         running.",
        busy.count(),
        stages.len(),
        stage.name,
        load.processes,
        load.host,
    ))
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
        // Of 200 ticks, 100 were busy, 50 of them in this process; two processors.
        let load = after.since(before).expect("time has passed");
        assert_eq!(load, OtherLoad { processes: 0.5, host: 0.2 });
        assert_eq!(before.since(before), None, "no time has passed");
    }

    #[test]
    fn a_warning_names_the_busiest_stage() {
        let stage = |name: &str, load: Option<(f64, f64)>| Stage {
            name: name.to_owned(),
            seconds: 1.0,
            other_load: load.map(|(processes, host)| OtherLoad { processes, host }),
        };
        let idle = stage("idle", Some((0.05, 0.05)));
        assert_eq!(warning(&[]), None);
        assert_eq!(warning(std::slice::from_ref(&idle)), None);
        let busy = [idle, stage("a", Some((0.0, 0.2))), stage("b", Some((1.25, 0.0)))];
        let text = warning(&busy).expect("busy");
        assert!(
            text.contains("busy in 2 of 3 stages") && text.contains("\u{201c}b\u{201d}"),
            "{text}"
        );
        assert!(text.contains("used 1.25 processors"), "{text}");
        assert!(warning(&[stage("a", None)]).expect("unknown").contains("unknown"));
    }
}
