//! Block compression: one codec a file, applied to the body of every block.
//!
//! `GZ` makes one gzip member a block. `LZ4` and `SNAPPY` stand in the framing of Hadoop's
//! `BlockCompressorStream`, which is repeated until the block is whole:
//!
//! | bytes | field             | meaning                                                         |
//! |------:|-------------------|-----------------------------------------------------------------|
//! |     4 | raw length        | u32 BE; bytes of this group once decompressed, may be 0         |
//! |     4 | chunk length      | u32 BE; repeats with its chunk until the group is whole         |
//! |       | chunk             | a raw LZ4 or Snappy block of its own                            |
//!
//! A compressed file has no block that is stored as it is: there is no mark for it.
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Read, Write};

use flate2::GzBuilder;
use flate2::bufread::MultiGzDecoder;

use crate::input::Input;

/// The codec of a file. HBase knows them all; [`is_supported`](Self::is_supported) says which this
/// build can read and write.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Compression {
    /// Bodies as they are.
    #[default]
    None,
    /// A gzip member a block.
    Gz,
    /// Snappy in Hadoop's framing.
    Snappy,
    /// LZ4 in Hadoop's framing.
    Lz4,
    /// Zstandard.
    Zstd,
    /// LZO, which needs a codec that HBase does not ship.
    Lzo,
    /// bzip2.
    Bzip2,
    /// LZMA, since HBase 2.5.
    Lzma,
    /// Brotli, since HBase 2.5.
    Brotli,
}

impl Compression {
    /// Every codec, the supported ones first.
    pub const ALL: [Self; 9] = [
        Self::None,
        Self::Gz,
        Self::Snappy,
        Self::Lz4,
        Self::Zstd,
        Self::Lzo,
        Self::Bzip2,
        Self::Lzma,
        Self::Brotli,
    ];

    /// The code in the trailer.
    pub const fn code(self) -> u32 {
        match self {
            Self::Lzo => 0,
            Self::Gz => 1,
            Self::None => 2,
            Self::Snappy => 3,
            Self::Lz4 => 4,
            Self::Bzip2 => 5,
            Self::Zstd => 6,
            Self::Lzma => 7,
            Self::Brotli => 8,
        }
    }

    /// The codec that a trailer's code stands for.
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.code() == code)
    }

    /// HBase's name for it, as in `LZ4`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Gz => "GZ",
            Self::Snappy => "SNAPPY",
            Self::Lz4 => "LZ4",
            Self::Zstd => "ZSTD",
            Self::Lzo => "LZO",
            Self::Bzip2 => "BZIP2",
            Self::Lzma => "LZMA",
            Self::Brotli => "BROTLI",
        }
    }

    /// The codec of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    /// Whether this build reads and writes it.
    pub const fn is_supported(self) -> bool {
        matches!(self, Self::None | Self::Gz | Self::Snappy | Self::Lz4)
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Appends `body`, compressed, to `out`.
///
/// # Panics
///
/// If this build cannot write `codec`, which the writer checks when it begins a file.
pub(crate) fn compress(codec: Compression, body: &[u8], out: &mut Vec<u8>) {
    match codec {
        Compression::None => out.extend_from_slice(body),
        Compression::Gz => compress_gzip(body, out).expect("writing to memory does not fail"),
        Compression::Lz4 => compress_framed(body, out, LZ4_CHUNK_LEN, |chunk, out| {
            resize_and_fill(out, lz4_flex::block::get_maximum_output_size(chunk.len()), |out| {
                lz4_flex::block::compress_into(chunk, out).ok()
            })
        }),
        Compression::Snappy => compress_framed(body, out, SNAPPY_CHUNK_LEN, |chunk, out| {
            resize_and_fill(out, snap::raw::max_compress_len(chunk.len()), |out| {
                snap::raw::Encoder::new().compress(chunk, out).ok()
            })
        }),
        unsupported => panic!("the writer has refused {unsupported}"),
    }
}

/// The most bytes that one chunk may hold: Hadoop's codecs gather a chunk in a buffer of 262,144
/// bytes less what incompressible bytes would grow by, and HBase reads no chunk that is longer.
const LZ4_CHUNK_LEN: usize = 261_100;
const SNAPPY_CHUNK_LEN: usize = 218_422;

fn compress_framed(
    body: &[u8],
    out: &mut Vec<u8>,
    chunk_len: usize,
    compress_chunk: impl Fn(&[u8], &mut Vec<u8>) -> usize,
) {
    push_len(out, body.len());
    for chunk in body.chunks(chunk_len) {
        let len_at = out.len();
        push_len(out, 0);
        let len = u32::try_from(compress_chunk(chunk, out)).expect("a chunk is short");
        let chunk_at = len_at.saturating_add(4);
        if let Some(place) = out.get_mut(len_at..chunk_at) {
            place.copy_from_slice(&len.to_be_bytes());
        }
    }
}

fn push_len(out: &mut Vec<u8>, len: usize) {
    let len = u32::try_from(len).expect("a block is shorter than 2 GiB");
    out.extend_from_slice(&len.to_be_bytes());
}

/// Appends what `fill` writes into room for `len_max` bytes; returns how much that was.
fn resize_and_fill(
    out: &mut Vec<u8>,
    len_max: usize,
    fill: impl FnOnce(&mut [u8]) -> Option<usize>,
) -> usize {
    let start = out.len();
    out.resize(start.saturating_add(len_max), 0);
    let room = out.get_mut(start..).unwrap_or_default();
    let len = fill(room).expect("the room is what the codec asks for");
    out.truncate(start.saturating_add(len));
    len
}

fn compress_gzip(body: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
    // Java writes 0 where most write the number of their operating system.
    let mut encoder =
        GzBuilder::new().operating_system(0).write(out, flate2::Compression::default());
    encoder.write_all(body)?;
    encoder.finish().map(drop)
}

/// Decompresses the body of a block, which has `len` bytes.
///
/// What stands behind the last group is not looked at, as in HBase: Hadoop may end with an empty
/// one. Memory is taken as bytes come out, not as `len` states it: see [`grow`].
pub(crate) fn decompress(
    codec: Compression,
    stored: &[u8],
    len: usize,
) -> Result<Vec<u8>, Cow<'static, str>> {
    if stored.len().saturating_mul(ratio_max(codec)) < len {
        return Err(format!("{} bytes of {codec} cannot hold {len}", stored.len()).into());
    }
    match codec {
        Compression::None if stored.len() == len => Ok(stored.to_vec()),
        Compression::None => {
            Err(format!("{} bytes uncompressed where {len} are stated", stored.len()).into())
        }
        Compression::Gz => decompress_gzip(stored, len),
        Compression::Lz4 => decompress_framed(codec, stored, len, |chunk, out| {
            lz4_flex::block::decompress_into(chunk, out).map_err(|error| error.to_string())
        }),
        Compression::Snappy => decompress_framed(codec, stored, len, |chunk, out| {
            snap::raw::Decoder::new().decompress(chunk, out).map_err(|error| error.to_string())
        }),
        unsupported => Err(format!("unsupported compression {unsupported}").into()),
    }
}

