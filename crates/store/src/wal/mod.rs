//! The log: every write, in order, before it is acknowledged.
//!
//! It is a row of segments, `wal/<number, 16 hex digits>.wal`. A flush begins a new one, and once
//! what the older ones hold is in files, they are unlinked.

mod image;
mod inspect;
mod record;
mod recovery;
mod segment;

pub(crate) use image::segment_len_max;
pub(crate) use inspect::{Hole, InspectedSegment, inspect};
pub(crate) use record::encode_batch;
pub(crate) use recovery::{LogPlace, recover};
pub(crate) use segment::{PreviousSegment, SegmentNumber, SegmentWriter};

#[cfg(test)]
use segment::WalIdentity;
#[cfg(test)]
mod tests;
