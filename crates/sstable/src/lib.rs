//! Reads and writes Apache HBase store files (HFile v3), without a JVM.
//!
//! An HFile is an immutable sorted file of cells. It has data blocks, an index over the blocks, and
//! Bloom filters, so a read of one row decodes at most one or two blocks. HBase 2 opens and
//! bulk-loads the files that this crate writes.
//!
//! Cells are appended in the order of their keys: row, family and qualifier ascending, then
//! timestamp descending. A cell out of order is an error.
//!
//! ```
//! use sstable::{
//!     BloomType, CellRef, Compression, DataBlockEncoding, FileName, Timestamp, Writer, WriterOptions,
//! };
//!
//! let options = WriterOptions::default()
//!     .compression(Compression::Lz4)
//!     .data_block_encoding(DataBlockEncoding::FastDiff)
//!     .bloom_type(BloomType::Row);
//! let mut writer = Writer::new(Vec::new(), FileName::new("users.hfile"), options)?;
//! for (row, name) in [("row1", "Ada"), ("row2", "Alan"), ("row3", "Grace")] {
//!     let time = Timestamp::new(1_700_000_000_000);
//!     writer.append(CellRef::put(row.as_bytes(), b"f", b"name", time, name.as_bytes()))?;
//! }
//! // A writer takes any `io::Write`; for a file, sync it before you rename it into place.
//! let (bytes, summary) = writer.finish()?;
//! assert_eq!((summary.cell_count, summary.len), (3, bytes.len() as u64));
//! # Ok::<(), sstable::Error>(())
//! ```
//!
//! By default the file has HBase's Bloom filter. [`WriterOptions::filter`] adds one of the crate
//! `filter`; [`FilterOptions`] has an example.
//!
//! # Where to go
//!
//! | to …                                          | use                                              |
//! |-----------------------------------------------|--------------------------------------------------|
//! | write a file                                  | [`Writer`], [`WriterOptions`]                    |
//! | open a file, or any source of bytes           | [`Reader::open_file`], [`Reader::open`], [`ReadAt`] |
//! | read one row, or a range                      | [`Reader::row`], [`Reader::scanner`], [`Scanner::until`] |
//! | read a whole file fast                        | [`Reader::bulk_scanner`]                         |
//! | search many files for a row, newest first     | [`lookup`]: for engines whose files are HFiles   |
//! | share decoded blocks among files              | [`BlockCache`], [`ReaderOptions::cache`]         |
//! | parse a reference to the half of a file        | [`Reference`]                                    |
//! | look into a file                              | [`Reader::trailer`], [`Reader::file_info`], [`Reader::index`], [`Reader::filters`] |
//! | check or repair a file                        | [`verify`], [`salvage`]                          |
//!
//! # Read a file
//!
//! [`Reader::open_file`] reads the end of a file. A get asks the filters, then reads the data block
//! of the row. A scan moves over cells without copying them.
//!
//! ```
//! use sstable::{Caching, KeyRef, Reader, ReaderOptions};
//!
//! # let path = "testdata/s01-default.hfile";
//! let reader = Reader::open_file(path, ReaderOptions::default())?;
//!
//! // One row. The trace counts what the get cost.
//! let row = reader.first_row().expect("the file has cells");
//! let mut cells = reader.row(row)?;
//! while let Some(cell) = cells.cell() {
//!     println!("{cell:?}: {}", cell.value.escape_ascii());
//!     cells.advance()?;
//! }
//! assert_eq!(cells.trace().data_blocks(), 1);
//!
//! // A range of rows, through the cache; `bulk_scanner` reads whole files faster.
//! let mut scanner = reader.scanner(Caching::Use).until(KeyRef::before_row(b"s"));
//! scanner.seek(KeyRef::before_row(row))?;
//! let mut count = 0;
//! while let Some(cell) = scanner.cell() {
//!     count += u64::from(!cell.cell_type.is_delete());
//!     scanner.advance()?;
//! }
//! assert!(count > 0);
//! # Ok::<(), sstable::Error>(())
//! ```
//!
//! Clones of a [`Reader`] share the open file.
//!
//! # Read from elsewhere
//!
//! [`Reader::open`] takes any [`ReadAt`]: positioned reads of bytes that do not change. `Bytes` and
//! [`FileSource`] implement it. An object store does so with one range request a read:
//!
//! ```
//! use std::io;
//! use std::sync::Arc;
//!
//! use sstable::{FileName, ReadAt, Reader, ReaderOptions};
//!
//! struct RemoteObject {
//!     url: String,
//!     len: u64, // Of a HEAD request, when the object is opened.
//! }
//!
//! impl ReadAt for RemoteObject {
//!     fn len(&self) -> u64 {
//!         self.len
//!     }
//!
//!     fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
//!         let end = offset + buffer.len() as u64;
//!         let body = fetch_range(&self.url, offset..end)?;
//!         if body.len() != buffer.len() {
//!             return Err(io::ErrorKind::UnexpectedEof.into());
//!         }
//!         buffer.copy_from_slice(&body);
//!         Ok(())
//!     }
//! }
//! # fn fetch_range(_: &str, range: std::ops::Range<u64>) -> io::Result<Vec<u8>> {
//! #     let object = include_bytes!("../testdata/s01-default.hfile");
//! #     Ok(object[range.start as usize..range.end as usize].to_vec())
//! # }
//! # let len = include_bytes!("../testdata/s01-default.hfile").len() as u64;
//!
//! let object = RemoteObject { url: "https://bucket.example/4f1c".to_owned(), len };
//! let name = FileName::new(object.url.as_str()); // What errors call the file.
//! let reader = Reader::open(Arc::new(object), name, ReaderOptions::default())?;
//! assert!(reader.trailer().entry_count > 0);
//! # Ok::<(), sstable::Error>(())
//! ```
//!
//! # Errors and limits
//!
//! Bytes from outside never cause a panic. [`Error`] tells a damaged file from one that needs a
//! missing feature and from a failed read; each names the file, and damage its offset and block.
//! Before memory is allocated, sizes are compared with [`Limits`].
//!
//! ```
//! use std::sync::Arc;
//!
//! use bytes::Bytes;
//! use sstable::{Error, FileName, Limits, Reader, ReaderOptions};
//!
//! let source = Arc::new(Bytes::from_static(b"not an HFile"));
//! let options = ReaderOptions::default().limits(Limits::default().block_len_max(64 << 20));
//! let text = match Reader::open(source, FileName::new("upload"), options) {
//!     Ok(reader) => format!("{} cells", reader.trailer().entry_count),
//!     Err(Error::Corrupt { damage, .. }) => format!("damaged at {}: {}", damage.at, damage.what),
//!     Err(Error::Unsupported { feature, found, .. }) => format!("needs the {feature} {found}"),
//!     Err(Error::Io { source, .. }) => format!("not read, a retry may help: {source}"),
//!     Err(error) => return Err(error),
//! };
//! assert!(text.starts_with("damaged at"));
//! # Ok::<(), Error>(())
//! ```
//!
//! Blocks are checked when they are read, with the file's checksums. Not supported, and refused with
//! [`Error::Unsupported`]: HFile v1 and v2 before HBase 1, HFile v4, encrypted files, and the codecs LZO,
//! BZIP2, LZMA and BROTLI. ZSTD needs the feature `zstd`.