/// How many bytes at most one compressed byte can stand for.
const fn ratio_max(codec: Compression) -> usize {
    match codec {
        Compression::Gz => 1032,   // A block of 258-byte matches at two bits each.
        Compression::Lz4 => 255,   // A byte that continues a match length.
        Compression::Snappy => 22, // A copy of 64 bytes takes three.
        _ => 1,
    }
}

/// A place for `len` bytes that `stored_len` compressed ones are said to hold: whole if they shrank
/// as bodies mostly do, else a beginning of it.
fn place_for(len: usize, stored_len: usize) -> Vec<u8> {
    const LIKELY_RATIO: usize = 8;
    Vec::with_capacity(len.min(stored_len.saturating_mul(LIKELY_RATIO)))
}

/// Makes `body` longer by `room` zeros, on its way to `len` bytes in all; returns them.
///
/// Its capacity at most doubles, so that what is taken is at most twice what has come out, and ends
/// at `len`, so that nothing lies idle behind a body that is kept.
fn grow(body: &mut Vec<u8>, room: usize, len: usize) -> &mut [u8] {
    let start = body.len();
    let needed = start.saturating_add(room);
    if needed > body.capacity() {
        let capacity = body.capacity().saturating_mul(2).min(len).max(needed);
        body.reserve_exact(capacity.saturating_sub(start));
    }
    body.resize(needed, 0);
    body.get_mut(start..).unwrap_or_default()
}

fn decompress_framed(
    codec: Compression,
    stored: &[u8],
    len: usize,
    decompress_chunk: impl Fn(&[u8], &mut [u8]) -> Result<usize, String>,
) -> Result<Vec<u8>, Cow<'static, str>> {
    let mut input = Input::new(stored);
    let mut body = place_for(len, stored.len());
    while body.len() < len {
        let group_len = input.len_i32().ok_or("ends in the length of a group")?;
        let group_end = body.len().saturating_add(group_len);
        if group_end > len {
            return Err(format!("more than the {len} bytes stated").into());
        }
        while body.len() < group_end {
            let chunk_len = input.len_i32().ok_or("ends in the length of a chunk")?;
            let chunk = input.take(chunk_len).ok_or("a chunk goes past the block")?;
            let start = body.len();
            let left = group_end.saturating_sub(start);
            let room = left.min(chunk.len().saturating_mul(ratio_max(codec)));
            let made = decompress_chunk(chunk, grow(&mut body, room, len))
                .map_err(|error| format!("damaged {codec} chunk: {error}"))?;
            // A chunk of nothing would let a group go on for ever.
            if made == 0 {
                return Err(format!("a {codec} chunk of nothing").into());
            }
            body.truncate(start.saturating_add(made));
        }
    }
    Ok(body)
}

