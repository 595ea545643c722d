//! Verifies and salvages a store without opening or changing it.
//!
//! ```text
//! plan ─ manifest, or the directories if it is damaged ─┬ verify   each file and its problems
//!                                                       └ salvage  copies sound cells into a new store
//! ```

mod file_report;
mod files;
mod files_on_disk;
mod plan;
mod salvage;
mod verify;

pub use file_report::{FileKind, FileProblem, FileReport, VerifyEvent};
pub use salvage::{SalvageOutcome, salvage};
pub use verify::{VerifyOutcome, verify};
