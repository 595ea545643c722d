//! Small files that claim to be huge: whatever a length or count says, a reader allocates at most
//! 64 MiB plus four times the file size.
//!
//! Lengths occur in headers, index entries, Bloom metas, file info, cells and codec frames. Instead
//! of listing them, the test writes the largest numbers at every offset, in each of the format's
//! three encodings, and recomputes the checksums.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use sstable::{
    Caching, CellRef, Compression, DataBlockEncoding, FileName, Limits, Reader, ReaderOptions,
    Result, Timestamp, Writer, WriterOptions, verify,
};
use support::mutants::Mutant;
use support::say;
use support::sound::Sound;

use crate::{HEAP, measured_alone};

/// The largest i32, vint and hvlong.
const HUGE: [&[u8]; 3] = [
    &[0x7f, 0xff, 0xff, 0xff],
    &[0xff, 0xff, 0xff, 0xff, 0x07],
    &[0x88, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
];

/// The number of bytes of each block that are overwritten; in a small block they contain all
/// lengths.
const DEPTH: usize = 160;

#[test]
fn a_small_file_that_claims_to_be_huge_gets_no_more_memory_than_the_limit() {
    let _alone = measured_alone();
    let (mut most, mut tightest, mut count) = (0, 0.0_f64, 0);
    for sound in subjects() {
        // The first two blocks of each type, because the others are alike.
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
        "bombs: {count} files that claim to be huge take at most {most} bytes, {:.1} % of the limit",
        tightest * 100.0
    ));

    for compression in [Compression::Gz, Compression::Snappy, Compression::Lz4] {
        let bytes = inflated(compression);
        let limits = Limits::default();
        let taken = bytes_taken(|| {
            let error = read_all(&bytes, limits).unwrap_err().to_string();
            assert!(error.contains(" bytes of data exceed the limit of "), "{error}");
        });
        assert!(taken <= (64 << 20) + 4 * bytes.len(), "{compression}: {taken}");
        let ratio = u32::try_from(INFLATED_LEN / bytes.len() + 1).unwrap();
        read_all(&bytes, limits.inflate_ratio_max(ratio)).unwrap();
        let inside = INFLATED_LEN >> 20;
        say(&format!(
            "bombs: {} bytes of {compression}, {inside} MiB inside, take {taken}",
            bytes.len()
        ));
    }
}

/// Returns small files with every codec and encoding.
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

/// More than the limit for a small file allows.
const INFLATED_LEN: usize = 300 << 20;

/// Returns a sound file with one highly compressible cell.
fn inflated(compression: Compression) -> Bytes {
    let options = WriterOptions::default().compression(compression);
    let mut writer = Writer::new(Vec::new(), FileName::new("air"), options).unwrap();
    let value = vec![0; INFLATED_LEN];
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

/// Returns the peak memory of some work.
fn bytes_taken(work: impl FnOnce()) -> usize {
    HEAP.reset_peak_usage();
    let before = HEAP.current_usage();
    work();
    HEAP.peak_usage().saturating_sub(before)
}
