//! A hash with another seed than the filter's is refused by every operation, never answered "no".

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

use filter::{
    BinaryFuse, Blocked, Classic, CountingBloom, Cuckoo, DLeft, DLeftOptions, FilterKind,
    FuseArity, FuseBits, Ribbon, Seed, SeededHash, SeededHashes, Sizing, SplitBlock, StoredFilter,
    UnionError,
};

const OWN: Seed = Seed::new(1);
const OTHER: Seed = Seed::new(2);
const SIZING: Sizing = Sizing::BitsPerKey(40.0);
const KEY: &str = "row1";

/// Asserts that an operation panics because of the seeds.
fn assert_refused<T: Debug>(operation: &str, run: impl FnOnce() -> T) {
    let panic = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(answer) => panic!("{operation} answers {answer:?}"),
        Err(panic) => panic,
    };
    let message = panic.downcast::<String>().expect("a formatted message");
    assert!(message.contains("another seed"), "{operation}: {message}");
}

/// Asserts that a filter with `KEY` finds it by bytes and by its own hash, and refuses other hashes.
macro_rules! assert_checks_lookups {
    ($filter:expr) => {{
        let filter = $filter;
        let (hash, hashes) = (filter.hash(KEY), SeededHashes::new(filter.seed(), [KEY]));
        let mut answers = [false];
        filter.may_contain_batch(&hashes, &mut answers);
        assert!(filter.may_contain(KEY) && filter.may_contain(hash) && answers[0]);
        assert_eq!(hash, SeededHash::new(filter.seed(), KEY));

        let other = Seed::new(filter.seed().get() + 1);
        let (hash, hashes) = (SeededHash::new(other, KEY), SeededHashes::new(other, [KEY]));
        assert_refused("may_contain", || filter.may_contain(hash));
        assert_refused("hash", || filter.hash(hash));
        assert_refused("may_contain_batch", || filter.may_contain_batch(&hashes, &mut answers));
    }};
}

/// Asserts that a new filter refuses the insert of another hash, and is then unchanged.
macro_rules! assert_checks_inserts {
    ($filter:expr) => {{
        let mut filter = $filter;
        let empty = filter.to_stored();
        assert_refused("insert", || filter.insert(SeededHash::new(OTHER, KEY)));
        assert_eq!(filter.to_stored(), empty);
        filter.insert(filter.hash(KEY)).expect("room");
        assert_eq!(StoredFilter::parse(filter.to_stored()).expect("sound").seed(), filter.seed());
        assert_checks_lookups!(&filter);
        filter
    }};
}

/// Asserts that a new filter refuses the removal of another hash, and is then unchanged.
macro_rules! assert_checks_removes {
    ($filter:expr) => {{
        let mut filter = assert_checks_inserts!($filter);
        let other = SeededHash::new(OTHER, KEY);
        assert_refused("remove", || filter.remove(other));
        assert_refused("copies", || filter.copies(other));
        assert_eq!(filter.copies(KEY), 1);
        assert_eq!(filter.copies(filter.hash(KEY)), 1);
        filter.remove(filter.hash(KEY)).expect("a member");
        assert_eq!(filter.len(), 0);
    }};
}

#[test]
fn a_filter_in_memory_refuses_hashes_of_another_seed() {
    assert_checks_inserts!(Blocked::with_seed(SIZING, 10, OWN).expect("possible"));
    assert_checks_inserts!(SplitBlock::with_seed(SIZING, 10, OWN).expect("possible"));
    assert_checks_inserts!(Classic::with_seed(SIZING, 10, OWN).expect("possible"));
    assert_checks_inserts!(Classic::with_probe_count(5, 100, OWN).expect("possible"));
    assert_checks_removes!(CountingBloom::with_seed(SIZING, 10, OWN).expect("possible"));
    assert_checks_removes!(Cuckoo::with_seed(SIZING, 10, OWN).expect("possible"));
    assert_checks_removes!(Cuckoo::with_fingerprint_bits(9, 10, OWN).expect("possible"));
    assert_checks_removes!(DLeft::with_seed(SIZING, 10, OWN).expect("possible"));
    let options = DLeftOptions::default();
    assert_checks_removes!(DLeft::with_options(options, SIZING, 10, OWN).expect("possible"));
}

#[test]
fn a_static_filter_has_the_seed_of_its_keys() {
    let keys = SeededHashes::new(OWN, [KEY, "row2"]);
    let ribbon = Ribbon::build(SIZING, &keys).expect("possible");
    let fuse = BinaryFuse::build(Sizing::BitsPerKey(100.0), &keys).expect("possible");
    let four = BinaryFuse::build_with(FuseArity::Four, FuseBits::Eight, &keys).expect("possible");
    assert_eq!([ribbon.seed(), fuse.seed(), four.seed()], [OWN; 3]);
    for stored in [ribbon.to_stored(), fuse.to_stored(), four.to_stored()] {
        assert_eq!(StoredFilter::parse(stored).expect("sound").seed(), OWN);
    }
    assert_checks_lookups!(ribbon);
    assert_checks_lookups!(fuse);
    assert_checks_lookups!(four);
}

#[test]
fn a_stored_filter_of_every_kind_refuses_hashes_of_another_seed() {
    let keys = SeededHashes::new(OWN, [KEY]);
    for &kind in FilterKind::ALL {
        let bytes = kind.build(Sizing::BitsPerKey(64.0), &keys).expect("possible");
        let filter = StoredFilter::parse(bytes).expect("sound");
        assert_eq!(filter.seed(), OWN, "{kind}");
        assert_checks_lookups!(&filter);
    }
}

#[test]
fn a_filter_keeps_its_seed_when_it_is_stored_loaded_grown_and_united() {
    let mut filter = Cuckoo::with_seed(SIZING, 10, OWN).expect("possible");
    filter.insert(KEY).expect("room");
    let other = SeededHash::new(OTHER, KEY);
    assert_refused("grow", || filter.grow(SIZING, 20, [other]));
    filter.grow(SIZING, 20, [KEY]).expect("room");
    let stored = StoredFilter::parse(filter.to_stored()).expect("sound");
    let mut loaded = Cuckoo::from_stored(&stored).expect("cuckoo");
    assert_eq!([filter.seed(), loaded.seed()], [OWN; 2]);
    assert_refused("insert", || loaded.insert(other));
    assert_checks_lookups!(loaded);

    let mut one = CountingBloom::with_seed(SIZING, 10, OWN).expect("possible");
    let two = CountingBloom::with_seed(SIZING, 10, OTHER).expect("possible");
    assert_eq!(one.union(&two), Err(UnionError::Seeds(OWN, OTHER)));
}

#[test]
fn hashes_of_different_seeds_do_not_mix() {
    let other = SeededHash::new(OTHER, KEY);
    let mut hashes = SeededHashes::empty(OWN);
    hashes.push(SeededHash::new(OWN, KEY));
    assert_refused("push", || hashes.push(other));
    assert_refused("SeededHashes::new", || SeededHashes::new(OWN, [other]));
    assert_refused("SeededHash::new", || SeededHash::new(OWN, other));
    assert_eq!(hashes.len(), 1);
}

#[test]
fn two_filters_draw_two_seeds() {
    let [one, two] = [(); 2].map(|()| Blocked::new(SIZING, 10).expect("possible"));
    assert_ne!(one.seed(), two.seed());
}
