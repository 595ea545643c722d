//! A crawler's memory: which URLs were fetched, in ten bits each.
//!
//! A crawler meets the same link again and again. Before it queues one it asks a filter; "no" means
//! that the page is new, and it is fetched and remembered. "Maybe" is nearly always a page it has
//! seen; once in a thousand new pages the filter errs and the page is not fetched, which a crawler
//! can bear.
//!
//! ```text
//! cargo run --release -p filter --example crawler                a made-up web of 200,000 pages
//! cargo run --release -p filter --example crawler -- links.txt   your own links, one a line
//! ```

use std::collections::HashSet;
use std::io::BufRead;

use filter::bloom::Blocked;
use filter::{ErrorRate, Insert, KeyHash, Membership, Seed, Sizing};

/// What the crawler did.
#[derive(Debug, Default)]
struct Tally {
    links: u64,
    fetched: u64,
    /// Pages that were never fetched because the filter took them for known.
    missed: u64,
}

/// Follows the links, asking the filter about each. The exact set is here only to check on it.
fn crawl(links: impl Iterator<Item = String>, known: &mut Blocked, seed: Seed) -> Tally {
    let mut exact = HashSet::new();
    let mut tally = Tally::default();
    for link in links {
        tally.links += 1;
        let hash = KeyHash::new(seed, link.as_bytes());
        let is_new = exact.insert(link);
        if known.may_contain(hash) {
            tally.missed += u64::from(is_new);
        } else {
            assert!(is_new, "a page that was fetched is never fetched again");
            known.insert(hash).expect("a Bloom filter takes any number of keys");
            tally.fetched += 1;
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
    let seed = Seed::new(std::process::id().into());
    let links: Vec<_> = match std::env::args().nth(1) {
        Some(path) => {
            std::io::BufReader::new(std::fs::File::open(path)?).lines().collect::<Result<_, _>>()?
        }
        None => made_up_web(200_000, 2_000_000).collect(),
    };
    // A crawler does not know how many pages there are; it guesses, and the rate rises past that.
    let expected = links.len() as u64 / 10;
    let mut known = Blocked::new(Sizing::ErrorRate(ErrorRate::new(0.001)?), expected)?;
    let tally = crawl(links.into_iter(), &mut known, seed);

    let stats = known.stats();
    eprintln!("{} links, {} pages fetched", tally.links, tally.fetched);
    eprintln!("{} pages missed; the filter was made for {expected}", tally.missed);
    eprintln!("{} KiB of memory, {:.1} bits a page", stats.bytes / 1024, stats.bits_per_key());
    assert!(tally.fetched > 0, "there were links to follow");
    Ok(())
}
