//! Makes new lists for store file trackers from the files that are in the directories of the families.
//!
//! `table_lists.rs` goes through the regions of a table, and writes nothing itself. `candidate.rs` reads what is in
//! the directory of a family, `compaction_rules.rs` finds the files that a compaction replaced,
//! `previous.rs` compares the result with the lists that are still there, and `bulk_loaded.rs` finds copies that
//! bulk loads left. `decision.rs` has what was decided for each file.

mod bulk_loaded;
mod candidate;
mod compaction_rules;
mod decision;
mod previous;
mod table_lists;

pub use self::decision::{DecidedFile, FileDecision, FileKind};
pub use self::table_lists::{ListRebuild, RebuiltList, RebuiltLists};
