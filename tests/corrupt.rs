//! Bytes from outside never panic, and never lie: damaged files give an error, or all the cells
//! that are in them.
#![expect(clippy::unwrap_used, reason = "what cannot go on here has failed the test")]

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use filter::Seed;
use sstable::{
    BlockOffset, BlockType, Caching, Cell, CellRef, CellType, ChecksumType, Error, FileName,
    Header, KeyRef, Limits, ReadTrace, Reader, ReaderOptions, Result, RowProbe, SequenceId,
    Timestamp, Writer, WriterOptions,
};
use support::fixtures::Fixture;
use support::say;
use workload::Random;

fn open(bytes: impl Into<Bytes>) -> Result<Reader> {
    let source = Arc::new(bytes.into());
    Reader::open(source, FileName::new("damaged.hfile"), ReaderOptions::default())
}

/// Everything that a file can be asked for, and how it answers: forwards, backwards, row by row.
fn read_all(reader: &Reader, rows: &[&[u8]]) -> Result<(Vec<Cell>, Vec<bool>)> {
    let mut cells = Vec::new();
    let mut scanner = reader.scanner(Caching::Use);
    scanner.seek_to_first()?;
    while let Some(cell) = scanner.cell() {
        cells.push(cell.to_cell());
        scanner.advance()?;
    }
    scanner.seek_to_last()?;
    for expected in cells.iter().rev() {
        assert_eq!(scanner.cell(), Some(expected.as_ref()), "backwards as forwards");
        scanner.retreat()?;
    }
    let mut found = Vec::new();
    for row in rows {
        let probe = RowProbe::new(row, Seed::default());
        found.push(reader.seek_row(&probe, &mut ReadTrace::default())?.is_some());
        reader.may_delete_family(&probe, &mut ReadTrace::default());
    }
    for block in reader.blocks() {
        block?;
    }
    reader.middle_key(&mut ReadTrace::default())?;
    Ok((cells, found))
}

/// A file, what is in it, and rows that are and are not.
struct Sound {
    name: String,
    bytes: Vec<u8>,
    cells: Vec<Cell>,
    rows: Vec<Vec<u8>>,
}

impl Sound {
    fn named(name: &str) -> Self {
        let fixture = Fixture::all().into_iter().find(|fixture| fixture.name == name).unwrap();
        let cells = fixture.cells();
        let mut rows: Vec<_> = cells.iter().map(|cell| cell.row().to_vec()).collect();
        rows.dedup();
        let absent: Vec<_> = rows.iter().map(|row| [&row[..], b"\0"].concat()).collect();
        let rows = rows.into_iter().zip(absent).flat_map(<[_; 2]>::from);
        Self { name: name.to_owned(), bytes: fixture.bytes(), rows: rows.collect(), cells }
    }

    /// A file of ours whose cells, and so whose data blocks, are equally long.
    fn of_equal_blocks() -> Self {
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
        let rows = cells.iter().map(|cell| cell.row().to_vec()).collect();
        Self { name: "equal".to_owned(), bytes, cells, rows }
    }

    /// Reads a damaged copy. `Err` if that gives an error, `Ok` if every answer is right; anything
    /// else fails the test.
    fn judge(&self, bytes: Vec<u8>, what: &str) -> Result<()> {
        let rows: Vec<_> = self.rows.iter().map(Vec::as_slice).collect();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let reader = open(bytes)?;
            read_all(&reader, &rows)
        }));
        let Ok(outcome) = outcome else { panic!("{}: {what} panics", self.name) };
        let (cells, found) = outcome?;
        assert!(cells == self.cells, "{}: {what} gives other cells", self.name);
        let present: Vec<_> = self.rows.iter().map(|row| self.holds(row)).collect();
        assert!(found == present, "{}: {what} gives other answers", self.name);
        Ok(())
    }

    fn holds(&self, row: &[u8]) -> bool {
        self.cells.binary_search_by(|cell| cell.row().cmp(row)).is_ok()
    }

    /// The name of what stands at a byte: a block's header, its body, the trailer.
    fn regions(&self) -> Vec<(usize, String)> {
        let reader = open(self.bytes.clone()).unwrap();
        let mut regions = Vec::new();
        for block in reader.blocks() {
            let (at, header) = block.unwrap();
            let at = usize::try_from(at.get()).unwrap();
            regions.push((at, format!("{} header", header.block_type)));
            regions.push((at + 33, format!("{} body", header.block_type)));
        }
        regions.push((self.bytes.len() - 4096, "TRAILER".to_owned()));
        regions
    }
}

/// Small files: one per codec and family of encodings, an empty one, one with three index levels,
/// one with tags.
const SMALL: [&str; 7] = [
    "s02-empty",
    "s03-one-cell",
    "s15-extra-file-info",
    "p11-prefix-none-row",
    "p21-prefix-gz-row",
    "p16-rowindexv1-lz4-rowcol",
    "p02-diff-snappy-row",
];

