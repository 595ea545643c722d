//! The figures of a run: the samples of its rounds.

use serde::{Deserialize, Serialize};
use workload::{Samples, Spread};

use crate::engine::{Contender, Shape};

/// The value of `cache` if all rows fit into the cache.
pub(crate) const CACHE_ALL: &str = "all";

/// The cost of one kind of work for one contender.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Figure {
    /// Engine and settings.
    pub(crate) contender: String,
    /// The engine.
    pub(crate) engine: String,
    /// `get`, `scan`, `fill`, `open`, `disk`.
    pub(crate) work: String,
    /// Of gets: `present`, `absent`.
    pub(crate) asked: Option<String>,
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
    pub(crate) reads: Reads,
}

/// The averages of a get: as the engine counts, and as the kernel counts.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Reads {
    pub(crate) filter_checks: Option<f64>,
    /// Filters that answered no.
    pub(crate) filter_negatives: Option<f64>,
    pub(crate) false_positives: Option<f64>,
    /// Data blocks searched.
    pub(crate) data_blocks: Option<f64>,
    /// Read calls.
    pub(crate) file_reads: Option<f64>,
    /// Data blocks by the kernel's count: read calls with nearly no cache, round by round.
    pub(crate) file_reads_uncached: Vec<f64>,
}

impl Figure {
    /// Makes a figure of nanoseconds with room for all rows in the cache, on one thread.
    pub(crate) fn new(contender: &Contender, work: &str, samples: Samples) -> Self {
        Self {
            contender: contender.name.to_owned(),
            engine: contender.engine().to_owned(),
            work: work.to_owned(),
            cache: CACHE_ALL.to_owned(),
            threads: 1,
            unit: "ns".to_owned(),
            wall: samples.wall,
            cpu: samples.cpu,
            ..Self::default()
        }
    }

    /// Whether the figure is of gets on one thread: of these rows, over files of this shape, with room for all rows
    /// in the cache or not.
    pub(crate) fn is_get(&self, asked: &str, shape: Shape, is_cached: bool) -> bool {
        self.work == "get"
            && self.asked.as_deref() == Some(asked)
            && self.shape == shape
            && (self.cache == CACHE_ALL) == is_cached
            && self.threads == 1
    }

    /// Returns the cells of the figure in tables; `None` without samples.
    pub(crate) fn cells(&self) -> Option<Vec<String>> {
        let Spread { low, median, high } = Spread::of(&self.wall)?;
        let given = |number: Option<f64>, digits: usize| {
            number.map_or_else(|| "–".to_owned(), |number| format!("{number:.digits$}"))
        };
        let work = format!("{} {}", self.work, self.asked.as_deref().unwrap_or_default());
        Some(vec![
            work.trim_end().to_owned(),
            self.shape.name().to_owned(),
            self.rows.to_string(),
            given(self.files.map(|files| files as f64), 0),
            self.contender.clone(),
            self.cache.clone(),
            self.threads.to_string(),
            format!("{median:.1} {}", self.unit),
            format!("{low:.1} – {high:.1}"),
            given(Spread::of(&self.cpu).map(|cpu| cpu.median), 1),
            given(self.reads.data_blocks, 4),
            given(self.reads.filter_checks, 2),
            given(self.reads.false_positives, 4),
            given(self.filter_bits_per_key, 1),
            given(self.memory_bits_per_key, 1),
        ])
    }
}

/// The heading of [`Figure::cells`].
pub(crate) const HEADING: &str = "work | shape | rows | files | contender | cache | threads | median | quartiles | \
    CPU | data blocks | filters asked | false positives | filter bits per key | memory bits per key";
