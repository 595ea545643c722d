//! A blacklist and a whitelist for a hundred million URLs in a fixed amount of memory.
//!
//! The blacklist is streamed into a filter and not kept. The filter has false positives. So URLs
//! that are known to be good are looked up in the filter, and its false positives go on an exact
//! whitelist. No blacklisted URL gets through, and no known good URL is blocked:
//!
//! ```text
//! blocked = in the filter of the blacklist, and not on the whitelist
//! ```
//!
//! For comparison, the example measures an exact `HashSet` (on a sample, because the whole set
//! needs too much memory) and a Roaring bitmap. The bitmap is exact. For dense numbers, such as
//! account ids, it is smaller than any filter; for numbers spread over 64 bits it is larger.
//!
//! ```text
//! # 100,000,000 URLs: 186 MiB, and 400 MiB for the comparison
//! cargo run --release -p hfile-filter --example blacklist
//! cargo run --release -p hfile-filter --example blacklist -- 1000000
//! ```

use std::collections::HashSet;
use std::hint::black_box;
use std::time::Instant;

use filter::{Blocked, Sizing};
use roaring::{RoaringBitmap, RoaringTreemap};

/// The filter's error rate.
const ERROR_RATE: f64 = 0.001;

/// Number of entries of the measured `HashSet`.
const SAMPLE: u64 = 1_000_000;

/// Writes a URL of a list into the buffer.
fn url<'a>(buffer: &'a mut String, list: &str, number: u64) -> &'a str {
    use std::fmt::Write as _;
    buffer.clear();
    let host = mixed(number) % 50_000_000;
    write!(buffer, "http://{list}{host}.example/{number}").expect("writing to a string");
    buffer
}

/// Returns a pseudorandom number; a bijection.
fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    number ^ number >> 29
}

/// The filter of the blacklist, and its false positives among the known good URLs.
struct Lists {
    black: Blocked,
    white: HashSet<String>,
}

impl Lists {
    fn is_blocked(&self, url: &str) -> bool {
        self.black.may_contain(url) && !self.white.contains(url)
    }

    fn white_bytes(&self) -> usize {
        let texts: usize = self.white.iter().map(String::capacity).sum();
        texts + self.white.capacity() * (size_of::<String>() + 1)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let entries: u64 = std::env::args().nth(1).map_or(Ok(100_000_000), |count| count.parse())?;
    let good = entries / 10;
    let mut buffer = String::new();

    let start = Instant::now();
    let black = Blocked::new(Sizing::error_rate(ERROR_RATE)?, entries)?;
    let mut lists = Lists { black, white: HashSet::new() };
    for number in 0..entries {
        lists.black.insert(url(&mut buffer, "bad", number))?;
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

    // The whitelist has as many entries as the error rate predicts.
    let expected = good as f64 * ERROR_RATE;
    let deviation = (lists.white.len() as f64 - expected).abs();
    let limit = 5.0 * expected.sqrt() + expected / 20.0;
    assert!(deviation < limit, "{} of {good}", lists.white.len());
    let bytes = stats.bytes as usize + lists.white_bytes();
    assert!(bytes as f64 * 8.0 < entries as f64 * 17.0 + 8e6, "{bytes} bytes: memory is bounded");

    compare(entries, &mut buffer)?;
    look_up_all(&lists, entries, good, &mut buffer);
    Ok(())
}

/// Looks up all bad URLs, all good ones, and URLs on no list.
fn look_up_all(lists: &Lists, entries: u64, good: u64, buffer: &mut String) {
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
        "{wrong} of {unknown} URLs on no list were blocked; {nanoseconds} ns per URL, including \
         its generation"
    );
    assert_eq!((through, blocked), (0, 0), "a list was ignored");
    let expected = unknown as f64 * ERROR_RATE;
    assert!((wrong as f64) < expected * 1.05 + 5.0 * expected.sqrt() + 1.0, "{wrong} of {unknown}");
}

/// Measures the memory of exact structures.
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

    // Account ids: a random half of the ids below 2·entries is listed.
    let ids = u32::try_from(entries.saturating_mul(2))?;
    let is_listed = |id: &u32| mixed(u64::from(*id)) >> 63 == 0;
    let dense = RoaringBitmap::from_sorted_iter((0..ids).filter(is_listed))?;
    let dense_bits = dense.serialized_size() as f64 * 8.0 / dense.len().max(1) as f64;
    eprintln!(
        "Roaring    {:>6} MiB, {dense_bits:.1} bits an entry where entries are dense ids",
        dense.serialized_size() >> 20
    );
    // 64-bit hashes.
    let mut spread: Vec<u64> = (0..sample).map(mixed).collect();
    spread.sort_unstable();
    let spread = RoaringTreemap::from_sorted_iter(spread)?;
    let spread_bits = spread.serialized_size() as f64 * 8.0 / spread.len().max(1) as f64;
    eprintln!("Roaring    {spread_bits:.1} bits an entry where they are 64-bit hashes of URLs");

    assert!((0..ids.min(100_000)).all(|id| dense.contains(id) == is_listed(&id)), "not exact");
    if entries >= 100_000 {
        assert!(dense_bits < 3.0, "{dense_bits} bits, more than one bit for each id");
        assert!(spread_bits > 64.0, "{spread_bits} bits, less than the hash");
        assert!(per_entry * 8.0 > 300.0, "{per_entry}");
    }
    Ok(())
}
