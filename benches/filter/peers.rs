//! The crates that our filters are compared with, each used through its public API.

use fastbloom_rs::Membership as _;

use std::rc::Rc;

use super::contender::{Build, Contender, Input, Keys, count};

const CUCKOO_TIGHT: &str = "cuckoofilter";
const CUCKOO_ROOMY: &str = "cuckoofilter at 95 %";

const ERROR_RATE: f64 = 0.01;

/// Returns every peer, filled with the members.
pub(super) fn all(members: &Keys) -> Vec<Contender> {
    let mut contenders = Vec::new();
    contenders.extend(fastbloom(members));
    contenders.push(split_block(members));
    let keys = members.bytes.len();
    contenders.extend(cuckoofilter(members, CUCKOO_TIGHT, keys));
    contenders.extend(cuckoofilter(members, CUCKOO_ROOMY, keys * 100 / 95));
    contenders.extend(qfilter(members));
    contenders.extend(counting(members));
    contenders.push(pleat(members));
    contenders.push(xorf(members));
    contenders
}

/// Builds a filter from an empty one, repeatably.
fn filled<F>(
    members: &Keys,
    empty: impl Fn() -> F + 'static,
    fill: impl Fn(&mut F, &Keys) + 'static,
) -> (F, Rc<Build>) {
    Build::new(members, move |members| {
        let mut filter = empty();
        fill(&mut filter, members);
        filter
    })
}

fn bits_per_key(members: &Keys, bits: usize) -> f64 {
    bits as f64 / members.bytes.len() as f64
}

fn fastbloom(members: &Keys) -> [Contender; 2] {
    let keys = members.bytes.len();
    let empty = move || fastbloom::BloomFilter::with_false_pos(ERROR_RATE).expected_items(keys);
    let (by_hash, by_hash_build) = filled(members, empty, |filter, members| {
        for hash in &members.hashes {
            filter.insert_hash(hash.get());
        }
    });
    let (by_key, by_key_build) = filled(members, empty, |filter, members| {
        for key in &members.bytes {
            filter.insert(key);
        }
    });
    let bits = bits_per_key(members, by_hash.num_bits());
    [
        Contender::new("fastbloom", Input::Hash, bits, by_hash_build, move |keys| {
            count(&keys.hashes, |hash| by_hash.contains_hash(hash.get()))
        }),
        Contender::new("fastbloom", Input::Key, bits, by_key_build, move |keys| {
            count(&keys.bytes, |key| by_key.contains(key))
        }),
    ]
}

/// Accepts only whole bits per key; eleven is the least for an error rate below 1 %.
fn split_block(members: &Keys) -> Contender {
    let keys = members.bytes.len();
    let empty = move || sbbf_rs_safe::Filter::new(11, keys);
    let (filter, build) = filled(members, empty, |filter, members| {
        for hash in &members.hashes {
            filter.insert_hash(hash.get());
        }
    });
    let bits = bits_per_key(members, filter.as_bytes().len() * 8);
    Contender::new("sbbf-rs-safe", Input::Hash, bits, build, move |keys| {
        count(&keys.hashes, |hash| filter.contains_hash(hash.get()))
    })
}

/// Hashes its argument in any case; a precomputed hash is the cheapest argument.
///
/// The number of slots is a power of two. For a million keys it is 2^20, 95.4 % of which are then
/// used; about one build in fifty fails and loses a key. The crate is therefore measured twice: sized
/// for the number of keys, and sized so that 95 % of the slots are used, the paper's limit for buckets
/// of four. A lost key shows when all members are asked.
fn cuckoofilter(members: &Keys, name: &str, capacity: usize) -> [Contender; 2] {
    type Filter = cuckoofilter::CuckooFilter<std::collections::hash_map::DefaultHasher>;
    let empty = move || Filter::with_capacity(capacity);
    let (by_hash, by_hash_build) = filled(members, empty, |filter, members| {
        for hash in &members.hashes {
            let _ = filter.add(&hash.get());
        }
    });
    let (by_key, by_key_build) = filled(members, empty, |filter, members| {
        for key in &members.bytes {
            let _ = filter.add(key);
        }
    });
    let bits = bits_per_key(members, by_hash.memory_usage() * 8);
    [
        Contender::new(name, Input::Hash, bits, by_hash_build, move |keys| {
            count(&keys.hashes, |hash| by_hash.contains(&hash.get()))
        }),
        Contender::new(name, Input::Key, bits, by_key_build, move |keys| {
            count(&keys.bytes, |key| by_key.contains(key))
        }),
    ]
}

