//! Damaged files, read in every way.
//!
//! No way panics, takes much memory, or contradicts another part of the same file. Each way
//! is checked separately. `support::mutants` has the classes of damage and what a read may return.
//! For repaired checksums, docs/src/reference/hostile-files.md lists the possible answers:
//!
//! * an error, after right cells;
//! * a rewritten data block has other cells, within the range of its index entry, and all other
//!   blocks are right; a scan past the cache checks the end of that range when it leaves the block,
//!   so it may return cells beyond the range before the error;
//! * a filter denies a present row, or an index key leads a lookup past it. The lookup could detect
//!   this only by reading the blocks that filter and index let it skip. `verify` detects it;
//! * the file info says how cells are decoded; if it was changed, wrong cells may precede the
//!   error. `verify` detects it.
//!
//! A file that `verify` calls sound is read without an error in every way.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;
use sstable::{
    BlockType, BloomType, Caching, Cell, DataBlockEncoding, FileName, Limits, WriterOptions,
};
use support::mutants::{Class, Mutant, Other};
use support::sound::{Sound, cells_of_all_sorts, open};
use support::ways::{Answer, Questions, Way};
use support::{Random, say};

use crate::{HEAP, measured_alone};

/// A file, files of the same shape, and the rows that each of its data blocks may hold.
struct Subject {
    questions: Questions,
    others: Vec<Other>,
    /// By block number.
    ranges: BTreeMap<usize, RowRange>,
}

/// The last row before a block and the first row after it.
type RowRange = (Option<Vec<u8>>, Option<Vec<u8>>);

impl Subject {
    fn all() -> Vec<Self> {
        let mut subjects: Vec<_> = Sound::small().into_iter().map(Self::new).collect();
        // Uncompressed, so that damage reaches the decoders.
        let options = WriterOptions::default().block_size(500).index_block_size(300);
        for encoding in DataBlockEncoding::ALL {
            subjects.push(Self::written(
                encoding.name(),
                &options.clone().data_block_encoding(encoding),
                120,
            ));
        }
        let prefixes = options.clone().bloom_type(BloomType::RowPrefixFixedLength(6));
        subjects.push(Self::written("prefix Bloom filter", &prefixes, 120));
        let deep = options.clone().index_min_entries(2).index_block_size(120);
        subjects.push(Self::written("deep index", &deep, 120));
        // A partition has at least 256 rows.
        let parts = options.block_size(4000).filter_block_size(100).bloom_block_size(512);
        subjects.push(Self::written("filter in partitions", &parts, 1600));
        subjects
    }

    fn written(name: &str, options: &WriterOptions, count: u64) -> Self {
        let file = |number_of: fn(u64) -> u64, fill| {
            let cells = cells_of_all_sorts(count, number_of, fill);
            Sound::written_with(name, options.clone(), &cells)
        };
        let mut subject = Self::new(file(|number| number, b'v'));
        // An older version of the file, a file of nearby rows, and a file of distant rows.
        subject.others = vec![
            Other { file: file(|number| number, b'w'), fits: true },
            Other { file: file(|number| number + 1, b'v'), fits: true },
            Other { file: file(|number| number + 100, b'v'), fits: false },
        ];
        subject
    }

    fn new(sound: Sound) -> Self {
        let mut first_of = Vec::new();
        for (block, (_, header)) in sound.blocks.iter().enumerate() {
            if matches!(header.block_type, BlockType::Data | BlockType::EncodedData) {
                // A scan returns the cells before the damaged block.
                let mut bytes = sound.bytes.clone();
                bytes[sound.covered(block).start + 33] ^= 1;
                first_of.push((block, cells_before_damage(bytes)));
            }
        }
        let row = |at: usize| sound.cells.get(at).map(|cell| cell.row().to_vec());
        let range = |(number, (block, first)): (usize, &(usize, usize))| {
            let after = first_of.get(number + 1).and_then(|(_, first)| row(*first));
            (*block, (first.checked_sub(1).and_then(row), after))
        };
        let ranges = first_of.iter().enumerate().map(range).collect();
        Self { questions: Questions::new(sound), others: Vec::new(), ranges }
    }

