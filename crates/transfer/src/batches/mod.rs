//! Reads record batches, of Parquet files or of a program, as cells.
//!
//! ```text
//! files, or a stream ─→ batches ─→ one row a cell ─────→ cells      the columns row, family, timestamp, …
//!                          │     └ one row a table row ─→ cells      the options map the columns
//!                          └ bad records: end the run, or are counted
//! ```

mod cells;
mod rows;
mod source;

pub(crate) use self::cells::{BatchCells, BatchContext};
pub(crate) use self::source::BatchSource;

#[cfg(test)]
mod tests;
