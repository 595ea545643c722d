//! The history of the store files of a table, by its logs: which files are gone, though nothing lists them.
//!
//! `file_history.rs` has the rules for a family, `file_search.rs` collects the evidence. A scan with logs and
//! `verify` use both, so that they agree.

mod file_history;
mod file_search;

pub(crate) use file_search::{FileLoss, FileSearch};
