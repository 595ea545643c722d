use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::bloom::{Blocked, Classic, SplitBlock};
use crate::counting::CountingView;
use crate::header::Header;
use crate::slices::BitPositions;
use crate::{
    CountingBloom, Cuckoo, DLeft, ErrorRate, FilterKind, Insert, KeyHash, Membership, Seed, Sizing,
    StoredFilter, build,
};

type Filter = StoredFilter<Vec<u8>>;

fn keys(stream: u64, count: u64) -> Vec<KeyHash> {
    let seed = Seed::new(stream);
    (0..count).map(|key| KeyHash::new(seed, &key.to_le_bytes())).collect()
}

fn at_rate(rate: f64) -> Sizing {
    Sizing::ErrorRate(ErrorRate::new(rate).expect("a rate"))
}

/// Builds the filter of one file, which has keys of its own.
fn filter(kind: FilterKind, sizing: Sizing, file: u64, count: u64) -> Filter {
    let bytes = build(kind, sizing, Seed::new(1), &keys(1_000 + file, count)).expect("possible");
    StoredFilter::parse(bytes).expect("our own bytes")
}

fn found(sliced: &SlicedFilters, hash: KeyHash) -> Vec<usize> {
    let mut found = Vec::new();
    sliced.prefetch(hash);
    sliced.probe(hash, |index| found.push(index));
    found
}

/// Says of some keys, a few members of every file and absent keys, what the filters say themselves; and how
/// many of them lie side by side.
fn sliced(filters: &[Filter], strangers: u64) -> usize {
    let sliced = SlicedFilters::new(filters).expect("little memory");
    assert_eq!(sliced.len(), filters.len());
    let members = (0..filters.len() as u64).flat_map(|file| keys(1_000 + file, 7));
    for hash in members.chain(keys(7, strangers)) {
        let mut found = found(&sliced, hash);
        if sliced.sliced_count() == filters.len() {
            assert!(found.is_sorted(), "{:?}", filters[0].kind());
        }
        found.sort_unstable();
        let one_by_one = filters.iter().enumerate();
        let expected = one_by_one.filter(|(_, filter)| filter.may_contain(hash));
        let expected: Vec<usize> = expected.map(|(index, _)| index).collect();
        assert_eq!(found, expected, "{:?}", filters[0].kind());
    }
    sliced.sliced_count()
}

#[test]
fn every_kind_answers_as_its_filters_do() {
    for &kind in FilterKind::ALL {
        for (count, rate) in [(900, 0.01), (3_000, 0.2), (2_000, 2e-4)] {
            for files in [1, 2, 3, 7, 8, 9, 31, 32, 33, 64, 65] {
                let filters: Vec<Filter> =
                    (0..files).map(|file| filter(kind, at_rate(rate), file, count)).collect();
                let sliced = sliced(&filters, 400);
                if files < 8 {
                    assert_eq!(sliced, 0);
                } else if kind == FilterKind::BinaryFuse {
                    // Some keys come off with a later seed only, which is another shape.
                    assert!(files < 31 || sliced >= filters.len() * 4 / 5, "{sliced} of {files}");
                } else {
                    assert_eq!(sliced, filters.len(), "{kind} of {count} keys at {rate}");
                }
            }
        }
    }
}

#[test]
fn small_filters_answer_as_they_do_apart() {
    for &kind in FilterKind::ALL {
        for count in [0, 1, 2, 9, 64, 130, 769] {
            let filters: Vec<Filter> =
                (0..19).map(|file| filter(kind, Sizing::BitsPerKey(30.0), file, count)).collect();
            sliced(&filters, 200);
        }
    }
}

#[test]
fn many_stripes_answer_as_one() {
    for &kind in FilterKind::ALL {
        let filters: Vec<Filter> =
            (0..200).map(|file| filter(kind, at_rate(0.02), file, 1_000)).collect();
        sliced(&filters, 100);
    }
}

