//! The goals of this project: what is compared with a peer, and the limit of the ratio.

use crate::contenders::{OURS, OURS_BLOOM, OURS_DEFAULT, OURS_RIBBON};
use crate::engine::Shape::{Levelled, ManyFiles, OneRun};
use crate::figure::Figure;
use crate::maps::{FILES_AT_END, UNMAPPED_AT_END, UNMAPPED_LATER};

/// The numbers of files into which the same rows are divided, and the work measured there.
pub(crate) const FEW_FILES: u64 = 4;
pub(crate) const MANY_FILES: u64 = 64;
pub(crate) const GET_OF_EQUAL_ROWS: &str = "get, equal rows";
/// How many times as many rows the second comparison has.
pub(crate) const MORE_ROWS: u64 = 5;

/// A kind of work, and the limit of its ratio to each peer.
pub(crate) struct Goal {
    pub(crate) what: &'static str,
    /// Whether a figure is of this work.
    pub(crate) selects: fn(&Figure) -> bool,
    /// Whether a figure of ours is compared with a figure of the peer.
    pub(crate) pairs: fn(&Figure, &Figure) -> bool,
    /// The samples whose ratio is taken per round.
    pub(crate) samples: fn(&Figure) -> Vec<f64>,
    /// How many times as many rows as the main comparison the stores have.
    pub(crate) rows: u64,
    pub(crate) limits: &'static [(&'static str, f64)],
}

impl Goal {
    const fn new(
        what: &'static str,
        selects: fn(&Figure) -> bool,
        limits: &'static [(&'static str, f64)],
    ) -> Self {
        Self { what, selects, pairs: |_, _| true, samples: |of| of.wall.clone(), rows: 1, limits }
    }

    const fn pairs(self, pairs: fn(&Figure, &Figure) -> bool) -> Self {
        Self { pairs, ..self }
    }

    const fn samples(self, samples: fn(&Figure) -> Vec<f64>) -> Self {
        Self { samples, ..self }
    }
}

