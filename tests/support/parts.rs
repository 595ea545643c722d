//! Files in which one part is replaced by arbitrary input: the fuzz targets for the readers.
//!
//! ```text
//! sound file  [data][leaf index][Bloom chunk]…[root index][file info][Bloom meta][trailer]
//!                                                              ↑
//! input       ─────────────────────────────────────────────────┘   sizes and offsets around the input
//!                                                                   are adjusted
//! ```
//!
//! The input reaches every decoder through the public API. The files have no checksums, which would
//! reject the input before it is decoded.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use filter::{Cuckoo, FilterKind, Seed, SeededHashes, Sizing, StoredFilter};
use sstable::{
    BlockType, BloomType, Caching, ChecksumType, Compression, DataBlockEncoding, FileName, Limits,
    ReadTrace, Result, RowProbe, WriterOptions,
};

use crate::cells::scan_all;
use crate::mutants::{set_trailer, shift_offsets};
use crate::sound::{Sound, open};
use crate::{directory_parts, foreign, store_parts};

/// Reads a file that contains an input; returns whether the read succeeded.
///
/// Panics if two reads contradict each other, which fuzzing looks for.
pub type Target = fn(&[u8]) -> bool;

/// The fuzz targets by name, as in `fuzz/`; `tests/damage/fuzz_corpus.rs` replays their inputs.
pub const TARGETS: [(&str, Target); 17] = [
    ("reader", |file| read(file.to_vec())),
    // The bodies of data blocks. But for `NONE` a first byte says whether tags are in a dictionary.
    ("plain", |input| data_block(DataBlockEncoding::None, input)),
    ("prefix", |input| data_block(DataBlockEncoding::Prefix, input)),
    ("diff", |input| data_block(DataBlockEncoding::Diff, input)),
    ("fast_diff", |input| data_block(DataBlockEncoding::FastDiff, input)),
    ("row_index", |input| data_block(DataBlockEncoding::RowIndexV1, input)),
    ("root_index", root_index),
    // The bodies of other blocks.
    ("leaf_index", |body| read(with_body(&TWO_LEVELS, BlockType::LeafIndex, body, body.len()))),
    ("bloom_meta", |body| {
        read(with_body(&TWO_LEVELS, BlockType::GeneralBloomMeta, body, body.len()))
    }),
    ("file_info", |body| read(with_body(&ONE_BLOCK[0], BlockType::FileInfo, body, body.len()))),
    ("trailer", trailer),
    ("codec", codec),
    ("filter", filter),
    ("foreign", foreign::foreign),
    ("wal", store_parts::wal),
    ("manifest", store_parts::manifest),
    ("directory", directory_parts::directory),
];

/// Calls the target of this name.
///
/// # Panics
///
/// As the [`Target`], or if there is none of that name.
pub fn fuzz(target: &str, input: &[u8]) -> bool {
    let (_, read) = TARGETS.iter().find(|(name, _)| *name == target).expect("a target");
    read(input)
}

/// Longer inputs take longer and reach no further code.
const INPUT_LEN_MAX: usize = 64 << 10;

/// The entry count and level count of the trailer (a byte each), and the root of the data index.
fn root_index(input: &[u8]) -> bool {
    let Some(([count, levels], body)) = input.split_first_chunk() else { return false };
    let file = &ONE_BLOCK[0];
    let mut bytes = with_body(file, BlockType::RootIndex, body, body.len());
    set_trailer(&mut bytes, 5, count & 0x7f);
    set_trailer(&mut bytes, 8, levels & 0x1f);
    read(bytes)
}

/// The trailer after its magic, without its version.
fn trailer(input: &[u8]) -> bool {
    let mut bytes = TWO_LEVELS.bytes.clone();
    let start = bytes.len() - 4096 + 8;
    let len = input.len().min(4096 - 12);
    bytes[start..start + len].copy_from_slice(&input[..len]);
    read(bytes)
}

/// A codec (one byte), the stated uncompressed size of a data block (four), and the stored block.
fn codec(input: &[u8]) -> bool {
    let Some(([codec, size @ ..], body)) = input.split_first_chunk::<5>() else { return false };
    let file = &COMPRESSED[usize::from(*codec) % COMPRESSED.len()].1;
    // Larger sizes are refused, and would be most of the inputs.
    let size = u32::from_be_bytes(*size) & 0xf_ffff;
    read(with_body(file, BlockType::Data, body, size as usize))
}

/// A row filter as stored.
fn filter(input: &[u8]) -> bool {
    let Ok(filter) = StoredFilter::parse(Bytes::copy_from_slice(input)) else { return false };
    for number in 0..64_u64 {
        filter.may_contain(&number.to_be_bytes());
    }
    filter.error_rate() >= 0.0 && filter.bits_per_key() >= 0.0
}

