//! Reads and writes Apache HBase store files (HFile v3).
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

mod block;
mod buffers;
mod cache;
mod cell;
mod checksum;
mod compression;
mod encoding;
mod error;
mod file;
mod half;
mod input;
mod key;
mod limits;
mod lookup;
#[cfg(feature = "ndjson")]
pub mod ndjson;
mod order;
mod probe;
mod reader;
mod row_head;
mod row_heads;
mod rows_between;
mod scan;
mod source;
mod text;
mod trace;
mod units;
mod verify;
mod write;

pub use block::{BloomType, Header};
pub use cache::{BlockCache, CacheStats};
pub use cell::{Cell, CellRef};
pub use checksum::ChecksumType;
pub use compression::{Compression, ZstdFraming};
pub use encoding::DataBlockEncoding;
pub use error::{BlockType, Damage, Error, FileName, Result};
pub use file::contents::{BlockContents, BlockKey};
pub use file::file_info::{FileInfo, FileInfoValue, TimeRange};
pub use file::filters::chunked_bloom::BloomSummary;
pub use file::filters::file_filters::FilterAnswer;
pub use file::filters::row_filter::FilterSummary;
pub use file::options::{Caching, FilterUse, ReaderOptions};
pub use file::parts::{FileBlocks, FileFilters, FileIndex};
pub use file::trailer::Trailer;
pub use half::{Half, HalfReader, HalfScanner, Reference};
pub use key::{CellType, KeyRef};
pub use limits::Limits;
pub use lookup::{
    BATCH_MAX, FailedRow, FileFate, FoundRow, Lookup, LookupFile, LookupFiles, LookupObserver,
    RowLookup, begin_together,
};
pub use order::Comparator;
pub use probe::RowProbe;
pub use reader::Reader;
pub use row_head::{RowHead, row_head};
pub use rows_between::RowsBetween;
pub use scan::scanner::Scanner;
pub use source::{FileSource, ReadAt};
pub use text::{escape, unescape};
pub use trace::{BlockKind, BlockSource, ReadCounters, ReadTrace};
pub use units::{BlockOffset, SequenceId, Timestamp};
pub use verify::{LostRange, LostRows, PROBLEMS_MAX, Verification, salvage, verify};
pub use write::{
    FileInfoChange, FileSummary, FilterOptions, Writer, WriterOptions, rebuild_filter,
};

pub use filter::bloom::hbase::HashType;
