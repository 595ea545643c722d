//! A crawler's memory: four ways to remember which pages were fetched, and what each misses.
//!
//! A crawler meets the same link again and again. Before it queues one it asks its memory; "no" means
//! that the page is new, and it is fetched and remembered. Where the memory errs, it takes a new page for
//! known and never fetches it, which a crawler can bear if it is rare.
//!
//! | memory             | what it keeps of a page                     | misses a new page …               |
//! |--------------------|---------------------------------------------|-----------------------------------|
//! | set of URLs        | the URL                                     | never                             |
//! | set of hashes      | 64 bits of hash                             | n²/2^65 of them                   |
//! | bit map, one hash  | one bit, in as many bits as the filter has  | as often as the bit is set        |
//! | Bloom filter       | ten bits of its own choice                  | as often as the filter was asked  |
//!
//! ```text
//! cargo run --release -p hfile-filter --example crawler                a made-up web of 200,000 pages
//! cargo run --release -p hfile-filter --example crawler -- links.txt   your own links, one a line
//! ```

use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::BufRead;

use filter::bloom::Blocked;
use filter::{ErrorRate, Insert, KeyHash, Membership, Seed, Sizing};

/// How often the Bloom filter may err about a new page.
const ERROR_RATE: f64 = 0.001;

/// Which pages were fetched, as far as it remembers.
trait Memory {
    /// Whether the page is known; if not, it is remembered.
    fn is_known(&mut self, link: &str, hash: KeyHash) -> bool;
    /// Bytes that it takes, about.
    fn bytes(&self) -> usize;
}

/// Every URL as it is.
#[derive(Default)]
struct Urls(HashSet<String>);

impl Memory for Urls {
    fn is_known(&mut self, link: &str, _hash: KeyHash) -> bool {
        !self.0.insert(link.to_owned())
    }

    fn bytes(&self) -> usize {
        let texts: usize = self.0.iter().map(String::capacity).sum();
        texts + self.0.capacity() * (size_of::<String>() + 1)
    }
}

/// A hash in place of a URL.
#[derive(Default)]
struct Hashes(HashSet<u64>);

impl Memory for Hashes {
    fn is_known(&mut self, _link: &str, hash: KeyHash) -> bool {
        !self.0.insert(hash.get())
    }

    fn bytes(&self) -> usize {
        self.0.capacity() * (size_of::<u64>() + 1)
    }
}

/// One bit a page.
struct BitMap(Vec<u64>);

impl Memory for BitMap {
    fn is_known(&mut self, _link: &str, hash: KeyHash) -> bool {
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

/// Several bits a page.
struct Bloom(Blocked);

impl Memory for Bloom {
    fn is_known(&mut self, _link: &str, hash: KeyHash) -> bool {
        let is_known = self.0.may_contain(hash);
        if !is_known {
            self.0.insert(hash).expect("a Bloom filter takes any number of keys");
        }
        is_known
    }

    fn bytes(&self) -> usize {
        self.0.stats().bytes as usize
    }
}

/// What a crawl did.
#[derive(Debug, Default)]
struct Tally {
    fetched: u64,
    /// Pages that were never fetched because the memory took them for known.
    missed: u64,
}

/// Follows the links, asking the memory about each. `first_times` says which links are new.
fn crawl(links: &[String], first_times: &[bool], memory: &mut dyn Memory, seed: Seed) -> Tally {
    let mut tally = Tally::default();
    let mut taken = HashSet::new();
    for (link, is_first) in links.iter().zip(first_times) {
        let hash = KeyHash::new(seed, link.as_bytes());
        if !memory.is_known(link, hash) {
            assert!(taken.insert(link), "a page that was fetched is never fetched again");
            tally.fetched += 1;
        } else if *is_first {
            tally.missed += 1;
        }
    }
    tally
}

/// Links as they come in on a web where few pages are linked to from everywhere: page numbers drawn
/// so that page *i* comes up in proportion to 1/i.
fn made_up_web(pages: u32, links: u32) -> impl Iterator<Item = String> {
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
    // A seed that nobody can guess keeps a hostile site from inventing URLs that all look known.
    let seed = Seed::new(RandomState::new().build_hasher().finish());
    let links: Vec<_> = match std::env::args().nth(1) {
        Some(path) => {
            std::io::BufReader::new(std::fs::File::open(path)?).lines().collect::<Result<_, _>>()?
        }
        None => made_up_web(200_000, 2_000_000).collect(),
    };
    let mut distinct = HashSet::new();
    let first_times: Vec<bool> = links.iter().map(|link| distinct.insert(link.as_str())).collect();
    let pages = distinct.len() as u64;
    drop(distinct);
    eprintln!("{} links to {pages} pages", links.len());

    // A real crawler guesses how many pages there are, and errs more often past that.
    let bloom = Blocked::new(Sizing::ErrorRate(ErrorRate::new(ERROR_RATE)?), pages)?;
    let words = bloom.stats().bytes.div_ceil(8) as usize;
    let mut memories: [(&str, Box<dyn Memory>); 4] = [
        ("set of URLs", Box::new(Urls::default())),
        ("set of hashes", Box::new(Hashes::default())),
        ("bit map, one hash", Box::new(BitMap(vec![0; words.max(1)]))),
        ("Bloom filter", Box::new(Bloom(bloom))),
    ];
    let mut missed = Vec::new();
    for (name, memory) in &mut memories {
        let tally = crawl(&links, &first_times, memory.as_mut(), seed);
        eprintln!(
            "{name:>17}: {} fetched, {} missed, {} KiB, {:.1} bits a page",
            tally.fetched,
            tally.missed,
            memory.bytes() / 1024,
            memory.bytes() as f64 * 8.0 / pages.max(1) as f64,
        );
        assert_eq!(tally.fetched + tally.missed, pages, "{name}: every page is one or the other");
        missed.push(tally.missed);
    }

    let [urls, hashes, bit_map, bloom] = missed[..] else { unreachable!("four memories") };
    assert_eq!((urls, hashes), (0, 0), "no URL is lost, and no two of so few share 64 bits");
    // While it fills it errs less often than when it is full; and it can be unlucky.
    let expected = pages as f64 * ERROR_RATE;
    assert!((bloom as f64) < expected + 4.0 * expected.sqrt() + 3.0, "{bloom} of {pages}");
    if pages > 1_000 {
        // In the same room one bit a page misses n/2m of them, about 3 %.
        assert!(bit_map > 10 * bloom.max(1), "one hash misses {bit_map}, the filter {bloom}");
    }
    Ok(())
}
