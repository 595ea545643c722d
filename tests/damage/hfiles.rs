//! Damaged files: a read never panics, and returns an error or the right cells.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use sstable::{
    BlockType, CellRef, CellType, ChecksumType, Error, FileName, SequenceId, Timestamp, Writer,
    WriterOptions, salvage,
};
use support::cells::{PUT, hfile};
use support::say;
use support::sound::{Sound, open};

/// A file of ours whose cells all have the same length, and so its data blocks too.
fn file_of_equal_blocks() -> Sound {
    let options = WriterOptions::default().block_size(150).index_block_size(400);
    let mut writer = Writer::new(Vec::new(), FileName::new("equal"), options).unwrap();
    let mut cells = Vec::new();
    for number in 100..140 {
        let cell = CellRef {
            row: format!("row{number}").as_bytes(),
            family: b"f",
            qualifier: b"q",
            timestamp: Timestamp::new(7),
            cell_type: CellType::Put,
            value: b"0123456789",
            tags: b"",
            sequence_id: SequenceId::new(1),
        }
        .to_cell();
        writer.append(cell.as_ref()).unwrap();
        cells.push(cell);
    }
    let (bytes, _) = writer.finish().unwrap();
    Sound::new("equal", bytes, cells)
}

/// Returns the start and name of each region: block headers, bodies, checksums, trailer fields,
/// padding.
fn regions(sound: &Sound) -> Vec<(usize, String)> {
    let mut regions = Vec::new();
    for (block, (_, header)) in sound.blocks.iter().enumerate() {
        let covered = sound.covered(block);
        for (start, part) in
            [(covered.start, "header"), (covered.start + 33, "body"), (covered.end, "checksums")]
        {
            regions.push((start, format!("{} {part}", header.block_type)));
        }
    }
    let trailer = sound.bytes.len() - 4096;
    let message_len = usize::from(sound.bytes[trailer + 8]);
    regions.push((trailer, "TRAILER fields".to_owned()));
    regions.push((trailer + 9 + message_len, "TRAILER padding".to_owned()));
    regions.push((sound.bytes.len() - 4, "TRAILER version".to_owned()));
    regions
}

#[test]
fn a_truncated_file_is_refused_as_a_damaged_trailer() {
    let mut cuts = 0;
    for Sound { name, bytes, .. } in Sound::small() {
        let bytes = Bytes::from(bytes);
        for len in 0..bytes.len() {
            let error = open(bytes.slice(..len)).err();
            let error = error.unwrap_or_else(|| panic!("{name} cut at {len} opens"));
            let Error::Corrupt { file, damage } = &error else {
                panic!("{name} at {len}: {error}")
            };
            assert_eq!(file.to_string(), "damaged.hfile");
            assert_eq!(damage.block, Some(BlockType::Trailer), "{name} cut at {len}: {error}");
            assert!(damage.at.get() <= len as u64, "{name} cut at {len}: {error}");
            cuts += 1;
        }
    }
    say(&format!("corrupt: {cuts} of {cuts} truncated files are refused"));
}

/// Flips per region of a file: those that were harmless, and those that were an error.
type FlipCounts = BTreeMap<String, [u64; 2]>;

/// Flips every `step`th bit of a file, one at a time, and checks each copy.
fn flip(sound: &Sound, first: usize, step: usize, counts: &mut FlipCounts) {
    let regions = regions(sound);
    let mut bytes = sound.bytes.clone();
    for bit in (first..bytes.len() * 8).step_by(step) {
        bytes[bit / 8] ^= 1 << (bit % 8);
        let is_error = sound.judge(bytes.clone(), &format!("bit {bit}")).is_err();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let region = regions.partition_point(|(start, _)| *start <= bit / 8) - 1;
        counts.entry(regions[region].1.clone()).or_default()[usize::from(is_error)] += 1;
    }
}