#[test]
fn a_file_cut_anywhere_says_what_is_wrong_with_it() {
    let mut cuts = 0;
    for name in SMALL {
        let bytes = Bytes::from(Sound::named(name).bytes);
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
    say(&format!("corrupt: {cuts} of {cuts} cut files are refused"));
}

#[test]
fn a_flipped_bit_is_an_error_or_changes_no_answer() {
    // All bits of a file are flipped where it is small; else every so many, other ones in each.
    const FLIPS: usize = 1_500;
    let mut counts: BTreeMap<String, [u64; 2]> = BTreeMap::new();
    for (offset, name) in SMALL.into_iter().enumerate() {
        let sound = Sound::named(name);
        let regions = sound.regions();
        let bits = sound.bytes.len() * 8;
        let step = if std::env::var_os("EVERY_BIT").is_some() { 1 } else { bits.div_ceil(FLIPS) };
        // A stride that shares no factor with eight passes all bits of a byte in turn.
        let step = if step > 1 { step | 1 } else { step };
        for bit in (offset % step..bits).step_by(step) {
            let mut bytes = sound.bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let is_error = sound.judge(bytes, &format!("bit {bit}")).is_err();
            let region = regions.partition_point(|(start, _)| *start <= bit / 8) - 1;
            let count = counts.entry(regions[region].1.clone()).or_default();
            count[usize::from(is_error)] += 1;
        }
    }
    let total: u64 = counts.values().flatten().sum();
    say(&format!("corrupt: {total} single-bit flips, none of them lies"));
    for (region, [harmless, errors]) in counts {
        say(&format!("corrupt:   {region:32} {errors:6} errors, {harmless:6} change no answer"));
        if region.ends_with("body") && !region.contains("BLOOM") && !region.starts_with("META") {
            assert_eq!(harmless, 0, "checksums guard {region}");
        }
    }
}

#[test]
fn damage_names_the_block_and_its_place() {
    let sound = Sound::named("s15-extra-file-info");
    let reader = open(sound.bytes.clone()).unwrap();
    for block in reader.blocks() {
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
        let error = sound.judge(bytes, "a flipped byte").expect_err("checksums see it");
        let Error::Corrupt { file, damage } = &error else { panic!("{error}") };
        assert_eq!(file.to_string(), "damaged.hfile");
        assert_eq!((damage.at, damage.block), (at, Some(header.block_type)), "{error}");
    }
}

#[test]
fn a_damaged_filter_hides_nothing_and_is_counted() {
    let sound = Sound::named("s15-extra-file-info");
    let reader = open(sound.bytes.clone()).unwrap();
    let filters = [BlockType::BloomChunk, BlockType::GeneralBloomMeta];
    for wanted in filters {
        let found = reader.blocks().map(|block| block.unwrap());
        let (at, _) = found.into_iter().find(|(_, header)| header.block_type == wanted).unwrap();
        let mut bytes = sound.bytes.clone();
        bytes[usize::try_from(at.get()).unwrap() + 33] ^= 4;
        let damaged = open(bytes).unwrap();
        assert_eq!(damaged.bloom_problem().is_some(), wanted == BlockType::GeneralBloomMeta);
        for row in sound.rows.iter().filter(|row| sound.holds(row)) {
            let mut trace = ReadTrace::default();
            let probe = RowProbe::new(row, Seed::default());
            assert!(damaged.seek_row(&probe, &mut trace).unwrap().is_some());
            assert_eq!((trace.filter_checks, trace.filters_unreadable), (0, 1), "{wanted}");
            assert_eq!(trace.filter_false_positives, 0);
        }
    }
}

/// A file's data blocks in another order, their checksums right: what only the index, the chain of
/// blocks and the order of keys can see.
#[test]
fn blocks_that_are_not_where_they_were_are_noticed() {
    let sound = Sound::of_equal_blocks();
    let reader = open(sound.bytes.clone()).unwrap();
    let data: Vec<_> = reader
        .blocks()
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
                let error = sound.judge(bytes, "a block out of place").expect_err("noticed");
                assert!(matches!(error, Error::Corrupt { .. }), "{error}");
                tried += 1;
            }
        }
    }
    assert!(tried > 50, "{tried} pairs of blocks of one length");
}

#[test]
fn a_block_without_checksums_in_a_file_with_them_is_damage() {
    let sound = Sound::named("s15-extra-file-info");
    let mut bytes = sound.bytes.clone();
    assert_eq!(bytes[24], ChecksumType::Crc32c.code());
    bytes[24] = ChecksumType::Null.code();
    let error = sound.judge(bytes, "no checksum").expect_err("noticed");
    assert!(error.to_string().contains("checksum NULL"), "{error}");
}

