//! Strings, flags and lengths in a manifest.

use std::io::{self, Read};

use byteorder::{ReadBytesExt, WriteBytesExt};

/// Why the bytes of a manifest are refused.
pub(super) struct Invalid(pub(super) &'static str);

impl From<io::Error> for Invalid {
    fn from(_: io::Error) -> Self {
        Self("ends too early")
    }
}

pub(super) fn write_short(out: &mut Vec<u8>, bytes: &[u8]) -> io::Result<()> {
    out.write_u8(bytes.len().try_into().expect("names are short"))?;
    out.extend_from_slice(bytes);
    Ok(())
}

pub(super) fn read_short(bytes: &mut &[u8]) -> Result<Vec<u8>, Invalid> {
    let len = bytes.read_u8()?;
    read_bytes(bytes, len.into())
}

pub(super) fn read_bytes(bytes: &mut &[u8], len: usize) -> Result<Vec<u8>, Invalid> {
    let mut taken = vec![0; len.min(bytes.len())];
    bytes.read_exact(&mut taken)?;
    if taken.len() == len { Ok(taken) } else { Err(Invalid("ends too early")) }
}

pub(super) fn read_flag(bytes: &mut &[u8]) -> Result<bool, Invalid> {
    match bytes.read_u8()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Invalid("neither yes nor no")),
    }
}
