//! A black list in memory: ten million addresses that are turned away, beside their exact set.
//!
//! The list is on disk; the filter in front of it answers nearly all requests, since nearly all are
//! harmless. Only a "maybe" has to be looked up.
//!
//! ```text
//! cargo run --release -p filter --example blacklist              10,000,000 entries
//! cargo run --release -p filter --example blacklist -- 100000
//! ```

use std::collections::HashSet;
use std::hint::black_box;
use std::time::Instant;

use filter::{ErrorRate, FilterKind, KeyHash, Membership, Seed, Sizing, StoredFilter, build};

/// Requests of which one in a thousand is on the list.
const REQUESTS: u64 = 1_000_000;

/// An address: an IPv6 network and host, all different.
fn address(number: u64) -> [u8; 16] {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (u128::from(mixed) << 64 | u128::from(number)).to_be_bytes()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let entries: u64 = std::env::args().nth(1).map_or(Ok(10_000_000), |count| count.parse())?;
    let seed = Seed::new(std::process::id().into());
    let listed: Vec<_> = (0..entries).map(address).collect();
    let exact: HashSet<[u8; 16]> = listed.iter().copied().collect();

    // Built once, when the list changes; the bytes can be shipped to every machine.
    let start = Instant::now();
    let hashes: Vec<_> = listed.iter().map(|entry| KeyHash::new(seed, entry)).collect();
    let sizing = Sizing::ErrorRate(ErrorRate::new(0.001)?);
    let bytes = build(FilterKind::BlockedBloom, sizing, seed, &hashes)?;
    eprintln!("built in {:.0?}", start.elapsed());

    let filter = StoredFilter::parse(bytes.as_slice())?;
    let exact_bytes = exact.capacity() * (size_of::<[u8; 16]>() + 1);
    eprintln!(
        "exact set {} MiB, filter {} MiB ({:.1} bits an entry)",
        exact_bytes >> 20,
        bytes.len() >> 20,
        filter.bits_per_key(),
    );

    let requests: Vec<_> = (0..REQUESTS)
        .map(|number| {
            address(if number % 1_000 == 0 { number % entries } else { entries + number })
        })
        .collect();
    let start = Instant::now();
    let turned_away = requests.iter().filter(|request| exact.contains(*black_box(request))).count();
    let exact_time = start.elapsed();

    let start = Instant::now();
    let (mut looked_up, mut refused) = (0_u64, 0);
    for request in &requests {
        if filter.may_contain(KeyHash::new(seed, black_box(request))) {
            looked_up += 1;
            refused += usize::from(exact.contains(request));
        }
    }
    let filter_time = start.elapsed();
    eprintln!(
        "{REQUESTS} requests: exact set alone {exact_time:.0?}, filter first {filter_time:.0?}"
    );
    eprintln!("{refused} turned away, {looked_up} looked up");
    assert_eq!(refused, turned_away, "nobody on the list gets through");
    assert!(looked_up < 2 * REQUESTS / 1_000 + 200, "the filter answers nearly all");
    Ok(())
}
