//! Zstandard frames, which are the whole body of a block or one chunk of it.
//!
//! This module parses these fields of the frame header; the rest is left to the decoder:
//!
//! | at | bytes | field             | meaning                                                       |
//! |---:|------:|-------------------|---------------------------------------------------------------|
//! |  0 |     4 | magic             | `28 b5 2f fd`                                                 |
//! |  4 |     1 | descriptor        | bit 5: single segment, without a window descriptor            |
//! |  5 |     1 | window descriptor | `e << 3 \| m`: 2^(10 + e) · (1 + m/8) bytes                    |
//!
//! See RFC 8878, and [`ZstdFraming`](super::ZstdFraming) for HBase's codec classes.

use std::borrow::Cow;
use std::io::Read;

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ruzstd::encoding::{CompressionLevel, FrameCompressor};

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Returns whether the body of a block is a bare frame, without Hadoop's framing.
///
/// Unambiguous: in Hadoop's framing the magic would be the raw length of the first group, 683 MB.
pub(super) fn is_frame(stored: &[u8]) -> bool {
    stored.starts_with(&MAGIC)
}

/// Appends `body` as one frame.
pub(super) fn compress(body: &[u8], out: &mut Vec<u8>) {
    let mut compressor = FrameCompressor::new(CompressionLevel::Fastest);
    compressor.set_source(body);
    compressor.set_drain(out);
    compressor.compress();
}

/// Decompresses a body of bare frames into `len` bytes.
pub(super) fn decompress_body(stored: &[u8], len: usize) -> Result<Vec<u8>, Cow<'static, str>> {
    let mut body = Vec::new();
    decompress(stored, &mut body, len).map_err(|error| format!("damaged ZSTD frame: {error}"))?;
    if body.len() < len {
        return Err(format!("{} bytes of ZSTD where {len} are stated", body.len()).into());
    }
    Ok(body)
}

/// Decompresses frames and appends their bytes.
///
/// Fails if a frame exceeds `len_max` bytes in total. Once there are `len_max` bytes, ignores the
/// rest of the input.
pub(super) fn decompress(
    mut stored: &[u8],
    out: &mut Vec<u8>,
    len_max: usize,
) -> Result<(), String> {
    let end = out.len().saturating_add(len_max);
    loop {
        let room = end.saturating_sub(out.len());
        stored = decompress_frame(stored, out, room)?;
        if out.len() == end || stored.is_empty() {
            return Ok(());
        }
    }
}

/// Decompresses one frame and appends its bytes; returns the rest of the input.
fn decompress_frame<'a>(
    stored: &'a [u8],
    out: &mut Vec<u8>,
    len_max: usize,
) -> Result<&'a [u8], String> {
    let (head, mut rest) = stored.split_first_chunk::<6>().ok_or("it ends within the header")?;
    let head = limit_window(*head, len_max);
    let mut source = head.chain(&mut rest);
    let mut decoder = FrameDecoder::new();
    // `limit_window` rounds the window up to a power of two, which is less than twice `len_max`.
    let window_len_max = u64::try_from(len_max.saturating_mul(2)).unwrap_or(u64::MAX);
    decoder.set_max_window_size(window_len_max.max(WINDOW_LEN_MIN));
    let text_of = |error: ruzstd::decoding::errors::FrameDecoderError| error.to_string();
    decoder.reset(&mut source).map_err(text_of)?;
    let end = out.len().saturating_add(len_max);
    while !decoder.is_finished() {
        let one_block = BlockDecodingStrategy::UptoBlocks(1);
        decoder.decode_blocks(&mut source, one_block).map_err(text_of)?;
        let ready = decoder.can_collect();
        if out.len().saturating_add(ready) > end {
            return Err(format!("more than the {len_max} bytes stated"));
        }
        decoder
            .read_exact(super::output_buffer::grow(out, ready, end))
            .map_err(|error| error.to_string())?;
    }
    match decoder.get_checksum_from_data() {
        Some(sum) if decoder.get_calculated_checksum() != Some(sum) => {
            Err("checksum mismatch".to_owned())
        }
        _ => Ok(rest),
    }
}

/// The minimum window of a frame, in bytes.
const WINDOW_LEN_MIN: u64 = 1 << 10;

