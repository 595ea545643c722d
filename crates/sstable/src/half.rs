//! References to one half of a file of the parent region, between a split and the next compaction.
//!
//! After a split, a daughter region has no data files, only references to one half of each file of
//! the parent. The layout of a reference:
//!
//! | bytes | field     | meaning                                                                |
//! |------:|-----------|------------------------------------------------------------------------|
//! |     4 | magic     | `PBUF`                                                                 |
//! |       | message   | `Reference`: split key (1) and range (2; 0 top, 1 bottom), to the end  |
//!
//! The legacy layout is a boolean byte (top or not), the length of the split key as an hvlong, and
//! the split key. The bottom half has the cells before the split key, the top half all others.
//! HBase: `Reference`.

use cells::{BlockOffset, FileName, KeyRef};
use prost::Message;

use crate::error::{Damage, Result};
use crate::input::Input;

/// A half of a file.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Half {
    /// The cells from the split key on.
    Top,
    /// The cells before the split key.
    Bottom,
}

/// A reference to one half of a file: the split key and the half.
///
/// ```
/// use sstable::{FileName, Half, Reference};
///
/// let reference = Reference::new(b"row5", Half::Top);
/// assert_eq!(Reference::parse(&reference.to_bytes(), &FileName::new("4f1c.9a"))?, reference);
/// assert_eq!(reference.split_key().row, b"row5");
/// # Ok::<(), sstable::Error>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reference {
    split_key: Vec<u8>,
    half: Half,
}

/// The message `Reference` of HBase's `HBase.proto`.
#[derive(Clone, PartialEq, Message)]
struct ReferenceMessage {
    #[prost(bytes = "vec", optional, tag = "1")]
    split_key: Option<Vec<u8>>,
    #[prost(int32, optional, tag = "2")]
    range: Option<i32>,
}

impl Reference {
    const MAGIC: &'static [u8] = b"PBUF";

    /// Returns a reference to a half of a file that is split before `row`.
    ///
    /// # Panics
    ///
    /// If the row exceeds the maximum length.
    pub fn new(row: &[u8], half: Half) -> Self {
        let mut split_key = Vec::new();
        KeyRef::before_row(row).write_flat(&mut split_key);
        Self { split_key, half }
    }

    /// Parses a reference; `name` is used in error messages.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the bytes are not a reference.
    pub fn parse(bytes: &[u8], name: &FileName) -> Result<Self> {
        let damaged = || {
            let what = "no reference to a half of a file".into();
            Damage { at: BlockOffset::default(), block: None, what }.in_file(name)
        };
        let parsed = match bytes.strip_prefix(Self::MAGIC) {
            Some(message) => Self::parse_message(message),
            None => Self::parse_legacy(bytes),
        };
        parsed.filter(|reference| KeyRef::parse(&reference.split_key).is_some()).ok_or_else(damaged)
    }

    fn parse_message(message: &[u8]) -> Option<Self> {
        let ReferenceMessage { split_key, range } = ReferenceMessage::decode(message).ok()?;
        let half = match range? {
            0 => Half::Top,
            1 => Half::Bottom,
            _ => return None,
        };
        Some(Self { split_key: split_key?, half })
    }

    fn parse_legacy(bytes: &[u8]) -> Option<Self> {
        let mut input = Input::new(bytes);
        let half = if input.u8()? == 0 { Half::Bottom } else { Half::Top };
        let len = usize::try_from(input.hvlong()?).ok()?;
        let split_key = input.take(len)?.to_vec();
        input.is_empty().then_some(Self { split_key, half })
    }

    /// Encodes the reference.
    pub fn to_bytes(&self) -> Vec<u8> {
        let range = match self.half {
            Half::Top => 0,
            Half::Bottom => 1,
        };
        let message =
            ReferenceMessage { split_key: Some(self.split_key.clone()), range: Some(range) };
        [Self::MAGIC, &message.encode_to_vec()].concat()
    }

    /// The half that is referred to.
    pub const fn half(&self) -> Half {
        self.half
    }

    /// The split key: the smallest key that the top half can have.
    ///
    /// # Panics
    ///
    /// Never: the key was parsed before the reference was made.
    pub fn split_key(&self) -> KeyRef<'_> {
        KeyRef::parse(&self.split_key).expect("the key of a reference was parsed before")
    }

    /// Whether a key belongs to this half. Compares bytewise: `hbase:meta` is never split.
    pub fn holds(&self, key: &KeyRef<'_>) -> bool {
        (*key >= self.split_key()) == (self.half == Half::Top)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_layouts_of_references_are_parsed_and_other_bytes_are_rejected() {
        let name = FileName::new("reference");
        let reference = Reference::new(b"row", Half::Bottom);
        let mut old = vec![0, reference.split_key.len() as u8];
        old.extend_from_slice(&reference.split_key);
        assert_eq!(Reference::parse(&old, &name).unwrap(), reference);
        old[0] = 1;
        assert_eq!(Reference::parse(&old, &name).unwrap(), Reference::new(b"row", Half::Top));
        old.push(0);
        assert!(Reference::parse(&old, &name).is_err());
        let top = Reference::new(b"row", Half::Top);
        assert_eq!(Reference::parse(&top.to_bytes(), &name).unwrap(), top);
        let unknown = [&top.to_bytes()[..top.to_bytes().len() - 1], &[2]].concat();
        assert!(Reference::parse(&unknown, &name).is_err());
        let bytes = reference.to_bytes();
        assert_eq!(&bytes[..6], b"PBUF\x0a\x0f");
        assert_eq!(&bytes[bytes.len() - 2..], b"\x10\x01");
        for len in 0..bytes.len() {
            assert!(Reference::parse(&bytes[..len], &name).is_err(), "{len}");
        }
        assert!(Reference::parse(b"DATABLK*", &name).is_err());
    }
}
