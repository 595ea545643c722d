//! The claims of this project: ratios to a peer, each with a limit.

use serde::{Deserialize, Serialize};

use crate::contenders::OURS;
use crate::engine::Shape;
use crate::figure::{CACHE_ALL, Figure, Spread};

/// A ratio of ours to the best settings of a peer, and its limit.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Claim {
    /// The kind of work, in words.
    pub(crate) what: String,
    /// The share of the rows that fits into the cache.
    pub(crate) cache: String,
    /// Our settings.
    pub(crate) ours: String,
    /// The filter and cache of the peer's best settings.
    pub(crate) theirs: String,
    /// The median of the ratio per round, and its quartiles.
    pub(crate) ratio: Spread,
    /// The limit of the ratio.
    pub(crate) limit: f64,
    /// `held`, `missed`, or `unresolved` if the limit lies within the quartiles.
    pub(crate) verdict: String,
}

impl Claim {
    /// Returns the engine of the peer, with which the name of its settings begins.
    pub(crate) fn peer(&self) -> &str {
        self.theirs.split(',').next().unwrap_or(&self.theirs)
    }

    /// Returns what the ratio is of.
    pub(crate) fn measured(&self) -> &'static str {
        match self.what.split(' ').next() {
            Some("data") => "blocks",
            Some("bytes") => "bytes",
            _ => "time",
        }
    }
}

/// A row of the table of claims.
struct Goal {
    what: &'static str,
    selects: fn(&Figure) -> bool,
    /// The samples whose ratio is taken per round.
    samples: fn(&Figure) -> Vec<f64>,
    /// The limit of the ratio for each peer.
    limits: &'static [(&'static str, f64)],
}

const GOALS: &[Goal] = &[
    Goal {
        what: "absent get, many files",
        selects: |it| is_get(it, "absent", Shape::ManyFiles, true),
        samples: |it| it.wall.clone(),
        limits: &[("RocksDB", 0.20), ("fjall", 0.25)],
    },
    Goal {
        what: "present get, many files",
        selects: |it| is_get(it, "present", Shape::ManyFiles, true),
        samples: |it| it.wall.clone(),
        limits: &[("RocksDB", 0.38), ("fjall", 0.45)],
    },
    Goal {
        what: "absent get, levelled",
        selects: |it| is_get(it, "absent", Shape::Levelled, true),
        samples: |it| it.wall.clone(),
        limits: &[("RocksDB", 0.6), ("fjall", 0.8)],
    },
    Goal {
        what: "present get, levelled",
        selects: |it| is_get(it, "present", Shape::Levelled, true),
        samples: |it| it.wall.clone(),
        limits: &[("RocksDB", 0.6), ("fjall", 0.6), ("redb", 0.9)],
    },
    Goal {
        what: "absent get, one run",
        selects: |it| is_get(it, "absent", Shape::OneRun, true),
        samples: |it| it.wall.clone(),
        limits: &[("RocksDB", 0.4), ("fjall", 0.8)],
    },
    Goal {
        what: "present get, one run",
        selects: |it| is_get(it, "present", Shape::OneRun, true),
        samples: |it| it.wall.clone(),
        limits: &[("RocksDB", 0.5), ("fjall", 0.5)],
    },
    Goal {
        what: "present get, many files, small cache",
        selects: |it| is_get(it, "present", Shape::ManyFiles, false),
        samples: |it| it.wall.clone(),
        limits: &[("RocksDB", 0.7), ("fjall", 0.7)],
    },
    Goal {
        what: "data blocks per absent get, many files",
        selects: |it| is_get(it, "absent", Shape::ManyFiles, true),
        samples: |it| it.reads.file_reads_uncached.clone(),
        limits: &[("RocksDB", 0.25), ("fjall", 0.25)],
    },
    Goal {
        what: "scan, one run",
        selects: |it| it.work == "scan" && it.shape == Shape::OneRun,
        samples: |it| it.wall.clone(),
        limits: &[("RocksDB", 0.8), ("fjall", 0.8)],
    },
    Goal {
        what: "fill, levelled",
        selects: |it| it.work == "fill" && it.shape == Shape::Levelled,
        samples: |it| leave_one_out_means(&it.wall),
        limits: &[("RocksDB", 1.0), ("fjall", 1.0)],
    },
    Goal {
        what: "bytes on disk, one run",
        selects: |it| it.work == "disk" && it.shape == Shape::OneRun,
        samples: |it| it.wall.clone(),
        limits: &[("RocksDB", 1.1), ("fjall", 1.1)],
    },
    Goal {
        what: "present get, many files, in HBase's JVM",
        selects: |it| is_get(it, "present", Shape::ManyFiles, true),
        samples: |it| it.wall.clone(),
        limits: &[("HBase", 0.15)],
    },
    Goal {
        what: "absent get, many files, in HBase's JVM",
        selects: |it| is_get(it, "absent", Shape::ManyFiles, true),
        samples: |it| it.wall.clone(),
        limits: &[("HBase", 0.15)],
    },
    Goal {
        what: "scan, many files, in HBase's JVM",
        selects: |it| it.work == "scan" && it.shape == Shape::ManyFiles,
        samples: |it| it.wall.clone(),
        limits: &[("HBase", 0.33)],
    },
    Goal {
        what: "fill, many files, in HBase's JVM",
        selects: |it| it.work == "fill" && it.shape == Shape::ManyFiles,
        samples: |it| it.wall.clone(),
        limits: &[("HBase", 1.0)],
    },
];