fn decompress_gzip(stored: &[u8], len: usize) -> Result<Vec<u8>, Cow<'static, str>> {
    let mut decoder = MultiGzDecoder::new(stored);
    let mut body = place_for(len, stored.len());
    let damaged = |error: io::Error| format!("damaged GZ stream: {error}");
    while body.len() < len {
        // First what there is a place for, then as much again as has come out.
        let left = len.saturating_sub(body.len());
        let room = match body.capacity().saturating_sub(body.len()) {
            0 => body.len().max(1024),
            spare => spare,
        };
        decoder.read_exact(grow(&mut body, room.min(left), len)).map_err(damaged)?;
    }
    // The stream's own checksum is compared when its end is read, so read on to there.
    match decoder.read(&mut [0]).map_err(damaged)? {
        0 => Ok(body),
        _ => Err(format!("more than the {len} bytes stated").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODECS: [Compression; 4] =
        [Compression::None, Compression::Gz, Compression::Snappy, Compression::Lz4];

    fn compressed(codec: Compression, body: &[u8]) -> Vec<u8> {
        let mut out = b"before".to_vec();
        compress(codec, body, &mut out);
        out.split_off(6)
    }

    /// Bytes that repeat, but not at once.
    fn words(len: usize) -> Vec<u8> {
        (0..len).map(|at| (at * at / 1000 % 251) as u8).collect()
    }

    #[test]
    fn bodies_of_any_length_come_back() {
        for codec in CODECS {
            for len in [0, 1, 100, 65_536, 218_422, 218_423, 261_100, 261_101, 1_000_000] {
                let body = words(len);
                let stored = compressed(codec, &body);
                let back = decompress(codec, &stored, len);
                assert!(back.as_ref() == Ok(&body), "{codec} {len}");
            }
        }
    }

    #[test]
    fn empty_bodies_are_those_of_hbase() {
        let gzip = b"\x1f\x8b\x08\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\0\0";
        assert_eq!(compressed(Compression::Gz, b""), gzip);
        assert_eq!(compressed(Compression::Lz4, b""), [0; 4]);
        assert_eq!(compressed(Compression::Snappy, b""), [0; 4]);
    }

    #[test]
    fn what_stands_behind_the_body_is_not_looked_at() {
        for codec in [Compression::Lz4, Compression::Snappy] {
            let body = words(300_000);
            let mut stored = compressed(codec, &body);
            stored.extend_from_slice(&[0; 4]);
            assert!(decompress(codec, &stored, body.len()).as_ref() == Ok(&body), "{codec}");
        }
    }

    #[test]
    fn groups_may_be_many_and_empty() {
        let (first, second) = (words(1000), words(70));
        for codec in [Compression::Lz4, Compression::Snappy] {
            let stored =
                [compressed(codec, &first), vec![0; 4], compressed(codec, &second)].concat();
            assert_eq!(decompress(codec, &stored, 1070), Ok([&first[..], &second].concat()));
        }
    }

    #[test]
    fn a_cut_anywhere_is_an_error() {
        for codec in CODECS {
            let body = words(500);
            let stored = compressed(codec, &body);
            for len in 0..stored.len() {
                assert!(decompress(codec, &stored[..len], body.len()).is_err(), "{codec} {len}");
            }
        }
    }

    #[test]
    fn lengths_that_contradict_are_errors() {
        for codec in CODECS {
            let stored = compressed(codec, &words(500));
            assert!(decompress(codec, &stored, 499).is_err(), "{codec}: less stated");
            assert!(decompress(codec, &stored, 501).is_err(), "{codec}: more stated");
            assert!(decompress(codec, &stored, i32::MAX as usize).is_err(), "{codec}: much more");
        }
    }

    #[test]
    fn a_flipped_bit_never_panics_and_gzip_notices_it() {
        let body = words(500);
        for codec in CODECS {
            let stored = compressed(codec, &body);
            for bit in 0..stored.len() * 8 {
                let mut flipped = stored.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                let back = decompress(codec, &flipped, body.len());
                if codec == Compression::Gz {
                    assert!(back.is_err() || back.as_ref() == Ok(&body), "bit {bit}");
                }
            }
        }
    }

    #[test]
    fn the_place_for_a_body_is_never_more_than_twice_what_came_out() {
        let (len, step) = (64 << 20, 50_000);
        let mut body = place_for(len, 1000);
        assert_eq!(body.capacity(), 8000);
        while body.len() < len {
            let room = step.min(len - body.len());
            grow(&mut body, room, len);
            assert!(body.capacity() <= (2 * body.len()).min(len), "{}", body.len());
        }
        assert_eq!(body.capacity(), len);
        assert_eq!(place_for(len, len).capacity(), len);
    }

    #[test]
    fn bodies_that_shrink_a_thousandfold_come_back() {
        let body = vec![7; 3_000_000];
        for codec in [Compression::Gz, Compression::Snappy, Compression::Lz4] {
            let back = decompress(codec, &compressed(codec, &body), body.len()).unwrap();
            assert_eq!((&back, back.capacity()), (&body, body.len()), "{codec}");
        }
    }

    #[test]
    fn a_codec_that_this_build_lacks_is_named() {
        let error = decompress(Compression::Zstd, &[0; 100], 100);
        assert_eq!(error, Err("unsupported compression ZSTD".into()));
    }
}
