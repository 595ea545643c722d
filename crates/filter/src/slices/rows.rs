//! The table of bit-sliced filters: fields of many filters, interleaved.
//!
//! ```text
//! table     row 0 │ row 1 │ row 2 │ …            a row is a position that all filters have
//! row       stripe 0 │ stripe 1 │ …              a stripe is up to 64 filters
//! stripe    field 0 │ field 1 │ … │ field f − 1  a field is one bit of that position
//! field     n bytes, 1 to 8                      bit i of them: filter i of the stripe
//! ```
//!
//! The bits of one position in all filters are a few adjacent bytes, and one operation on words does for all
//! filters what each would do to a bit. All stripes have equally many bytes a field, and as few as their filters
//! need: the only overhead is up to seven bits of padding a stripe.

use crate::error::BuildError;
use crate::kernel::prefetch_at;
use crate::memory::AlignedBytes;

/// The most filters of a stripe: bits of a word.
const STRIPE_FILTERS: usize = u64::BITS as usize;

/// Bytes of a cache line.
const LINE_LEN: usize = 64;

/// Bytes after the last row, so that a whole group of fields can be read where it begins.
const BEYOND: usize = 64;

/// Rows of bits, one for each filter in each field.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    bytes: AlignedBytes,
    filters: usize,
    stripes: usize,
    fields: usize,
    /// Bytes of a field of a stripe.
    field_len: usize,
}

impl Rows {
    /// Allocates a table of `rows` rows for at least one filter; all bits are zero.
    pub(crate) fn zeroed(rows: usize, fields: usize, filters: usize) -> Result<Self, BuildError> {
        let stripes = filters.div_ceil(STRIPE_FILTERS);
        let field_len = filters.div_ceil(stripes).div_ceil(8);
        let len = rows.checked_mul(stripes * field_len).and_then(|len| len.checked_mul(fields));
        let len = len.and_then(|len| len.checked_add(BEYOND)).ok_or(BuildError::Memory)?;
        let bytes = AlignedBytes::zeroed(len as u64)?;
        Ok(Self { bytes, filters, stripes, fields, field_len })
    }

    /// Returns how many bytes of memory the table takes.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Returns the number of stripes.
    pub(crate) const fn stripes(&self) -> usize {
        self.stripes
    }

    /// Returns the number of fields of a row.
    pub(crate) const fn fields(&self) -> usize {
        self.fields
    }

    /// Returns the number of bytes of a field: what the functions that read are compiled for.
    pub(crate) const fn field_len(&self) -> usize {
        self.field_len
    }

    /// Returns the first filter of a stripe.
    pub(crate) const fn first_filter(&self, stripe: usize) -> usize {
        stripe * self.field_len * 8
    }

    /// Returns a bit for each filter that a stripe has.
    pub(crate) const fn filter_mask(&self, stripe: usize) -> u64 {
        let (first, room) = (self.first_filter(stripe), self.field_len * 8);
        // Stripes are as narrow as their filters allow, so that none is empty.
        debug_assert!(first < self.filters, "every stripe has a filter");
        let rest = self.filters - first;
        let count = if rest < room { rest } else { room };
        // As many ones, of which there may be none or all.
        (1_u128 << count).wrapping_sub(1) as u64
    }

    /// Returns how many times eight filters there are, the last eight perhaps not all: what is written
    /// at once.
    const fn octets(&self) -> usize {
        self.filters.div_ceil(8)
    }

    /// Returns where a field of a row begins.
    #[inline]
    const fn at(&self, row: usize, stripe: usize, field: usize) -> usize {
        ((row * self.stripes + stripe) * self.fields + field) * self.field_len
    }

    /// Returns how many bytes a row has.
    #[inline]
    const fn row_len(&self) -> usize {
        self.stripes * self.fields * self.field_len
    }

    /// Writes eight bits of every filter: those of a byte that `read` returns for a filter, the lowest
    /// first. Bit i goes to the row and field that `place` returns for it.
    #[inline]
    pub(crate) fn write(
        &mut self,
        read: impl Fn(usize) -> u8,
        place: impl Fn(usize) -> (usize, usize),
    ) {
        self.write_bits(8, read, place);
    }

    /// As [`write`](Self::write), but only the lowest bits of each byte, so many, or all if there are fewer.
    #[inline]
    pub(crate) fn write_bits(
        &mut self,
        count: usize,
        read: impl Fn(usize) -> u8,
        place: impl Fn(usize) -> (usize, usize),
    ) {
        for octet in 0..self.octets() {
            let first = octet * 8;
            let mut bytes = [0; 8];
            for (filter, byte) in (first..self.filters).zip(&mut bytes) {
                *byte = read(filter);
            }
            let (stripe, byte_at) = (octet / self.field_len, octet % self.field_len);
            for (bit, byte) in transposed(bytes).into_iter().enumerate().take(count) {
                let (row, field) = place(bit);
                let at = self.at(row, stripe, field) + byte_at;
                self.bytes[at] = byte;
            }
        }
    }

