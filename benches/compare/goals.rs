//! The goals of this project: what is compared with a peer, and the limit of the ratio.

use crate::contenders::OURS;
use crate::figure::Figure;

/// A kind of work, and the limit of its ratio to each peer.
pub(crate) struct Goal {
    pub(crate) what: &'static str,
    /// The titles of the figures of ours and of the peer.
    pub(crate) titles: [&'static str; 2],
    /// Parts of the names of the settings that are compared; empty means all settings.
    pub(crate) settings: [&'static str; 2],
    /// The samples whose ratio is taken per round.
    pub(crate) samples: fn(&Figure) -> Vec<f64>,
    pub(crate) limits: &'static [(&'static str, f64)],
}

impl Goal {
    /// Compares the times of all settings of ours with the best settings of a peer.
    const fn new(title: &'static str, limits: &'static [(&'static str, f64)]) -> Self {
        let samples = |of: &Figure| of.wall.clone();
        Self { what: title, titles: [title; 2], settings: [""; 2], samples, limits }
    }

    const fn named(self, what: &'static str) -> Self {
        Self { what, ..self }
    }

    /// Compares two kinds of work of ours.
    const fn of_ours(what: &'static str, titles: [&'static str; 2], limit: &'static Limit) -> Self {
        Self { titles, ..Self::new(what, limit) }
    }

    const fn settings(self, ours: &'static str, theirs: &'static str) -> Self {
        Self { settings: [ours, theirs], ..self }
    }

    const fn samples(self, samples: fn(&Figure) -> Vec<f64>) -> Self {
        Self { samples, ..self }
    }
}

type Limit = [(&'static str, f64)];

const ABSENT: &str = "absent get, many files";
const FILL: &str = "fill, levelled";
const FILES: &str = "files at the end of the fill, levelled";

/// All goals. A run has the ratios of those whose figures it has.
pub(crate) const GOALS: &[Goal] = &[
    Goal::new(ABSENT, &[("RocksDB", 0.12), ("fjall", 0.18), ("HBase", 0.15)]),
    Goal::of_ours(
        "absent get, equal rows in 64 files over 4",
        [
            "absent get of equal rows in 64 files, many files",
            "absent get of equal rows in 4 files, many files",
        ],
        &[(OURS, 1.25)],
    ),
    Goal::of_ours(
        "present get, equal rows in 64 files over 4",
        [
            "present get of equal rows in 64 files, many files",
            "present get of equal rows in 4 files, many files",
        ],
        &[(OURS, 1.15)],
    ),
    Goal::new("present get, many files", &[("RocksDB", 0.28), ("fjall", 0.33), ("HBase", 0.15)]),
    Goal::new("present get, levelled", &[("RocksDB", 0.4), ("fjall", 0.4), ("redb", 0.7)]),
    Goal::new("present get, one run", &[("RocksDB", 0.4), ("fjall", 0.4)]),
    Goal::new("absent get, levelled", &[("RocksDB", 0.45), ("fjall", 0.8)]),
    Goal::new("absent get, one run", &[("RocksDB", 0.4), ("fjall", 0.8)]),
    Goal::new("present get, many files, small cache", &[("RocksDB", 0.75), ("fjall", 0.75)]),
    Goal::new(
        "present get, many files, five times the rows, small cache",
        &[("RocksDB", 0.75), ("fjall", 0.75)],
    ),
    Goal::new(ABSENT, &[("RocksDB", 0.4)])
        .named("data blocks per absent get, many files, by the map over a ribbon")
        .settings("default", "ribbon")
        .samples(blocks),
    Goal::new(ABSENT, &[("RocksDB", 0.65)])
        .named("data blocks per absent get, many files, at equal bits over a ribbon")
        .settings("ribbon", "ribbon")
        .samples(blocks),
    Goal::new(ABSENT, &[("fjall", 0.25)])
        .named("data blocks per absent get, many files")
        .samples(blocks),
    Goal::new(FILL, &[("RocksDB", 0.8), ("fjall", 1.0)]).samples(leave_one_out_means),
    Goal::new(FILL, &[(OURS, 1.1)])
        .named("fill, levelled, with a map over without")
        .settings("default", "blocked Bloom")
        .samples(leave_one_out_means),
    Goal::of_ours(
        "share of files that no map covers, levelled, at the end of the fill",
        ["files without a map at the end of the fill, levelled", FILES],
        &[(OURS, 0.25)],
    ),
    Goal::of_ours(
        "share of files that no map covers, levelled, 5 s later",
        ["files without a map 5 s later, levelled", FILES],
        &[(OURS, 0.0)],
    ),
    Goal::new("bytes on disk, one run", &[("RocksDB", 1.1), ("fjall", 1.1)]),
    Goal::new("scan, one run", &[("RocksDB", 0.8), ("fjall", 0.8)]),
    Goal::new("scan, many files", &[("HBase", 0.33)]),
    Goal::new("fill, many files", &[("HBase", 1.0)]),
];

/// The data blocks of a get, by the kernel's count.
fn blocks(figure: &Figure) -> Vec<f64> {
    figure.data_blocks_read.clone()
}

/// Returns the leave-one-out means of the samples.
///
/// The parts of a fill are not independent rounds: some wait for a compaction and others do not, so
/// only their mean is comparable.
fn leave_one_out_means(figure: &Figure) -> Vec<f64> {
    let (samples, sum) = (&figure.wall, figure.wall.iter().sum::<f64>());
    samples.iter().map(|sample| (sum - sample) / (samples.len() - 1) as f64).collect()
}
