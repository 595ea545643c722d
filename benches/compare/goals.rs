//! The goals of this project: what is compared with a peer, and the limit of the ratio.

use crate::contenders::OURS;
use crate::engine::Shape;
use crate::figure::{CACHE_ALL, Figure};
use crate::maps::{FILES_AT_END, UNMAPPED_AT_END, UNMAPPED_LATER};
use crate::names::{OURS_BLOOM, OURS_DEFAULT, OURS_RIBBON};
use crate::plan::{FEW_FILES, GET_OF_EQUAL_ROWS, MANY_FILES, MORE_ROWS};

/// A kind of work, and the limit of its ratio to each peer.
pub(crate) struct Goal {
    pub(crate) what: &'static str,
    /// Whether a figure is of this work.
    pub(crate) selects: fn(&Figure) -> bool,
    /// Whether a figure of ours is compared.
    pub(crate) ours: fn(&Figure) -> bool,
    /// Whether the second figure, of a peer, may be compared with the first.
    pub(crate) theirs: fn(&Figure, &Figure) -> bool,
    /// The samples whose ratio is taken per round.
    pub(crate) samples: fn(&Figure) -> Vec<f64>,
    /// How many times as many rows as the main comparison the stores have.
    pub(crate) rows: u64,
    /// The limit of the ratio for each peer.
    pub(crate) limits: &'static [(&'static str, f64)],
}

/// The time of any of our settings over that of any of the peer's.
const TIME: Goal = Goal {
    what: "",
    selects: |_| false,
    ours: |_| true,
    theirs: |_, _| true,
    samples: |figure| figure.wall.clone(),
    rows: 1,
    limits: &[],
};

/// The data blocks of an absent get, by the kernel's count.
const DATA_BLOCKS: Goal = Goal {
    selects: |figure| is_get(figure, "absent", Shape::ManyFiles, true),
    samples: |figure| figure.reads.file_reads_uncached.clone(),
    ..TIME
};

/// Ours with the rows in many files over ours with the same rows in few.
const EQUAL_ROWS: Goal = Goal {
    ours: |figure| figure.files == Some(MANY_FILES),
    theirs: |ours, theirs| theirs.contender == ours.contender && theirs.files == Some(FEW_FILES),
    ..TIME
};

/// The files that no map covers over all files.
const UNMAPPED: Goal = Goal {
    ours: |figure| figure.work != FILES_AT_END,
    theirs: |ours, theirs| theirs.contender == ours.contender && theirs.work == FILES_AT_END,
    ..TIME
};

