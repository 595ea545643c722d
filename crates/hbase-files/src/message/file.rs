//! Files that have one message, read into memory.
//!
//! | file                         | bytes                                                |
//! |------------------------------|------------------------------------------------------|
//! | `.snapshotinfo`, `data.manifest`, `region-manifest.*` | the message                 |
//! | `.tableinfo.N.LEN`           | `PBUF`, the message                                  |
//! | `.regioninfo`                | `PBUF`, the length of the message as a varint, the message |

use std::path::Path;

use prost::encoding::decode_varint;

use crate::error::{Error, Result};
use crate::tree::FileTree;

/// The first bytes of most of HBase's protobuf files.
const MAGIC: &[u8] = b"PBUF";

/// Reads a whole file of at most `len_max` bytes.
///
/// # Errors
///
/// [`Error::Damaged`] if the file is longer, [`Error::Io`] if it cannot be read.
pub(crate) fn read_file(tree: &dyn FileTree, path: &Path, len_max: u64) -> Result<Vec<u8>> {
    let source = tree.open(path).map_err(Error::io(path, "open it"))?;
    let len = source.len();
    if len > len_max {
        let what = format!("has {len} bytes; the limit for this file is {len_max}");
        return Err(Error::Damaged { path: path.to_owned(), what });
    }
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
    source.read_exact_at(&mut bytes, 0).map_err(Error::io(path, "read it"))?;
    Ok(bytes)
}

/// Returns the message after the magic.
pub(crate) fn after_magic(bytes: &[u8]) -> Result<&[u8], String> {
    bytes.strip_prefix(MAGIC).ok_or_else(|| "does not begin with PBUF".to_owned())
}

/// Returns the message after the magic and its length.
pub(crate) fn delimited_after_magic(bytes: &[u8]) -> Result<&[u8], String> {
    let mut rest = after_magic(bytes)?;
    let len = decode_varint(&mut rest).ok().and_then(|len| usize::try_from(len).ok());
    let message = len.and_then(|len| rest.get(..len));
    message.ok_or_else(|| "ends within the message".to_owned())
}
