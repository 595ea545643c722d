//! The bytes of a split, as one process writes them for another of the same version or a later one.
//!
//! | at | bytes | field      | encoding and meaning                          |
//! |---:|------:|------------|-----------------------------------------------|
//! |  0 |     4 | `magic`    | `HFSP`                                        |
//! |  4 |     1 | `version`  | 1                                             |
//! |  5 |     4 | `checksum` | u32 BE; CRC-32 of the message                 |
//! |  9 |       | `message`  | [`SplitMessage`], protobuf                    |
//!
//! The checksum is there because a changed row or time is a valid one too, and would select other cells.

use std::sync::Arc;

use prost::Message;

use super::scan_message::ScanMessage;
use super::scan_split::{ScanSplit, SplitSource};
use super::table_message::{TableMessage, text};
use crate::{Error, FileTree, Result};

const MAGIC: &[u8] = b"HFSP";
const VERSION: u8 = 1;
/// The maximum length of a split, which bounds what is allocated for one from outside. A file takes about 50 bytes.
const LEN_MAX: usize = 4 << 20;

/// A split.
#[derive(Clone, PartialEq, Message)]
struct SplitMessage {
    #[prost(message, optional, tag = "1")]
    scan: Option<ScanMessage>,
    #[prost(uint64, tag = "2")]
    len: u64,
    #[prost(message, optional, tag = "3")]
    table: Option<TableMessage>,
    /// The path of an HFile, if it is not of a table.
    #[prost(string, optional, tag = "4")]
    file: Option<String>,
}

impl ScanSplit {
    /// Returns the split as bytes, from which [`from_bytes`](Self::from_bytes) makes it in another process.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSplit`] if a path is not UTF-8, or the region has too many files: about 50,000.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let invalid = |what| Error::InvalidSplit { what };
        let (table, file) = match &self.source {
            SplitSource::Table(table) => (Some(TableMessage::new(table).map_err(invalid)?), None),
            SplitSource::File { path, .. } => (None, Some(text(path).map_err(invalid)?)),
        };
        let scan = ScanMessage::new(&self.scan).map_err(invalid)?;
        let message = SplitMessage { scan: Some(scan), len: self.len, table, file };
        let message = message.encode_to_vec();
        if message.len() > LEN_MAX {
            let what = format!("it has {} bytes, at most {LEN_MAX} are read", message.len());
            return Err(invalid(what));
        }
        let checksum = crc_fast::crc32_iso_hdlc(&message).to_be_bytes();
        Ok([MAGIC, &[VERSION], &checksum, &message].concat())
    }

    /// Makes a split of bytes. Reads no file.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSplit`] if the bytes are damaged, or of a later version.
    pub fn from_bytes(bytes: &[u8], tree: Arc<dyn FileTree>) -> Result<Self> {
        parse(bytes, tree).map_err(|what| Error::InvalidSplit { what })
    }
}

fn parse(bytes: &[u8], tree: Arc<dyn FileTree>) -> Result<ScanSplit, String> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("the bytes are not those of a split")?;
    let (version, rest) = rest.split_first().ok_or("it is cut off")?;
    if *version != VERSION {
        return Err(format!(
            "it is of version {version}, this build reads version {VERSION}; install the same version of hfile everywhere"
        ));
    }
    let (checksum, message) = rest.split_first_chunk::<4>().ok_or("it is cut off")?;
    if message.len() > LEN_MAX {
        return Err(format!("it has {} bytes, more than {LEN_MAX}", message.len()));
    }
    if crc_fast::crc32_iso_hdlc(message) != u32::from_be_bytes(*checksum) {
        return Err("its checksum does not fit: it is damaged".to_owned());
    }
    let message = SplitMessage::decode(message).map_err(|error| error.to_string())?;
    let SplitMessage { scan, len, table, file } = message;
    let source = match (table, file) {
        (Some(table), None) => SplitSource::Table(Box::new(table.into_table(&tree)?)),
        (None, Some(path)) => SplitSource::File { path: path.into(), tree },
        _ => return Err("it has not one source".to_owned()),
    };
    let scan = scan.ok_or("it has no scan")?.into_scan()?;
    Ok(ScanSplit { source, scan, len })
}
