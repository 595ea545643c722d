use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use filter::Seed;
use filter::engine::KeyHash;
use proptest::prelude::*;
use sstable::BlockCache;
use sstable::lookup::MapAnswer;

use super::coverage::Coverage;
use super::fingerprint::line_index;
use super::form::MapForm;
use super::line::ENTRIES;
use super::map::{FamilyMap, MapSize, NotTaken};
use super::slots::Slots;

fn cache() -> Arc<BlockCache> {
    Arc::new(BlockCache::new(64 << 20))
}

const FORMS: [MapForm; 2] = [MapForm::Narrow, MapForm::Wide];

fn map_of(form: MapForm, rows: u64) -> Arc<FamilyMap> {
    FamilyMap::new(rows, form, &cache()).unwrap()
}

fn map(rows: u64) -> Arc<FamilyMap> {
    map_of(MapForm::Narrow, rows)
}

fn hash(row: u64) -> KeyHash {
    KeyHash::new(Seed::new(7), &row.to_le_bytes())
}

/// Inserts rows under the next slot, and returns the slot.
fn insert(
    map: &Arc<FamilyMap>,
    hashes: impl IntoIterator<Item = KeyHash>,
) -> Result<Slots, NotTaken> {
    let mut slot = map.begin_slot()?;
    let hashes: Vec<_> = hashes.into_iter().collect();
    slot.insert(&hashes)?;
    Ok(slot.finish(hashes.len() as u64)?.slots)
}

fn has_all(map: &FamilyMap, rows: impl IntoIterator<Item = KeyHash>, slots: Slots) -> bool {
    rows.into_iter().all(|row| map.slots(row).union(slots) == map.slots(row))
}

#[test]
fn rows_are_found_with_all_their_slots_and_few_others() {
    const ROWS: u64 = 100_000;
    const FILES: u64 = 16;
    for form in FORMS {
        let map = map_of(form, ROWS);
        for file in 0..FILES {
            let inserted = insert(&map, (file..ROWS).step_by(16).map(hash)).unwrap();
            assert!(has_all(&map, (file..ROWS).step_by(16).map(hash), inserted), "{form:?}");
        }
        let found = |row| map.slots(hash(row)).bits().count_ones();
        let absent: u32 = (ROWS..2 * ROWS).map(found).sum();
        if form == MapForm::Wide {
            // One in 2^16 of those that a map of files has.
            assert!(absent < 3, "{absent}");
            continue;
        }
        let measured = f64::from(absent) / ROWS as f64;
        // Each entry of the line has the fingerprint with a chance of 1 in 1,023, and its row is in
        // the same line. At a load of .8, 1.8 % of the lookups read further lines.
        let theory = 0.8 * ENTRIES as f64 / 1023.0 * 1.02;
        assert!((0.8..1.1).contains(&(measured / theory)), "{measured} against {theory}");
    }
}

/// Two rows of one file whose hashes differ in the extension only.
#[test]
fn a_wide_map_tells_rows_apart_by_their_extensions() {
    for form in FORMS {
        let map = map_of(form, 10_000);
        let rows = (0..1_000).map(hash);
        let with_bit = |row: KeyHash, bit| KeyHash::from_u64(row.get() ^ 1_u64 << (20 + bit));
        let first = insert(&map, rows.clone()).unwrap();
        for bit in 0..16 {
            let others = rows.clone().map(|row| with_bit(row, bit));
            let found = others.filter(|row| map.slots(*row).bits() != 0).count();
            let expected = if form == MapForm::Narrow { 990..=1_000 } else { 0..=0 };
            assert!(expected.contains(&found), "{form:?}, bit {bit}: {found}");
        }
        let others = rows.clone().map(|row| with_bit(row, 3));
        let both = insert(&map, rows.clone().chain(others.clone())).unwrap();
        assert!(has_all(&map, rows.clone(), first.union(both)), "{form:?}");
        assert!(has_all(&map, others.clone(), both), "{form:?}");
        // As one file, the rows of both slots share their entries, or not, by their extensions.
        let swept = map.swept(&[first.union(both)], &cache()).unwrap();
        let slot = swept.given_out_slots().next().unwrap();
        assert!(has_all(&swept, rows.chain(others), slot), "{form:?}");
        let per_row = if form == MapForm::Narrow { 1_000 } else { 2_000 };
        assert!((per_row * 98 / 100..=per_row).contains(&swept.entries()), "{}", swept.entries());
    }
}

