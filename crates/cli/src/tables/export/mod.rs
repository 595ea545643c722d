//! `hfile snapshot export` and `hfile table export`: write the cells of a table to files.
//!
//! ```text
//! verb        arguments; the regions, on some threads
//! directory   OUT: its lock, what an earlier run left, the manifest after each region
//! manifest    manifest.json: the source, the options, and the files of each complete region
//! region      cells of one region → files, cut at --max-file-size
//! sink        cells → the bytes of one file, by format
//! form        which format, which columns, which options
//! ```

mod directory;
mod form;
mod manifest;
mod region;
mod report;
mod sink;
mod verb;

pub(super) use self::verb::Export;
