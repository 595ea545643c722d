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
    Sizing::ErrorRate(ErrorRate::new(rate).expect("in range"))
}

/// Builds the filter of one file, whose keys no other file has.
fn filter(kind: FilterKind, sizing: Sizing, file: u64, count: u64) -> Filter {
    let bytes = build(kind, sizing, Seed::new(1), &keys(1_000 + file, count)).expect("possible");
    StoredFilter::parse(bytes).expect("our own bytes")
}

fn candidates(sliced: &SlicedFilters, hash: KeyHash) -> Vec<usize> {
    let mut candidates = Vec::new();
    sliced.prefetch(hash);
    sliced.probe(hash, |index| candidates.push(index));
    candidates
}

/// Checks that sliced filters answer as the filters do, and returns how many were sliced.
///
/// The keys are a few members of every file, and absent keys.
fn check_sliced(filters: &[Filter], absent_count: u64) -> usize {
    let sliced = SlicedFilters::new(filters).expect("enough memory");
    assert_eq!(sliced.len(), filters.len());
    let members = (0..filters.len() as u64).flat_map(|file| keys(1_000 + file, 7));
    for hash in members.chain(keys(7, absent_count)) {
        let mut candidates = candidates(&sliced, hash);
        if sliced.sliced_count() == filters.len() {
            assert!(candidates.is_sorted(), "{:?}", filters[0].kind());
        }
        candidates.sort_unstable();
        let one_by_one = filters.iter().enumerate();
        let expected = one_by_one.filter(|(_, filter)| filter.may_contain(hash));
        let expected: Vec<usize> = expected.map(|(index, _)| index).collect();
        assert_eq!(candidates, expected, "{:?}", filters[0].kind());
    }
    sliced.sliced_count()
}

#[test]
fn sliced_filters_of_every_kind_answer_as_the_filters_do() {
    for &kind in FilterKind::ALL {
        for (count, rate) in [(900, 0.01), (3_000, 0.2), (2_000, 2e-4)] {
            for files in [1, 2, 3, 7, 8, 9, 31, 32, 33, 64, 65] {
                let filters: Vec<Filter> =
                    (0..files).map(|file| filter(kind, at_rate(rate), file, count)).collect();
                let sliced = check_sliced(&filters, 400);
                if files < 8 {
                    assert_eq!(sliced, 0);
                } else if kind == FilterKind::BinaryFuse {
                    // Some sets of keys need a later seed, which is another shape.
                    assert!(files < 31 || sliced >= filters.len() * 4 / 5, "{sliced} of {files}");
                } else {
                    assert_eq!(sliced, filters.len(), "{kind} of {count} keys at {rate}");
                }
            }
        }
    }
}

#[test]
fn small_sliced_filters_answer_as_the_filters_do() {
    for &kind in FilterKind::ALL {
        for count in [0, 1, 2, 9, 64, 130, 769] {
            let filters: Vec<Filter> =
                (0..19).map(|file| filter(kind, Sizing::BitsPerKey(30.0), file, count)).collect();
            check_sliced(&filters, 200);
        }
    }
}

#[test]
fn sliced_filters_of_several_stripes_answer_as_the_filters_do() {
    for &kind in FilterKind::ALL {
        let filters: Vec<Filter> =
            (0..200).map(|file| filter(kind, at_rate(0.02), file, 1_000)).collect();
        check_sliced(&filters, 100);
    }
}

/// Checks sliced filters of equal capacity that hold different numbers of keys.
fn check_partly_filled<F: Insert>(new: impl Fn() -> F, to_stored: impl Fn(&F) -> Vec<u8>) {
    let filled = |file, count| {
        let mut filter = new();
        for key in keys(1_000 + file, count) {
            filter.insert(key).expect("fewer than the capacity");
        }
        StoredFilter::parse(to_stored(&filter)).expect("our own bytes")
    };
    let mut filters: Vec<_> = (0..20).map(|file| filled(file, 7 + file * 50)).collect();
    assert_eq!(check_sliced(&filters, 1_000), 20);
    let empty = filters.len();
    filters.push(filled(20, 0));
    let sliced = SlicedFilters::new(&filters).expect("enough memory");
    assert_eq!(sliced.sliced_count(), 21);
    assert!(keys(7, 1_000).into_iter().all(|absent| !candidates(&sliced, absent).contains(&empty)));
}

#[test]
fn partly_filled_filters_of_equal_capacity_have_the_same_shape() {
    let seed = Seed::new(1);
    let (sizing, capacity) = (at_rate(0.02), 1_000);
    check_partly_filled(
        || Classic::new(sizing, capacity).expect("possible"),
        |filter| filter.to_stored(seed),
    );
    check_partly_filled(
        || Blocked::new(sizing, capacity).expect("possible"),
        |filter| filter.to_stored(seed),
    );
    check_partly_filled(
        || SplitBlock::new(sizing, capacity).expect("possible"),
        |filter| filter.to_stored(seed),
    );
    check_partly_filled(
        || CountingBloom::new(sizing, capacity).expect("possible"),
        |filter| filter.to_stored(seed),
    );
    check_partly_filled(
        || Cuckoo::new(sizing, capacity).expect("possible"),
        |filter| filter.to_stored(seed),
    );
    check_partly_filled(
        || DLeft::new(sizing, capacity).expect("possible"),
        |filter| filter.to_stored(seed),
    );
}

