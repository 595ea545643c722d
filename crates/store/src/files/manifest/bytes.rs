//! Byte strings with a length of one byte, and flags of one byte, in a manifest.

use std::io;

use byteorder::{ReadBytesExt, WriteBytesExt};

/// Why the bytes of a manifest are refused.
pub(super) struct Invalid(pub(super) &'static str);

impl From<io::Error> for Invalid {
    fn from(_: io::Error) -> Self {
        Self("ends too early")
    }
}

/// Writes a length of one byte, then the bytes: 255 at most.
pub(super) fn write_short_bytes(out: &mut Vec<u8>, bytes: &[u8]) -> io::Result<()> {
    out.write_u8(bytes.len().try_into().expect("names are short"))?;
    out.extend_from_slice(bytes);
    Ok(())
}

pub(super) fn read_short_bytes(bytes: &mut &[u8]) -> Result<Vec<u8>, Invalid> {
    let len = bytes.read_u8()?;
    read_bytes(bytes, len.into())
}

pub(super) fn read_bytes(bytes: &mut &[u8], len: usize) -> Result<Vec<u8>, Invalid> {
    let (taken, rest) = bytes.split_at_checked(len).ok_or(Invalid("ends too early"))?;
    *bytes = rest;
    Ok(taken.to_vec())
}

pub(super) fn read_flag(bytes: &mut &[u8]) -> Result<bool, Invalid> {
    match bytes.read_u8()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Invalid("a flag is neither 0 nor 1")),
    }
}
