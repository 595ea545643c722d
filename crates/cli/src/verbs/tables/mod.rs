//! `hfile snapshot` and `hfile table`: read root directories of HBase.
//!
//! ```text
//! snapshot, table      the two nouns and their help; they have the same verbs
//! place, log_options   the arguments that name tables, and the options of their logs
//! several              runs a verb for one, several or all
//! list, info, describe, verify, scan, get, export    one module per verb
//! line                 a table or snapshot as one line of `ls` and `info`
//! filelist             makes new lists of store file trackers
//! contents             regions, families and files as `info` reports them
//! ```

mod contents;
mod describe;
mod export;
mod filelist;
mod get;
mod info;
mod line;
mod list;
mod log_options;
mod place;
mod scan;
mod several;
mod snapshot;
mod table;
mod verify;

pub(crate) use self::snapshot::SnapshotVerbs;
pub(crate) use self::table::TableVerbs;
