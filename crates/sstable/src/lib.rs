//! Apache HBase store files (HFile v3), written and read.

mod cell;
mod error;
mod source;
mod text;
mod trace;
mod units;

pub use cell::{Cell, CellRef, CellType, KeyRef};
pub use error::{BlockType, Damage, Error, FileName, Result};
pub use source::{FileSource, ReadAt};
pub use text::{escape, unescape};
pub use trace::{BlockKind, BlockSource, ReadCounters, ReadTrace};
pub use units::{BlockOffset, SequenceId, Timestamp};