// What decodes bytes of files warns of an index, a conversion or a sum that could go wrong. Exceptions stand where their
// modules are declared.
#[cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]
mod block;
mod buffers;
mod cache;
#[cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]
mod checksum;
#[cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]
mod compression;
#[cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]
mod encoding;
mod error;
#[cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]
mod file;
#[cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]
mod half;
#[cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]
mod input;
#[cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]
mod limits;
pub mod lookup;
mod own_process;
mod probe;
mod reader;
mod row_cells;
mod row_digits;
#[cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]
mod scan;
#[cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]
mod source;
#[doc(hidden)]
pub mod tools;
mod trace;
mod verify;
mod write;

pub use block::{BlockHeader, BloomType};
pub use cache::{BlockCache, CacheStats};
pub use checksum::ChecksumType;
pub use compression::{Compression, ZstdFraming};
pub use encoding::DataBlockEncoding;
pub use error::{BlockType, Damage, Error, Result};
pub use file::file_info::{FileInfo, FileInfoValue, TimeRange};
pub use file::filters::chunked_bloom::BloomSummary;
pub use file::filters::filter_answer::FilterAnswer;
pub use file::filters::row_filter::FilterSummary;
pub use file::options::{Caching, FilterUse, ReaderOptions};
pub use file::parts::{FileBlocks, FileFilters, FileIndex};
pub use file::trailer::Trailer;
pub use half::{Half, Reference};
pub use limits::Limits;
pub use probe::RowProbe;
pub use reader::Reader;
pub use row_cells::RowCells;
pub use scan::scanner::Scanner;
pub use source::{FileSource, ReadAt};
pub use trace::{BlockKind, BlockSource, ReadTrace};
pub use verify::{LostRange, LostRows, PROBLEMS_MAX, Verification, salvage, verify};
pub use write::{
    FileSummary, FilterOptions, HBaseVersion, InvalidOptions, RegionFile, RegionFiles, Writer,
    WriterOptions,
};

pub use cells::{
    BlockOffset, Cell, CellRef, CellType, Comparator, FileName, KeyRef, SequenceId, Timestamp,
};
pub use filter::hbase::HashType;

/// The examples of the README, as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
