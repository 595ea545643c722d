//! Compresses the body of a block, in [Hadoop's framing](super) if the codec uses it.

use std::io::{self, Write};

use flate2::GzBuilder;

#[cfg(feature = "zstd")]
use super::zstd;
use super::{Compression, ZstdFraming};

/// Compresses `body` and appends the result to `out`; only ZSTD uses `framing`.
///
/// # Panics
///
/// If this build does not support `codec`. The writer checks the codec when it creates a file.
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
        unsupported => panic!("the writer should have rejected {unsupported} ({framing})"),
    }
}

// The maximum length of a chunk before compression, for each codec with Hadoop's framing: Hadoop's
// buffer of 262,144 bytes minus the worst-case growth of incompressible data. HBase cannot read
// longer chunks.
const LZ4_CHUNK_LEN: usize = 261_100;
const SNAPPY_CHUNK_LEN: usize = 218_422;
#[cfg(feature = "zstd")]
const ZSTD_CHUNK_LEN: usize = 261_120;

/// Appends `body` as one group of Hadoop's framing, in chunks of at most `chunk_len` bytes.
///
/// `compress_chunk` appends a compressed chunk and returns its length.
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
        if let Some(field) = out.get_mut(len_at..chunk_at) {
            field.copy_from_slice(&len.to_be_bytes());
        }
    }
}

fn push_len(out: &mut Vec<u8>, len: usize) {
    let len = u32::try_from(len).expect("a block is shorter than 2 GiB");
    out.extend_from_slice(&len.to_be_bytes());
}

/// Appends the bytes that `fill` writes into a slice of `len_max` bytes, and returns their number.
///
/// `fill` returns this number, or `None` if the slice is too short.
fn resize_and_fill(
    out: &mut Vec<u8>,
    len_max: usize,
    fill: impl FnOnce(&mut [u8]) -> Option<usize>,
) -> usize {
    let start = out.len();
    out.resize(start.saturating_add(len_max), 0);
    let room = out.get_mut(start..).unwrap_or_default();
    let len = fill(room).expect("the buffer has the size that the codec requires");
    out.truncate(start.saturating_add(len));
    len
}

fn compress_gzip(body: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
    // 0 in the header's field for the operating system, as Java writes it.
    let mut encoder =
        GzBuilder::new().operating_system(0).write(out, flate2::Compression::default());
    encoder.write_all(body)?;
    encoder.finish().map(drop)
}
