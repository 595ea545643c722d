//! A reader over untrusted bytes, and the two variable-length integers of the format.
//!
//! | integer | used for                        | bytes                                            |
//! |---------|---------------------------------|--------------------------------------------------|
//! | vint    | lengths in encoded cells and    | 7 bits per byte, least significant first; the    |
//! |         | of protobuf messages            | highest bit is set if more bytes follow          |
//! | hvlong  | lengths of index keys, sequence | −112 ..= 127: one byte, the value as i8          |
//! |         | ids                             | greater: −112 − n as i8, then the value in n     |
//! |         |                                 | bytes, big-endian                                |
//! |         |                                 | less: −120 − n as i8, then the bitwise           |
//! |         |                                 | complement of the value in n bytes, big-endian   |
//!
//! The vint is protobuf's varint. The hvlong is written by Hadoop's `WritableUtils.writeVLong`.

/// The unread rest of a byte slice.
///
/// Methods that read return `None` if bytes are missing, and then consume nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the unread bytes.
    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// Reads `len` bytes.
    pub(crate) const fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        match self.0.split_at_checked(len) {
            Some((taken, rest)) => {
                self.0 = rest;
                Some(taken)
            }
            None => None,
        }
    }

    /// Reads `N` bytes.
    pub(crate) const fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        match self.0.split_first_chunk() {
            Some((taken, rest)) => {
                self.0 = rest;
                Some(*taken)
            }
            None => None,
        }
    }

    /// Reads `len` bytes, at most 8, to the front of an array, whose other bytes are arbitrary.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as the body")]
    pub(crate) fn up_to_eight(&mut self, len: usize) -> Option<[u8; 8]> {
        let rest = self.0;
        let own = self.take(len)?;
        // Fast path: one load of 8 bytes; callers ignore the bytes after `len`.
        Some(rest.first_chunk().copied().unwrap_or_else(|| {
            let mut bytes = [0; 8];
            for (to, from) in bytes.iter_mut().zip(own) {
                *to = *from;
            }
            bytes
        }))
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    /// Reads a big-endian number.
    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    /// Reads a length or count: a big-endian i32 that is not negative.
    pub(crate) fn len_i32(&mut self) -> Option<usize> {
        usize::try_from(i32::from_be_bytes(self.array()?)).ok()
    }

    /// Reads a vint of at most five bytes and at most `i32::MAX`, as all lengths are.
    pub(crate) fn vint(&mut self) -> Option<usize> {
        // Most lengths in encoded cells are less than 128, which takes one byte.
        self.short_or(Self::long_vint)
    }

    /// Reads a vint or an hvlong: a value of 0 to 127 here, any other value by `long`.
    ///
    /// Both integers store 0 to 127 as a byte with that value. `long` takes the input by value, so
    /// that the caller can keep the input in registers.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as the body")]
    fn short_or<T: From<u8>>(&mut self, long: fn(Self) -> Option<(T, Self)>) -> Option<T> {
        if let [short @ ..0x80, rest @ ..] = self.0 {
            self.0 = rest;
            return Some(T::from(*short));
        }
        let (value, rest) = long(*self)?;
        *self = rest;
        Some(value)
    }

    /// Reads a vint of any value, and returns the value and the rest of the input.
    #[inline(never)]
    fn long_vint(mut self) -> Option<(usize, Self)> {
        let mut value = 0_u64;
        for shift in (0_u32..).step_by(7).take(5) {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                let value = i32::try_from(value).ok()?;
                return Some((usize::try_from(value).ok()?, self));
            }
        }
        None
    }

    /// Reads an hvlong.
    #[inline]
    pub(crate) fn hvlong(&mut self) -> Option<i64> {
        // In most files all sequence ids are 0, which takes one byte.
        self.short_or(Self::long_hvlong)
    }

    /// Reads an hvlong of any value, and returns the value and the rest of the input.
    #[inline(never)]
    fn long_hvlong(mut self) -> Option<(i64, Self)> {
        let first = self.u8()?.cast_signed();
        let (len, negative) = match first {
            -112..=127 => return Some((i64::from(first), self)),
            -120..=-113 => (first.abs_diff(-112), false),
            _ => (first.abs_diff(-120), true),
        };
        let mut value = 0_u64;
        for byte in self.take(len.into())? {
            value = value << 8 | u64::from(*byte);
        }
        let value = value.cast_signed();
        Some((if negative { !value } else { value }, self))
    }
}