    fn sound(&self) -> &Sound {
        self.questions.sound()
    }

    /// Whether a cell is in the range of a changed data block.
    fn is_in_changed_block(&self, mutant: &Mutant, cell: &Cell) -> bool {
        mutant.touched.iter().filter_map(|block| self.ranges.get(block)).any(|(before, after)| {
            before.as_deref().is_none_or(|before| before <= cell.row())
                && after.as_deref().is_none_or(|after| cell.row() <= after)
        })
    }

    /// Whether the only wrong cells of an answer are those beyond the range of a changed block, at
    /// the end.
    fn ends_beyond_range(&self, mutant: &Mutant, answer: &Answer) -> bool {
        let Answer { expected, found, .. } = answer;
        let is_outside = |cell: &&Cell| !self.is_in_changed_block(mutant, cell);
        let expected_outside: Vec<_> = expected.iter().filter(is_outside).collect();
        let same = found.iter().filter(is_outside).zip(expected_outside);
        let same = same.take_while(|(found, expected)| found == expected).count();
        let rest: Vec<_> = found.iter().filter(is_outside).skip(same).collect();
        let mut ranges = mutant.touched.iter().filter_map(|block| self.ranges.get(block));
        !rest.is_empty()
            && ranges.any(|(_, after)| {
                after.as_deref().is_some_and(|end| rest.iter().all(|cell| cell.row() > end))
            })
    }

    fn touches(&self, mutant: &Mutant, wanted: &[BlockType]) -> bool {
        let mut types = mutant.touched.iter().map(|block| self.sound().blocks[*block].1.block_type);
        types.any(|block_type| wanted.contains(&block_type))
    }

    fn index_was_changed(&self, mutant: &Mutant) -> bool {
        use BlockType::{FileInfo, IntermediateIndex, LeafIndex, RootIndex};
        // The file info has the last key; rows after it are not searched.
        self.touches(mutant, &[RootIndex, IntermediateIndex, LeafIndex, FileInfo])
    }

    /// Whether a filter block or the filter settings of the file were changed.
    fn filter_was_changed(&self, mutant: &Mutant) -> bool {
        use BlockType::{BloomChunk, DeleteFamilyBloomMeta, FileInfo, GeneralBloomMeta, Meta};
        let filters = [BloomChunk, GeneralBloomMeta, DeleteFamilyBloomMeta, Meta, FileInfo];
        self.touches(mutant, &filters)
    }

