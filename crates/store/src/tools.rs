//! What the command line and the crates above need, without a promise of stability.

pub use crate::files::manifest::FILE_ID_KEY;
pub use crate::inspect::{
    FileKind, FileProblem, FileReport, SalvageOutcome, VerifyEvent, VerifyOutcome, salvage, verify,
};
pub use crate::maintenance::compaction::progress::{CompactionPhase, CompactionProgress};
pub use crate::store::compact;
