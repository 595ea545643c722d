//! The figures of a run: the samples of its rounds.

use serde::{Deserialize, Serialize};

use crate::engine::Shape;

/// The value of `cache` if all rows fit into the cache.
pub(crate) const CACHE_ALL: &str = "all";

/// The cost of one kind of work for one contender.
#[derive(Clone, Debug, Deserialize, Serialize)]
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
    #[serde(default)]
    pub(crate) memory_bits_per_key: Option<f64>,
    /// [`CACHE_ALL`] if all rows fit, else the cache size in MiB.
    pub(crate) cache: String,
    pub(crate) threads: usize,
    /// The unit of the samples: `ns` per get or row, `ms` or `bytes`.
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
    pub(crate) file_bytes: Option<f64>,
    /// Data blocks by the kernel's count: read calls with nearly no cache, round by round.
    pub(crate) file_reads_uncached: Vec<f64>,
}
