//! HBase's write-ahead logs (WALs): `ROOT/WALs/SERVER/FILE`, `ROOT/oldWALs/FILE` and the files of
//! `recovered.edits`.
//!
//! ```text
//! file     "PWAL" | header | entry | entry | … | trailer
//! entry    key (region, table, sequence id, write time, number of cells) | cell | cell | …
//! ```
//!
//! `header.rs` and `trailer.rs` have the two ends of a file, `entry.rs` has the key of an entry,
//! `plain.rs` and `compressed.rs` have the two cell codecs, `entry_decoder.rs` reads an entry by either. The
//! compressed codec uses the dictionaries of `dictionary.rs`. `input.rs` reads the bytes, and `reader.rs`
//! iterates over the entries.
//!
//! A file without a trailer was not closed: the server still writes it, or died. Its last entry may be
//! torn, that is, cut off by the end of the file. The reader returns the whole entries before it;
//! [`Reader::end`] then tells where the torn entry begins. If a sound entry follows the cut one, the
//! file is not torn but damaged; `resync.rs` looks for it, in logs without dictionaries. There
//! [`Reader::skip_damage`] also finds where to go on after damage.
//!
//! If the server of a torn log went on in another log, the torn one was not its last: [`LogContinuation`] tells whether entries
//! may be lost.
//!
//! A log has no checksums; HBase relies on the checksums of HDFS. The reader cannot detect changed bytes
//! that still form a valid entry.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use hbase_files::wal::{End, Reader};
//! use sstable::{FileName, FileSource};
//!
//! let path = "hbase/WALs/host,16020,1700000000000/host%2C16020%2C1700000000000.1700000001000";
//! let mut reader = Reader::open(Arc::new(FileSource::open(path)?), FileName::new(path))?;
//! for entry in &mut reader {
//!     let entry = entry?;
//!     for cell in entry.data_cells() {
//!         println!("{} {} {:?}", entry.table, entry.region, cell.as_ref());
//!     }
//! }
//! if let Some(End::Torn { offset, .. }) = reader.end() {
//!     println!("the last entry is torn at offset {offset}");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod compressed;
mod continuation;
mod dictionary;
mod entry;
mod entry_decoder;
mod error;
mod header;
mod input;
mod limits;
pub(crate) mod marker;
mod plain;
mod reader;
pub(crate) mod region_events;
pub(crate) mod region_log;
mod resync;
mod skipped;
mod trailer;

pub use continuation::{LogContinuation, SequenceGap};
pub use entry::{LogEntry, is_marker};
pub use error::{Error, Result};
pub use header::{LogHeader, ValueCompression};
pub use reader::{End, LogPart, Reader};
pub use skipped::{SkipEnd, SkippedBytes};