/// All goals. A run has the ratios of those whose figures it has.
#[rustfmt::skip]
pub(crate) const GOALS: &[Goal] = &[
    Goal::new("absent get, many files", |of| of.is_get("absent", ManyFiles, true), &[("RocksDB", 0.12), ("fjall", 0.18)]),
    Goal::new("absent get, equal rows in 64 files over 4", |of| is_of_equal_rows(of, "absent"), &[(OURS, 1.25)]).pairs(many_over_few),
    Goal::new("present get, equal rows in 64 files over 4", |of| is_of_equal_rows(of, "present"), &[(OURS, 1.15)]).pairs(many_over_few),
    Goal::new("present get, many files", |of| of.is_get("present", ManyFiles, true), &[("RocksDB", 0.28), ("fjall", 0.33)]),
    Goal::new("present get, levelled", |of| of.is_get("present", Levelled, true), &[("RocksDB", 0.4), ("fjall", 0.4), ("redb", 0.7)]),
    Goal::new("present get, one run", |of| of.is_get("present", OneRun, true), &[("RocksDB", 0.4), ("fjall", 0.4)]),
    Goal::new("absent get, levelled", |of| of.is_get("absent", Levelled, true), &[("RocksDB", 0.45), ("fjall", 0.8)]),
    Goal::new("absent get, one run", |of| of.is_get("absent", OneRun, true), &[("RocksDB", 0.4), ("fjall", 0.8)]),
    Goal::new("present get, many files, small cache", |of| of.is_get("present", ManyFiles, false), &[("RocksDB", 0.75), ("fjall", 0.75)]),
    Goal { rows: MORE_ROWS, ..Goal::new("present get, many files, five times the rows, small cache", |of| of.is_get("present", ManyFiles, false), &[("RocksDB", 0.75), ("fjall", 0.75)]) },
    Goal::new("data blocks per absent get, many files, by the map over a ribbon", |of| of.is_get("absent", ManyFiles, true), &[("RocksDB", 0.4)]).samples(blocks)
        .pairs(|ours, theirs| ours.contender == OURS_DEFAULT.name && theirs.contender.contains("ribbon")),
    Goal::new("data blocks per absent get, many files, at equal bits over a ribbon", |of| of.is_get("absent", ManyFiles, true), &[("RocksDB", 0.65)]).samples(blocks)
        .pairs(|ours, theirs| ours.contender == OURS_RIBBON.name && theirs.contender.contains("ribbon")),
    Goal::new("data blocks per absent get, many files", |of| of.is_get("absent", ManyFiles, true), &[("fjall", 0.25)]).samples(blocks),
    Goal::new("fill, levelled", |of| of.work == "fill" && of.shape == Levelled, &[("RocksDB", 0.8), ("fjall", 1.0)]).samples(leave_one_out_means),
    Goal::new("fill, levelled, with a map over without", |of| of.work == "fill" && of.shape == Levelled, &[(OURS, 1.1)]).samples(leave_one_out_means)
        .pairs(|ours, theirs| ours.contender == OURS_DEFAULT.name && theirs.contender == OURS_BLOOM.name),
    Goal::new("share of files that no map covers, levelled, at the end of the fill", |of| [FILES_AT_END, UNMAPPED_AT_END].contains(&&*of.work), &[(OURS, 0.25)]).pairs(unmapped_over_all),
    Goal::new("share of files that no map covers, levelled, 5 s later", |of| [FILES_AT_END, UNMAPPED_LATER].contains(&&*of.work), &[(OURS, 0.0)]).pairs(unmapped_over_all),
    Goal::new("bytes on disk, one run", |of| of.work == "disk" && of.shape == OneRun, &[("RocksDB", 1.1), ("fjall", 1.1)]),
    Goal::new("scan, one run", |of| of.work == "scan" && of.shape == OneRun, &[("RocksDB", 0.8), ("fjall", 0.8)]),
    Goal::new("present get, many files, in HBase's JVM", |of| of.is_get("present", ManyFiles, true), &[("HBase", 0.15)]),
    Goal::new("absent get, many files, in HBase's JVM", |of| of.is_get("absent", ManyFiles, true), &[("HBase", 0.15)]),
    Goal::new("scan, many files, in HBase's JVM", |of| of.work == "scan" && of.shape == ManyFiles, &[("HBase", 0.33)]),
    Goal::new("fill, many files, in HBase's JVM", |of| of.work == "fill" && of.shape == ManyFiles, &[("HBase", 1.0)]),
];

fn is_of_equal_rows(figure: &Figure, asked: &str) -> bool {
    figure.work == GET_OF_EQUAL_ROWS && figure.asked.as_deref() == Some(asked)
}

/// Ours with the rows in many files, over ours with the same rows in few.
fn many_over_few(ours: &Figure, theirs: &Figure) -> bool {
    ours.contender == theirs.contender
        && ours.files == Some(MANY_FILES)
        && theirs.files == Some(FEW_FILES)
}

/// The files that no map covers, over all files.
fn unmapped_over_all(ours: &Figure, theirs: &Figure) -> bool {
    ours.contender == theirs.contender && ours.work != FILES_AT_END && theirs.work == FILES_AT_END
}

/// The data blocks of a get, by the kernel's count.
fn blocks(figure: &Figure) -> Vec<f64> {
    figure.reads.file_reads_uncached.clone()
}

/// Returns the leave-one-out means of the samples.
///
/// The parts of a fill are not independent rounds: some wait for a compaction and others do not, so
/// only their mean is comparable.
fn leave_one_out_means(figure: &Figure) -> Vec<f64> {
    let (samples, sum) = (&figure.wall, figure.wall.iter().sum::<f64>());
    samples.iter().map(|sample| (sum - sample) / (samples.len() - 1) as f64).collect()
}
