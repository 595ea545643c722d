//! The verbs of the command line: a file or a folder for each.
//!
//! `tables` has `snapshot` and `table`. `group` declares groups of verbs, and `dry_run` is a part of several
//! verbs.

pub(crate) mod bench;
pub(crate) mod build;
pub(crate) mod cat;
pub(crate) mod completions;
pub(crate) mod diff;
pub(crate) mod dry_run;
pub(crate) mod export;
pub(crate) mod filter;
mod filter_query;
pub(crate) mod find;
pub(crate) mod get;
pub(crate) mod group;
pub(crate) mod info;
pub(crate) mod layout;
pub(crate) mod man;
pub(crate) mod recompress;
pub(crate) mod salvage;
pub(crate) mod stats;
pub(crate) mod store;
pub(crate) mod tables;
pub(crate) mod verify;
pub(crate) mod wal;
