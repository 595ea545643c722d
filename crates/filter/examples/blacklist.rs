//! A black and a white list over a hundred million URLs, in memory that is known before the first is read.
//!
//! The black list is streamed into a filter once and never kept. A filter errs about some harmless URLs;
//! those that are known to be harmless (the sites everybody visits) are streamed past it, and the few
//! that it would block go on an exact white list. So no listed URL gets through, and no known good one is
//! blocked:
//!
//! ```text
//! blocked = in the filter of the black list, and not on the white list
//! ```
//!
//! Beside it: what an exact `HashSet` takes (measured on a part, since it would not fit), and a Roaring
//! bitmap, which is exact and smaller than any filter where entries are dense numbers such as ids of
//! accounts, and larger where they are spread over 64 bits.
//!
//! ```text
//! cargo run --release -p hfile-filter --example blacklist              100,000,000 URLs: 186 MiB, and 400 for what is compared
//! cargo run --release -p hfile-filter --example blacklist -- 1000000
//! ```

use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::hint::black_box;
use std::time::Instant;

use filter::bloom::Blocked;
use filter::{ErrorRate, Insert, KeyHash, Membership, Seed, Sizing};
use roaring::{RoaringBitmap, RoaringTreemap};

/// How often the filter errs about a harmless URL.
const ERROR_RATE: f64 = 0.001;

/// Entries of the exact set that is measured.
const SAMPLE: u64 = 1_000_000;

/// Writes a URL of one of two streams into a buffer, which is reused.
fn url<'a>(buffer: &'a mut String, list: &str, number: u64) -> &'a str {
    use std::fmt::Write as _;
    buffer.clear();
    let host = mixed(number) % 50_000_000;
    write!(buffer, "http://{list}{host}.example/{number}").expect("a string takes everything");
    buffer
}

/// A number that looks random; different numbers give different ones.
fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    number ^ number >> 29
}

/// Both lists: the filter of the black one, and of the white one what the filter errs about.
struct Lists {
    seed: Seed,
    black: Blocked,
    white: HashSet<String>,
}

impl Lists {
    fn is_blocked(&self, url: &str) -> bool {
        self.black.may_contain(KeyHash::new(self.seed, url.as_bytes())) && !self.white.contains(url)
    }

    fn white_bytes(&self) -> usize {
        let texts: usize = self.white.iter().map(String::capacity).sum();
        texts + self.white.capacity() * (size_of::<String>() + 1)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let entries: u64 = std::env::args().nth(1).map_or(Ok(100_000_000), |count| count.parse())?;
    let good = entries / 10;
    let seed = Seed::new(RandomState::new().build_hasher().finish());
    let mut buffer = String::new();

    let start = Instant::now();
    let black = Blocked::new(Sizing::ErrorRate(ErrorRate::new(ERROR_RATE)?), entries)?;
    let mut lists = Lists { seed, black, white: HashSet::new() };
    for number in 0..entries {
        let hash = KeyHash::new(seed, url(&mut buffer, "bad", number).as_bytes());
        lists.black.insert(hash)?;
    }
    for number in 0..good {
        if lists.is_blocked(url(&mut buffer, "good", number)) {
            lists.white.insert(buffer.clone());
        }
    }
    let stats = lists.black.stats();
    eprintln!("{entries} bad and {good} good URLs streamed in {:.1?}", start.elapsed());
    eprintln!("filter     {:>6} MiB, {:.1} bits an entry", stats.bytes >> 20, stats.bits_per_key());
    eprintln!("white list {:>6} KiB, {} URLs", lists.white_bytes() >> 10, lists.white.len());

    // Of the good URLs the filter errs about so many; the white list holds them and no others.
    let expected = good as f64 * ERROR_RATE;
    let off = (lists.white.len() as f64 - expected).abs();
    assert!(off < 5.0 * expected.sqrt() + expected / 20.0, "{} of {good}", lists.white.len());
    let bytes = stats.bytes as usize + lists.white_bytes();
    assert!(bytes as f64 * 8.0 < entries as f64 * 17.0 + 8e6, "{bytes} bytes: memory is bounded");

    compare(entries, &mut buffer)?;
    ask(&lists, entries, good, &mut buffer);
    Ok(())
}

/// Asks for all listed URLs again, for the good ones, and for URLs on no list.
fn ask(lists: &Lists, entries: u64, good: u64, buffer: &mut String) {
    let start = Instant::now();
    let through = (0..entries)
        .filter(|number| !lists.is_blocked(black_box(url(buffer, "bad", *number))))
        .count();
    let blocked = (0..good)
        .filter(|number| lists.is_blocked(black_box(url(buffer, "good", *number))))
        .count();
    let unknown = good;
    let wrong = (good..good + unknown)
        .filter(|number| lists.is_blocked(black_box(url(buffer, "good", *number))))
        .count();
    let nanoseconds = start.elapsed().as_nanos() as u64 / (entries + good + unknown).max(1);
    eprintln!("{through} bad URLs got through, {blocked} good ones were blocked");
    eprintln!(
        "{wrong} of {unknown} URLs on no list were blocked; {nanoseconds} ns a URL, made and asked"
    );
    assert_eq!((through, blocked), (0, 0), "both lists are kept");
    let expected = unknown as f64 * ERROR_RATE;
    assert!((wrong as f64) < expected * 1.05 + 5.0 * expected.sqrt() + 1.0, "{wrong} of {unknown}");
}

/// What exact structures take.
fn compare(entries: u64, buffer: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let sample = entries.min(SAMPLE);
    let exact: HashSet<String> =
        (0..sample).map(|number| url(buffer, "bad", number).to_owned()).collect();
    let texts: usize = exact.iter().map(String::capacity).sum();
    let bytes = texts + exact.capacity() * (size_of::<String>() + 1);
    let per_entry = bytes as f64 / sample.max(1) as f64;
    eprintln!(
        "HashSet    {:>6} MiB, {:.0} bits an entry (measured on {sample} URLs)",
        (per_entry * entries as f64) as u64 >> 20,
        per_entry * 8.0,
    );

    // Accounts: of the ids up to 2·entries every second one, by chance, is listed.
    let ids = u32::try_from(entries.saturating_mul(2))?;
    let is_listed = |id: &u32| mixed(u64::from(*id)) >> 63 == 0;
    let dense = RoaringBitmap::from_sorted_iter((0..ids).filter(is_listed))?;
    let dense_bits = dense.serialized_size() as f64 * 8.0 / dense.len().max(1) as f64;
    eprintln!(
        "Roaring    {:>6} MiB, {dense_bits:.1} bits an entry where entries are dense ids",
        dense.serialized_size() >> 20
    );
    // Hashes: spread over 64 bits.
    let mut spread: Vec<u64> = (0..sample).map(mixed).collect();
    spread.sort_unstable();
    let spread = RoaringTreemap::from_sorted_iter(spread)?;
    let spread_bits = spread.serialized_size() as f64 * 8.0 / spread.len().max(1) as f64;
    eprintln!("Roaring    {spread_bits:.1} bits an entry where they are 64-bit hashes of URLs");

    assert!((0..ids.min(100_000)).all(|id| dense.contains(id) == is_listed(&id)), "it is exact");
    if entries >= 100_000 {
        assert!(dense_bits < 3.0, "{dense_bits}: a bit for each id, listed or not");
        assert!(spread_bits > 64.0, "{spread_bits}: more than the hash itself");
        assert!(per_entry * 8.0 > 300.0, "{per_entry}");
    }
    Ok(())
}