pub(crate) const GOALS: &[Goal] = &[
    Goal {
        what: "absent get, many files",
        selects: |figure| is_get(figure, "absent", Shape::ManyFiles, true),
        limits: &[("RocksDB", 0.12), ("fjall", 0.18)],
        ..TIME
    },
    Goal {
        what: "absent get, equal rows in 64 files over 4",
        selects: |figure| is_get_of_equal_rows(figure, "absent"),
        limits: &[(OURS, 1.25)],
        ..EQUAL_ROWS
    },
    Goal {
        what: "present get, equal rows in 64 files over 4",
        selects: |figure| is_get_of_equal_rows(figure, "present"),
        limits: &[(OURS, 1.15)],
        ..EQUAL_ROWS
    },
    Goal {
        what: "present get, many files",
        selects: |figure| is_get(figure, "present", Shape::ManyFiles, true),
        limits: &[("RocksDB", 0.28), ("fjall", 0.33)],
        ..TIME
    },
    Goal {
        what: "present get, levelled",
        selects: |figure| is_get(figure, "present", Shape::Levelled, true),
        limits: &[("RocksDB", 0.4), ("fjall", 0.4), ("redb", 0.7)],
        ..TIME
    },
    Goal {
        what: "present get, one run",
        selects: |figure| is_get(figure, "present", Shape::OneRun, true),
        limits: &[("RocksDB", 0.4), ("fjall", 0.4)],
        ..TIME
    },
    Goal {
        what: "absent get, levelled",
        selects: |figure| is_get(figure, "absent", Shape::Levelled, true),
        limits: &[("RocksDB", 0.45), ("fjall", 0.8)],
        ..TIME
    },
    Goal {
        what: "absent get, one run",
        selects: |figure| is_get(figure, "absent", Shape::OneRun, true),
        limits: &[("RocksDB", 0.4), ("fjall", 0.8)],
        ..TIME
    },
    Goal {
        what: "present get, many files, small cache",
        selects: |figure| is_get(figure, "present", Shape::ManyFiles, false),
        limits: &[("RocksDB", 0.75), ("fjall", 0.75)],
        ..TIME
    },
    Goal {
        what: "present get, many files, five times the rows, small cache",
        selects: |figure| is_get(figure, "present", Shape::ManyFiles, false),
        rows: MORE_ROWS,
        limits: &[("RocksDB", 0.75), ("fjall", 0.75)],
        ..TIME
    },
    Goal {
        what: "data blocks per absent get, many files, by the map over a ribbon",
        ours: |figure| figure.contender == OURS_DEFAULT,
        theirs: |_, theirs| theirs.contender.contains("ribbon"),
        limits: &[("RocksDB", 0.4)],
        ..DATA_BLOCKS
    },
    Goal {
        what: "data blocks per absent get, many files, at equal bits over a ribbon",
        ours: |figure| figure.contender == OURS_RIBBON,
        theirs: |_, theirs| theirs.contender.contains("ribbon"),
        limits: &[("RocksDB", 0.65)],
        ..DATA_BLOCKS
    },
    Goal {
        what: "data blocks per absent get, many files",
        limits: &[("fjall", 0.25)],
        ..DATA_BLOCKS
    },
    Goal {
        what: "fill, levelled",
        selects: |figure| figure.work == "fill" && figure.shape == Shape::Levelled,
        samples: |figure| leave_one_out_means(&figure.wall),
        limits: &[("RocksDB", 0.8), ("fjall", 1.0)],
        ..TIME
    },
    Goal {
        what: "fill, levelled, with a map over without",
        selects: |figure| figure.work == "fill" && figure.shape == Shape::Levelled,
        ours: |figure| figure.contender == OURS_DEFAULT,
        theirs: |_, theirs| theirs.contender == OURS_BLOOM,
        samples: |figure| leave_one_out_means(&figure.wall),
        limits: &[(OURS, 1.1)],
        ..TIME
    },
    Goal {
        what: "share of files that no map covers, levelled, at the end of the fill",
        selects: |figure| [FILES_AT_END, UNMAPPED_AT_END].contains(&&*figure.work),
        limits: &[(OURS, 0.25)],
        ..UNMAPPED
    },
    Goal {
        what: "share of files that no map covers, levelled, 5 s later",
        selects: |figure| [FILES_AT_END, UNMAPPED_LATER].contains(&&*figure.work),
        limits: &[(OURS, 0.0)],
        ..UNMAPPED
    },
    Goal {
        what: "bytes on disk, one run",
        selects: |figure| figure.work == "disk" && figure.shape == Shape::OneRun,
        limits: &[("RocksDB", 1.1), ("fjall", 1.1)],
        ..TIME
    },
    Goal {
        what: "scan, one run",
        selects: |figure| figure.work == "scan" && figure.shape == Shape::OneRun,
        limits: &[("RocksDB", 0.8), ("fjall", 0.8)],
        ..TIME
    },
    Goal {
        what: "present get, many files, in HBase's JVM",
        selects: |figure| is_get(figure, "present", Shape::ManyFiles, true),
        limits: &[("HBase", 0.15)],
        ..TIME
    },
    Goal {
        what: "absent get, many files, in HBase's JVM",
        selects: |figure| is_get(figure, "absent", Shape::ManyFiles, true),
        limits: &[("HBase", 0.15)],
        ..TIME
    },
    Goal {
        what: "scan, many files, in HBase's JVM",
        selects: |figure| figure.work == "scan" && figure.shape == Shape::ManyFiles,
        limits: &[("HBase", 0.33)],
        ..TIME
    },
    Goal {
        what: "fill, many files, in HBase's JVM",
        selects: |figure| figure.work == "fill" && figure.shape == Shape::ManyFiles,
        limits: &[("HBase", 1.0)],
        ..TIME
    },
];

fn is_get_of_equal_rows(figure: &Figure, asked: &str) -> bool {
    figure.work == GET_OF_EQUAL_ROWS && figure.asked.as_deref() == Some(asked)
}

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