    /// Classifies an answer; `Err` describes a wrong one.
    fn judge(&self, mutant: &Mutant, way: Way, answer: &Answer) -> Result<Outcome, String> {
        let Answer { expected, found, failed, question, is_cut } = answer;
        let is_so_far = |found: &[Cell], expected: &[Cell]| {
            if *failed { expected.starts_with(found) } else { expected == found }
        };
        if is_so_far(found, expected) {
            return Ok(if *failed { Outcome::Refused } else { Outcome::Unchanged });
        }
        if matches!(mutant.class, Class::Stale | Class::Repaired) {
            let is_outside = |cell: &&Cell| !self.is_in_changed_block(mutant, cell);
            let [expected_outside, found_outside] = [expected, found]
                .map(|cells| cells.iter().filter(is_outside).cloned().collect::<Vec<_>>());
            let in_order = found.is_sorted_by(|one, other| one.row() <= other.row())
                || found.is_sorted_by(|one, other| one.row() >= other.row());
            let len = found_outside.len().min(expected_outside.len());
            let is_same = if *is_cut {
                found_outside[..len] == expected_outside[..len]
            } else {
                is_so_far(&found_outside, &expected_outside)
            };
            if is_same && (in_order || way == Way::StoreMultiGet) {
                return Ok(Outcome::Rewritten);
            }
            // A changed index gives the changed block another range.
            let index_was_changed = self.index_was_changed(mutant);
            let range_is_open = way.checks_block_end_last() || index_was_changed;
            if *failed && range_is_open && self.ends_beyond_range(mutant, answer) {
                return Ok(Outcome::BeyondRange);
            }
            let info_was_changed = self.touches(mutant, &[BlockType::FileInfo]);
            if info_was_changed && *failed && way.decodes_partially() {
                return Ok(Outcome::Misread);
            }
            let known = &self.sound().cells;
            // A store assigns a sequence id to the cells of a bulk load.
            let as_stored = |cell: &Cell| {
                let key = cell.as_ref().key();
                known
                    .iter()
                    .any(|known| known.as_ref().key() == key && known.value() == cell.value())
            };
            let is_known = |cell: &Cell| expected.contains(cell) || as_stored(cell);
            let is_expected = |cell: &Cell| expected.contains(cell);
            if way.asks_filter()
                && self.filter_was_changed(mutant)
                && found_outside.iter().all(is_expected)
            {
                return Ok(Outcome::FilterDenies);
            }
            if way.seeks() && index_was_changed && found_outside.iter().all(is_known) {
                return Ok(Outcome::IndexMisleads);
            }
        }
        Err(format!(
            "{question}: {} cells and {} for {}",
            found.len(),
            if *failed { "an error" } else { "no error" },
            expected.len()
        ))
    }
}

fn cells_before_damage(bytes: Vec<u8>) -> usize {
    let mut scanner = open(bytes).unwrap().scanner(Caching::Use);
    let (mut count, mut outcome) = (0, scanner.seek_to_first());
    while scanner.cell().is_some() && outcome.is_ok() {
        count += 1;
        outcome = scanner.advance();
    }
    count
}

/// The outcome of a question to a mutant, from the best to the worst.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Outcome {
    Unchanged,
    Refused,
    Rewritten,
    BeyondRange,
    Misread,
    FilterDenies,
    IndexMisleads,
}

impl Outcome {
    const fn text(self) -> &'static str {
        match self {
            Self::Unchanged => "the right answers",
            Self::Refused => "an error",
            Self::Rewritten => "other cells in the changed block",
            Self::BeyondRange => {
                "other cells in the changed block and beyond its range, then an error"
            }
            Self::Misread => "cells decoded with the changed file info, then an error",
            Self::FilterDenies => "a filter denies a row",
            Self::IndexMisleads => "the index leads past a row",
        }
    }
}

/// Whether `verify` calls a file sound.
fn is_sound(bytes: &Bytes) -> bool {
    let name = FileName::new("mutant");
    let found = sstable::verify(Arc::new(bytes.clone()), name, Limits::default(), |_| {});
    found.is_ok_and(|found| found.is_sound())
}

/// The number of answers by class, way, outcome and whether `verify` calls the file sound.
type Counts = BTreeMap<(Class, Way), BTreeMap<(Outcome, bool), u64>>;

/// Reads a mutant in every way; returns the wrong answers.
fn read(subject: &Subject, mutant: &Mutant, bytes: &Bytes, counts: &mut Counts) -> Vec<String> {
    let is_sound = is_sound(bytes);
    let mut wrong_answers = Vec::new();
    for way in Way::ALL {
        let counts = counts.entry((mutant.class, way)).or_default();
        let Ok(answers) = subject.questions.ask(way, bytes) else {
            // The file does not open; that is the same for all ways but those of the store.
            *counts.entry((Outcome::Refused, is_sound)).or_default() += 1;
            if is_sound {
                wrong_answers
                    .push(format!("{way}: `verify` calls it sound, but it cannot be opened"));
            }
            continue;
        };
        for answer in answers {
            let outcome = match subject.judge(mutant, way, &answer) {
                Ok(outcome) => outcome,
                Err(wrong) => {
                    wrong_answers.push(format!("{way}: {wrong}"));
                    continue;
                }
            };
            *counts.entry((outcome, is_sound)).or_default() += 1;
            let is_for_verify = !matches!(outcome, Outcome::Unchanged | Outcome::Rewritten);
            if is_sound && is_for_verify {
                let question = answer.question;
                wrong_answers.push(format!(
                    "{way}: {question}: {}, but `verify` calls it sound",
                    outcome.text()
                ));
            }
        }
    }
    wrong_answers
}

