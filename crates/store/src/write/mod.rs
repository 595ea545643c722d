//! Writes: a batch is checked, appended to the log, and added to the memstores.
//!
//! ```text
//! mutation            puts, deletes, batches ───────────┐
//! read_modify_write   cells computed from stored cells ─┴─ accepted_batch ─ log ─ memstores
//! row_times           the timestamps of cells without one
//! ```

pub(crate) mod accepted_batch;
#[cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]
pub(crate) mod log;
pub(crate) mod mutation;
pub(crate) mod read_modify_write;
pub(crate) mod replace;
pub(crate) mod row_times;
