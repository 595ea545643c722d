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
//! `ZSTD` is laid out in one of two ways, by the codec class that a cluster uses: see
//! [`ZstdFraming`].
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

#[cfg(feature = "zstd")]
mod zstd;

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
    /// Zstandard, with the feature `zstd`; see [`ZstdFraming`].
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
        match self {
            Self::None | Self::Gz | Self::Snappy | Self::Lz4 => true,
            Self::Zstd => cfg!(feature = "zstd"),
            Self::Lzo | Self::Bzip2 | Self::Lzma | Self::Brotli => false,
        }
    }

    /// What an error says that refuses a file for its codec: the name, and what helps.
    pub(crate) fn refusal(self) -> String {
        match self {
            Self::Zstd => format!("{self}, which only a build with the feature `zstd` has"),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How ZSTD blocks are laid out. HBase has two codec classes for them, which do not read each
/// other's files, and nothing in a file says which one wrote it. We read both.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum ZstdFraming {
    /// A bare Zstandard frame a block, as Hadoop's native `ZStandardCodec` has it: HBase's default.
    #[default]
    Frame,
    /// Hadoop's block framing around frames, as HBase's own `ZstdCodec`s have it, the one over
    /// zstd-jni and the one over aircompressor.
    Blocks,
}

impl ZstdFraming {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Frame, Self::Blocks];

    /// Our name for it: HBase has none.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Frame => "frame",
            Self::Blocks => "blocks",
        }
    }
}

impl fmt::Display for ZstdFraming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Appends `body`, compressed, to `out`. `framing` is for ZSTD.
///
/// # Panics
///
/// If this build cannot write `codec`, which the writer checks when it begins a file.
pub(crate) fn compress(codec: Compression, framing: ZstdFraming, body: &[u8], out: &mut Vec<u8>) {
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
        #[cfg(feature = "zstd")]
        Compression::Zstd => match framing {
            ZstdFraming::Frame => zstd::compress(body, out),
            ZstdFraming::Blocks => compress_framed(body, out, ZSTD_CHUNK_LEN, |chunk, out| {
                let start = out.len();
                zstd::compress(chunk, out);
                out.len().saturating_sub(start)
            }),
        },
        unsupported => panic!("the writer has refused {unsupported} ({framing})"),
    }
}

/// The most bytes that one chunk may hold: Hadoop's codecs gather a chunk in a buffer of 262,144
/// bytes less what incompressible bytes would grow by, and HBase reads no chunk that is longer.
const LZ4_CHUNK_LEN: usize = 261_100;
const SNAPPY_CHUNK_LEN: usize = 218_422;
#[cfg(feature = "zstd")]
const ZSTD_CHUNK_LEN: usize = 261_120;

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

/// How a file lays ZSTD out one of whose blocks is stored so.
pub(crate) fn zstd_framing(stored: &[u8]) -> ZstdFraming {
    #[cfg(feature = "zstd")]
    if !zstd::is_frame(stored) {
        return ZstdFraming::Blocks;
    }
    let _ = stored; // Without the feature nothing will be laid out.
    ZstdFraming::default()
}

/// Decompresses the body of a block, which has `len` bytes.
///
/// What stands behind the last group is not looked at, as in HBase: Hadoop may end with an empty
/// one. Memory is taken as bytes come out, not as `len` states it: see [`grow`]. What `buffer` has
/// of it is used; its bytes are not.
pub(crate) fn decompress(
    codec: Compression,
    stored: &[u8],
    len: usize,
    buffer: Vec<u8>,
) -> Result<Vec<u8>, Cow<'static, str>> {
    if stored.len().saturating_mul(ratio_max(codec)) < len {
        return Err(format!("{} bytes of {codec} cannot hold {len}", stored.len()).into());
    }
    match codec {
        Compression::None if stored.len() == len => Ok(stored.to_vec()),
        Compression::None => {
            Err(format!("{} bytes uncompressed where {len} are stated", stored.len()).into())
        }
        Compression::Gz => decompress_gzip(stored, len, buffer),
        Compression::Lz4 => decompress_framed(codec, stored, len, buffer, |chunk, body, room| {
            let room = room.min(chunk.len().saturating_mul(ratio_max(codec)));
            append(body, room, len, |out| {
                lz4_flex::block::decompress_into(chunk, out).map_err(|error| error.to_string())
            })
        }),
        Compression::Snappy => {
            decompress_framed(codec, stored, len, buffer, |chunk, body, room| {
                let room = room.min(chunk.len().saturating_mul(ratio_max(codec)));
                append(body, room, len, |out| {
                    snap::raw::Decoder::new()
                        .decompress(chunk, out)
                        .map_err(|error| error.to_string())
                })
            })
        }
        #[cfg(feature = "zstd")]
        Compression::Zstd if zstd::is_frame(stored) => zstd::decompress_body(stored, len),
        #[cfg(feature = "zstd")]
        Compression::Zstd => decompress_framed(codec, stored, len, buffer, zstd::decompress),
        unsupported => Err(format!("unsupported compression {unsupported}").into()),
    }
}