/// Says of files with ever more keys, up to as many as their filters were made for, what they say
/// themselves.
fn filled_by_and_by<F: Insert>(new: impl Fn() -> F, to_stored: impl Fn(&F) -> Vec<u8>) {
    let made = |file, count| {
        let mut filter = new();
        for key in keys(1_000 + file, count) {
            filter.insert(key).expect("fewer than it was made for");
        }
        StoredFilter::parse(to_stored(&filter)).expect("our own bytes")
    };
    let mut filters: Vec<_> = (0..20).map(|file| made(file, 7 + file * 50)).collect();
    assert_eq!(sliced(&filters, 1_000), 20);
    // To the last one nothing came.
    filters.push(made(20, 0));
    let sliced = SlicedFilters::new(&filters).expect("little memory");
    assert_eq!(sliced.sliced_count(), 21);
    assert!(keys(7, 1_000).into_iter().all(|stranger| !found(&sliced, stranger).contains(&20)));
}

#[test]
fn filters_that_were_made_for_more_keys_lie_beside_full_ones() {
    let seed = Seed::new(1);
    let (sizing, made_for) = (at_rate(0.02), 1_000);
    let possible = "a filter can be made so";
    filled_by_and_by(
        || Classic::new(sizing, made_for).expect(possible),
        |filter| filter.to_stored(seed),
    );
    filled_by_and_by(
        || Blocked::new(sizing, made_for).expect(possible),
        |filter| filter.to_stored(seed),
    );
    filled_by_and_by(
        || SplitBlock::new(sizing, made_for).expect(possible),
        |filter| filter.to_stored(seed),
    );
    filled_by_and_by(
        || CountingBloom::new(sizing, made_for).expect(possible),
        |filter| filter.to_stored(seed),
    );
    filled_by_and_by(
        || Cuckoo::new(sizing, made_for).expect(possible),
        |filter| filter.to_stored(seed),
    );
    filled_by_and_by(
        || DLeft::new(sizing, made_for).expect(possible),
        |filter| filter.to_stored(seed),
    );
}

#[test]
fn ribbons_of_nearly_as_many_keys_have_the_same_shape() {
    let ribbon = |(file, count)| filter(FilterKind::Ribbon, at_rate(0.01), file, count);
    let filters: Vec<Filter> = (0..).zip((9_925..10_055).step_by(10)).map(ribbon).collect();
    assert_eq!(sliced(&filters, 300), filters.len());
    let filters: Vec<Filter> = (0..).zip((9_000..12_000).step_by(300)).map(ribbon).collect();
    assert_eq!(sliced(&filters, 300), 0);
}

#[test]
fn keys_that_found_no_place_are_found_all_the_same() {
    let seed = Seed::new(1);
    let (mut d_left, mut cuckoo, mut members) = (Vec::new(), Vec::new(), Vec::new());
    for file in 0..70 {
        // Fuller than it was made for, until the stash has taken some: keys of its own, and such as other
        // files have too.
        let mut filter = DLeft::new(Sizing::BitsPerKey(16.0), 100).expect("possible");
        let mut inserted = keys(file % 9, 60);
        inserted.extend(keys(1_000 + file, 1_000));
        let mut count = 0;
        while filter.stash_len() < 9 {
            filter.insert(inserted[count]).expect("the stash takes it");
            count += 1;
        }
        inserted.truncate(count);
        members.push(inserted);
        d_left.push(StoredFilter::parse(filter.to_stored(seed)).expect("our own bytes"));
        // More copies of one key than there are slots, so that the rest stands aside.
        let mut filter = Cuckoo::new(Sizing::BitsPerKey(16.0), 100).expect("possible");
        for key in keys(1_000 + file, 1).repeat(20) {
            filter.insert(key).expect("copies are counted");
        }
        cuckoo.push(StoredFilter::parse(filter.to_stored(seed)).expect("our own bytes"));
    }
    assert_eq!(sliced(&d_left, 500), 70);
    assert_eq!(sliced(&cuckoo, 500), 70);
    // All members, those in the stash among them.
    let d_left = SlicedFilters::new(&d_left).expect("little memory");
    for (file, members) in members.iter().enumerate() {
        assert!(members.iter().all(|key| found(&d_left, *key).contains(&file)));
    }
}