/// Appends a vint.
pub(crate) fn write_vint(out: &mut Vec<u8>, mut value: u32) {
    while let [low, _, _, _] = value.to_le_bytes()
        && value > 0x7f
    {
        out.push(low | 0x80);
        value >>= 7;
    }
    out.extend(u8::try_from(value));
}

/// Appends an hvlong.
pub(crate) fn write_hvlong(out: &mut Vec<u8>, value: i64) {
    if let Ok(byte @ -112..=127) = i8::try_from(value) {
        out.push(byte.cast_unsigned());
        return;
    }
    let (base, magnitude) = if value < 0 { (-120_i8, !value) } else { (-112, value) };
    let bytes = magnitude.to_be_bytes();
    let (_, significant) = bytes.split_at(hvlong_leading_zeros(magnitude));
    let len = i8::try_from(significant.len()).unwrap_or(8);
    out.push(base.wrapping_sub(len).cast_unsigned());
    out.extend_from_slice(significant);
}

/// Returns the number of bytes that [`write_hvlong`] appends.
pub(crate) fn hvlong_len(value: i64) -> usize {
    match value {
        -112..=127 => 1,
        _ => 9_usize.saturating_sub(hvlong_leading_zeros(value ^ (value >> 63))),
    }
}

/// Returns the number of leading zero bytes of a non-negative number.
fn hvlong_leading_zeros(magnitude: i64) -> usize {
    magnitude.to_be_bytes().iter().take_while(|byte| **byte == 0).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hvlongs_match_hadoop() {
        for (value, bytes) in [
            (0, &[0x00][..]),
            (127, &[0x7f]),
            (128, &[0x8f, 0x80]),
            (200, &[0x8f, 0xc8]),
            (256, &[0x8e, 1, 0]),
            (-1, &[0xff]),
            (-112, &[0x90]),
            (-113, &[0x87, 0x70]),
            (i64::MAX, &[0x88, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
            (i64::MIN, &[0x80, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        ] {
            let mut out = Vec::new();
            write_hvlong(&mut out, value);
            assert_eq!(out, bytes, "{value}");
            assert_eq!(hvlong_len(value), bytes.len(), "{value}");
            let mut input = Input::new(bytes);
            assert_eq!(input.hvlong(), Some(value));
            assert!(input.is_empty());
            let (_, short) = bytes.split_last().expect("not empty");
            assert_eq!(Input::new(short).hvlong(), None);
        }
    }

    #[test]
    fn vints_match_protobuf() {
        for (value, bytes) in [
            (0, &[0x00][..]),
            (127, &[0x7f]),
            (128, &[0x80, 0x01]),
            (300, &[0xac, 0x02]),
            (i32::MAX as u32, &[0xff, 0xff, 0xff, 0xff, 0x07]),
        ] {
            let mut out = Vec::new();
            write_vint(&mut out, value);
            assert_eq!(out, bytes, "{value}");
            let mut input = Input::new(bytes);
            assert_eq!(input.vint(), Some(value as usize));
            assert!(input.is_empty());
        }
    }

    #[test]
    fn an_invalid_vint_is_rejected_and_consumes_nothing() {
        for bytes in [&[][..], &[0x80], &[0xff, 0xff, 0xff, 0xff, 0x0f], &[0x80; 6]] {
            let mut input = Input::new(bytes);
            assert_eq!(input.vint(), None, "{bytes:?}");
            assert_eq!(input.len(), bytes.len());
        }
    }
}
