//! What a run measures, and how much of it.

use workload::Asked;

use crate::engine::Shape;
use crate::reads::Amount;

/// The amount of work of a run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Rows of the main comparison.
    pub(crate) rows: u64,
    /// Rows of a second comparison of the main contenders.
    pub(crate) more_rows: Option<u64>,
    /// Whether only the small cache is measured there.
    pub(crate) more_rows_small_cache_only: bool,
    /// Whether only the figures that have a limit are measured.
    pub(crate) limits_only: bool,
    /// Rows of the stores in the growth comparison.
    pub(crate) growth: Vec<u64>,
    /// Rows per file, where the number of files grows.
    pub(crate) rows_per_file: u64,
    /// The largest number of files there.
    pub(crate) files_max: u64,
    pub(crate) amount: Amount,
    /// The largest number of rows that a scan reads.
    pub(crate) scanned: u64,
    /// The kinds of gets that are measured in every shape.
    pub(crate) asked: Vec<Asked>,
    pub(crate) shapes: Vec<Shape>,
    /// Whether filters of equal error rate are compared, besides those of equal size.
    pub(crate) equal_error_rate: bool,
}

/// Number of files in the shape "many files".
pub(crate) const FILES: u64 = 16;
/// The numbers of files into which the same rows are divided, and the work measured there.
pub(crate) const FEW_FILES: u64 = 4;
pub(crate) const MANY_FILES: u64 = 64;
pub(crate) const GET_OF_EQUAL_ROWS: &str = "get, equal rows";
/// How many times as many rows the second comparison has.
pub(crate) const MORE_ROWS: u64 = 5;
