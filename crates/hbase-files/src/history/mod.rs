//! The history of the store files of a table, by the files themselves and by its logs.
//!
//! | to find                                                  | file                |
//! |----------------------------------------------------------|---------------------|
//! | whether a compaction has replaced a file                 | `replaced_files.rs` |
//! | whether it is explained that a file of a family is gone  | `file_history.rs`   |
//! | the files of a table that are gone, and the evidence     | `file_search.rs`    |
//!
//! A scan with logs and `verify` search for files that are gone, so that both agree.

mod file_history;
mod file_search;
mod replaced_files;

pub(crate) use file_search::{FileLoss, FileSearch};
pub(crate) use replaced_files::{FamilyFile, ReplacedFiles, only_logs_can_tell};