#[test]
fn the_highest_load_needs_little_of_the_stash() {
    for map in FORMS.map(|form| map_of(form, 100_000)) {
        let rows = map.size.entries_max();
        let inserted = insert(&map, (0..rows).map(hash)).unwrap();
        assert!(has_all(&map, (0..rows).map(hash), inserted));
        let (used, places) = (map.stash.iter().count() as u64, map.size.stashed);
        assert!(used > 0 && used * 2 < places, "{used} of {places}");
        assert_eq!(map.room().entries, 0);
        assert_eq!(insert(&map, [hash(rows)]).unwrap_err(), NotTaken::Full);
        assert!(has_all(&map, (0..rows).map(hash), inserted));
    }
}

#[test]
fn a_row_of_64_files_names_all_of_them_and_there_is_no_65th_slot() {
    let map = map(64 * 2_000);
    for _ in 0..64 {
        insert(&map, (0..200).map(hash)).unwrap();
    }
    assert!((0..200).all(|row| map.slots(hash(row)).bits() == u64::MAX));
    assert_eq!(map.room().slots, 0);
    assert_eq!(insert(&map, []).unwrap_err(), NotTaken::Full);
}

#[test]
fn rows_of_one_line_are_spread_over_others() {
    let map = map(10_000);
    let before = insert(&map, (0..4_000).map(hash)).unwrap();
    let hostile =
        || (0..4_000_u64).map(|row| KeyHash::from_u64(5 << 50 | row << 20 | (row % 1024)));
    let inserted = insert(&map, hostile()).unwrap();
    assert!(has_all(&map, hostile(), inserted));
    assert!(has_all(&map, (0..4_000).map(hash), before));
    // Equal hashes are one entry, also the one that stands for a free place in the stash.
    let same = KeyHash::from_u64(0);
    let inserted = insert(&map, [same; 64]).unwrap();
    assert!(has_all(&map, [same], inserted));
}

/// Rows whose six lines are one line fill this line and then the stash: their file is refused.
#[test]
fn a_full_stash_refuses_a_file_and_hides_no_row() {
    let map = map(70);
    assert_eq!(map.lines.len(), 3);
    let first_line = |hash: &KeyHash| (0..6).all(|step| line_index(*hash, step, 3) == 0);
    let mut hostile = (0..).map(hash).filter(first_line);
    let stashed: Vec<_> = hostile.by_ref().take(60).collect();
    let before = insert(&map, stashed.iter().copied()).unwrap();
    // Equal fingerprints are one entry of the line.
    assert!((25..=60 - 31).contains(&map.stash.iter().count()));
    assert_eq!(insert(&map, hostile.take(20)).unwrap_err(), NotTaken::Full);
    assert!(has_all(&map, stashed.iter().copied(), before));
    // Otherwise the same file would be read into the map again and again.
    assert_eq!(map.room().entries, 0, "a map with a full stash takes no other file");
    assert_eq!(insert(&map, [hash(1)]).unwrap_err(), NotTaken::Full);
    let swept = map.swept(&[before], &cache()).unwrap();
    assert_eq!(swept.room().entries, 0);
    assert!(has_all(&swept, stashed, swept.given_out_slots().next().unwrap()));
}

#[test]
fn a_map_takes_memory_from_the_budget_of_the_cache_or_is_not_made() {
    let small = Arc::new(BlockCache::new(100_000));
    assert!(FamilyMap::new(1_000_000, MapForm::Narrow, &small).is_none());
    assert!(FamilyMap::new(u64::MAX, MapForm::Narrow, &small).is_none());
    let first = FamilyMap::new(15_000, MapForm::Narrow, &small).unwrap();
    assert!(first.bytes() > 30_000 && first.bytes() < 50_000, "{}", first.bytes());
    assert!(FamilyMap::new(15_000, MapForm::Narrow, &small).is_none());
    assert!(first.swept(&[], &small).is_none());
    drop(first);
    assert!(FamilyMap::new(15_000, MapForm::Narrow, &small).is_some());
    assert_eq!(MapSize::of_rows(0, MapForm::Narrow).lines, 1);
}

