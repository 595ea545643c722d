//! Exports: the cells of tables, snapshots, stores and HFiles in files of other formats.
//!
//! ```text
//! source               what is exported, in parts: a region, a row range, an HFile
//! run                  the parts, on some threads
//! resumable_directory  OUT: what an earlier run left, the manifest after each part
//! lock                 one export at a time writes to OUT
//! manifest             manifest.json: the source, the options, and the files of each complete part
//! source_state         the files of the source, by which a changed source is recognised
//! names                the names of files, by which those of a stopped run are recognised
//! hash                 hashes of texts, in both
//! part                 cells of one part → files, cut at --max-file-size
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
