//! Compares four data structures with which a crawler remembers fetched pages.
//!
//! A crawler sees the same link many times. It looks up each link in its memory, and fetches and
//! remembers the page if the link is absent. A false positive makes the crawler miss a new page,
//! which is acceptable if rare.
//!
//! | memory             | stores for a page                    | missed new pages                 |
//! |--------------------|--------------------------------------|----------------------------------|
//! | set of URLs        | the URL                              | none                             |
//! | set of hashes      | a 64-bit hash                        | n²/2^65                          |
//! | bit map, one hash  | one bit, in a map of the same size   | the share of set bits            |
//! | Bloom filter       | ten bits                             | the error rate of the filter     |
//!
//! ```text
//! # 200,000 generated pages
//! cargo run --release -p hfile-filter --example crawler
//! # links from a file, one per line
//! cargo run --release -p hfile-filter --example crawler -- links.txt
//! ```

use std::collections::HashSet;
use std::io::BufRead;

use filter::{Blocked, Seed, SeededHash, Sizing};

/// The error rate of the Bloom filter.
const ERROR_RATE: f64 = 0.001;

/// A set of fetched pages, possibly approximate.
trait Memory {
    /// Inserts a page; returns whether the page was (or seemed) known before.
    fn insert(&mut self, link: &str, hash: SeededHash) -> bool;
    /// Returns the approximate size in bytes.
    fn bytes(&self) -> usize;
}

/// A set of URLs.
#[derive(Default)]
struct Urls(HashSet<String>);

impl Memory for Urls {
    fn insert(&mut self, link: &str, _hash: SeededHash) -> bool {
        !self.0.insert(link.to_owned())
    }

    fn bytes(&self) -> usize {
        let texts: usize = self.0.iter().map(String::capacity).sum();
        texts + self.0.capacity() * (size_of::<String>() + 1)
    }
}

/// A set of hashes.
#[derive(Default)]
struct Hashes(HashSet<u64>);

impl Memory for Hashes {
    fn insert(&mut self, _link: &str, hash: SeededHash) -> bool {
        !self.0.insert(hash.get())
    }

    fn bytes(&self) -> usize {
        self.0.capacity() * (size_of::<u64>() + 1)
    }
}

/// A bit map with one bit per page.
struct BitMap(Vec<u64>);

impl Memory for BitMap {
    fn insert(&mut self, _link: &str, hash: SeededHash) -> bool {
        let bits = self.0.len() as u128 * 64;
        let bit = ((u128::from(hash.get()) * bits) >> 64) as u64;
        let word = &mut self.0[bit as usize / 64];
        let is_known = *word >> (bit % 64) & 1 != 0;
        *word |= 1 << (bit % 64);
        is_known
    }

    fn bytes(&self) -> usize {
        size_of_val(self.0.as_slice())
    }
}

/// A Bloom filter.
struct Bloom(Blocked);

impl Memory for Bloom {
    fn insert(&mut self, _link: &str, hash: SeededHash) -> bool {
        let is_known = self.0.may_contain(hash);
        if !is_known {
            self.0.insert(hash).expect("a Bloom filter is never full");
        }
        is_known
    }

    fn bytes(&self) -> usize {
        self.0.stats().bytes as usize
    }
}

/// The counters of a crawl.
#[derive(Debug, Default)]
struct CrawlCounts {
    fetched: u64,
    /// Pages that were not fetched because of a false positive.
    missed: u64,
}

/// Looks up and inserts all links. `first_times` says which links occur for the first time.
fn crawl(
    links: &[String],
    first_times: &[bool],
    memory: &mut dyn Memory,
    seed: Seed,
) -> CrawlCounts {
    let mut counts = CrawlCounts::default();
    let mut fetched = HashSet::new();
    for (link, is_first) in links.iter().zip(first_times) {
        let hash = SeededHash::new(seed, link);
        if !memory.insert(link, hash) {
            assert!(fetched.insert(link), "{link} is fetched twice");
            counts.fetched += 1;
        } else if *is_first {
            counts.missed += 1;
        }
    }
    counts
}

/// Generates links with a Zipf distribution: the frequency of page *i* is proportional to 1/i.
fn generated_links(pages: u32, links: u32) -> impl Iterator<Item = String> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..links).map(move |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let uniform = (state >> 11) as f64 / (1_u64 << 53) as f64;
        let page = f64::from(pages).powf(uniform) as u32;
        format!("https://site{}.example/page/{page}", page % 997)
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let links: Vec<_> = match std::env::args().nth(1) {
        Some(path) => {
            std::io::BufReader::new(std::fs::File::open(path)?).lines().collect::<Result<_, _>>()?
        }
        None => generated_links(200_000, 2_000_000).collect(),
    };
    let mut distinct = HashSet::new();
    let first_times: Vec<bool> = links.iter().map(|link| distinct.insert(link.as_str())).collect();
    let pages = distinct.len() as u64;
    drop(distinct);
    eprintln!("{} links to {pages} pages", links.len());

    // A real crawler must estimate the number of pages; beyond this number the error rate grows.
    let bloom = Blocked::new(Sizing::error_rate(ERROR_RATE)?, pages)?;
    // A random seed: a hostile site cannot construct URLs that are false positives.
    let seed = bloom.seed();
    let words = bloom.stats().bytes.div_ceil(8) as usize;
    let mut memories: [(&str, Box<dyn Memory>); 4] = [
        ("set of URLs", Box::new(Urls::default())),
        ("set of hashes", Box::new(Hashes::default())),
        ("bit map, one hash", Box::new(BitMap(vec![0; words.max(1)]))),
        ("Bloom filter", Box::new(Bloom(bloom))),
    ];
    let mut missed = Vec::new();
    for (name, memory) in &mut memories {
        let counts = crawl(&links, &first_times, memory.as_mut(), seed);
        eprintln!(
            "{name:>17}: {} fetched, {} missed, {} KiB, {:.1} bits a page",
            counts.fetched,
            counts.missed,
            memory.bytes() / 1024,
            memory.bytes() as f64 * 8.0 / pages.max(1) as f64,
        );
        assert_eq!(counts.fetched + counts.missed, pages, "{name}: fetched + missed ≠ pages");
        missed.push(counts.missed);
    }

    let [urls, hashes, bit_map, bloom] = missed[..] else { unreachable!("four memories") };
    assert_eq!((urls, hashes), (0, 0), "exact sets miss no page");
    // An upper bound: while the filter fills, its error rate is lower.
    let expected = pages as f64 * ERROR_RATE;
    assert!((bloom as f64) < expected + 4.0 * expected.sqrt() + 3.0, "{bloom} of {pages}");
    if pages > 1_000 {
        // One bit a page in a map of the same size misses n/2m of the pages, about 3 %.
        assert!(bit_map > 10 * bloom.max(1), "one hash misses {bit_map}, the filter {bloom}");
    }
    Ok(())
}