fn is_get(figure: &Figure, asked: &str, shape: Shape, is_all_cached: bool) -> bool {
    figure.work == "get"
        && figure.asked.as_deref() == Some(asked)
        && figure.shape == shape
        && (figure.cache == CACHE_ALL) == is_all_cached
        && figure.threads == 1
}

/// Returns the leave-one-out means of the samples.
///
/// The parts of a fill are not independent rounds: some wait for a compaction and others do not, so
/// only their mean is comparable.
fn leave_one_out_means(samples: &[f64]) -> Vec<f64> {
    let sum: f64 = samples.iter().sum();
    samples.iter().map(|sample| (sum - sample) / (samples.len() - 1) as f64).collect()
}

/// Checks figures against the goals; goals that lack figures of a side are left out.
pub(crate) fn claims(figures: &[Figure], rows: u64) -> Vec<Claim> {
    let mut claims = Vec::new();
    for goal in GOALS {
        let selected: Vec<_> =
            figures.iter().filter(|it| it.rows == rows && (goal.selects)(it)).collect();
        for (peer, limit) in goal.limits {
            let of_peer = selected.iter().filter(|it| it.engine == *peer);
            let median = |figure: &Figure| {
                Spread::of(&(goal.samples)(figure)).map_or(f64::INFINITY, |it| it.median)
            };
            let Some(theirs) = of_peer.min_by(|a, b| median(a).total_cmp(&median(b))) else {
                continue;
            };
            let ours = selected.iter().filter(|it| it.engine == OURS);
            claims.extend(ours.filter_map(|ours| claim(goal, ours, theirs, *limit)));
        }
    }
    claims
}

fn claim(goal: &Goal, ours: &Figure, theirs: &Figure, limit: f64) -> Option<Claim> {
    let samples = ((goal.samples)(ours), (goal.samples)(theirs));
    let paired = samples.0.len() == samples.1.len();
    let ratio = if paired {
        Spread::of_ratio(&samples.0, &samples.1)?
    } else {
        // Another process with separate rounds: each of our samples is divided by its median.
        let their = Spread::of(&samples.1)?.median;
        Spread::of(&samples.0.iter().map(|sample| sample / their).collect::<Vec<_>>())?
    };
    let verdict = match () {
        () if ratio.high <= limit => "held",
        () if ratio.low > limit => "missed",
        () => "unresolved",
    };
    Some(Claim {
        what: goal.what.to_owned(),
        cache: ours.cache.clone(),
        ours: ours.contender.clone(),
        theirs: theirs.contender.clone(),
        ratio,
        limit,
        verdict: verdict.to_owned(),
    })
}

/// Formats a ratio with two decimals, or more if it is small.
pub(crate) fn show_ratio(ratio: f64) -> String {
    match ratio {
        tiny if tiny < 0.01 => format!("{ratio:.4}"),
        small if small < 0.1 => format!("{ratio:.3}"),
        _ => format!("{ratio:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(contender: &str, engine: &str, wall: &[f64]) -> Figure {
        Figure {
            contender: contender.to_owned(),
            engine: engine.to_owned(),
            work: "get".to_owned(),
            asked: Some("present".to_owned()),
            shape: Shape::OneRun,
            rows: 10,
            files: None,
            filter_bits_per_key: None,
            cache: CACHE_ALL.to_owned(),
            threads: 1,
            unit: "ns".to_owned(),
            wall: wall.to_vec(),
            cpu: Vec::new(),
            reads: crate::figure::Reads::default(),
        }
    }

    #[test]
    fn a_claim_compares_with_the_best_settings_of_the_peer() {
        let figures = [
            get("ours", OURS, &[1.0, 1.0, 1.0]),
            get("slow", "RocksDB", &[9.0, 9.0, 9.0]),
            get("fast", "RocksDB", &[4.0, 4.0, 4.0]),
        ];
        let claims = claims(&figures, 10);
        assert_eq!(claims.len(), 1);
        assert_eq!((&*claims[0].theirs, &*claims[0].verdict), ("fast", "held"));
        assert!((claims[0].ratio.median - 0.25).abs() < 1e-9);
    }

    #[test]
    fn a_limit_inside_the_spread_is_unresolved() {
        let peer = get("fast", "RocksDB", &[1.0, 1.0, 1.0]);
        let verdict = |ours: &[f64]| {
            let figures = [get("ours", OURS, ours), peer.clone()];
            claims(&figures, 10).remove(0).verdict
        };
        assert_eq!(verdict(&[0.4, 0.41, 0.42]), "held");
        assert_eq!(verdict(&[0.4, 0.48, 0.62]), "unresolved");
        assert_eq!(verdict(&[0.6, 0.61, 0.7]), "missed");
    }
}
