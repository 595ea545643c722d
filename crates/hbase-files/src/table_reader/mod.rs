//! Reads which regions and store files a table has, from a root directory or a snapshot with layout version 0.
//!
//! `from_root.rs` has the order of the steps. `region_directory.rs` reads the directories of the regions, `meta.rs` the
//! regions that `hbase:meta` lists, and `region_rules.rs` decides which of both count. `recovered.rs` adds the files that HBase would add when it opens a region.
//! `last_opening.rs` finds the regions whose logs are gone,
//! `family_directories.rs` the missing directories of families; `found.rs` collects what is wrong.

mod family_directories;
pub(crate) mod found;
mod from_root;
mod last_opening;
mod meta;
pub(crate) mod recovered;
pub(crate) mod region_directory;
pub(crate) mod region_rules;

pub(crate) use self::from_root::TableReader;
