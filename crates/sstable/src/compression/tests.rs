use std::borrow::Cow;

use super::decompress::reserve_output;
use super::output_buffer::grow;
use super::*;

/// All supported codecs in all framings.
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

fn decompress(codec: Compression, stored: &[u8], len: usize) -> Result<Vec<u8>, Cow<'static, str>> {
    let decompressed = super::decompress(codec, stored, len, Vec::new());
    let reused = super::decompress(codec, stored, len, vec![7; 100]);
    assert_eq!(decompressed, reused, "the contents of the buffer do not matter");
    decompressed
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

/// Moderately compressible bytes.
fn words(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * at / 1000 % 251) as u8).collect()
}

#[test]
fn bodies_of_any_length_round_trip() {
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
fn empty_bodies_are_compressed_as_by_hbase() {
    let gzip = b"\x1f\x8b\x08\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\0\0";
    assert_eq!(compressed(Compression::Gz, b""), gzip);
    assert_eq!(compressed(Compression::Lz4, b""), [0; 4]);
    assert_eq!(compressed(Compression::Snappy, b""), [0; 4]);
}

#[test]
fn trailing_bytes_are_ignored() {
    for (codec, framing) in framed() {
        let body = words(300_000);
        let mut stored = compressed_as(codec, framing, &body);
        stored.extend_from_slice(&[0; 4]);
        assert!(decompress(codec, &stored, body.len()).as_ref() == Ok(&body), "{codec}");
    }
}

#[test]
fn several_and_empty_groups_are_decompressed() {
    let (first, second) = (words(1000), words(70));
    for (codec, framing) in framed() {
        let compressed = |body| compressed_as(codec, framing, body);
        let stored = [compressed(&first), vec![0; 4], compressed(&second)].concat();
        assert_eq!(decompress(codec, &stored, 1070), Ok([&first[..], &second].concat()));
    }
}

#[test]
fn every_truncation_is_an_error() {
    for (codec, framing) in codecs() {
        let body = words(500);
        let stored = compressed_as(codec, framing, &body);
        for len in 0..stored.len() {
            assert!(decompress(codec, &stored[..len], body.len()).is_err(), "{codec} {len}");
        }
    }
}

#[test]
fn a_wrong_stated_length_is_an_error() {
    for (codec, framing) in codecs() {
        let stored = compressed_as(codec, framing, &words(500));
        assert!(decompress(codec, &stored, 499).is_err(), "{codec}: less stated");
        assert!(decompress(codec, &stored, 501).is_err(), "{codec}: more stated");
        assert!(decompress(codec, &stored, i32::MAX as usize).is_err(), "{codec}: much more");
    }
}

#[test]
fn a_flipped_bit_never_panics_and_checksums_detect_it() {
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
fn the_capacity_is_at_most_twice_the_decompressed_bytes() {
    let (len, step) = (64 << 20, 50_000);
    let mut body = reserve_output(len, 1000, Vec::new());
    assert_eq!(body.capacity(), 8000);
    while body.len() < len {
        let room = step.min(len - body.len());
        grow(&mut body, room, len);
        assert!(body.capacity() <= (2 * body.len()).min(len), "{}", body.len());
    }
    assert_eq!(body.capacity(), len);
    assert_eq!(reserve_output(len, len, Vec::new()).capacity(), len);
}

#[test]
fn highly_compressible_bodies_round_trip() {
    let body = vec![7; 3_000_000];
    for codec in [Compression::Gz, Compression::Snappy, Compression::Lz4] {
        let back = decompress(codec, &compressed(codec, &body), body.len()).unwrap();
        assert_eq!((&back, back.capacity()), (&body, body.len()), "{codec}");
    }
}

#[test]
fn an_unsupported_codec_is_named() {
    let error = decompress(Compression::Lzo, &[0; 100], 100);
    assert_eq!(error, Err("unsupported compression LZO".into()));
}
