//! Apache HBase store files (HFile v3), written and read.

mod block;
mod cache;
mod cell;
mod checksum;
mod compression;
mod encoding;
mod error;
mod file_info;
mod half;
mod input;
mod key;
mod limits;
#[cfg(feature = "ndjson")]
pub mod ndjson;
mod options;
mod order;
mod probe;
mod reader;
mod row_heads;
mod rows_between;
mod scanner;
mod source;
mod text;
mod trace;
mod trailer;
mod units;
mod writer;

pub use block::{BloomType, Header};
pub use cache::{BlockCache, CacheStats};
pub use cell::{Cell, CellRef};
pub use checksum::ChecksumType;
pub use compression::{Compression, ZstdFraming};
pub use encoding::DataBlockEncoding;
pub use error::{BlockType, Damage, Error, FileName, Result};
pub use file_info::{FileInfo, TimeRange};
pub use half::{Half, HalfReader, HalfScanner, Reference};
pub use key::{CellType, KeyRef};
pub use limits::Limits;
pub use options::{FilterOptions, WriterOptions};
pub use order::Comparator;
pub use probe::RowProbe;
pub use reader::{
    BloomSummary, Caching, FilterAnswer, FilterSummary, FilterUse, KeptFilter, Lost, LostRows,
    PROBLEMS_MAX, Reader, ReaderOptions, RowSeek, RowSeeks, SharedFilter, Verification, salvage,
    verify,
};
pub use rows_between::RowsBetween;
pub use scanner::Scanner;
pub use source::{FileSource, ReadAt};
pub use text::{escape, unescape};
pub use trace::{BlockKind, BlockSource, ReadCounters, ReadTrace};
pub use trailer::Trailer;
pub use units::{BlockOffset, SequenceId, Timestamp};
pub use writer::{FileSummary, Writer, rebuild_filter};

pub use filter::bloom::hbase::HashType;
