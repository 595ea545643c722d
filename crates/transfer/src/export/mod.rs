//! Exports: the cells of tables, snapshots, stores and HFiles in files of other formats.
//!
//! ```text
//! source               what is exported, in parts: a region, a row range, an HFile
//! run                  the parts, on some threads
//! resumable_directory  the output directory: resumes an earlier export, writes manifest.json after each part
//! lock                 one export at a time writes to a directory
//! manifest             manifest.json: the source, the options, and the files of each complete part
//! source_state         the files of the source: an export of a changed source is not resumed
//! names                names of exported files; files of a stopped export are recognised by them
//! hash                 hashes of names and source states
//! part                 cells of one part → files, cut at the maximum size
//! sink                 cells → the bytes of one file, by format
//! form                 which format, which columns, which options
//! tables               a table or a snapshot as a source; stores, files: a store and HFiles
//! ```

mod files;
mod form;
mod hash;
mod lock;
mod manifest;
mod names;
mod pace;
mod part;
mod resumable_directory;
mod run;
mod sink;
mod source;
mod source_state;
mod stores;
mod tables;

pub use self::files::{ExportFile, FilesSource};
pub use self::form::{ExportForm, ExportFormat, FormOptions};
pub use self::run::Exported;
pub use self::stores::StoreSource;
pub use self::tables::TableSource;