/// Limits the window in the header of a frame to the length of the decompressed data.
///
/// The decoder buffers a full window before it returns the first byte. A streaming compressor
/// states a window of megabytes, and a malicious frame could state terabytes. A window of the
/// length of the data suffices: no match begins before the first byte.
fn limit_window(mut head: [u8; 6], len_max: usize) -> [u8; 6] {
    const SINGLE_SEGMENT: u8 = 1 << 5;
    let [.., descriptor, window] = &mut head;
    if *descriptor & SINGLE_SEGMENT == 0 {
        let enough = len_max.checked_next_power_of_two().map_or(u32::MAX, usize::ilog2);
        let exponent = enough.saturating_sub(WINDOW_LEN_MIN.ilog2()).min(31);
        *window = u8::try_from(exponent.wrapping_shl(3)).unwrap_or(u8::MAX).min(*window);
    }
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"hfile hfile hfile hfile";
    /// The output of `zstd -19 --no-check` for a file: a single segment.
    const KNOWN: &[u8] =
        b"\x28\xb5\x2f\xfd\x20\x17\x65\0\0\x30\x68\x66\x69\x6c\x65\x20\x01\0\x99\x4b\x11";
    /// The output for a pipe: a window of 8 MiB, and a checksum.
    const STREAMED: &[u8] = b"\x28\xb5\x2f\xfd\x04\x68\x65\0\0\x30\x68\x66\x69\x6c\x65\x20\x01\0\x99\x4b\x11\xc8\xb3\xb6\xab";

    #[test]
    fn frames_of_the_reference_compressor_are_read() {
        for frame in [KNOWN, STREAMED] {
            assert_eq!(decompress_body(frame, TEXT.len()).as_deref(), Ok(TEXT));
            let error = decompress_body(frame, TEXT.len() - 1).unwrap_err();
            // Depends on which check fails first: the length, or the decoder's maximum window.
            assert!(error.contains("more than the 22 bytes stated") || error.contains("indow"));
            let error = decompress_body(frame, TEXT.len() + 1).unwrap_err();
            assert_eq!(error, "23 bytes of ZSTD where 24 are stated");
        }
        let two = [KNOWN, STREAMED, b"any trailing bytes"].concat();
        assert_eq!(decompress_body(&two, 46), Ok([TEXT, TEXT].concat()));
    }

    #[test]
    fn the_window_is_limited_to_the_block() {
        let mut frame = STREAMED.to_vec();
        frame[5] = 0xff; // 3.75 TiB.
        assert_eq!(decompress_body(&frame, TEXT.len()).as_deref(), Ok(TEXT));
        assert_eq!(limit_window([0, 0, 0, 0, 0, 0xff], 65_536)[5], 6 << 3);
        assert_eq!(limit_window([0, 0, 0, 0, 0, 0xff], 65_537)[5], 7 << 3);
        assert_eq!(limit_window([0, 0, 0, 0, 0, 0], 65_537)[5], 0);
        assert_eq!(limit_window([0, 0, 0, 0, 0x20, 0xff], 1)[5], 0xff);
    }

    #[test]
    fn the_error_names_the_id_of_a_missing_dictionary() {
        let mut frame = KNOWN.to_vec();
        frame[4] |= 1;
        frame.insert(5, 7);
        let error = decompress_body(&frame, TEXT.len()).unwrap_err();
        assert!(error.contains("ictionary") && error.contains('7'), "{error}");
    }

    #[test]
    fn a_wrong_checksum_is_an_error() {
        let mut frame = STREAMED.to_vec();
        *frame.last_mut().unwrap() ^= 1;
        let error = decompress_body(&frame, TEXT.len()).unwrap_err();
        assert_eq!(error, "damaged ZSTD frame: checksum mismatch");
    }

    /// A frame that decompresses to far more than stated.
    #[test]
    fn decompression_stops_when_a_frame_exceeds_the_stated_length() {
        // A window of terabytes, then blocks of 128 KiB of one byte.
        let mut bomb = b"\x28\xb5\x2f\xfd\0\xff".to_vec();
        (0..1000).for_each(|_| bomb.extend_from_slice(&[0x02, 0x00, 0x10, b'x']));
        let mut out = Vec::new();
        let error = decompress(&bomb, &mut out, 100_000).unwrap_err();
        assert_eq!(error, "more than the 100000 bytes stated");
        assert!(out.capacity() < 1 << 20);
    }
}
