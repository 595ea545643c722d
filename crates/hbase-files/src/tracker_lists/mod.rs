//! Makes new lists for store file trackers from the files that are in the directories of the families.
//!
//! | to find                                                        | file             |
//! |----------------------------------------------------------------|------------------|
//! | the regions and families of a table, and the list of each      | `table_lists.rs` |
//! | what is read of a file, and which files can be listed at all   | `candidate.rs`   |
//! | the copies that bulk loads left                                | `loaded_copies.rs` |
//! | when a readable file is not listed, as a table of cases        | `rules.rs`       |
//! | the decisions about files, as the caller sees them             | `decision.rs`    |
//!
//! Nothing here writes a file.

mod candidate;
mod decision;
mod loaded_copies;
mod rules;
mod table_lists;

pub use self::decision::{DecidedFile, FileDecision, FileKind};
pub use self::table_lists::{ListRebuild, RebuiltList, RebuiltLists};
