//! Files that were changed and had their checksums made right again: nothing panics, nothing takes
//! long or much memory, and no reader says what another part of the same file contradicts.
//!
//! What such a file can carry without any reader's knowledge is a block of cells rewritten as its
//! writer could have written it: other values, tags, times, types, sequence ids or qualifiers, in
//! an order and with lengths that still hold. Nothing else in the file repeats them. So for each
//! mutant one of these must hold:
//!
//! * reading it is an error;
//! * every cell and every answer is that of the sound file;
//! * the changed data block, and no other, has other cells: as many in all as the trailer counts,
//!   their rows in order, the same ones forwards, backwards and by row;
//! * a filter denies a row that is there, or an index key leads a lookup past the block in which
//!   the row begins. To see that, a lookup would have to read what filter and index are there to
//!   spare it. So `verify` has to: it asks for every key, and holds the index against all blocks.
//!
//! And what `verify` calls sound every reader can read.
#![expect(clippy::unwrap_used, reason = "what cannot go on here has failed the test")]

use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use filter::Seed;
use peak_alloc::PeakAlloc;
use sstable::{
    BlockType, Caching, Cell, DataBlockEncoding, FileName, FilterAnswer, Limits, ReadTrace, Result,
    RowProbe, Scanner, WriterOptions,
};
use support::mutants::Mutant;
use support::say;
use support::sound::{Sound, open, open_to_walk};
use workload::Random;

/// Counts what is allocated. This file has one test, so that what is counted is its own.
#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// A file and which of its cells each of its data blocks holds.
struct Subject {
    sound: Sound,
    cells_of: BTreeMap<usize, Range<usize>>,
}

impl Subject {
    fn all() -> Vec<Self> {
        // Uncompressed, so that damage goes past the codec.
        let written = DataBlockEncoding::ALL.into_iter().map(|encoding| {
            let options = WriterOptions::default()
                .data_block_encoding(encoding)
                .block_size(500)
                .index_block_size(300);
            Sound::written(encoding.name(), options)
        });
        Sound::small().into_iter().chain(written).map(Self::new).collect()
    }

    fn new(sound: Sound) -> Self {
        let mut cells_of = BTreeMap::new();
        let mut last: Option<(usize, usize)> = None;
        for (block, (_, header)) in sound.blocks.iter().enumerate() {
            if matches!(header.block_type, BlockType::Data | BlockType::EncodedData) {
                // What a scan gives until it meets the damage is what stands in front of it.
                let mut bytes = sound.bytes.clone();
                bytes[sound.covered(block).start + 33] ^= 1;
                let start = scan(open(bytes).unwrap().scanner(Caching::Use)).0.len();
                if let Some((before, first)) = last.replace((block, start)) {
                    cells_of.insert(before, first..start);
                }
            }
        }
        if let Some((block, first)) = last {
            cells_of.insert(block, first..sound.cells.len());
        }
        Self { sound, cells_of }
    }

    fn index_was_changed(&self, mutant: &Mutant) -> bool {
        let types = mutant.touched.iter().map(|block| self.sound.blocks[*block].1.block_type);
        let indexes = [BlockType::RootIndex, BlockType::IntermediateIndex, BlockType::LeafIndex];
        types.into_iter().any(|block_type| indexes.contains(&block_type))
    }

    /// Whether other cells stand only where blocks were changed, and are as many as they were.
    fn is_rewritten(&self, mutant: &Mutant, cells: &[Cell]) -> bool {
        let changed = mutant.touched.iter().filter_map(|block| self.cells_of.get(block));
        let (Some(start), Some(end)) =
            (changed.clone().map(|it| it.start).min(), changed.map(|it| it.end).max())
        else {
            return false;
        };
        let expected = &self.sound.cells;
        !mutant.moved
            && cells.len() == expected.len()
            && cells[..start] == expected[..start]
            && cells[end..] == expected[end..]
            && cells.is_sorted_by(|left, right| left.row() <= right.row())
    }
}

/// The cells forwards, up to the first error.
fn scan(mut scanner: Scanner) -> (Vec<Cell>, Result<()>) {
    let mut cells = Vec::new();
    let mut outcome = scanner.seek_to_first();
    while let Some(cell) = scanner.cell().filter(|_| outcome.is_ok()) {
        cells.push(cell.to_cell());
        outcome = scanner.advance();
    }
    (cells, outcome)
}

/// How a mutant was read.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Outcome {
    Refused,
    Unchanged,
    Rewritten,
    FilterDenies,
    IndexMisleads,
}

