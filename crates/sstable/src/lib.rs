//! Apache HBase store files (HFile v3), written and read.

mod block;
mod cell;
mod checksum;
mod compression;
mod encoding;
mod error;
mod input;
#[cfg(feature = "ndjson")]
pub mod ndjson;
mod source;
mod text;
mod trace;
mod units;

pub use block::BloomType;
pub use cell::{Cell, CellRef, CellType, KeyRef};
pub use checksum::ChecksumType;
pub use compression::Compression;
pub use encoding::DataBlockEncoding;
pub use error::{BlockType, Damage, Error, FileName, Result};
pub use source::{FileSource, ReadAt};
pub use text::{escape, unescape};
pub use trace::{BlockKind, BlockSource, ReadCounters, ReadTrace};
pub use units::{BlockOffset, SequenceId, Timestamp};
