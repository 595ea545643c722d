//! `hfile snapshot` and `hfile table`: read root directories of HBase.
//!
//! ```text
//! snapshot, table      the two nouns and their help; they have the same verbs
//! place, log_options   the arguments that name a table, and the options of its logs
//! list, info, verify, scan, get, export    one module per verb
//! contents             regions, families and files as `info` reports them
//! ```

mod contents;
mod export;
mod get;
mod info;
mod list;
mod log_options;
mod place;
mod scan;
mod snapshot;
mod table;
mod verify;

pub(crate) use self::snapshot::SnapshotVerbs;
pub(crate) use self::table::TableVerbs;