/// Enough keys for a second layer, and for a third.
#[test]
fn keys_that_a_ribbon_bumped_are_looked_for_in_its_later_layers() {
    for (count, rate) in [(20_000, 0.01), (20_000, 0.3), (20_000, 2e-4), (300_000, 0.2)] {
        let filters: Vec<Filter> =
            (0..9).map(|file| filter(FilterKind::Ribbon, at_rate(rate), file, count)).collect();
        assert_eq!(sliced(&filters, 5_000), 9);
        let sliced = SlicedFilters::new(&filters).expect("little memory");
        for file in [0, 8] {
            for key in keys(1_000 + file, count.min(20_000)) {
                assert!(found(&sliced, key).contains(&(file as usize)), "{count} keys at {rate}");
            }
        }
    }
}

/// Bytes from outside may be filters that nobody would build, with the right checksum.
#[test]
fn filters_without_buckets_deny_everything_whatever_they_say() {
    let header = Header {
        kind: FilterKind::Cuckoo as u8,
        seed: Seed::new(1),
        keys: 5,
        parameters: [8, 0, 0],
    };
    let bytes = header.write(&[]);
    let filter = StoredFilter::parse(bytes).expect("it is let through");
    assert_eq!(sliced(&alloc::vec![filter; 9], 100), 0);
}

#[test]
fn memory_is_that_of_the_filters_and_for_counters_less() {
    for &kind in FilterKind::ALL {
        let filters: Vec<Filter> =
            (0..32).map(|file| filter(kind, at_rate(0.01), file, 20_000)).collect();
        let apart: usize = filters.iter().map(|filter| filter.as_bytes().len()).sum();
        let sliced = SlicedFilters::new(&filters).expect("little memory").memory_bytes();
        let share = sliced as f64 / apart as f64;
        let expected = match kind {
            FilterKind::CountingBloom => 0.25,
            // A bit that says "free" in the place of a counter of two bits.
            FilterKind::DLeft => 12.0 / 13.0,
            // All blocks take as many columns as the widest.
            FilterKind::Ribbon => 1.05,
            _ => 1.0,
        };
        assert!((share / expected - 1.0).abs() < 0.01, "{kind}: {share}");
    }
}

#[test]
#[should_panic(expected = "equal shapes")]
fn a_group_of_filters_of_different_lengths_is_a_broken_invariant() {
    let [short, long] = [100, 10_000]
        .map(|count| filter(FilterKind::BlockedBloom, Sizing::BitsPerKey(12.0), count, count));
    let _ = group::Group::new(&[&short, &long]);
}

#[test]
#[should_panic(expected = "of one kind")]
fn a_group_of_filters_of_two_kinds_is_a_broken_invariant() {
    let [one, other] = [FilterKind::BlockedBloom, FilterKind::SplitBlock]
        .map(|kind| filter(kind, Sizing::BitsPerKey(12.0), 0, 100));
    let _ = group::Group::new(&[&one, &other]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Any filters in any order: of all kinds, of one shape and of others, empty ones too.
    #[test]
    fn any_mixture_answers_as_its_filters_do(
        files in prop::collection::vec(
            (
                prop::sample::select(FilterKind::ALL),
                prop::sample::select(&[0_u64, 40, 800, 1_500][..]),
                prop::sample::select(&[0.3, 0.01, 0.003][..]),
            ),
            0..120,
        ),
    ) {
        let filters: Vec<Filter> = (0..)
            .zip(files)
            .map(|(file, (kind, count, rate))| filter(kind, at_rate(rate), file, count))
            .collect();
        sliced(&filters, 50);
    }

    /// Counters are told from zero, eight at once.
    #[test]
    fn counters_in_use_are_seen(bytes in prop::array::uniform4(any::<u8>())) {
        let used = CountingView::bits(&bytes, 0);
        for counter in 0..8 {
            let value = bytes[counter / 2] >> (counter % 2 * 4) & 15;
            prop_assert_eq!(used >> counter & 1 != 0, value != 0);
        }
    }
}