#[test]
fn a_row_that_was_lost_ends_the_insertion() {
    let map = map(100);
    let mut slot = map.begin_slot().unwrap();
    slot.insert(&[hash(1), hash(2)]).unwrap();
    assert_eq!(slot.finish(3).unwrap_err(), NotTaken::Unsound);
}

#[test]
fn a_sweep_frees_slots_and_keeps_the_rows_of_live_ones() {
    let map = map(26_000);
    let slots: Vec<_> = (0..8_u64)
        .map(|file| insert(&map, (file * 1_000..file * 1_000 + 3_000).map(hash)).unwrap())
        .collect();
    // Files 1 and 3 were merged, 0 and 5 are gone.
    let live = [slots[1].union(slots[3]), slots[2], slots[4], slots[6], slots[7]];
    let swept = map.swept(&live, &cache()).unwrap();
    assert_eq!((swept.used_slots(), swept.room().slots), (5, 59));
    let new: Vec<_> = swept.given_out_slots().collect();
    for (slots, files) in new.iter().zip([&[1, 3][..], &[2], &[4], &[6], &[7]]) {
        for file in files {
            let rows = file * 1_000..file * 1_000 + 3_000_u64;
            assert!(has_all(&swept, rows.map(hash), *slots), "{file}");
        }
    }
    assert!(swept.room().entries > map.room().entries + 5_000, "dead and equal entries are gone");
    // Rows whose first line was full are found, also after other entries left that line.
    let more = insert(&swept, (50_000..55_000).map(hash)).unwrap();
    assert!(has_all(&swept, (50_000..55_000).map(hash), more));
    assert!(has_all(&swept, (6_000..9_000).map(hash), new[3]));
}

#[test]
#[should_panic(expected = "a slot belongs to one file")]
fn a_slot_of_two_files_is_a_broken_invariant() {
    let map = map(100);
    let slots = insert(&map, [hash(1)]).unwrap();
    let _ = map.swept(&[slots, slots], &cache());
}

#[test]
fn a_coverage_answers_for_its_own_slots_only() {
    let map = map(1_000);
    let first = insert(&map, (0..100).map(hash)).unwrap();
    let second = insert(&map, (50..150).map(hash)).unwrap();
    // The list: the file of the second slot, a file that is not covered, the file of the first.
    let old = Coverage::new(Arc::clone(&map), vec![second, Slots::NONE, first]);
    let unpublished = insert(&map, (0..200).map(hash)).unwrap();
    let new = Coverage::new(map, vec![unpublished, first.union(second)]);
    for row in 0..200 {
        let named = old.answer(hash(row)).named();
        assert_eq!(old.answer(hash(row)), MapAnswer::from_masks(0b101, named));
        assert!(!(50..150).contains(&row) || named & 1 == 1, "{row}");
        assert!(row >= 100 || named & 4 == 4, "{row}");
        assert_eq!(named & !0b101, 0, "{row}");
        let named = new.answer(hash(row)).named();
        assert_eq!(new.answer(hash(row)), MapAnswer::from_masks(3, named));
        assert!(named & 1 == 1 && (row >= 150 || named == 3));
    }
    let covers: Vec<_> = (0..100).map(|index| old.covers(index)).collect();
    assert_eq!(covers.iter().filter(|covers| **covers).count(), 2);
    assert_eq!((old.slots(0), old.slots(1), old.covered_files()), (second, Slots::NONE, 2));
}

#[test]
fn files_after_the_64th_are_not_covered() {
    let map = map(1_000);
    let slots = insert(&map, [hash(1)]).unwrap();
    let mut list = vec![Slots::NONE; 70];
    list[66] = slots;
    let coverage = Coverage::new(map, list);
    assert!(!coverage.covers(66) && coverage.slots(66) == slots);
    assert_eq!((coverage.covered_files(), coverage.answer(hash(1)).named()), (0, 0));
}

/// Readers look up rows of published slots while the writer inserts others.
#[test]
fn readers_beside_the_writer_miss_no_published_row() {
    const FILES: u64 = 40;
    const ROWS_EACH: u64 = 4_000;
    // Nearly full at the end: many rows are beyond their first line.
    let maps = FORMS.map(|form| map_of(form, FILES * ROWS_EACH * 88 / 100));
    for map in &maps {
        readers_beside_the_writer(map, FILES, ROWS_EACH);
    }
}

