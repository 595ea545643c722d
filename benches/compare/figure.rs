//! The figures of a run: the samples of its rounds.

use serde::{Deserialize, Serialize};
use workload::{Samples, Spread};

use crate::engine::Shape;

/// The value of `cache` if all rows fit into the cache.
pub(crate) const CACHE_ALL: &str = "all";
/// How many times as many rows the second comparison has.
pub(crate) const MORE_ROWS: u64 = 5;

/// The cost of one kind of work for one contender.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Figure {
    /// Engine and settings.
    pub(crate) contender: String,
    /// `present get`, `absent get`, `scan`, `fill`, `open` and others.
    pub(crate) work: String,
    pub(crate) shape: Shape,
    pub(crate) rows: u64,
    /// Number of files of rows.
    pub(crate) files: Option<u64>,
    /// Bits of filter per row, as stored.
    pub(crate) filter_bits_per_key: Option<f64>,
    /// Bits of memory per row of filters and of what replaces them.
    pub(crate) memory_bits_per_key: Option<f64>,
    /// [`CACHE_ALL`] if all rows fit, else the cache size in MiB.
    pub(crate) cache: String,
    pub(crate) threads: usize,
    /// The unit of the samples: `ns` per get or row, `ms`, `files` or `bytes`.
    pub(crate) unit: String,
    /// Wall-clock time of each round.
    pub(crate) wall: Vec<f64>,
    /// Processor time of the process in each round.
    pub(crate) cpu: Vec<f64>,
    /// Filters asked by a get, as the engine counts.
    pub(crate) filter_checks: Option<f64>,
    /// Files that a get searched in vain, because a filter or a map named them.
    pub(crate) false_positives: Option<f64>,
    /// Data blocks searched by a get, as the engine counts.
    pub(crate) data_blocks: Option<f64>,
    /// Data blocks by the kernel's count: read calls with nearly no cache, round by round.
    pub(crate) data_blocks_read: Vec<f64>,
}

impl Figure {
    /// Makes a figure of nanoseconds with room for all rows in the cache, on one thread.
    pub(crate) fn new(contender: &str, work: &str, samples: Samples) -> Self {
        Self {
            contender: contender.to_owned(),
            work: work.to_owned(),
            cache: CACHE_ALL.to_owned(),
            threads: 1,
            unit: "ns".to_owned(),
            wall: samples.wall,
            cpu: samples.cpu,
            ..Self::default()
        }
    }

    /// Whether the figure is of gets on one thread.
    pub(crate) fn is_get(&self) -> bool {
        self.work.ends_with(" get") && self.threads == 1
    }

    /// Returns what is compared among contenders: work, shape, rows, cache and threads.
    ///
    /// `rows` is the number of rows of the main comparison.
    pub(crate) fn title(&self, rows: u64) -> String {
        let mut title = format!("{}, {}", self.work, self.shape.name());
        if self.rows == rows * MORE_ROWS {
            title += ", five times the rows";
        }
        if self.cache != CACHE_ALL {
            title += ", small cache";
        }
        if self.threads > 1 {
            title += ", several threads";
        }
        title
    }

    /// Returns the cells of the figure in tables; `None` without samples.
    pub(crate) fn cells(&self) -> Option<Vec<String>> {
        let Spread { low, median, high } = Spread::of(&self.wall)?;
        Some(vec![
            self.work.clone(),
            self.shape.name(),
            self.rows.to_string(),
            number(self.files.map(|files| files as f64), 0),
            self.contender.clone(),
            self.cache.clone(),
            self.threads.to_string(),
            format!("{median:.1} {}", self.unit),
            format!("{low:.1} – {high:.1}"),
            number(Spread::of(&self.cpu).map(|cpu| cpu.median), 1),
            number(self.data_blocks, 4),
            number(self.filter_checks, 2),
            number(self.false_positives, 4),
            number(self.filter_bits_per_key, 1),
            number(self.memory_bits_per_key, 1),
        ])
    }
}

/// The heading of [`Figure::cells`].
pub(crate) const HEADING: &str = "work | shape | rows | files | contender | cache | threads | \
    median | quartiles | CPU | data blocks | filters asked | false positives | \
    filter bits per key | memory bits per key";

/// Returns a number in a table, or a dash if there is none.
pub(crate) fn number(number: Option<f64>, digits: usize) -> String {
    number.map_or_else(|| "–".to_owned(), |number| format!("{number:.digits$}"))
}
