//! Finds the regions and the store files of a table, in a root directory or a snapshot with layout version 0.
//!
//! | to find                                                       | file                    |
//! |---------------------------------------------------------------|-------------------------|
//! | the order of the steps                                        | `from_root.rs`          |
//! | the regions in the directory of the table, and their files    | `region_directory.rs`   |
//! | which files of a family count                                 | `table/family_files.rs` |
//! | the regions that `hbase:meta` lists                           | `meta.rs`               |
//! | which of the regions count                                    | `region_rules.rs`       |
//! | files and logs that HBase adds when it opens a region         | `recovered.rs`          |
//! | regions whose logs are gone                                   | `last_opening.rs`       |
//! | directories of families that are gone                         | `family_directories.rs` |
//! | what is wrong, collected in the meantime                      | `found.rs`              |
//!
//! The result is a [`Table`](crate::Table), whose types are in the folder `table`. The folder `snapshot` makes one from
//! the manifest of a newer snapshot.

mod family_directories;
pub(crate) mod found;
mod from_root;
mod last_opening;
mod meta;
pub(crate) mod recovered;
pub(crate) mod region_directory;
pub(crate) mod region_rules;

pub(crate) use self::from_root::TableReader;