fn qfilter(members: &Keys) -> [Contender; 2] {
    let keys = members.bytes.len() as u64;
    let empty = move || qfilter::Filter::new(keys, ERROR_RATE).expect("a filter of that size");
    let (by_hash, by_hash_build) = filled(members, empty, |filter, members| {
        for hash in &members.hashes {
            filter.insert_fingerprint(false, hash.get()).expect("room for all");
        }
    });
    let (by_key, by_key_build) = filled(members, empty, |filter, members| {
        for key in &members.bytes {
            filter.insert(key).expect("room for all");
        }
    });
    let bits = bits_per_key(members, by_hash.memory_usage() * 8);
    [
        Contender::new("qfilter", Input::Hash, bits, by_hash_build, move |keys| {
            count(&keys.hashes, |hash| by_hash.contains_fingerprint(hash.get()))
        }),
        Contender::new("qfilter", Input::Key, bits, by_key_build, move |keys| {
            count(&keys.bytes, |key| by_key.contains(key))
        }),
    ]
}

/// Hashes its argument in any case; the bytes of a precomputed hash are the cheapest argument.
fn counting(members: &Keys) -> [Contender; 2] {
    let keys = members.bytes.len() as u64;
    let empty =
        move || fastbloom_rs::FilterBuilder::new(keys, ERROR_RATE).build_counting_bloom_filter();
    let (by_hash, by_hash_build) = filled(members, empty, |filter, members| {
        for hash in &members.hashes {
            filter.add(&hash.get().to_le_bytes());
        }
    });
    let (by_key, by_key_build) = filled(members, empty, |filter, members| {
        for key in &members.bytes {
            filter.add(key);
        }
    });
    let bits = bits_per_key(members, by_hash.get_u8_array().len() * 8);
    [
        Contender::new("fastbloom-rs counting", Input::Hash, bits, by_hash_build, move |keys| {
            count(&keys.hashes, |hash| by_hash.contains(&hash.get().to_le_bytes()))
        }),
        Contender::new("fastbloom-rs counting", Input::Key, bits, by_key_build, move |keys| {
            count(&keys.bytes, |key| by_key.contains(key))
        }),
    ]
}

/// A ribbon filter with bands of 128 bits and fingerprints of seven bits.
fn pleat(members: &Keys) -> Contender {
    let hashes: Vec<u64> = members.hashes.iter().map(|hash| hash.get()).collect();
    let (filter, build) = Build::new(members, move |_| {
        pleat::filter::StdRibbon::<7>::from_keys_pleated(&hashes).expect("a seed that solves")
    });
    let bits = bits_per_key(members, filter.size_bytes() * 8);
    Contender::new("pleat", Input::Hash, bits, build, move |keys| {
        count(&keys.hashes, |hash| filter.contains(hash.get()))
    })
}

/// A three-wise binary fuse filter with fingerprints of eight bits.
fn xorf(members: &Keys) -> Contender {
    let hashes: Vec<u64> = members.hashes.iter().map(|hash| hash.get()).collect();
    let (filter, build) = Build::new(members, move |_| {
        xorf::BinaryFuse8::try_from(&hashes).expect("keys without copies")
    });
    let bits = bits_per_key(members, filter.fingerprints.len() * 8);
    Contender::new("xorf", Input::Hash, bits, build, move |keys| {
        count(&keys.hashes, |hash| xorf::Filter::contains(&filter, &hash.get()))
    })
}
