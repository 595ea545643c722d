//! What the command line and the crates above need, without a promise of stability.

pub use crate::maintenance::compaction::progress::{CompactionPhase, CompactionProgress};
pub use crate::store::compact;