#[test]
fn the_trailer_is_held_against_the_file() {
    let sound = Sound::named("p11-prefix-none-row");
    let trailer = sound.bytes.len() - 4096;
    let mut refused = 0;
    // Every value of every byte of the message, not only single bits.
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

#[test]
fn seeks_in_damaged_files_do_not_panic() {
    let sound = Sound::named("p11-prefix-none-row");
    let keys: Vec<_> = sound.cells.iter().step_by(17).map(|cell| cell.as_ref().key()).collect();
    for bit in (0..(sound.bytes.len() - 4096) * 8).step_by(41) {
        let mut bytes = sound.bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let Ok(reader) = open(bytes) else { continue };
        let mut scanner = reader.scanner(Caching::Use);
        for key in &keys {
            for key in [*key, KeyRef::after_row(key.row)] {
                if scanner.seek(key).is_ok() && scanner.seek_before(key).is_ok() {
                    let _ = scanner.advance().and_then(|()| scanner.retreat());
                }
            }
        }
    }
}

/// Random damage whose checksums were made right again, so that it reaches the decoders: flips,
/// splices, lengths blown up, blocks dropped. What the cells then are nobody can say; but reading
/// ends, in an error or in cells, without a panic and before long.
#[test]
fn mutants_with_checksums_made_right_end_in_an_error_or_in_cells() {
    let count = match std::env::var("MUTANTS") {
        Ok(count) => count.parse().expect("MUTANTS is a number"),
        Err(_) => 4_000,
    };
    let files: Vec<_> = SMALL.into_iter().map(Sound::named).collect();
    let blocks: Vec<Vec<_>> = files
        .iter()
        .map(|sound| {
            let reader = open(sound.bytes.clone()).unwrap();
            reader.blocks().map(|block| block.unwrap()).collect()
        })
        .collect();
    let (mut errors, mut slowest) = (0, Duration::ZERO);
    for seed in 0..count {
        let mut random = Random::new(seed);
        let file = random.below(files.len());
        let mut bytes = files[file].bytes.clone();
        for _ in 0..=random.below(3) {
            mutate(&mut random, &mut bytes, &blocks[file]);
        }
        let rows: Vec<_> = files[file].rows.iter().take(8).map(Vec::as_slice).collect();
        let begun = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let source: Arc<Bytes> = Arc::new(bytes.into());
            let name = FileName::new("mutant");
            // A verification looks at everything, and takes damage for what it looks for.
            let sound =
                sstable::verify(Arc::clone(&source) as _, name.clone(), Limits::default(), |_| {});
            let reader = Reader::open(source, name, ReaderOptions::default())?;
            let mut scanner = reader.scanner(Caching::Use);
            scanner.seek_to_first()?;
            while scanner.cell().is_some() {
                scanner.advance()?;
            }
            for row in &rows {
                let probe = RowProbe::new(row, Seed::default());
                reader.seek_row(&probe, &mut ReadTrace::default())?;
                scanner.seek_before(KeyRef::before_row(row))?;
                scanner.retreat()?;
            }
            sound.map(drop)
        }));
        let outcome = outcome.unwrap_or_else(|_| panic!("mutant {seed} panics"));
        slowest = slowest.max(begun.elapsed());
        errors += usize::from(outcome.is_err());
    }
    say(&format!(
        "corrupt: {count} mutants, {errors} of them errors; the slowest took {slowest:?}"
    ));
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
}

/// Changes one block, and makes its checksums right again.
fn mutate(random: &mut Random, bytes: &mut [u8], blocks: &[(BlockOffset, Header)]) {
    let (at, header) = blocks[random.below(blocks.len())];
    let start = usize::try_from(at.get()).unwrap();
    let end = start + header.on_disk_data_size_with_header as usize;
    if end + 4 > bytes.len() - 4096 || end - start <= 33 {
        return;
    }
    let place = start + 33 + random.below(end - start - 33);
    match random.below(6) {
        0 => bytes[place] ^= 1 << random.below(8),
        1 => bytes[place] = random.next_u64() as u8,
        2 => {
            // A length blown up, or a small number where a large one was.
            let number = [0x7fff_ffff_u32, 0xffff_ffff, 0x0001_0000, 0][random.below(4)];
            let room = (end - place).min(4);
            bytes[place..place + room].copy_from_slice(&number.to_be_bytes()[..room]);
        }
        3 => {
            // Bytes of this block over others of it.
            let from = start + 33 + random.below(end - start - 33);
            let len = random.below(40).min(end - place).min(end - from);
            bytes.copy_within(from..from + len, place);
        }
        4 => {
            // Bytes of another block over bytes of this one.
            let (other, _) = blocks[random.below(blocks.len())];
            let from = usize::try_from(other.get()).unwrap();
            let len = (end - place).min(bytes.len() - from);
            bytes.copy_within(from..from + len, place);
        }
        _ => {
            // A number of the header: sizes, previous block, type of checksum.
            let at = start + 8 + random.below(25);
            bytes[at] ^= 1 << random.below(8);
        }
    }
    let crc = |chunk: &[u8]| match header.checksum_type {
        ChecksumType::Null => 0,
        ChecksumType::Crc32 => crc32fast::hash(chunk),
        ChecksumType::Crc32c => crc32c::crc32c(chunk),
    };
    let len = header.bytes_per_checksum as usize;
    let sums: Vec<u8> =
        bytes[start..end].chunks(len).flat_map(|chunk| crc(chunk).to_be_bytes()).collect();
    if end + sums.len() <= bytes.len() {
        bytes[end..end + sums.len()].copy_from_slice(&sums);
    }
}
