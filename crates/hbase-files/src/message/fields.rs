//! The fields of a protobuf message, one at a time.
//!
//! A manifest has a message for each file of a table. Decoding it as a whole would allocate many
//! times its length before anything is checked.

use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

/// Iterates over the fields of a message: the number, and the bytes of a length-delimited field.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'m> {
    rest: &'m [u8],
}

/// A field: its number, and its bytes if it is length-delimited.
pub(crate) type Field<'m> = (u32, Option<&'m [u8]>);

/// The bytes end within a field, or are no field.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct NotAField;

impl<'m> Fields<'m> {
    /// Creates an iterator over the fields of a message.
    pub(crate) const fn new(message: &'m [u8]) -> Self {
        Self { rest: message }
    }

    fn read(&mut self) -> Result<Option<Field<'m>>, NotAField> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let (number, wire_type) = decode_key(&mut self.rest).map_err(|_| NotAField)?;
        if wire_type == WireType::LengthDelimited {
            let stated_len = decode_varint(&mut self.rest).map_err(|_| NotAField)?;
            let len = usize::try_from(stated_len).map_err(|_| NotAField)?;
            let (field, rest) = self.rest.split_at_checked(len).ok_or(NotAField)?;
            self.rest = rest;
            return Ok(Some((number, Some(field))));
        }
        skip_field(wire_type, number, &mut self.rest, DecodeContext::default())
            .map_err(|_| NotAField)?;
        Ok(Some((number, None)))
    }
}

impl<'m> Iterator for Fields<'m> {
    type Item = Result<Field<'m>, NotAField>;

    fn next(&mut self) -> Option<Self::Item> {
        let field = self.read().transpose()?;
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_with_their_bytes_and_cut_ones_are_refused() {
        let message = [0x08, 0x96, 0x01, 0x12, 0x02, b'a', b'b', 0x1a, 0x00];
        let all: Result<Vec<_>, _> = Fields::new(&message).collect();
        assert_eq!(all, Ok(vec![(1, None), (2, Some(&b"ab"[..])), (3, Some(&b""[..]))]));
        for len in [1, 2, 4, 5, 6, 8] {
            let mut fields = Fields::new(&message[..len]);
            assert!(fields.any(|field| field.is_err()), "{len}");
            assert!(fields.next().is_none());
        }
    }
}
