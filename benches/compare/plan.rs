//! What a run measures, and how much of it.

use crate::engine::Shape;
use crate::reads::Amount;

/// The amount of work of a run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Rows of the main comparison.
    pub(crate) rows: u64,
    /// Rows of a second comparison, with a small cache.
    pub(crate) more_rows: Option<u64>,
    /// Whether only the figures that have a limit are measured.
    pub(crate) limits_only: bool,
    pub(crate) amount: Amount,
    /// The largest number of rows that a scan reads.
    pub(crate) scanned: u64,
    pub(crate) shapes: Vec<Shape>,
}

/// Number of files in the shape "many files".
pub(crate) const FILES: u64 = 16;
/// The numbers of files into which the same rows are divided, and the work measured there.
pub(crate) const FEW_FILES: u64 = 4;
pub(crate) const MANY_FILES: u64 = 64;
pub(crate) const GET_OF_EQUAL_ROWS: &str = "get, equal rows";
/// How many times as many rows the second comparison has.
pub(crate) const MORE_ROWS: u64 = 5;
