//! An open file: its metadata in memory, and how each kind of block is loaded.
//!
//! ```text
//! open        trailer → roots of the indexes, file info, Bloom metas → OpenFile
//! blocks      a block from the cache, or read, verified, decompressed and decoded
//! index       maps a key to the data block that can hold it
//! filters     say whether the file can hold a row
//! ```

pub(crate) mod block_reader;
pub(crate) mod contents;
pub(crate) mod data_blocks;
pub(crate) mod file_info;
pub(crate) mod filters;
mod hudi;
pub(crate) mod index;
pub(crate) mod index_cursor;
pub(crate) mod open;
pub(crate) mod open_file;
pub(crate) mod options;
pub(crate) mod parts;
pub(crate) mod raw_block;
pub(crate) mod raw_blocks;
pub(crate) mod read_context;
pub(crate) mod trailer;
