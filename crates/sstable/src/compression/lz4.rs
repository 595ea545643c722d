//! A raw LZ4 block decompressed.
//!
//! | bytes | field             | meaning                                                           |
//! |------:|-------------------|-------------------------------------------------------------------|
//! |     1 | token             | high half: literals; low half: bytes of the match less 4          |
//! |  0..  | more literals     | if the half is 15: bytes to add, up to one that is not 255        |
//! |       | literals          | bytes as they are; the last sequence of a block ends here         |
//! |     2 | offset            | u16 LE: how far back the match begins, at least 1                 |
//! |  0..  | more of the match | if the half is 15: bytes to add, up to one that is not 255        |
//!
//! A match may reach into what it makes itself: with offset 1 it repeats a byte. `lz4_flex`, which
//! compresses for us, copies such a match byte by byte, which was a seventh of a get's time where
//! values hold runs and the cache is small. Here what is there of the pattern is copied whole, and so
//! doubles.
//!
//! Format: `lz4_Block_format.md` of LZ4.
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

use crate::input::Input;

/// Up to here bytes are copied without asking how many they are.
const SHORT_LEN: usize = 32;

/// The shortest match.
const MATCH_LEN_MIN: usize = 4;

/// Decompresses a block into `out`; returns how many bytes it has made. Behind those `out` may hold
/// anything.
pub(super) fn decompress(block: &[u8], out: &mut [u8]) -> Result<usize, &'static str> {
    let mut input = Input::new(block);
    let mut at = 0_usize;
    loop {
        let token = input.u8().ok_or("ends in front of a sequence")?;
        let literals_len = read_len(token >> 4, &mut input)?;
        let rest = input.rest();
        input.take(literals_len).ok_or("its literals go past its end")?;
        at = append(out, at, rest, literals_len).ok_or(TOO_LONG)?;
        if input.is_empty() {
            return Ok(at);
        }
        let offset = input.array().map(u16::from_le_bytes).ok_or("ends in an offset")?;
        let len = read_len(token & 0x0f, &mut input)?.saturating_add(MATCH_LEN_MIN);
        let start = at.checked_sub(offset.into()).filter(|start| *start < at);
        let start = start.ok_or("a match begins before its first byte, or nowhere")?;
        at = repeat(out, start, at, len).ok_or(TOO_LONG)?;
    }
}

const TOO_LONG: &str = "it makes more bytes than are stated";

/// Reads what a half of the token leaves out of a length.
#[inline]
fn read_len(half: u8, input: &mut Input<'_>) -> Result<usize, &'static str> {
    let mut len = usize::from(half);
    if half == 0x0f {
        loop {
            let more = input.u8().ok_or("ends in a length")?;
            len = len.saturating_add(more.into());
            if more != u8::MAX {
                break;
            }
        }
    }
    Ok(len)
}

/// Copies the first `len` of some bytes to `at`; returns where they end. `None` if there is no room.
#[inline]
fn append(out: &mut [u8], at: usize, bytes: &[u8], len: usize) -> Option<usize> {
    let place = out.get_mut(at..)?;
    if let (true, Some(place), Some(short)) =
        (len <= SHORT_LEN, place.first_chunk_mut(), bytes.first_chunk())
    {
        // What is copied too much of is overwritten by what comes next.
        let (place, short): (&mut [u8; SHORT_LEN], &[u8; SHORT_LEN]) = (place, short);
        *place = *short;
    } else {
        place.get_mut(..len)?.copy_from_slice(bytes.get(..len)?);
    }
    at.checked_add(len)
}

/// Makes `len` bytes at `at` that repeat those from `start` on, which is before it; returns where they
/// end. `None` if there is no room.
#[inline]
fn repeat(out: &mut [u8], start: usize, at: usize, len: usize) -> Option<usize> {
    let end = at.checked_add(len).filter(|end| *end <= out.len())?;
    let period = at.checked_sub(start)?;
    if len <= period {
        let short = out.get(start..)?.first_chunk::<SHORT_LEN>().copied();
        match (short, out.get_mut(at..)?.first_chunk_mut::<SHORT_LEN>()) {
            (Some(short), Some(place)) if len <= SHORT_LEN => *place = short,
            _ => out.copy_within(start..start.checked_add(len)?, at),
        }
        return Some(end);
    }
    if period == 1 {
        let byte = *out.get(start)?;
        out.get_mut(at..end)?.fill(byte);
        return Some(end);
    }
    // From `start` on there are always whole periods in front of what is still to be made.
    let mut done = at;
    while done < end {
        let there = done.checked_sub(start)?.min(end.checked_sub(done)?);
        out.copy_within(start..start.checked_add(there)?, done);
        done = done.checked_add(there)?;
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What another decoder makes of a block, into a place of so many bytes.
    fn second_opinion(block: &[u8], len: usize) -> Option<Vec<u8>> {
        let mut out = vec![0; len];
        let made = lz4_flex::block::decompress_into(block, &mut out).ok()?;
        out.truncate(made);
        Some(out)
    }

    fn ours(block: &[u8], len: usize) -> Option<Vec<u8>> {
        let mut out = vec![0; len];
        let made = decompress(block, &mut out).ok()?;
        out.truncate(made);
        Some(out)
    }

    /// Bytes with runs and repetitions of all periods, long and short.
    fn compressible() -> impl Strategy<Value = Vec<u8>> {
        let piece = (prop::collection::vec(any::<u8>(), 1..40), 1_usize..60);
        let pieces = prop::collection::vec(piece, 0..12);
        pieces.prop_map(|pieces| {
            pieces.into_iter().flat_map(|(bytes, count)| bytes.repeat(count)).collect()
        })
    }

    proptest! {
        #[test]
        fn what_was_compressed_comes_back(bytes in compressible()) {
            let block = lz4_flex::block::compress(&bytes);
            prop_assert_eq!(ours(&block, bytes.len()), Some(bytes.clone()));
            prop_assert_eq!(ours(&block, bytes.len() + 50), Some(bytes.clone()));
            if let Some(short) = bytes.len().checked_sub(1) {
                prop_assert_eq!(ours(&block, short), None);
            }
        }

        /// Damaged blocks and any bytes, into a place that is too short, just enough, or too long.
        #[test]
        fn two_decoders_agree_on_what_is_no_block(
            bytes in compressible(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            noise in prop::collection::vec(any::<u8>(), 0..60),
            spare in 0_usize..80,
        ) {
            let mut block = lz4_flex::block::compress(&bytes);
            for (at, byte) in changes {
                let at = at.index(block.len());
                block[at] = byte;
            }
            let len = (bytes.len() + spare).saturating_sub(40);
            prop_assert_eq!(ours(&block, len), second_opinion(&block, len));
            prop_assert_eq!(ours(&noise, 300), second_opinion(&noise, 300));
        }
    }

    #[test]
    fn a_match_repeats_what_it_makes_itself() {
        // One literal or two, a match of 4 + 15 + 3 bytes, five literals at the end.
        let runs = [
            (&b"\x1fa\x01\0\x03\x50bcdef"[..], "a".repeat(23) + "bcdef"),
            (b"\x2fab\x02\0\x03\x50bcdef", "ab".repeat(12) + "bcdef"),
        ];
        for (block, expected) in runs {
            assert_eq!(ours(block, expected.len()), Some(expected.into_bytes()));
        }
        for damaged in
            [&b""[..], b"\x1f", b"\x1fa\x01", b"\x1fa\0\0\x03\x50bcdef", b"\x1fa\x02\0\x03"]
        {
            assert_eq!(ours(damaged, 100), None, "{damaged:?}");
        }
    }
}
