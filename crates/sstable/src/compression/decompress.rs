//! Decompresses the body of a block, out of [Hadoop's framing](super) if the codec uses it.
//!
//! The length that the block header states is not trusted: memory grows with the decompressed
//! bytes, and a body that exceeds the stated length is an error.

use std::borrow::Cow;
use std::io::{self, Read};

use flate2::bufread::MultiGzDecoder;

use super::Compression;
use super::output_buffer::grow;
#[cfg(feature = "zstd")]
use super::zstd;
use crate::input::Input;

/// Decompresses the body of a block, which must have `len` bytes once decompressed.
///
/// In Hadoop's framing, ignores the input after the group that completes the body, as HBase does:
/// Hadoop may write an empty group at the end. Allocates as bytes are decompressed, see [`grow`].
/// Reuses the memory of `buffer` and discards its contents.
pub(crate) fn decompress(
    codec: Compression,
    stored: &[u8],
    len: usize,
    buffer: Vec<u8>,
) -> Result<Vec<u8>, Cow<'static, str>> {
    check_can_hold(codec, stored.len(), len)?;
    match codec {
        Compression::None if stored.len() == len => Ok(stored.to_vec()),
        Compression::None => {
            Err(format!("{} uncompressed bytes where {len} are stated", stored.len()).into())
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

/// Checks that `stored_len` compressed bytes can have `len` bytes once decompressed.
pub(crate) fn check_can_hold(
    codec: Compression,
    stored_len: usize,
    len: usize,
) -> Result<(), Cow<'static, str>> {
    if stored_len.saturating_mul(ratio_max(codec)) < len {
        return Err(format!("{stored_len} bytes of {codec} cannot hold {len}").into());
    }
    Ok(())
}

/// Returns the maximum number of decompressed bytes per compressed byte that a codec can reach.
const fn ratio_max(codec: Compression) -> usize {
    match codec {
        Compression::Gz => 1032,       // Matches of 258 bytes, at two bits each.
        Compression::Lz4 => 255,       // Each further byte of a match length adds up to 255.
        Compression::Snappy => 22,     // A copy of 64 bytes takes three bytes: 21.3, rounded up.
        Compression::Zstd => 32 << 10, // A 128 KiB block of one repeated byte takes four bytes.
        _ => 1,
    }
}

/// Clears `buffer` and reserves memory for `len` decompressed bytes.
///
/// Reserves at most `LIKELY_RATIO` times the stored length, because `len` is not trusted.
pub(super) fn reserve_output(len: usize, stored_len: usize, mut buffer: Vec<u8>) -> Vec<u8> {
    const LIKELY_RATIO: usize = 8;
    buffer.clear();
    buffer.reserve_exact(len.min(stored_len.saturating_mul(LIKELY_RATIO)));
    buffer
}

/// Appends the bytes that `fill` writes into a slice of `room` bytes; `fill` returns their number.
fn append(
    body: &mut Vec<u8>,
    room: usize,
    len: usize,
    fill: impl FnOnce(&mut [u8]) -> Result<usize, String>,
) -> Result<(), String> {
    let start = body.len();
    let filled = fill(grow(body, room, len))?;
    body.truncate(start.saturating_add(filled));
    Ok(())
}

/// Decompresses the groups and chunks of Hadoop's framing.
///
/// `decompress_chunk(chunk, body, room)` appends the decompressed chunk, at most `room` bytes, to
/// `body`.
fn decompress_framed(
    codec: Compression,
    stored: &[u8],
    len: usize,
    buffer: Vec<u8>,
    decompress_chunk: impl Fn(&[u8], &mut Vec<u8>, usize) -> Result<(), String>,
) -> Result<Vec<u8>, Cow<'static, str>> {
    let mut input = Input::new(stored);
    let mut body = reserve_output(len, stored.len(), buffer);
    while body.len() < len {
        let group_len = input.len_i32().ok_or("ends within a group length")?;
        let group_end = body.len().saturating_add(group_len);
        if group_end > len {
            return Err(format!("more than the {len} bytes stated").into());
        }
        while body.len() < group_end {
            let chunk_len = input.len_i32().ok_or("ends within a chunk length")?;
            let chunk = input.take(chunk_len).ok_or("a chunk exceeds the block")?;
            let (start, room) = (body.len(), group_end.saturating_sub(body.len()));
            decompress_chunk(chunk, &mut body, room)
                .map_err(|error| format!("damaged {codec} chunk: {error}"))?;
            // An incomplete group must continue with data: an empty chunk is damage.
            if body.len() == start {
                return Err(format!("an empty {codec} chunk").into());
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
    let mut body = reserve_output(len, stored.len(), buffer);
    let damaged = |error: io::Error| format!("damaged GZ stream: {error}");
    while body.len() < len {
        // Fill the reserved capacity, then double the length in each iteration.
        let left = len.saturating_sub(body.len());
        let room = match body.capacity().saturating_sub(body.len()) {
            0 => body.len().max(1024),
            spare => spare,
        };
        decoder.read_exact(grow(&mut body, room.min(left), len)).map_err(damaged)?;
    }
    // Reading to the end of the stream makes the decoder verify the stream's checksum.
    match decoder.read(&mut [0]).map_err(damaged)? {
        0 => Ok(body),
        _ => Err(format!("more than the {len} bytes stated").into()),
    }
}
