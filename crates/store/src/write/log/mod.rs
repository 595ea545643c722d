//! The write-ahead log: every write, in order, before it is acknowledged.
//!
//! The log is a sequence of segments, `wal/<number, 16 hex digits>.wal`. A segment is created for
//! its first record, and the manifest covers its number before that record is written: so recovery
//! knows which segments must exist. A flush closes the last segment and, once the cells are in
//! store files, unlinks the segments.
//!
//! ```text
//! write      commit ─ writer ─ log_tail ─ segment, record
//! read back  recovery, inspect ─ segment_contents ─ segment_reader ─ record
//! ```

#[allow(clippy::as_conversions, clippy::arithmetic_side_effects, reason = "counts of requests")]
mod commit;
mod extent;
mod inspect;
mod log_tail;
mod record;
mod recovery;
mod request;
mod segment;
#[allow(clippy::arithmetic_side_effects, reason = "offsets within the segment")]
mod segment_contents;
#[allow(clippy::arithmetic_side_effects, reason = "offsets within the segment")]
mod segment_reader;
#[allow(
    clippy::as_conversions,
    clippy::arithmetic_side_effects,
    reason = "bytes that were written"
)]
mod writer;

pub(crate) use commit::Log;
pub(crate) use extent::LogExtent;
pub(crate) use inspect::inspect;
pub(crate) use log_tail::LogTail;
pub(crate) use record::{LoggedBatch, encode_batch};
pub(crate) use recovery::{Recovered, recover, remove_empty_segments};
pub(crate) use segment::PreviousSegment;
pub(crate) use segment_contents::{DamagedRange, InspectedSegment};
pub(crate) use segment_reader::segment_len_max;
pub(crate) use writer::LogWriter;

#[cfg(test)]
mod tests;