fn readers_beside_the_writer(map: &Arc<FamilyMap>, files: u64, rows_each: u64) {
    let (published, mut refused) = (AtomicU64::new(0), 0);
    std::thread::scope(|scope| {
        for reader in 0..3 {
            let published = &published;
            scope.spawn(move || {
                let mut lookups = 0_u64;
                loop {
                    let done = published.load(Ordering::Acquire);
                    for file in (reader..done).step_by(3) {
                        for row in (lookups % 7..rows_each).step_by(7) {
                            let slots = map.slots(hash(file << 32 | row));
                            assert!(slots.contains(u32::try_from(file).unwrap()), "{file} {row}");
                            lookups += 1;
                        }
                    }
                    if done == files {
                        break;
                    }
                }
            });
        }
        for file in 0..files {
            let inserted = insert(map, (0..rows_each).map(|row| hash(file << 32 | row)));
            // Also after an error: the readers wait for the last file.
            published.store(file + 1, Ordering::Release);
            refused += u64::from(inserted.is_err());
        }
    });
    assert_eq!(refused, 0);
}

#[derive(Clone, Debug)]
enum Change {
    /// Rows of a new file, by the first and the number of rows, and their distance.
    Insert(u64, u64, u64),
    /// Merges two files.
    Merge(usize, usize),
    Remove(usize),
    Sweep,
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        6 => (0..2_000_u64, 0..400_u64, 1..5_u64).prop_map(|(at, len, by)| Change::Insert(at, len, by)),
        2 => (any::<usize>(), any::<usize>()).prop_map(|(one, other)| Change::Merge(one, other)),
        1 => any::<usize>().prop_map(Change::Remove),
        1 => Just(Change::Sweep),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The model has the rows of each file. Small maps: lines overflow, and the stash fills up.
    #[test]
    fn no_history_loses_a_row(
        form in prop::sample::select(FORMS.to_vec()),
        rows in 20..4_000_u64,
        changes in prop::collection::vec(change(), 1..40),
    ) {
        let cache = cache();
        let mut map = FamilyMap::new(rows, form, &cache).unwrap();
        let mut files: BTreeMap<usize, (Slots, Vec<u64>)> = BTreeMap::new();
        for (number, change) in changes.into_iter().enumerate() {
            let any_file = |files: &BTreeMap<usize, _>, at: usize| {
                files.keys().nth(at % files.len().max(1)).copied()
            };
            match change {
                Change::Insert(at, len, by) => {
                    let rows: Vec<_> = (at..at + len * by).step_by(by as usize).collect();
                    if let Ok(inserted) = insert(&map, rows.iter().copied().map(hash)) {
                        files.insert(number, (inserted, rows));
                    }
                }
                Change::Merge(one, other) => {
                    let pair = any_file(&files, one).zip(any_file(&files, other));
                    if let Some((one, other)) = pair.filter(|(one, other)| one != other) {
                        let (slots, rows) = files.remove(&other).unwrap();
                        let merged = files.get_mut(&one).unwrap();
                        merged.0 = merged.0.union(slots);
                        merged.1.extend(rows);
                    }
                }
                Change::Remove(at) => {
                    if let Some(file) = any_file(&files, at) {
                        files.remove(&file);
                    }
                }
                Change::Sweep => {
                    let slots: Vec<_> = files.values().map(|(slots, _)| *slots).collect();
                    map = map.swept(&slots, &cache).unwrap();
                    for (file, slots) in files.values_mut().zip(map.given_out_slots()) {
                        file.0 = slots;
                    }
                }
            }
            let list: Vec<_> = files.values().map(|(slots, _)| *slots).collect();
            let coverage = Coverage::new(Arc::clone(&map), list);
            for (index, (slots, rows)) in files.values().enumerate() {
                prop_assert!(has_all(&map, rows.iter().copied().map(hash), Slots::NONE));
                for row in rows {
                    let found = Slots::from_bits(map.slots(hash(*row)).bits() & slots.bits());
                    prop_assert!(!found.is_empty(), "row {row} of file {index}");
                    prop_assert!(coverage.answer(hash(*row)).named() >> index & 1 == 1);
                }
            }
        }
    }
}
