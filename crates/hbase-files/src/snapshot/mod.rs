//! Snapshots: lists of the files that a table had at one time.
//!
//! ```text
//! ROOT/.hbase-snapshot/NAME/.snapshotinfo           description.rs
//!                          /data.manifest           manifest.rs, layout version 2
//!                          /.tabledesc, REGION/…    `../table_reader/region_directory.rs`, version 0
//!                          /region-manifest.REGION  of a snapshot that is not finished
//!                     /.tmp/NAME                    snapshots that are not finished
//! ```
//!
//! The description has the version of the layout. HBase: `SnapshotManifest`, `SnapshotManifestV1`
//! for version 0, `SnapshotDescriptionUtils`.

mod description;
mod manifest;
mod open;

pub(crate) use self::description::FILE as DESCRIPTION_FILE;
pub use self::description::{SnapshotDescription, SnapshotKind};
pub use self::open::Snapshot;
