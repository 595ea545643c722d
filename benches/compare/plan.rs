//! The amount of work of a run, and the settings that all engines share.

use crate::Arguments;
use crate::engine::Shape;
use crate::figure::MORE_ROWS;
use crate::load::machine;

/// Number of files in the shape "many files".
pub(crate) const FILES: u64 = 16;

/// The amount of work of a run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Rows of the main comparison.
    pub(crate) rows: u64,
    /// Rows of a second comparison, with a small cache.
    pub(crate) more_rows: Option<u64>,
    /// Whether only the figures that have a limit are measured.
    pub(crate) limits_only: bool,
    pub(crate) shapes: Vec<Shape>,
    pub(crate) rounds: usize,
    /// Gets per turn.
    pub(crate) gets: usize,
    /// Number of different questions, which are repeated.
    pub(crate) questions: usize,
    /// The largest number of rows that a scan reads.
    pub(crate) scanned: usize,
}

impl Plan {
    pub(crate) fn new(arguments: &Arguments) -> Self {
        let (quick, limits_only) = (arguments.quick, arguments.limits);
        let rows = arguments.rows.unwrap_or(2_000_000);
        let questions = (rows as usize / if quick { 20 } else { 10 }).max(1000);
        // A full run measures more rows too.
        let has_more_rows = arguments.more_rows || !quick && !limits_only;
        let mut shapes = vec![Shape::ManyFiles, Shape::Levelled, Shape::OneRun];
        shapes.retain(|shape| arguments.shapes.is_empty() || arguments.shapes.contains(shape));
        Self {
            rows,
            more_rows: has_more_rows.then_some(rows * MORE_ROWS),
            limits_only,
            shapes,
            rounds: arguments.rounds.unwrap_or(if quick { 5 } else { 11 }),
            gets: questions / 5,
            questions,
            scanned: rows as usize / if quick { 4 } else { 1 },
        }
    }

    /// Describes the command, the machine and the settings that all engines share, for the report.
    pub(crate) fn settings(&self) -> Vec<String> {
        let Self { rows, rounds, gets, questions, scanned, .. } = self;
        let text = format!(
            "{rows} rows in random order; keys of 16 to 24 bytes, values of 100, half of each compressible
LZ4, data blocks of 4 KiB, 10.0 bits of filter per key in the files of each engine that has filters
ours, default: with a family map in memory, which replaces the filters of the files that it covers; \
map off: with 10.0 bits per key in all
RocksDB's filter and kind of cache are named; the others have one kind of cache each, and redb and LMDB \
have no filter
each put is a separate call and is in the log when it returns; none waits for the disk; coordinode has \
no log, redb and LMDB write each eighth of the rows in a transaction
many files: {FILES} overlapping files, never merged
levelled: memtables of 16 MiB, then as each engine's own compaction leaves the files
one run: the many files, merged to one sorted run
{rounds} alternating rounds of {gets} gets each, with {questions} different keys
a scan reads the first {scanned} rows in key order"
        );
        let command = std::env::args().collect::<Vec<_>>().join(" ");
        let mut settings = vec![command, machine()];
        settings.extend(text.lines().map(str::to_owned));
        #[cfg(feature = "peers")]
        settings.push(format!("RocksDB {}", crate::engines::rocksdb::version()));
        settings
    }
}
