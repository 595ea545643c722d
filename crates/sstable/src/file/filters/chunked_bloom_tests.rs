//! The ribbon filter of HBase's trunk: asked like a Bloom filter, or ignored and reported.
//!
//! No released HBase writes such files, so these are ours with the Bloom filter replaced.

use std::sync::Arc;

use bytes::Bytes;
use cells::{BlockOffset, FileName};
use filter::engine::RibbonChunk;

use super::*;
use crate::block::bloom::ribbon;
use crate::block::header::BlockHeader;
use crate::checksum::ChecksumType;
use crate::error::BlockType;
use crate::file::trailer::Trailer;
use crate::limits::Limits;
use crate::reader::tests::{ROWS, SEED, cached, look_up_all, open, row, write};
use crate::verify;
use crate::write::WriterOptions;

/// Writes a file with `options`, and replaces its Bloom filter by a ribbon filter of this type.
fn with_ribbon(options: WriterOptions, type_name: &str) -> Vec<u8> {
    let old = write(options);
    let trailer_at = old.len() as u64 - Trailer::LEN;
    let mut trailer = Trailer::read(&old[trailer_at as usize..], trailer_at).unwrap();
    let reader = open(&old, cached());
    let filters = reader.file().filters();
    let bloom = filters.bloom.as_ref().unwrap();
    let [chunk] = &bloom.meta.chunks[..] else { panic!("one chunk") };
    let pairs: Vec<_> =
        keys(bloom.bloom_type).iter().map(|key| HashPair::new(HashType::Murmur, key)).collect();
    let (shape, segments) = RibbonChunk::build(0.01, &pairs).unwrap();

    let mut meta = bloom.meta.clone();
    let mut bytes = Vec::new();
    let (mut roots, mut moved) = (0_u64, 0_u64);
    for block in reader.blocks().headers() {
        let (at, header) = block.unwrap();
        let start = at.get() as usize;
        let body = &old[start + 33..start + header.on_disk_data_size_with_header as usize];
        let body = match header.block_type {
            BlockType::BloomChunk if at == chunk.block.offset => segments.clone(),
            BlockType::FileInfo => {
                let mut file_info = FileInfo::decode(body).unwrap();
                file_info.insert(FileInfo::BLOOM_FILTER_TYPE, type_name);
                file_info.encode()
            }
            BlockType::GeneralBloomMeta => {
                meta.total_byte_size = segments.len() as u64;
                meta.ribbon = vec![shape];
                ribbon::tests::write(&meta)
            }
            _ => body.to_vec(),
        };
        if header.block_type == BlockType::RootIndex {
            roots += 1;
            if roots == 1 {
                moved = (bytes.len() as u64).wrapping_sub(at.get());
                trailer.load_on_open_data_offset = BlockOffset::new(bytes.len() as u64);
            }
        }
        if header.block_type == BlockType::FileInfo {
            trailer.file_info_offset = BlockOffset::new(bytes.len() as u64);
        }
        let previous = header.previous_block.map(|previous| match header.block_type {
            BlockType::RootIndex => BlockOffset::new(previous.get().wrapping_add(moved)),
            _ => previous,
        });
        trailer.total_uncompressed_bytes += body.len() as u64;
        trailer.total_uncompressed_bytes -= u64::from(header.uncompressed_size);
        let len = body.len();
        let start = bytes.len();
        BlockHeader::new(header.block_type, len, len, previous, ChecksumType::Crc32c, 16_384)
            .write(&mut bytes);
        bytes.extend_from_slice(&body);
        ChecksumType::Crc32c.append(&mut bytes, start, 16_384);
        if start as u64 == meta.chunks[0].block.offset.get() {
            meta.chunks[0].block.len = (bytes.len() - start) as u32;
        }
    }
    trailer.write(&mut bytes);
    bytes
}

