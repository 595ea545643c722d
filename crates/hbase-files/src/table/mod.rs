//! A table: its schema, its regions and their store files, as types and as rules about single files.
//!
//! Nothing here goes through the directory of a table: the folder `table_reader` finds its regions and files.
//!
//! | to find                                                   | file                                   |
//! |-----------------------------------------------------------|----------------------------------------|
//! | where the files of a table are in a root directory        | `root_paths.rs`                        |
//! | the types of a table, its regions and families            | `regions.rs`                           |
//! | what HBase writes of a table and of a region              | `schema.rs`, `region_info.rs`          |
//! | a store file, its age, and the HFile that has its cells   | `store_file.rs`, `entry.rs`, `file_sequence.rs`, `location.rs` |
//! | the cells of a store file                                 | `store_file_reader.rs`                 |
//! | rows that divide a table into equal parts                 | `split_rows.rs`                        |
//! | the statement that creates such a table                   | `create_statement.rs`                  |
//! | the logs that may have unflushed cells                    | `log_files.rs`, `table_log.rs`         |
//! | the logs of a region that are gone                        | `lost_logs.rs`                         |
//! | the compactions that only the logs name                   | `logged_compactions.rs`                |
//! | which files of a family count                             | `family_files.rs`, `tracker.rs`, `tracker_setting.rs` |
//! | whether an HFile belongs in its place                     | `identity_check.rs`                    |
//! | the files, regions and rows that a problem affects        | `problem_place.rs`                     |

mod create_statement;
pub(crate) mod entry;
pub(crate) mod family_files;
mod file_sequence;
pub(crate) mod identity_check;
mod location;
pub(crate) mod log_files;
pub(crate) mod logged_compactions;
pub(crate) mod lost_logs;
pub(crate) mod problem_place;
pub(crate) mod region_info;
mod regions;
pub(crate) mod root_paths;
pub(crate) mod schema;
mod split_rows;
pub(crate) mod store_file;
mod store_file_reader;
pub(crate) mod table_log;
pub(crate) mod tracker;
pub(crate) mod tracker_setting;

pub use self::entry::{EntryKind, ListedFile, identify};
pub use self::file_sequence::FileSequence;
pub use self::location::Location;
pub use self::region_info::RegionInfo;
pub(crate) use self::regions::locate_mob;
pub use self::regions::{Family, LeftOut, LeftOutReason, Region, RegionsBy, Table};
pub use self::schema::{FamilySchema, TableSchema};
pub use self::split_rows::split_rows;
pub use self::store_file::StoreFile;
pub use self::store_file_reader::{CellScanner, StoreFileReader};
pub use self::tracker::{TrackedFile, TrackedFiles};
