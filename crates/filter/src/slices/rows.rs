//! The table of bit-sliced filters: fields of many filters, interleaved.
//!
//! ```text
//! table     row 0 │ row 1 │ row 2 │ …            a row has one position of all filters
//! row       stripe 0 │ stripe 1 │ …              a stripe has up to 64 filters
//! stripe    field 0 │ field 1 │ … │ field f − 1  a field has one bit of that position
//! field     n bytes, 1 to 8                      bit i belongs to filter i of the stripe
//! ```
//!
//! A position is the unit of f bits that the kind of filter addresses: a single bit (f = 1) in a
//! Bloom filter, a slot or a whole bucket in other kinds.
//!
//! A field has one bit of each filter of a stripe, so one operation on a word handles all these
//! filters. The fields of all stripes have the same length, the shortest that the number of
//! filters allows. The overhead is padding: on average less than eight bits per field.

use crate::error::BuildError;
use crate::kernel::prefetch_at;
use crate::memory::AlignedBytes;

/// The maximum number of filters in a stripe: one per bit of a word.
const STRIPE_FILTERS_MAX: usize = u64::BITS as usize;

/// Bytes of a cache line.
const LINE_LEN: usize = 64;

/// Bytes after the last row, so that `Rows::fields_from` can read eight fields at any field.
const PADDING_LEN: usize = 64;

/// A table with a bit for each filter in each field of each row.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    bytes: AlignedBytes,
    filter_count: usize,
    stripe_count: usize,
    /// Fields per stripe of a row: the bits of a position.
    field_count: usize,
    /// Bytes of a field.
    field_len: usize,
}

impl Rows {
    /// Allocates a table of zeros for `filters` filters, which must be at least one.
    pub(crate) fn zeroed(rows: usize, fields: usize, filters: usize) -> Result<Self, BuildError> {
        let stripes = filters.div_ceil(STRIPE_FILTERS_MAX);
        let field_len = filters.div_ceil(stripes).div_ceil(8);
        let len = rows.checked_mul(stripes * field_len).and_then(|len| len.checked_mul(fields));
        let len = len.and_then(|len| len.checked_add(PADDING_LEN)).ok_or(BuildError::Memory)?;
        let bytes = AlignedBytes::zeroed(len as u64)?;
        Ok(Self {
            bytes,
            filter_count: filters,
            stripe_count: stripes,
            field_count: fields,
            field_len,
        })
    }

    /// Returns the size of the table in memory, in bytes.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Returns the number of stripes.
    pub(crate) const fn stripe_count(&self) -> usize {
        self.stripe_count
    }

    /// Returns the number of fields per stripe of a row.
    pub(crate) const fn field_count(&self) -> usize {
        self.field_count
    }

    /// Returns the length of a field in bytes.
    ///
    /// Lookup functions take it as the const parameter `FIELD_LEN`; see `for_field_len`.
    pub(crate) const fn field_len(&self) -> usize {
        self.field_len
    }

    /// Returns the index of the first filter of a stripe.
    pub(crate) const fn first_filter(&self, stripe: usize) -> usize {
        stripe * self.field_len * 8
    }

    /// Returns a word with the bits of the stripe's filters set, the padding bits clear.
    pub(crate) const fn filter_mask(&self, stripe: usize) -> u64 {
        let (first, capacity) = (self.first_filter(stripe), self.field_len * 8);
        // There are only as many stripes as 64 filters per stripe require, so none is empty.
        debug_assert!(first < self.filter_count, "every stripe has a filter");
        let rest = self.filter_count - first;
        let count = if rest < capacity { rest } else { capacity };
        // In 128 bits, because `count` can be 64, and a `u64` cannot be shifted by 64.
        (1_u128 << count).wrapping_sub(1) as u64
    }

    /// Returns the number of octets: groups of eight filters, fewer in the last.
    const fn octet_count(&self) -> usize {
        self.filter_count.div_ceil(8)
    }

    /// Returns the byte offset of a field in the table.
    #[inline]
    const fn offset(&self, row: usize, stripe: usize, field: usize) -> usize {
        ((row * self.stripe_count + stripe) * self.field_count + field) * self.field_len
    }

    /// Returns the length of a row in bytes.
    #[inline]
    const fn row_len(&self) -> usize {
        self.stripe_count * self.field_count * self.field_len
    }

    /// Writes eight bits of each filter.
    ///
    /// `byte_of(filter)` returns the eight bits of a filter. `position_of(bit)` returns the row and
    /// the field of one of these bits, 0 to 7.
    #[inline]
    pub(crate) fn write(
        &mut self,
        byte_of: impl Fn(usize) -> u8,
        position_of: impl Fn(usize) -> (usize, usize),
    ) {
        self.write_bits(8, byte_of, position_of);
    }

