//! Exports: the cells of tables, snapshots, stores and HFiles in files of other formats.
//!
//! ```text
//! options     arguments of all verbs: --output, --to and so on
//! source      what is exported, in parts: a region, a row range, an HFile
//! run         the parts, on some threads
//! directory   OUT: what an earlier run left, the manifest after each part
//! lock        one export at a time writes to OUT
//! manifest    manifest.json: the source, the options, and the files of each complete part
//! state       the files of the source, by which a changed source is recognised
//! names       the names of files, by which those of a stopped run are recognised
//! part        cells of one part → files, cut at --max-file-size
//! sink        cells → the bytes of one file, by format
//! form        which format, which columns, which options
//! ```

mod directory;
mod form;
mod lock;
mod manifest;
mod names;
mod options;
mod part;
mod report;
mod run;
mod sink;
mod source;
mod state;

pub(crate) use self::form::{ExportFormat, Form, FormOptions};
pub(crate) use self::manifest::Source;
pub(crate) use self::options::ExportOptions;
pub(crate) use self::run::Export;
pub(crate) use self::source::{ExportSource, Part, PartCells};
pub(crate) use self::state::{SourceFile, SourceState};