#[test]
fn damaged_files_give_no_wrong_answer_in_any_way() {
    let _alone = measured_alone();
    let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    // `MUTANT=n` repeats one mutant; `MUTANTS_FROM=n` sets the first, for parallel runs.
    let from = number("MUTANTS_FROM").unwrap_or(0);
    let seeds = match number("MUTANT") {
        Some(seed) => seed..seed + 1,
        None => from..from + number("MUTANTS").unwrap_or(2_000),
    };
    let count = seeds.end - seeds.start;
    let subjects = Subject::all();
    let in_store = subjects.iter().filter(|subject| subject.questions.has_store()).count();
    assert_eq!(in_store, subjects.len() - 1, "only a file without cells has no store");
    let mut counts = Counts::new();
    let mut classes: BTreeMap<Class, u64> = BTreeMap::new();
    let mut wrong_answers = Vec::new();
    let (mut most, mut tightest) = (0, 0.0_f64);
    for seed in seeds {
        let mut random = Random::new(seed);
        let subject = &subjects[random.below(subjects.len())];
        let mutant = Mutant::new(subject.sound(), &subject.others, &mut random);
        let bytes = Bytes::from(mutant.bytes.clone());
        let named = || format!("mutant {seed} of {}", subject.sound().name);
        *classes.entry(mutant.class).or_default() += 1;

        HEAP.reset_peak_usage();
        let before = HEAP.current_usage();
        let read = AssertUnwindSafe(|| read(subject, &mutant, &bytes, &mut counts));
        let found = catch_unwind(read).unwrap_or_else(|_| panic!("{} panics", named()));
        let taken = HEAP.peak_usage().saturating_sub(before);
        let allowed = (64 << 20) + 4 * bytes.len();
        most = most.max(taken);
        tightest = tightest.max(taken as f64 / allowed as f64);
        assert!(taken <= allowed, "{} takes {taken} bytes", named());
        wrong_answers.extend(found.into_iter().map(|wrong| {
            let block = |block: &usize| (*block, subject.sound().blocks[*block].1.block_type);
            let touched: Vec<_> = mutant.touched.iter().map(block).collect();
            format!("{} ({:?}, blocks {touched:?}): {wrong}", named(), mutant.class)
        }));
    }
    let shown = wrong_answers[..wrong_answers.len().min(20)].join("\n");
    assert!(
        wrong_answers.is_empty(),
        "{} wrong answers in {count} mutants:\n{shown}",
        wrong_answers.len()
    );
    say(&format!("mutants: 0 of {count} panic, 0 of {count} give a wrong answer"));
    for (class, count) in &classes {
        say(&format!("mutants: {count} of class {class:?}; answers by way of reading:"));
        for ((_, way), counts) in counts.iter().filter(|((of, _), _)| of == class) {
            let counts = counts.iter().map(|((outcome, is_sound), count)| {
                let verify = if *is_sound { "; `verify` calls it sound" } else { "" };
                format!("{count} {}{verify}", outcome.text())
            });
            say(&format!("mutants:   {way}: {}", counts.collect::<Vec<_>>().join(", ")));
        }
    }
    say(&format!(
        "mutants: at most {most} bytes of memory, {:.1} % of 64 MiB + 4 x the file",
        tightest * 100.0
    ));
}