    /// Writes the lowest `count` bits of each filter, at most eight; see [`write`](Self::write).
    #[inline]
    pub(crate) fn write_bits(
        &mut self,
        count: usize,
        byte_of: impl Fn(usize) -> u8,
        position_of: impl Fn(usize) -> (usize, usize),
    ) {
        for octet in 0..self.octet_count() {
            let first = octet * 8;
            let mut bytes = [0; 8];
            for (filter, byte) in (first..self.filter_count).zip(&mut bytes) {
                *byte = byte_of(filter);
            }
            let (stripe, byte_index) = (octet / self.field_len, octet % self.field_len);
            for (bit, byte) in transposed(bytes).into_iter().enumerate().take(count) {
                let (row, field) = position_of(bit);
                let offset = self.offset(row, stripe, field) + byte_index;
                self.bytes[offset] = byte;
            }
        }
    }

    /// Prefetches all cache lines of a row.
    #[inline]
    pub(crate) fn prefetch(&self, row: usize) {
        self.prefetch_rows(row, 1);
    }

    /// Prefetches `count` adjacent rows.
    #[inline]
    pub(crate) fn prefetch_rows(&self, row: usize, count: usize) {
        let (begin, len) = (self.offset(row, 0, 0), count * self.row_len());
        for offset in (begin..begin + len).step_by(LINE_LEN) {
            prefetch_at(&self.bytes, offset);
        }
        debug_assert!(len > 0, "a row has fields");
        // Rows are not aligned to cache lines: the last byte can be in one more line.
        prefetch_at(&self.bytes, begin + len - 1);
    }

    /// Returns the bytes of eight fields, starting at field `first` of a stripe.
    ///
    /// If the stripe has fewer than eight fields from `first` on, the rest belongs to the next
    /// stripe, the next row or the padding. Callers must ignore it.
    #[inline]
    pub(crate) fn fields_from<const FIELD_LEN: usize>(
        &self,
        row: usize,
        stripe: usize,
        first: usize,
    ) -> &[[u8; 8]; FIELD_LEN] {
        let (words, _) = self.bytes[self.offset(row, stripe, first)..].as_chunks();
        words.first_chunk().expect("the table ends with padding for eight fields")
    }

    /// Returns the bytes of all fields of a stripe in a row.
    #[inline]
    pub(crate) fn stripe(&self, row: usize, stripe: usize) -> &[u8] {
        &self.bytes[self.offset(row, stripe, 0)..][..self.field_count * self.field_len]
    }

    /// Returns a field: a word with a bit for each filter of the stripe.
    #[inline]
    pub(crate) fn field<const FIELD_LEN: usize>(
        &self,
        row: usize,
        stripe: usize,
        field: usize,
    ) -> u64 {
        let offset = self.offset(row, stripe, field);
        word::<FIELD_LEN>(&self.bytes[offset..offset + FIELD_LEN])
    }
}

/// Reads a field, little-endian, as a zero-extended word.
#[inline]
pub(crate) fn word<const FIELD_LEN: usize>(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..FIELD_LEN].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// Transposes an 8×8 bit matrix: bit i of byte j becomes bit j of byte i.
///
/// Warren: "Hacker's Delight", 7-3.
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

/// Evaluates `$value` with the constant `$name` equal to `$field_len`, a field length from 1 to 8.
///
/// So `$value` can pass the length as a const parameter, and is compiled once for each length.
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
        #[test]
        fn a_bit_is_read_at_the_row_and_field_where_it_was_written(
            filters in 1..200_usize,
            fields in 1..4_usize,
            seed in any::<u64>(),
        ) {
            let (rows, seed) = (24 / fields, crate::Seed::new(seed));
            let bits = |filter: usize, byte: usize| {
                crate::KeyHash::new(seed, &[filter as u8, byte as u8]).get() as u8
            };
            let mut table = Rows::zeroed(rows, fields, filters).expect("enough memory");
            for byte in 0..rows * fields / 8 {
                let position_of = |bit| ((byte * 8 + bit) / fields, (byte * 8 + bit) % fields);
                table.write(|filter| bits(filter, byte), position_of);
            }
            let mut compared = 0;
            for stripe in 0..table.stripe_count() {
                for at in 0..rows * fields / 8 * 8 {
                    let (row, field) = (at / fields, at % fields);
                    let word =
                        for_field_len!(table.field_len(), FIELD_LEN => table.field::<FIELD_LEN>(row, stripe, field));
                    prop_assert_eq!(word & !table.filter_mask(stripe), 0);
                    for bit in (0..64).filter(|bit| table.filter_mask(stripe) >> bit & 1 != 0) {
                        let expected = bits(table.first_filter(stripe) + bit, at / 8) >> (at % 8) & 1;
                        prop_assert_eq!(word >> bit & 1, u64::from(expected));
                        compared += 1;
                    }
                }
            }
            prop_assert_eq!(compared, filters * (rows * fields / 8 * 8));
        }
    }
}