fn data_block(encoding: DataBlockEncoding, input: &[u8]) -> bool {
    let Some((layout, body)) = input.split_first() else { return false };
    let known = DataBlockEncoding::ALL.iter().position(|known| *known == encoding);
    let file = &ONE_BLOCK[known.expect("every encoding is in ALL") * 2 + usize::from(layout & 1)];
    let wanted = match encoding {
        DataBlockEncoding::None => BlockType::Data,
        _ => BlockType::EncodedData,
    };
    read(with_body(file, wanted, body, body.len()))
}

/// Options of the sound files.
fn options() -> WriterOptions {
    WriterOptions::default().checksum(ChecksumType::Null)
}

/// One file of one data block for each encoding, without and with a tag dictionary.
static ONE_BLOCK: LazyLock<Vec<Sound>> = LazyLock::new(|| {
    let with = |encoding, compress_tags| {
        let options = options().data_block_encoding(encoding).compress_tags(compress_tags);
        Sound::written("one-block", options.bloom_type(BloomType::None))
    };
    let encodings = DataBlockEncoding::ALL.into_iter();
    encodings
        .flat_map(|encoding| {
            let has_dictionary = matches!(
                encoding,
                DataBlockEncoding::Prefix | DataBlockEncoding::Diff | DataBlockEncoding::FastDiff
            );
            [with(encoding, false), with(encoding, has_dictionary)]
        })
        .collect()
});

/// A file of many data blocks, two index levels and both Bloom filters.
static TWO_LEVELS: LazyLock<Sound> = LazyLock::new(|| {
    Sound::written(
        "two-levels",
        options().block_size(700).index_block_size(150).index_min_entries(4),
    )
});

/// One file of one data block for each codec.
static COMPRESSED: LazyLock<Vec<(Compression, Sound)>> = LazyLock::new(|| {
    let codecs = Compression::ALL.into_iter();
    let supported = codecs.filter(|codec| codec.is_supported() && *codec != Compression::None);
    supported
        .map(|codec| (codec, Sound::written("compressed", options().compression(codec))))
        .collect()
});

/// Replaces the body of the last block of a type, and adjusts all sizes and offsets.
fn with_body(sound: &Sound, wanted: BlockType, body: &[u8], inflated: usize) -> Vec<u8> {
    let body = &body[..body.len().min(INPUT_LEN_MAX)];
    let number = match wanted {
        // The last root index is that of the META blocks.
        BlockType::RootIndex => sound.blocks.iter().position(|block| block.1.block_type == wanted),
        _ => sound.blocks.iter().rposition(|block| block.1.block_type == wanted),
    };
    let number = number.expect("the file has such a block");
    let (at, header) = sound.blocks[number];
    let start = at.get() as usize;
    let covered = 33 + body.len();
    let sums_len = covered.div_ceil(header.bytes_per_checksum as usize) * 4;
    let be = |len: usize| (len as u32).to_be_bytes();

    let mut bytes = sound.bytes[..start + 8].to_vec();
    bytes.extend(be(body.len() + sums_len));
    bytes.extend(be(inflated));
    bytes.extend_from_slice(&sound.bytes[start + 16..start + 29]);
    bytes.extend(be(covered));
    bytes.extend_from_slice(body);
    bytes.resize(bytes.len() + sums_len, 0);
    let end = bytes.len();
    bytes.extend_from_slice(&sound.bytes[start + header.len() as usize..]);

    let by = end as i64 - (at.get() + header.len()) as i64;
    shift_offsets(&mut bytes, at.get() + 1, by);
    for (index, (other_at, other)) in sound.blocks.iter().enumerate().skip(number) {
        let place = |at: u64, len: usize| [&at.to_be_bytes()[..], &be(len)].concat();
        let old = place(other_at.get(), other.len() as usize);
        let new = if index == number {
            place(at.get(), end - start)
        } else {
            place(other_at.get().wrapping_add_signed(by), other.len() as usize)
        };
        // The input itself is not adjusted.
        for from in end..bytes.len().saturating_sub(old.len()) {
            if bytes[from..].starts_with(&old) {
                bytes[from..from + old.len()].copy_from_slice(&new);
            }
        }
    }
    bytes
}

/// Reads a file in every way; errors are fine, contradictory answers panic.
fn read(bytes: Vec<u8>) -> bool {
    let bytes = Bytes::from(bytes);
    let name = FileName::new("fuzzed");
    let found = sstable::verify(Arc::new(bytes.clone()), name, Limits::default(), |_| {});
    let is_sound = found.is_ok_and(|found| found.is_sound());
    let outcome = read_all(bytes);
    assert!(
        !is_sound || outcome.is_ok(),
        "verify finds the file sound, but a read fails: {outcome:?}"
    );
    outcome.is_ok()
}