/// How many bytes at most one compressed byte can stand for.
const fn ratio_max(codec: Compression) -> usize {
    match codec {
        Compression::Gz => 1032,   // A block of 258-byte matches at two bits each.
        Compression::Lz4 => 255,   // A byte that continues a match length.
        Compression::Snappy => 22, // A copy of 64 bytes takes three.
        Compression::Zstd => 32 << 10, // A block of 128 KiB of one byte takes four.
        _ => 1,
    }
}

/// A place for `len` bytes that `stored_len` compressed ones are said to hold: whole if they shrank
/// as bodies mostly do, else a beginning of it.
fn place_for(len: usize, stored_len: usize, mut buffer: Vec<u8>) -> Vec<u8> {
    const LIKELY_RATIO: usize = 8;
    buffer.clear();
    buffer.reserve_exact(len.min(stored_len.saturating_mul(LIKELY_RATIO)));
    buffer
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

/// Lets `fill` write into so many bytes behind `body`, and keeps what it says it wrote.
fn append(
    body: &mut Vec<u8>,
    room: usize,
    len: usize,
    fill: impl FnOnce(&mut [u8]) -> Result<usize, String>,
) -> Result<(), String> {
    let start = body.len();
    let made = fill(grow(body, room, len))?;
    body.truncate(start.saturating_add(made));
    Ok(())
}

/// Takes the framing apart. `decompress_chunk` appends what is in a chunk, so many bytes at most.
fn decompress_framed(
    codec: Compression,
    stored: &[u8],
    len: usize,
    buffer: Vec<u8>,
    decompress_chunk: impl Fn(&[u8], &mut Vec<u8>, usize) -> Result<(), String>,
) -> Result<Vec<u8>, Cow<'static, str>> {
    let mut input = Input::new(stored);
    let mut body = place_for(len, stored.len(), buffer);
    while body.len() < len {
        let group_len = input.len_i32().ok_or("ends in the length of a group")?;
        let group_end = body.len().saturating_add(group_len);
        if group_end > len {
            return Err(format!("more than the {len} bytes stated").into());
        }
        while body.len() < group_end {
            let chunk_len = input.len_i32().ok_or("ends in the length of a chunk")?;
            let chunk = input.take(chunk_len).ok_or("a chunk goes past the block")?;
            let (start, room) = (body.len(), group_end.saturating_sub(body.len()));
            decompress_chunk(chunk, &mut body, room)
                .map_err(|error| format!("damaged {codec} chunk: {error}"))?;
            // A chunk of nothing would let a group go on for ever.
            if body.len() == start {
                return Err(format!("a {codec} chunk of nothing").into());
            }
        }
    }
    Ok(body)
}