/// Reads a mutant in every way. The error is what the reader says; the text is a lie it told.
fn read(subject: &Subject, mutant: &Mutant, bytes: &Bytes) -> Result<Result<Outcome, String>> {
    let reader = open(bytes.clone())?;
    let (cells, outcome) = scan(reader.scanner(Caching::Use));
    outcome?;
    // Past the cache, differences are undone and cells checked on the way.
    for scanner in [reader.scanner(Caching::Bypass), reader.bulk_scanner()] {
        let (past_cache, outcome) = scan(scanner);
        outcome?;
        if past_cache != cells {
            return Ok(Err("other cells past the cache than through it".to_owned()));
        }
    }
    let mut scanner = reader.scanner(Caching::Use);
    scanner.seek_to_last()?;
    for cell in cells.iter().rev() {
        if scanner.cell() != Some(cell.as_ref()) {
            return Ok(Err("other cells backwards than forwards".to_owned()));
        }
        scanner.retreat()?;
    }
    let mut answer = Outcome::Unchanged;
    if cells != subject.sound.cells {
        answer = Outcome::Rewritten;
        if !subject.is_rewritten(mutant, &cells) {
            return Ok(Err("cells that no changed block accounts for".to_owned()));
        }
    }
    let known = subject.sound.rows.iter().map(Vec::as_slice);
    let stride = (known.len() / 8) | 1;
    let read = cells.iter().map(Cell::row).step_by((cells.len() / 4) | 1);
    let walking = open_to_walk(bytes.clone())?;
    for row in known.step_by(stride).chain(read) {
        let at = cells.partition_point(|cell| cell.row() < row);
        let first = cells.get(at).map(Cell::as_ref).filter(|cell| cell.row == row);
        let probe = RowProbe::new(row, Seed::default());
        let trace = &mut ReadTrace::default();
        let mut looked_up = [None, None];
        for (found, reader) in looked_up.iter_mut().zip([&walking, &reader]) {
            if reader.spans_row(row) {
                let seek = reader.begin_seek(FilterAnswer::NotAsked, &probe);
                *found = reader.finish_seek(seek, &probe, trace)?;
            }
        }
        let [walked_to, looked_up] = looked_up.each_ref().map(|found| found.as_ref()?.cell());
        if walked_to != looked_up {
            return Ok(Err(format!("a walk gives {walked_to:?}, a search {looked_up:?}")));
        }
        if looked_up != first && subject.index_was_changed(mutant) {
            answer = Outcome::IndexMisleads;
        } else if looked_up != first {
            return Ok(Err(format!("{looked_up:?} by lookup and {first:?} by scan")));
        }
        if first.is_some() && reader.ask_filter(&probe, trace) == FilterAnswer::No {
            answer = Outcome::FilterDenies;
        }
        let deletes = |cell: &&Cell| cell.row() == row && cell.as_ref().cell_type.deletes_family();
        let is_deleted =
            cells[at..].iter().take_while(|cell| cell.row() == row).any(|it| deletes(&it));
        if is_deleted && !reader.may_delete_family(&probe, trace) {
            answer = Outcome::FilterDenies;
        }
    }
    reader.middle_key(&mut ReadTrace::default())?;
    Ok(Ok(answer))
}

/// Whether `verify` calls a file sound.
fn is_sound(bytes: &Bytes) -> bool {
    let name = FileName::new("mutant");
    let found = sstable::verify(Arc::new(bytes.clone()), name, Limits::default(), |_| {});
    found.is_ok_and(|found| found.is_sound())
}

#[test]
fn files_whose_checksums_were_made_right_again_do_no_harm() {
    let number = |name| std::env::var(name).ok().map(|it| it.parse::<u64>().expect("a number"));
    // `MUTANT=n` looks at one again.
    let seeds = match number("MUTANT") {
        Some(seed) => seed..seed + 1,
        None => 0..number("MUTANTS").unwrap_or(4_000),
    };
    let count = seeds.end - seeds.start;
    let subjects = Subject::all();
    let mut counts: BTreeMap<(Outcome, bool), u64> = BTreeMap::new();
    let mut lies = Vec::new();
    let (mut slowest, mut most, mut tightest) = (Duration::ZERO, 0, 0.0_f64);
    for seed in seeds {
        let mut random = Random::new(seed);
        let subject = &subjects[random.below(subjects.len())];
        let mutant = Mutant::new(&subject.sound, &mut random);
        let bytes = Bytes::from(mutant.bytes.clone());
        let named = || format!("mutant {seed} of {}", subject.sound.name);

        HEAP.reset_peak_usage();
        let (before, begun) = (HEAP.current_usage(), Instant::now());
        let outcome =
            catch_unwind(AssertUnwindSafe(|| (is_sound(&bytes), read(subject, &mutant, &bytes))));
        slowest = slowest.max(begun.elapsed());
        let taken = HEAP.peak_usage().saturating_sub(before);
        let allowed = (64 << 20) + 4 * bytes.len();
        most = most.max(taken);
        tightest = tightest.max(taken as f64 / allowed as f64);
        assert!(taken <= allowed, "{} takes {taken} bytes", named());

        let (is_sound, read) = outcome.unwrap_or_else(|_| panic!("{} panics", named()));
        let outcome = match read {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(lie)) => {
                lies.push(format!("{} gives {lie}", named()));
                continue;
            }
            Err(error) if is_sound => {
                lies.push(format!("{} is sound, and yet: {error}", named()));
                continue;
            }
            Err(_) => Outcome::Refused,
        };
        if is_sound && matches!(outcome, Outcome::FilterDenies | Outcome::IndexMisleads) {
            lies.push(format!("{} hides a row, and `verify` does not see it", named()));
        }
        *counts.entry((outcome, is_sound)).or_default() += 1;
    }
    let shown = lies[..lies.len().min(20)].join("\n");
    assert!(lies.is_empty(), "{} of {count} lie:\n{shown}", lies.len());
    say(&format!(
        "mutants: 0 of {count} panic, 0 of {count} give a cell or an answer that the file contradicts"
    ));
    for ((outcome, is_sound), found) in counts {
        let verdict = if is_sound { "and `verify` finds nothing" } else { "and `verify` says why" };
        let outcome = match outcome {
            Outcome::Refused => "are refused",
            Outcome::Unchanged => "give the sound file's answers",
            Outcome::Rewritten => "give other cells in the changed block",
            Outcome::FilterDenies => "have a filter that denies a row",
            Outcome::IndexMisleads => "have an index that leads past a row",
        };
        say(&format!("mutants:   {found:7} of {count} {outcome}, {verdict}"));
    }
    say(&format!(
        "mutants: the slowest took {slowest:?}; at most {most} bytes at once, {:.1} % of 64 MiB + 4 x the file",
        tightest * 100.0
    ));
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
}