/// Returns the keys of the general filter of [`write`]'s file.
fn keys(bloom_type: BloomType) -> Vec<Vec<u8>> {
    let rows = (0..ROWS).map(|number| row(number * 2));
    match bloom_type {
        BloomType::RowCol => rows
            .flat_map(|row| {
                [b"a", b"b"].map(|qualifier| {
                    let mut key = Vec::new();
                    KeyRef::before_column(&row, b"", qualifier).write_flat(&mut key);
                    key
                })
            })
            .collect(),
        _ => rows.collect(),
    }
}

#[test]
fn a_ribbon_filter_of_the_trunk_is_asked_under_both_type_names() {
    for name in ["ROW", "RIBBON_ROW"] {
        let bytes = with_ribbon(WriterOptions::default(), name);
        let reader = open(&bytes, cached());
        assert_eq!(reader.filters().bloom_problem(), None);
        let summary = reader.filters().bloom().unwrap();
        assert_eq!((summary.bloom_type, summary.hash_count), (BloomType::Row, 0));
        assert!((0.005..=0.01).contains(&summary.error_rate()), "{}", summary.error_rate());
        assert!(summary.bits_per_key() < 7.7, "{}", summary.bits_per_key());
        let trace = look_up_all(&reader);
        assert_eq!(trace.filter_checks, u64::from(2 * ROWS) - 1);
        assert_eq!(trace.filters_unreadable, 0);
        assert!(trace.filter_false_positives < u64::from(ROWS) / 50);
    }
}

#[test]
fn a_ribbon_filter_over_columns_is_asked_for_a_column_and_for_deletes() {
    let options = || WriterOptions::default().bloom_type(BloomType::RowCol);
    for name in ["ROWCOL", "RIBBON_ROWCOL"] {
        let reader = open(&with_ribbon(options(), name), cached());
        assert_eq!(reader.filters().bloom_problem(), None);
        let mut trace = ReadTrace::default();
        let mut passed = 0;
        for number in 0..ROWS {
            let row = row(number * 2);
            for (qualifier, is_there) in [(b"a", true), (b"b", true), (b"c", false)] {
                let probe = RowProbe::new(&row, SEED).with_column(qualifier);
                let may = reader.ask_filter(&probe, &mut trace)
                    != crate::file::filters::filter_answer::FilterAnswer::No;
                assert!(may || !is_there, "{row:?} {qualifier:?}");
                passed += u32::from(may && !is_there);
            }
        }
        assert_eq!(trace.filters_unreadable, 0);
        assert!(passed < ROWS / 30, "{passed}");
    }
}

#[test]
fn a_file_with_a_ribbon_filter_passes_every_check() {
    let bytes = Bytes::from(with_ribbon(WriterOptions::default(), "ROW"));
    let name = FileName::new("ribbon");
    let found = verify(Arc::new(bytes), name, Limits::default(), |_| {}).unwrap();
    assert_eq!(found.problems, []);
}

/// HBase 2 ignores such a filter silently.
#[test]
fn a_filter_of_an_unknown_version_means_maybe_and_is_reported() {
    let mut bytes = with_ribbon(WriterOptions::default(), "ROW");
    let at = bytes.windows(8).position(|magic| magic == b"BLMFMET2").unwrap();
    let len = u32::from_be_bytes(bytes[at + 29..at + 33].try_into().unwrap()) as usize;
    bytes[at + 33 + 3] = 102;
    let mut sums = Vec::new();
    sums.extend_from_slice(&bytes[at..at + len]);
    ChecksumType::Crc32c.append(&mut sums, 0, 16_384);
    bytes[at..at + sums.len()].copy_from_slice(&sums);
    let reader = open(&bytes, cached());
    let problem = reader.filters().bloom_problem().unwrap().to_string();
    assert!(problem.ends_with("unknown version 102 of the Bloom filter"), "{problem}");
    let trace = look_up_all(&reader);
    assert_eq!((trace.filter_checks, trace.files_skipped_by_filter), (0, 0));
    assert_eq!(trace.filters_unreadable, u64::from(2 * ROWS) - 1);
}