fn decompress_gzip(
    stored: &[u8],
    len: usize,
    buffer: Vec<u8>,
) -> Result<Vec<u8>, Cow<'static, str>> {
    let mut decoder = MultiGzDecoder::new(stored);
    let mut body = place_for(len, stored.len(), buffer);
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

    /// Every codec that this build has, in every framing.
    fn codecs() -> Vec<(Compression, ZstdFraming)> {
        let codecs = Compression::ALL.into_iter().filter(|codec| codec.is_supported());
        codecs
            .flat_map(|codec| {
                let framings = ZstdFraming::ALL.into_iter();
                framings
                    .filter(move |framing| {
                        codec == Compression::Zstd || *framing == ZstdFraming::default()
                    })
                    .map(move |framing| (codec, framing))
            })
            .collect()
    }

    fn compressed_as(codec: Compression, framing: ZstdFraming, body: &[u8]) -> Vec<u8> {
        let mut out = b"before".to_vec();
        compress(codec, framing, body, &mut out);
        out.split_off(6)
    }

    fn decompress(
        codec: Compression,
        stored: &[u8],
        len: usize,
    ) -> Result<Vec<u8>, Cow<'static, str>> {
        let made = super::decompress(codec, stored, len, Vec::new());
        let again = super::decompress(codec, stored, len, vec![7; 100]);
        assert_eq!(made, again, "whatever the buffer held");
        made
    }

    fn compressed(codec: Compression, body: &[u8]) -> Vec<u8> {
        compressed_as(codec, ZstdFraming::default(), body)
    }

    /// The codecs in Hadoop's block framing.
    fn framed() -> Vec<(Compression, ZstdFraming)> {
        let is_framed = |(codec, framing): &(Compression, ZstdFraming)| match codec {
            Compression::None | Compression::Gz => false,
            Compression::Zstd => *framing == ZstdFraming::Blocks,
            _ => true,
        };
        codecs().into_iter().filter(is_framed).collect()
    }

    /// Bytes that repeat, but not at once.
    fn words(len: usize) -> Vec<u8> {
        (0..len).map(|at| (at * at / 1000 % 251) as u8).collect()
    }

    #[test]
    fn bodies_of_any_length_come_back() {
        for (codec, framing) in codecs() {
            for len in [0, 1, 100, 65_536, 218_422, 218_423, 261_100, 261_101, 1_000_000] {
                let body = words(len);
                let stored = compressed_as(codec, framing, &body);
                let back = decompress(codec, &stored, len);
                assert!(back.as_ref() == Ok(&body), "{codec} {framing} {len}");
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
        for (codec, framing) in framed() {
            let body = words(300_000);
            let mut stored = compressed_as(codec, framing, &body);
            stored.extend_from_slice(&[0; 4]);
            assert!(decompress(codec, &stored, body.len()).as_ref() == Ok(&body), "{codec}");
        }
    }

    #[test]
    fn groups_may_be_many_and_empty() {
        let (first, second) = (words(1000), words(70));
        for (codec, framing) in framed() {
            let compressed = |body| compressed_as(codec, framing, body);
            let stored = [compressed(&first), vec![0; 4], compressed(&second)].concat();
            assert_eq!(decompress(codec, &stored, 1070), Ok([&first[..], &second].concat()));
        }
    }

    #[test]
    fn a_cut_anywhere_is_an_error() {
        for (codec, framing) in codecs() {
            let body = words(500);
            let stored = compressed_as(codec, framing, &body);
            for len in 0..stored.len() {
                assert!(decompress(codec, &stored[..len], body.len()).is_err(), "{codec} {len}");
            }
        }
    }

    #[test]
    fn lengths_that_contradict_are_errors() {
        for (codec, framing) in codecs() {
            let stored = compressed_as(codec, framing, &words(500));
            assert!(decompress(codec, &stored, 499).is_err(), "{codec}: less stated");
            assert!(decompress(codec, &stored, 501).is_err(), "{codec}: more stated");
            assert!(decompress(codec, &stored, i32::MAX as usize).is_err(), "{codec}: much more");
        }
    }

    #[test]
    fn a_flipped_bit_never_panics_and_is_noticed_where_there_is_a_checksum() {
        let body = words(500);
        for (codec, framing) in codecs() {
            let stored = compressed_as(codec, framing, &body);
            for bit in 0..stored.len() * 8 {
                let mut flipped = stored.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                let back = decompress(codec, &flipped, body.len());
                if matches!(codec, Compression::Gz | Compression::Zstd) {
                    let unharmed = back.is_err() || back.as_ref() == Ok(&body);
                    assert!(unharmed, "{codec} {framing} bit {bit}");
                }
            }
        }
    }

    #[test]
    fn the_place_for_a_body_is_never_more_than_twice_what_came_out() {
        let (len, step) = (64 << 20, 50_000);
        let mut body = place_for(len, 1000, Vec::new());
        assert_eq!(body.capacity(), 8000);
        while body.len() < len {
            let room = step.min(len - body.len());
            grow(&mut body, room, len);
            assert!(body.capacity() <= (2 * body.len()).min(len), "{}", body.len());
        }
        assert_eq!(body.capacity(), len);
        assert_eq!(place_for(len, len, Vec::new()).capacity(), len);
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
        let error = decompress(Compression::Lzo, &[0; 100], 100);
        assert_eq!(error, Err("unsupported compression LZO".into()));
    }
}