#[test]
fn ribbons_of_nearly_the_same_number_of_keys_have_the_same_shape() {
    let ribbon = |(file, count)| filter(FilterKind::Ribbon, at_rate(0.01), file, count);
    let filters: Vec<Filter> = (0..).zip((9_925..10_055).step_by(10)).map(ribbon).collect();
    assert_eq!(check_sliced(&filters, 300), filters.len());
    let filters: Vec<Filter> = (0..).zip((9_000..12_000).step_by(300)).map(ribbon).collect();
    assert_eq!(check_sliced(&filters, 300), 0);
}

#[test]
fn keys_in_a_stash_or_an_overflow_are_found_in_sliced_filters() {
    let seed = Seed::new(1);
    let (mut d_left, mut cuckoo, mut members) = (Vec::new(), Vec::new(), Vec::new());
    for file in 0..70 {
        // Insert beyond the capacity until the stash has nine keys. Other files share some of the
        // keys.
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
        // More copies of one key than its buckets have slots, so that the rest is counted in the
        // overflow.
        let mut filter = Cuckoo::new(Sizing::BitsPerKey(16.0), 100).expect("possible");
        for key in keys(1_000 + file, 1).repeat(20) {
            filter.insert(key).expect("copies are counted");
        }
        cuckoo.push(StoredFilter::parse(filter.to_stored(seed)).expect("our own bytes"));
    }
    assert_eq!(check_sliced(&d_left, 500), 70);
    assert_eq!(check_sliced(&cuckoo, 500), 70);
    // The members include those in the stash.
    let d_left = SlicedFilters::new(&d_left).expect("enough memory");
    for (file, members) in members.iter().enumerate() {
        assert!(members.iter().all(|key| candidates(&d_left, *key).contains(&file)));
    }
}

/// The numbers of keys suffice for a second and a third layer.
#[test]
fn keys_that_a_ribbon_bumped_are_found_in_its_later_layers() {
    for (count, rate) in [(20_000, 0.01), (20_000, 0.3), (20_000, 2e-4), (300_000, 0.2)] {
        let filters: Vec<Filter> =
            (0..9).map(|file| filter(FilterKind::Ribbon, at_rate(rate), file, count)).collect();
        assert_eq!(check_sliced(&filters, 5_000), 9);
        let sliced = SlicedFilters::new(&filters).expect("enough memory");
        for file in [0, 8] {
            for key in keys(1_000 + file, count.min(20_000)) {
                assert!(
                    candidates(&sliced, key).contains(&(file as usize)),
                    "{count} keys at {rate}"
                );
            }
        }
    }
}

/// Such a filter with a valid checksum can only come from outside.
#[test]
fn a_filter_with_keys_but_without_buckets_is_not_sliced_and_denies_every_key() {
    let header = Header {
        kind: FilterKind::Cuckoo as u8,
        seed: Seed::new(1),
        keys: 5,
        parameters: [8, 0, 0],
    };
    let bytes = header.write(&[]);
    let filter = StoredFilter::parse(bytes).expect("parsing accepts it");
    assert_eq!(check_sliced(&alloc::vec![filter; 9], 100), 0);
}

#[test]
fn sliced_filters_take_as_much_memory_as_the_filters_and_less_for_counters() {
    for &kind in FilterKind::ALL {
        let filters: Vec<Filter> =
            (0..32).map(|file| filter(kind, at_rate(0.01), file, 20_000)).collect();
        let unsliced: usize = filters.iter().map(|filter| filter.as_bytes().len()).sum();
        let sliced = SlicedFilters::new(&filters).expect("enough memory").memory_bytes();
        let ratio = sliced as f64 / unsliced as f64;
        let expected = match kind {
            FilterKind::CountingBloom => 0.25,
            // One bit, "free", replaces a counter of two bits.
            FilterKind::DLeft => 12.0 / 13.0,
            // All blocks take as many columns as the widest.
            FilterKind::Ribbon => 1.05,
            _ => 1.0,
        };
        assert!((ratio / expected - 1.0).abs() < 0.01, "{kind}: {ratio}");
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

    /// Filters of all kinds and several shapes in any order, empty ones among them.
    #[test]
    fn a_mixture_of_filters_answers_as_the_filters_do(
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
        check_sliced(&filters, 50);
    }

    #[test]
    fn a_counter_has_a_set_bit_if_it_is_above_zero(bytes in prop::array::uniform4(any::<u8>())) {
        let bits = CountingView::bits(&bytes, 0);
        for counter in 0..8 {
            let value = bytes[counter / 2] >> (counter % 2 * 4) & 15;
            prop_assert_eq!(bits >> counter & 1 != 0, value != 0);
        }
    }
}