fn read_all(bytes: Bytes) -> Result<()> {
    let reader = open(bytes)?;
    reader.index().middle_key(&mut ReadTrace::default())?;
    let names: Vec<_> = reader.blocks().meta_names().map(<[u8]>::to_vec).collect();
    for name in names {
        reader.blocks().meta(&name, &mut ReadTrace::default())?;
    }
    let mut scanner = reader.scanner(Caching::Use);
    let cells = scan_all(&mut scanner)?;
    scanner.seek_to_last()?;
    for cell in cells.iter().rev() {
        assert_eq!(
            scanner.cell(),
            Some(cell.as_ref()),
            "a backward scan returns the cells of a forward scan"
        );
        scanner.retreat()?;
    }
    for cell in cells.iter().step_by((cells.len() / 8) | 1) {
        let probe = RowProbe::new(cell.row(), Seed::default()).with_column(b"column-1");
        reader.look_up(&probe)?;
        scanner.seek(cell.as_ref().key())?;
        scanner.seek_before(cell.as_ref().key())?;
    }
    for block in reader.blocks().headers() {
        block?;
    }
    Ok(())
}

/// Returns the initial corpus of a target: the matching part of each sound file.
///
/// # Panics
///
/// If a sound file lacks the part.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let body = |sound: &Sound, wanted: BlockType| {
        let number = sound.blocks.iter().rposition(|block| block.1.block_type == wanted);
        let number = number.expect("the file has such a block");
        sound.bytes[sound.covered(number)][33..].to_vec()
    };
    let encoded = |encoding: DataBlockEncoding, wanted| {
        let first = DataBlockEncoding::ALL.iter().position(|known| *known == encoding);
        let first = first.expect("every encoding is in ALL") * 2;
        let with = |layout: usize| {
            [&[layout as u8][..], &body(&ONE_BLOCK[first + layout], wanted)].concat()
        };
        vec![with(0), with(1)]
    };
    let encoded_data = BlockType::EncodedData;
    match target {
        "directory" => directory_parts::seeds(),
        "reader" => Sound::small().into_iter().map(|sound| sound.bytes).collect(),
        "plain" => encoded(DataBlockEncoding::None, BlockType::Data),
        "prefix" => encoded(DataBlockEncoding::Prefix, encoded_data),
        "diff" => encoded(DataBlockEncoding::Diff, encoded_data),
        "fast_diff" => encoded(DataBlockEncoding::FastDiff, encoded_data),
        "row_index" => encoded(DataBlockEncoding::RowIndexV1, encoded_data),
        "root_index" => {
            let start = ONE_BLOCK[0]
                .blocks
                .iter()
                .position(|block| block.1.block_type == BlockType::RootIndex);
            let covered = ONE_BLOCK[0].covered(start.expect("every file has one"));
            vec![[&[1, 1][..], &ONE_BLOCK[0].bytes[covered][33..]].concat()]
        }
        "leaf_index" => vec![body(&TWO_LEVELS, BlockType::LeafIndex)],
        "bloom_meta" => vec![body(&TWO_LEVELS, BlockType::GeneralBloomMeta)],
        "file_info" => vec![body(&ONE_BLOCK[0], BlockType::FileInfo)],
        "trailer" => {
            let start = TWO_LEVELS.bytes.len() - 4096 + 8;
            vec![TWO_LEVELS.bytes[start..start + 160].to_vec()]
        }
        "foreign" => foreign::seeds(),
        "codec" => COMPRESSED
            .iter()
            .enumerate()
            .map(|(number, (_, sound))| {
                let block = sound.blocks.iter().find(|block| block.1.block_type == BlockType::Data);
                let size = block.expect("a block of cells").1.uncompressed_size.to_be_bytes();
                [&[number as u8][..], &size, &body(sound, BlockType::Data)].concat()
            })
            .collect(),
        "filter" => {
            let rate = Sizing::error_rate(0.05).expect("in range");
            let (seed, numbers) = (Seed::default(), (0..50_u64).map(u64::to_be_bytes));
            let keys: Vec<[u8; 8]> = numbers.collect();
            let hashes = SeededHashes::new(seed, &keys);
            // A fingerprint width whose buckets are not byte-aligned.
            let mut odd = Cuckoo::with_fingerprint_bits(9, 50, seed).expect("a valid width");
            for key in &keys {
                odd.insert(key).expect("few keys fit");
            }
            let kinds = FilterKind::ALL.iter();
            let stored = kinds.map(|kind| kind.build(rate, &hashes).expect("few keys fit"));
            stored.chain([odd.to_stored()]).collect()
        }
        "wal" | "manifest" => store_parts::seeds(target),
        _ => Vec::new(),
    }
}