    /// Prefetches a row of all filters.
    #[inline]
    pub(crate) fn prefetch(&self, row: usize) {
        self.prefetch_rows(row, 1);
    }

    /// Prefetches `count` adjacent rows.
    #[inline]
    pub(crate) fn prefetch_rows(&self, row: usize, count: usize) {
        let (begin, len) = (self.at(row, 0, 0), count * self.row_len());
        for at in (begin..begin + len).step_by(LINE_LEN) {
            prefetch_at(&self.bytes, at);
        }
        debug_assert!(len > 0, "a row has fields");
        prefetch_at(&self.bytes, begin + len - 1);
    }

    /// Returns eight fields of all filters of a stripe, from the first on; where there are fewer, what
    /// stands after them.
    #[inline]
    pub(crate) fn fields_from<const FIELD_LEN: usize>(
        &self,
        row: usize,
        stripe: usize,
        first: usize,
    ) -> &[[u8; 8]; FIELD_LEN] {
        let (words, _) = self.bytes[self.at(row, stripe, first)..].as_chunks();
        words.first_chunk().expect("the table goes on for as many bytes")
    }

    /// Returns all fields of a row for the filters of a stripe.
    #[inline]
    pub(crate) fn stripe(&self, row: usize, stripe: usize) -> &[u8] {
        &self.bytes[self.at(row, stripe, 0)..][..self.fields * self.field_len]
    }

    /// Returns a field of all filters of a stripe, a bit for each.
    #[inline]
    pub(crate) fn field<const FIELD_LEN: usize>(
        &self,
        row: usize,
        stripe: usize,
        field: usize,
    ) -> u64 {
        let at = self.at(row, stripe, field);
        word::<FIELD_LEN>(&self.bytes[at..at + FIELD_LEN])
    }
}

/// Reads a field of so many bytes.
#[inline]
pub(crate) fn word<const FIELD_LEN: usize>(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..FIELD_LEN].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// Turns eight bytes of eight bits into eight others: bit i of byte j becomes bit j of byte i. (Warren:
/// "Hacker's Delight", 7-3.)
#[inline]
const fn transposed(bytes: [u8; 8]) -> [u8; 8] {
    let mut word = u64::from_le_bytes(bytes);
    let moved = (word ^ word >> 7) & 0x00aa_00aa_00aa_00aa;
    word ^= moved ^ moved << 7;
    let moved = (word ^ word >> 14) & 0x0000_cccc_0000_cccc;
    word ^= moved ^ moved << 14;
    let moved = (word ^ word >> 28) & 0x0000_0000_f0f0_f0f0;
    word ^= moved ^ moved << 28;
    word.to_le_bytes()
}

/// Compiles an expression once for each number of bytes that a field can have, and takes that of `$field_len`.
macro_rules! for_field_len {
    ($field_len:expr, $name:ident => $value:expr) => {{
        macro_rules! with {
            ($number:literal) => {{
                const $name: usize = $number;
                $value
            }};
        }
        match $field_len {
            1 => with!(1),
            2 => with!(2),
            3 => with!(3),
            4 => with!(4),
            5 => with!(5),
            6 => with!(6),
            7 => with!(7),
            _ => with!(8),
        }
    }};
}
pub(crate) use for_field_len;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever is written for a filter is read for it, at its row and field, and at no other.
        #[test]
        fn bits_are_where_they_were_written(
            filters in 1..200_usize,
            fields in 1..4_usize,
            seed in any::<u64>(),
        ) {
            let (rows, seed) = (24 / fields, crate::Seed::new(seed));
            let bits = |filter: usize, byte: usize| {
                crate::KeyHash::new(seed, &[filter as u8, byte as u8]).get() as u8
            };
            let mut table = Rows::zeroed(rows, fields, filters).expect("little memory");
            for byte in 0..rows * fields / 8 {
                let place = |bit| ((byte * 8 + bit) / fields, (byte * 8 + bit) % fields);
                table.write(|filter| bits(filter, byte), place);
            }
            let mut seen = 0;
            for stripe in 0..table.stripes() {
                for at in 0..rows * fields / 8 * 8 {
                    let (row, field) = (at / fields, at % fields);
                    let word =
                        for_field_len!(table.field_len(), FIELD_LEN => table.field::<FIELD_LEN>(row, stripe, field));
                    prop_assert_eq!(word & !table.filter_mask(stripe), 0);
                    for bit in (0..64).filter(|bit| table.filter_mask(stripe) >> bit & 1 != 0) {
                        let expected = bits(table.first_filter(stripe) + bit, at / 8) >> (at % 8) & 1;
                        prop_assert_eq!(word >> bit & 1, u64::from(expected));
                        seen += 1;
                    }
                }
            }
            prop_assert_eq!(seen, filters * (rows * fields / 8 * 8));
        }
    }
}
