//! Small files that claim to be huge: whatever stands in the place of a length or a count, no reader
//! takes more memory for it than 64 MiB and four times the file.
//!
//! The lengths of a file stand in many places: headers, index entries, Bloom metas, file info, cells,
//! frames of the codecs. Instead of listing them, the largest numbers are written at every place,
//! each in the three forms that the format has, and the checksums made anew.
#![expect(clippy::unwrap_used, reason = "what cannot go on here has failed the test")]

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use peak_alloc::PeakAlloc;
use sstable::{
    Caching, CellRef, Compression, DataBlockEncoding, FileName, Limits, Reader, ReaderOptions,
    Result, Timestamp, Writer, WriterOptions, verify,
};
use support::mutants::Mutant;
use support::say;
use support::sound::Sound;

/// Counts what is allocated. This file has one test, so that what is counted is its own.
#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// The largest i32, vint and hvlong.
const HUGE: [&[u8]; 3] = [
    &[0x7f, 0xff, 0xff, 0xff],
    &[0xff, 0xff, 0xff, 0xff, 0x07],
    &[0x88, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
];

/// Bytes of each block that are overwritten: all lengths of a small block stand in them.
const DEPTH: usize = 160;

#[test]
fn a_small_file_that_claims_to_be_huge_is_given_no_more_memory_than_it_justifies() {
    let (mut most, mut tightest, mut count) = (0, 0.0_f64, 0);
    for sound in subjects() {
        // Of each type the first two: the others are made alike.
        let mut seen = HashMap::new();
        for block in 0..sound.blocks.len() {
            let number = seen.entry(sound.blocks[block].1.block_type).or_insert(0);
            *number += 1;
            let places = if *number > 2 { 0 } else { DEPTH };
            for (at, huge) in (0..places).flat_map(|at| HUGE.map(|huge| (at, huge))) {
                let Some(mutant) = Mutant::overwritten(&sound, block, at, huge) else { continue };
                let bytes = Bytes::from(mutant.bytes);
                let taken = bytes_taken(|| drop(read_all(&bytes, Limits::default())));
                let allowed = (64 << 20) + 4 * bytes.len();
                assert!(taken <= allowed, "{}, block {block} at {at}: {taken}", sound.name);
                (most, count) = (most.max(taken), count + 1);
                tightest = tightest.max(taken as f64 / allowed as f64);
            }
        }
    }
    assert!(count > 10_000, "{count}");
    say(&format!(
        "bombs: {count} files that claim to be huge take at most {most} bytes, {:.1} % of what is allowed",
        tightest * 100.0
    ));

    for compression in [Compression::Gz, Compression::Snappy, Compression::Lz4] {
        let bytes = inflated(compression);
        let limits = Limits::default();
        let taken = bytes_taken(|| {
            let error = read_all(&bytes, limits).unwrap_err().to_string();
            assert!(error.contains("more than the limits allow in such a file"), "{error}");
        });
        assert!(taken <= (64 << 20) + 4 * bytes.len(), "{compression}: {taken}");
        let ratio = u32::try_from((80 << 20) / bytes.len() + 1).unwrap();
        read_all(&bytes, limits.inflate_ratio_max(ratio)).unwrap();
        say(&format!("bombs: {} bytes of {compression}, 80 MiB inside, take {taken}", bytes.len()));
    }
}

/// Small files with every codec and encoding.
fn subjects() -> Vec<Sound> {
    // One codec more often than the others, so that every encoding has one.
    let codecs = [Compression::None, Compression::Gz, Compression::Snappy, Compression::Lz4];
    let written =
        codecs.into_iter().cycle().zip(DataBlockEncoding::ALL).map(|(compression, encoding)| {
            let options = WriterOptions::default()
                .compression(compression)
                .data_block_encoding(encoding)
                .block_size(500)
                .index_block_size(300);
            Sound::written(&format!("{encoding} {compression}"), options)
        });
    Sound::small().into_iter().chain(written).collect()
}

/// A sound file of one cell of 80 MiB, which is mostly air.
fn inflated(compression: Compression) -> Bytes {
    let options = WriterOptions::default().compression(compression);
    let mut writer = Writer::new(Vec::new(), FileName::new("air"), options).unwrap();
    let value = vec![0; 80 << 20];
    writer.append(CellRef::put(b"row", b"f", b"q", Timestamp::new(1), &value)).unwrap();
    writer.finish().unwrap().0.into()
}

/// Verifies a file, and reads all its cells past the cache and through it.
fn read_all(bytes: &Bytes, limits: Limits) -> Result<()> {
    let (source, name) = (Arc::new(bytes.clone()), FileName::new("bomb"));
    drop(verify(source.clone(), name.clone(), limits, |_| {}));
    let reader = Reader::open(source, name, ReaderOptions::default().limits(limits))?;
    for mut scanner in
        [reader.scanner(Caching::Bypass), reader.scanner(Caching::Use), reader.bulk_scanner()]
    {
        scanner.seek_to_first()?;
        while scanner.cell().is_some() {
            scanner.advance()?;
        }
    }
    Ok(())
}

/// The most bytes that are held at once meanwhile.
fn bytes_taken(work: impl FnOnce()) -> usize {
    HEAP.reset_peak_usage();
    let before = HEAP.current_usage();
    work();
    HEAP.peak_usage().saturating_sub(before)
}
