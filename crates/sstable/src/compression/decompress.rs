//! A block's body decompressed, out of [Hadoop's framing](super) where the codec has it.
//!
//! Nothing is believed: memory for what a block states to be its length is taken as bytes come out, and
//! more than that is an error.

use std::borrow::Cow;
use std::io::{self, Read};

use flate2::bufread::MultiGzDecoder;

use super::Compression;
#[cfg(feature = "zstd")]
use super::zstd;
use crate::input::Input;

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
pub(super) fn place_for(len: usize, stored_len: usize, mut buffer: Vec<u8>) -> Vec<u8> {
    const LIKELY_RATIO: usize = 8;
    buffer.clear();
    buffer.reserve_exact(len.min(stored_len.saturating_mul(LIKELY_RATIO)));
    buffer
}

/// Makes `body` longer by `room` zeros, on its way to `len` bytes in all; returns them.
///
/// Its capacity at most doubles, so that what is taken is at most twice what has come out, and ends
/// at `len`, so that nothing lies idle behind a body that is kept.
pub(super) fn grow(body: &mut Vec<u8>, room: usize, len: usize) -> &mut [u8] {
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
