//! `hfile snapshot` and `hfile table`: read root directories of HBase.
//!
//! ```text
//! snapshot, table      the two nouns and their help; they have the same verbs
//! place, cell_options  arguments of several verbs
//! scan, get            one module per verb
//! ```

mod cell_options;
mod get;
mod place;
mod scan;
mod snapshot;
mod table;

pub(crate) use self::snapshot::SnapshotVerbs;
pub(crate) use self::table::TableVerbs;
