//! No member is denied, at scale.
//!
//! Covers every kind and size in stored form; where supported, after removes and after a union.

use filter::engine::{KeyHash, Membership, Remove, build};
use filter::{CountingBloom, Cuckoo, DLeft, ErrorRate, FilterKind, Seed, Sizing, StoredFilter};

const SIZING: Sizing = Sizing::ErrorRate(ErrorRate::HBASE);

fn hashes(stream: u64, count: u64) -> Vec<KeyHash> {
    let seed = Seed::new(stream);
    (0..count).map(|key| KeyHash::new(seed, &key.to_le_bytes())).collect()
}

/// Looks up all members, and returns their number.
fn look_up_all(filter: &impl Membership, members: &[KeyHash], name: &str) -> usize {
    let denied = members.iter().filter(|hash| !filter.may_contain(**hash)).count();
    assert_eq!(denied, 0, "{name}, {} keys", members.len());
    members.len()
}

/// Removes every second member, and looks up the others.
fn look_up_after_removes(mut filter: impl Remove, members: &[KeyHash], name: &str) -> usize {
    let (mut left, mut removed) = (Vec::new(), Vec::new());
    for (index, member) in members.iter().enumerate() {
        if index % 2 == 0 { left.push(*member) } else { removed.push(*member) }
    }
    for member in removed {
        filter.remove(member).expect("a member");
    }
    look_up_all(&filter, &left, name)
}

/// Inserts each half of the members into a separate filter, and looks up all in the union.
fn look_up_after_union(members: &[KeyHash]) -> usize {
    let empty = CountingBloom::new(SIZING, members.len() as u64).expect("possible");
    let mut halves = [empty.clone(), empty];
    for (member, half) in members.iter().zip([0, 1].into_iter().cycle()) {
        halves[half].insert(*member).expect("never full");
    }
    let [mut united, other] = halves;
    united.union(&other).expect("of the same shape");
    look_up_all(&united, members, "union")
}

/// Returns the number of lookups.
fn assert_no_member_is_denied(sizes: &[u64]) -> usize {
    let mut probes = 0;
    for (stream, size) in (10..).zip(sizes) {
        let members = hashes(stream, *size);
        for kind in FilterKind::ALL {
            let bytes = build(*kind, SIZING, Seed::new(stream), &members).expect("possible");
            let filter = StoredFilter::parse(bytes).expect("sound");
            probes += look_up_all(&filter, &members, kind.name());
            probes += match kind {
                FilterKind::CountingBloom => {
                    let filter = CountingBloom::from_stored(&filter).expect("sound");
                    look_up_after_removes(filter, &members, kind.name())
                        + look_up_after_union(&members)
                }
                FilterKind::DLeft => {
                    let filter = DLeft::from_stored(&filter).expect("sound");
                    look_up_after_removes(filter, &members, kind.name())
                }
                FilterKind::Cuckoo => {
                    let filter = Cuckoo::from_stored(&filter).expect("sound");
                    look_up_after_removes(filter, &members, kind.name())
                }
                _ => 0, // No removes and no unions.
            };
        }
    }
    eprintln!("{probes} probes, none denied");
    probes
}

#[test]
fn no_member_is_denied_at_any_size() {
    let small = (0..200).chain([255, 256, 257, 1_000, 4_095, 4_097]);
    let sizes: Vec<u64> = small.chain([65_537, 120_000]).collect();
    assert!(assert_no_member_is_denied(&sizes) >= 1_000_000);
}

/// `cargo test --release -p hfile-filter --test members -- --ignored --nocapture`
#[test]
#[ignore = "takes minutes and 2 GB; more than 10^8 probes"]
fn no_member_is_denied_in_a_hundred_million_probes() {
    let sizes = [0, 1, 10, 1_000, 100_000, 1_000_000, 10_000_000];
    assert!(assert_no_member_is_denied(&sizes) >= 100_000_000);
}
