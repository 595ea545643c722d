//! The bytes of a split, as one process writes them for another with the same version of this crate.
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
use sstable::Comparator;

use super::scan_message::ScanMessage;
use super::scan_split::{ScanSplit, SplitSource};
use super::table_message::{TableMessage, text};
use crate::error::{Error, Result};
use crate::tree::FileTree;

const MAGIC: &[u8] = b"HFSP";
const VERSION: u8 = 1;
const CRATE_VERSION: &str = env!("CARGO_PKG_VERSION");
/// The maximum length of a split, which bounds what is allocated for one from outside. A file takes about 50 bytes.
const LEN_MAX: usize = 4 << 20;
const SAME_VERSION: &str = "install the same version of hfile everywhere";

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
    /// Whether the HFile has the order of `hbase:meta`.
    #[prost(bool, tag = "5")]
    has_meta_order: bool,
    /// A field that another version adds may limit a scan, and this one would not know it.
    #[prost(string, tag = "6")]
    crate_version: String,
    #[prost(bytes = "vec", tag = "7")]
    attachment: Vec<u8>,
}

impl ScanSplit {
    /// Returns the split as bytes, from which [`from_bytes`](Self::from_bytes) makes it in another process.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSplit`] if a path is not UTF-8, or the region has too many files: about 50,000.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let invalid = |what| Error::InvalidSplit { what };
        let mut message = SplitMessage {
            scan: Some(ScanMessage::new(&self.scan).map_err(invalid)?),
            len: self.len,
            crate_version: CRATE_VERSION.to_owned(),
            attachment: self.attachment.clone(),
            ..SplitMessage::default()
        };
        match &self.source {
            SplitSource::Table(table) => {
                message.table = Some(TableMessage::new(table).map_err(invalid)?);
            }
            SplitSource::File { path, order, .. } => {
                message.file = Some(text(path).map_err(invalid)?);
                message.has_meta_order = *order == Comparator::Meta;
            }
        }
        let encoded = message.encode_to_vec();
        if encoded.len() > LEN_MAX {
            let what = format!("it has {} bytes, at most {LEN_MAX} are read", encoded.len());
            return Err(invalid(what));
        }
        let checksum = crc_fast::crc32_iso_hdlc(&encoded).to_be_bytes();
        Ok([MAGIC, &[VERSION], &checksum, &encoded].concat())
    }

    /// Makes a split of bytes. Reads no file.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSplit`] if the bytes are damaged, or of another version.
    pub fn from_bytes(bytes: &[u8], tree: Arc<dyn FileTree>) -> Result<Self> {
        parse(bytes, tree).map_err(|what| Error::InvalidSplit { what })
    }
}

fn parse(bytes: &[u8], tree: Arc<dyn FileTree>) -> Result<ScanSplit, String> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("the bytes are not those of a split")?;
    let (version, after_version) = rest.split_first().ok_or("it is cut off")?;
    if *version != VERSION {
        return Err(format!(
            "it has the format {version}, this build reads {VERSION}; {SAME_VERSION}"
        ));
    }
    let (checksum, message) = after_version.split_first_chunk::<4>().ok_or("it is cut off")?;
    if message.len() > LEN_MAX {
        return Err(format!("it has {} bytes, more than {LEN_MAX}", message.len()));
    }
    if crc_fast::crc32_iso_hdlc(message) != u32::from_be_bytes(*checksum) {
        return Err("its checksum does not fit: it is damaged".to_owned());
    }
    let SplitMessage { scan, len, table, file, has_meta_order, crate_version, attachment } =
        SplitMessage::decode(message).map_err(|error| error.to_string())?;
    if crate_version != CRATE_VERSION {
        return Err(format!(
            "it is of version {crate_version}, this is {CRATE_VERSION}; {SAME_VERSION}"
        ));
    }
    let order = if has_meta_order { Comparator::Meta } else { Comparator::Bytes };
    let source = match (table, file) {
        (Some(table), None) => SplitSource::Table(Arc::new(table.into_table(&tree)?)),
        (None, Some(path)) => SplitSource::File { path: path.into(), tree, order },
        _ => return Err("it has not one source".to_owned()),
    };
    let scan_message = scan.ok_or("it has no scan")?;
    Ok(ScanSplit { source, scan: scan_message.into_scan()?, len, attachment })
}
