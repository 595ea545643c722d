//! Filters that were read from bytes, changed and written again: they lose nothing that the bytes had.

use filter::engine::{Insert, KeyHash, Membership, Remove};
use filter::{CountingBloom, Cuckoo, DLeft, ErrorRate, Seed, Sizing, StoredFilter};
use foreign_filters::{GoCuckoo, GuavaBloom, GuavaStrategy, hadoop};
use proptest::prelude::*;

const SEED: Seed = Seed::new(7);
const KEYS: u64 = 1_000;

/// What happens to a filter.
#[derive(Clone, Copy, Debug)]
enum Step {
    Insert(u64),
    Remove(u64),
    /// Writes the filter and reads it.
    Read,
    Clone,
    /// Builds the filter anew, with room for more keys.
    Grow,
    /// Adds the keys of a filter in memory, or is added to one, if filters of the kind can be united.
    Unite {
        is_added: bool,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..KEYS).prop_map(Step::Insert),
        2 => (0..KEYS).prop_map(Step::Remove),
        2 => Just(Step::Read),
        1 => Just(Step::Clone),
        2 => Just(Step::Grow),
        2 => any::<bool>().prop_map(|is_added| Step::Unite { is_added }),
    ];
    prop::collection::vec(step, 1..40)
}

fn key(number: u64) -> KeyHash {
    KeyHash::new(SEED, &number.to_le_bytes())
}

/// A filter of this library that can be changed after it was read.
trait Changeable: Membership + Insert + Remove + Clone {
    fn create() -> Self;
    fn seed(&self) -> Seed;
    fn stored(&self) -> Vec<u8>;
    fn read(stored: &StoredFilter<Vec<u8>>) -> Self;
    fn grow(&mut self, _room: u64, _keys: &[u64]) {}
    /// Returns whether the filters were united.
    fn unite(&mut self, _other: &Self) -> bool {
        false
    }
}

fn sizing() -> Sizing {
    Sizing::error_rate(0.001).expect("a rate")
}

macro_rules! changeable {
    ($filter:ty { $($more:item)* }) => {
        impl Changeable for $filter {
            fn create() -> Self {
                Self::with_seed(sizing(), 2 * KEYS, SEED).expect("small")
            }
            fn seed(&self) -> Seed {
                self.seed()
            }
            fn stored(&self) -> Vec<u8> {
                self.to_stored()
            }
            fn read(stored: &StoredFilter<Vec<u8>>) -> Self {
                Self::from_stored(stored).expect("of this kind")
            }
            $($more)*
        }
    };
}

changeable!(Cuckoo {
    fn grow(&mut self, room: u64, keys: &[u64]) {
        let hashes = keys.iter().map(|number| key(*number));
        Self::grow(self, sizing(), room, hashes).expect("room for all");
    }
});
changeable!(CountingBloom {
    fn unite(&mut self, other: &Self) -> bool {
        self.union(other).is_ok()
    }
});
changeable!(DLeft {});

/// Takes the steps. At the end, the filter has all keys and its seed, also after it was written and read.
fn check<F: Changeable>(steps: &[Step]) {
    let (mut filter, mut keys) = (F::create(), Vec::new());
    let read =
        |filter: &F| F::read(&StoredFilter::parse(filter.stored()).expect("a stored filter"));
    for step in steps {
        match *step {
            Step::Insert(number) => {
                filter.insert(key(number)).expect("room");
                keys.push(number);
            }
            Step::Remove(number) => {
                if let Some(at) = keys.iter().position(|known| *known == number) {
                    filter.remove(key(number)).expect("a member");
                    keys.swap_remove(at);
                }
            }
            Step::Read => filter = read(&filter),
            Step::Clone => filter = filter.clone(),
            Step::Grow => filter.grow(3 * KEYS, &keys),
            Step::Unite { is_added } => {
                let (mut other, number) = (F::create(), keys.len() as u64);
                other.insert(key(number)).expect("room");
                let united = if is_added {
                    let united = other.unite(&filter);
                    filter = if united { other } else { filter };
                    united
                } else {
                    filter.unite(&other)
                };
                keys.extend(united.then_some(number));
            }
        }
    }
    for filter in [&filter, &read(&filter)] {
        assert!(keys.iter().all(|number| filter.may_contain(key(*number))));
        assert_eq!(filter.stats().keys, keys.len() as u64);
        assert_eq!(filter.seed(), SEED);
    }
}

proptest! {
    #[test]
    fn a_filter_keeps_its_keys_and_its_seed_through_each_change(steps in steps()) {
        check::<Cuckoo>(&steps);
        check::<CountingBloom>(&steps);
        check::<DLeft>(&steps);
    }

    /// Of filters of other libraries, the bytes have all that later inserts need.
    #[test]
    fn a_filter_of_another_library_goes_on_after_it_was_read(
        numbers in prop::collection::vec(any::<u16>(), 1..100),
        at in any::<prop::sample::Index>(),
    ) {
        let rate = ErrorRate::new(0.01).expect("a rate");
        let shape = hadoop::Shape::for_keys(20, rate, hadoop::Hash::Murmur).expect("small");
        let row = 20.try_into().expect("not zero");
        let mut dynamic = [(); 2].map(|()| hadoop::DynamicBloomFilter::new(shape, row).expect("small"));
        let mut counting = [(); 2].map(|()| hadoop::CountingBloomFilter::new(shape).expect("small"));
        let mut guava =
            [(); 2].map(|()| GuavaBloom::new(100, rate, GuavaStrategy::Mitz64).expect("small"));
        let mut go = GoCuckoo::new(400).expect("small");
        let read_at = at.index(numbers.len());
        for (index, number) in numbers.iter().enumerate() {
            if index == read_at {
                dynamic[0] = hadoop::DynamicBloomFilter::from_bytes(&dynamic[0].to_bytes()).expect("ours");
                counting[0] = hadoop::CountingBloomFilter::from_bytes(&counting[0].to_bytes()).expect("ours");
                guava[0] = GuavaBloom::from_bytes(&guava[0].to_bytes()).expect("ours");
                go = GoCuckoo::from_bytes(&go.to_bytes()).expect("ours");
            }
            let key = number.to_be_bytes();
            for (dynamic, counting) in dynamic.iter_mut().zip(&mut counting) {
                prop_assert_eq!(dynamic.insert(&key), Ok(()));
                prop_assert_eq!(counting.insert(&key), Ok(()));
            }
            for guava in &mut guava {
                guava.insert(&key);
            }
            prop_assert!(go.insert(&key).is_ok());
        }
        prop_assert_eq!(&dynamic[0], &dynamic[1]);
        prop_assert_eq!(&counting[0], &counting[1]);
        prop_assert_eq!(&guava[0], &guava[1]);
        prop_assert!(numbers.iter().all(|number| go.may_contain(&number.to_be_bytes())));
    }
}