/// `EVERY_BIT=1` flips all bits of all small files in two threads; otherwise a sample that differs
/// per file.
#[test]
fn a_flipped_bit_is_an_error_or_changes_no_answer() {
    const FLIPS: usize = 1_500;
    const THREADS: usize = 2;
    let every_bit = std::env::var_os("EVERY_BIT").is_some();
    let files = Sound::small();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut counts = BTreeMap::new();
        // Each file is split between the threads, so that they finish together.
        loop {
            let share = next.fetch_add(1, Ordering::Relaxed);
            let Some(sound) = files.get(share / THREADS) else { return counts };
            let bits = sound.bytes.len() * 8;
            // An odd stride visits all bit positions of a byte.
            let stride = if every_bit { 1 } else { bits.div_ceil(FLIPS) | 1 };
            let counts: &mut FlipCounts = counts.entry(share / THREADS).or_default();
            flip(sound, (share % THREADS) * stride, stride * THREADS, counts);
        }
    };
    let counts = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    let mut all = FlipCounts::new();
    for (number, sound) in files.iter().enumerate() {
        let mut of_file = FlipCounts::new();
        for (region, [harmless, errors]) in
            counts.iter().filter_map(|count| count.get(&number)).flatten()
        {
            for sum in [&mut of_file, &mut all] {
                let sum = sum.entry(region.clone()).or_default();
                sum[0] += harmless;
                sum[1] += errors;
            }
        }
        let flips: u64 = of_file.values().flatten().sum();
        let bits = sound.bytes.len() * 8;
        assert!(!every_bit || flips == bits as u64, "{}: {flips} of {bits}", sound.name);
        say(&format!("corrupt: {}: {flips} flips of {bits} bits, 0 wrong answers", sound.name));
    }
    say(&format!("corrupt: {} flips in all, 0 wrong answers", all.values().flatten().sum::<u64>()));
    for (region, [harmless, errors]) in all {
        let flips = errors + harmless;
        say(&format!(
            "corrupt:   {region:36} {errors:7} of {flips:7} are errors, the others change no answer"
        ));
        let is_filter = region.contains("BLOOM") || region.starts_with("META");
        if region.ends_with("body") && !is_filter {
            assert_eq!(harmless, 0, "a checksum covers {region}");
        }
    }
}

#[test]
fn damage_names_the_block_and_its_offset() {
    let sound = Sound::of_hbase("s15-extra-file-info");
    let reader = open(sound.bytes.clone()).unwrap();
    for block in reader.blocks().headers() {
        let (at, header) = block.unwrap();
        let is_filter = matches!(
            header.block_type,
            BlockType::BloomChunk | BlockType::GeneralBloomMeta | BlockType::DeleteFamilyBloomMeta
        );
        if header.is_empty() || is_filter {
            continue;
        }
        let mut bytes = sound.bytes.clone();
        bytes[usize::try_from(at.get()).unwrap() + 33] ^= 4;
        let error = sound.judge(bytes, "a flipped byte").expect_err("the checksum differs");
        let Error::Corrupt { file, damage } = &error else { panic!("{error}") };
        assert_eq!(file.to_string(), "damaged.hfile");
        assert_eq!((damage.at, damage.block), (at, Some(header.block_type)), "{error}");
    }
}

#[test]
fn a_damaged_filter_hides_nothing_and_is_counted() {
    let sound = Sound::of_hbase("s15-extra-file-info");
    let reader = open(sound.bytes.clone()).unwrap();
    let filters = [BlockType::BloomChunk, BlockType::GeneralBloomMeta];
    for wanted in filters {
        let found = reader.blocks().headers().map(|block| block.unwrap());
        let (at, _) = found.into_iter().find(|(_, header)| header.block_type == wanted).unwrap();
        let mut bytes = sound.bytes.clone();
        bytes[usize::try_from(at.get()).unwrap() + 33] ^= 4;
        let damaged = open(bytes).unwrap();
        assert_eq!(
            damaged.filters().bloom_problem().is_some(),
            wanted == BlockType::GeneralBloomMeta
        );
        for row in sound.rows.iter().filter(|row| sound.first_of(row).is_some()) {
            let found = damaged.row(row).unwrap();
            assert!(found.cell().is_some());
            let trace = found.trace();
            assert_eq!((trace.filter_checks, trace.filters_unreadable), (0, 1), "{wanted}");
            assert_eq!(trace.filter_false_positives, 0);
        }
    }
}

