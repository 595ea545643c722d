//! A filter under test: how it is built and asked.

use std::fmt;
use std::hint::black_box;
use std::rc::Rc;

use filter::SeededHashes;
use filter::engine::{Insert, KeyHash, Membership};

use super::SEED;

/// Keys and their hashes.
pub(super) struct Keys {
    pub(super) bytes: Vec<[u8; 16]>,
    pub(super) hashes: Vec<KeyHash>,
}

impl Keys {
    pub(super) fn new(indexes: impl Iterator<Item = u64>) -> Self {
        let bytes: Vec<_> = indexes.map(|index| workload::key(1, index)).collect();
        let hashes = bytes.iter().map(|key| KeyHash::new(SEED, key)).collect();
        Self { bytes, hashes }
    }

    /// Returns the hashes with their seed.
    pub(super) fn seeded(&self) -> SeededHashes {
        SeededHashes::new(SEED, self.hashes.iter().copied())
    }
}

/// How a filter is asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Input {
    /// By a precomputed hash.
    Hash,
    /// By the key's bytes; the time includes hashing.
    Key,
    /// By precomputed hashes, all in one call.
    Batch,
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hash => "hash",
            Self::Key => "key",
            Self::Batch => "batch",
        })
    }
}

/// How a filter is built from its members.
pub(super) struct Build(Box<dyn Fn(&Keys)>);

impl Build {
    /// Builds a filter, and keeps the function that builds it again.
    pub(super) fn new<F>(members: &Keys, make: impl Fn(&Keys) -> F + 'static) -> (F, Rc<Self>) {
        let filter = make(members);
        (filter, Rc::new(Self(Box::new(move |members| drop(black_box(make(members)))))))
    }
}

/// A filter under test with one way of asking.
pub(super) struct Contender {
    pub(super) name: String,
    pub(super) input: Input,
    pub(super) bits_per_key: f64,
    /// Shared by all inputs of one filter.
    build: Rc<Build>,
    ask: Box<dyn Fn(&Keys) -> usize>,
}

impl Contender {
    pub(super) fn new(
        name: impl Into<String>,
        input: Input,
        bits_per_key: f64,
        build: Rc<Build>,
        ask: impl Fn(&Keys) -> usize + 'static,
    ) -> Self {
        Self { name: name.into(), input, bits_per_key, build, ask: Box::new(ask) }
    }

    /// Returns one of our filters with every way of asking.
    pub(super) fn ours<F: Membership + 'static>(
        name: &str,
        (filter, build): (F, Rc<Build>),
    ) -> Vec<Self> {
        let filter = Rc::new(filter);
        let bits_per_key = filter.stats().bits_per_key();
        let one = |input| {
            let filter = Rc::clone(&filter);
            Self::new(name, input, bits_per_key, Rc::clone(&build), move |keys| {
                let filter = &*filter;
                match input {
                    Input::Hash => count(&keys.hashes, |hash| filter.may_contain(*hash)),
                    Input::Key => {
                        count(&keys.bytes, |key| filter.may_contain(KeyHash::new(SEED, key)))
                    }
                    Input::Batch => {
                        let mut answers = vec![false; keys.hashes.len()];
                        filter.may_contain_batch(black_box(&keys.hashes), &mut answers);
                        answers.into_iter().filter(|answer| *answer).count()
                    }
                }
            })
        };
        [Input::Hash, Input::Key, Input::Batch].map(one).into()
    }

    /// Returns one of our filters that accept keys one by one.
    pub(super) fn in_memory<F: Insert + 'static>(
        name: &str,
        empty: impl Fn() -> F + 'static,
        members: &Keys,
    ) -> Vec<Self> {
        Self::ours(
            name,
            Build::new(members, move |members| {
                let mut filter = empty();
                for hash in &members.hashes {
                    filter.insert(*hash).expect("room for all");
                }
                filter
            }),
        )
    }

    /// Returns how many of the keys may be in the filter.
    pub(super) fn ask(&self, keys: &Keys) -> usize {
        (self.ask)(black_box(keys))
    }

    /// Builds the filter again and drops it.
    pub(super) fn build(&self, members: &Keys) {
        self.build.0(members);
    }
}

pub(super) fn count<T>(probes: &[T], may_contain: impl Fn(&T) -> bool) -> usize {
    probes.iter().filter(|probe| may_contain(black_box(probe))).count()
}