/// Swapped data blocks with correct checksums; only the index, the previous offsets and the key
/// order reveal them.
#[test]
fn swapped_blocks_are_detected() {
    let sound = file_of_equal_blocks();
    let reader = open(sound.bytes.clone()).unwrap();
    let data: Vec<_> = reader
        .blocks()
        .headers()
        .map(|block| block.unwrap())
        .filter(|(_, header)| header.block_type == BlockType::Data)
        .map(|(at, header)| {
            let start = usize::try_from(at.get()).unwrap();
            start..start + usize::try_from(header.len()).unwrap()
        })
        .collect();
    let mut tried = 0;
    for (number, first) in data.iter().enumerate() {
        for second in data[number + 1..].iter().filter(|second| second.len() == first.len()) {
            let mut swapped = sound.bytes.clone();
            swapped[first.clone()].copy_from_slice(&sound.bytes[second.clone()]);
            swapped[second.clone()].copy_from_slice(&sound.bytes[first.clone()]);
            let mut doubled = sound.bytes.clone();
            doubled[second.clone()].copy_from_slice(&sound.bytes[first.clone()]);
            for bytes in [swapped, doubled] {
                let error = sound
                    .judge(bytes, "a block out of place")
                    .expect_err("a swapped block is an error");
                assert!(matches!(error, Error::Corrupt { .. }), "{error}");
                tried += 1;
            }
        }
    }
    assert!(tried > 50, "only {tried} pairs of equally long blocks");
}

#[test]
fn a_block_without_checksums_in_a_file_with_them_is_damage() {
    let sound = Sound::of_hbase("s15-extra-file-info");
    let mut bytes = sound.bytes.clone();
    assert_eq!(bytes[24], ChecksumType::Crc32c.code());
    bytes[24] = ChecksumType::Null.code();
    let error = sound.judge(bytes, "no checksum").expect_err("a missing checksum is an error");
    assert!(error.to_string().contains("checksum NULL"), "{error}");
}

#[test]
fn the_trailer_is_checked_against_the_file() {
    let sound = Sound::of_hbase("p11-prefix-none-row");
    let trailer = sound.bytes.len() - 4096;
    let mut refused = 0;
    // Every value of every byte of the message.
    let message_len = usize::from(sound.bytes[trailer + 8]);
    for at in trailer..trailer + 9 + message_len {
        for value in (0..=255).filter(|value| *value != sound.bytes[at]).step_by(11) {
            let mut bytes = sound.bytes.clone();
            bytes[at] = value;
            refused += usize::from(sound.judge(bytes, &format!("byte {at} = {value}")).is_err());
        }
    }
    assert!(refused > 1000, "{refused}");
}

/// Returns a file and the length of its first block: `len`, or one that such a block can have.
fn with_first_block_of(len: usize) -> (Vec<u8>, usize) {
    let written = |value_len: usize| {
        let value = vec![7; value_len];
        let rows = [("a", &value[..]), ("b", b"1"), ("c", b"2")];
        let cells = rows.map(|(row, value)| CellRef { row: row.as_bytes(), value, ..PUT });
        hfile("long".as_ref(), WriterOptions::default().block_size(1), cells)
    };
    let first_len = |bytes: &[u8]| {
        let reader = open(bytes.to_vec()).unwrap();
        let (_, header) = reader.blocks().headers().next().unwrap().unwrap();
        usize::try_from(header.len()).unwrap()
    };
    // Twice, because a longer block may have one checksum more.
    let (mut value_len, mut bytes) = (len - 200, Vec::new());
    for _ in 0..3 {
        bytes = written(value_len);
        value_len = value_len + len - first_len(&bytes);
    }
    let len = first_len(&bytes);
    (bytes, len)
}

/// The search reads windows that grow; a magic may lie on the edge of two.
#[test]
fn a_salvage_finds_the_next_block_wherever_it_begins() {
    for edge in [400, 16_385, 81_914, 344_051] {
        for len in edge - 10..edge + 10 {
            let (mut bytes, len) = with_first_block_of(len);
            bytes[0] ^= 1; // The header is lost, and with it the length.
            let reader = open(bytes).unwrap();
            let mut rows = Vec::new();
            let lost = salvage(&reader, |cell| {
                rows.push(cell.row.to_vec());
                Ok::<(), Error>(())
            })
            .unwrap();
            assert_eq!(rows, [b"b", b"c"], "{len}");
            let lost: Vec<_> = lost.iter().map(|lost| (lost.damage.at.get(), lost.len)).collect();
            assert_eq!(lost, [(0, len as u64)]);
        }
    }
}
