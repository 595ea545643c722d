//! Compares the hit rates of LRU and of the block cache's policy on two traces.
//!
//! Blocks of 64 KiB, and a cache for a tenth of them. `quick_cache` has the options that
//! `BlockCache` gives it. LRU is implemented below. Only gets are counted.
//!
//! ```text
//! gets             blocks drawn by popularity, in proportion to 1/rank
//! gets and scans   the same, with a scan over a fifth of all blocks after every 20,000 gets
//!
//! cargo run --release -p hfile-sstable --example cache_policies [-- BLOCKS]
//! ```
//!
//! `BLOCKS` is 100,000 by default; the trace has 20 gets for each block.

use std::collections::{BTreeMap, HashMap};

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

/// Bytes of a block.
const BLOCK_BYTES: u64 = 64 << 10;

/// Gets between two scans.
const GETS_BETWEEN_SCANS: u64 = 20_000;

/// One step of a trace.
#[derive(Clone, Copy)]
enum Step {
    Get(u64),
    Scan(u64),
}

/// A cache of blocks with an eviction policy.
trait Policy {
    /// Accesses a block, and inserts an absent one. Returns whether the block was there.
    fn use_block(&mut self, block: u64) -> bool;
    /// Returns the bytes of the cached blocks.
    fn bytes(&self) -> u64;
}

/// The policy of `quick_cache`: a form of S3-FIFO.
struct Quick(Cache<u64, (), Bytes>);

#[derive(Clone)]
struct Bytes;

impl Weighter<u64, ()> for Bytes {
    fn weight(&self, _: &u64, (): &()) -> u64 {
        BLOCK_BYTES
    }
}

impl Quick {
    fn new(capacity_bytes: u64) -> Self {
        let options = OptionsBuilder::new()
            .estimated_items_capacity((capacity_bytes / BLOCK_BYTES) as usize)
            .weight_capacity(capacity_bytes)
            .build()
            .expect("both required options are set");
        Self(Cache::with_options(
            options,
            Bytes,
            DefaultHashBuilder::default(),
            DefaultLifecycle::default(),
        ))
    }
}

impl Policy for Quick {
    fn use_block(&mut self, block: u64) -> bool {
        let is_there = self.0.get(&block).is_some();
        if !is_there {
            self.0.insert(block, ());
        }
        is_there
    }

    fn bytes(&self) -> u64 {
        self.0.weight()
    }
}

/// Evicts the least recently used block.
struct Lru {
    blocks_max: usize,
    clock: u64,
    last_use: HashMap<u64, u64>,
    by_use: BTreeMap<u64, u64>,
}

impl Lru {
    fn new(capacity_bytes: u64) -> Self {
        let blocks_max = (capacity_bytes / BLOCK_BYTES) as usize;
        Self { blocks_max, clock: 0, last_use: HashMap::new(), by_use: BTreeMap::new() }
    }
}

impl Policy for Lru {
    fn use_block(&mut self, block: u64) -> bool {
        self.clock += 1;
        self.by_use.insert(self.clock, block);
        let before = self.last_use.insert(block, self.clock);
        if let Some(before) = before {
            self.by_use.remove(&before);
        } else if self.last_use.len() > self.blocks_max {
            let (_, oldest) = self.by_use.pop_first().expect("one entry for each block");
            self.last_use.remove(&oldest);
        }
        before.is_some()
    }

    fn bytes(&self) -> u64 {
        self.last_use.len() as u64 * BLOCK_BYTES
    }
}

/// Returns gets of blocks in proportion to 1/rank, with the ranks spread over the file.
fn gets(blocks: u64, count: u64) -> impl Iterator<Item = Step> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..count).map(move |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let uniform = (state >> 11) as f64 / (1_u64 << 53) as f64;
        let rank = (blocks as f64).powf(uniform) as u64;
        // Maps ranks to different blocks if the factor and the number of blocks are coprime.
        Step::Get(rank * 61_803 % blocks)
    })
}

/// Returns the same gets, with scans of a fifth of the blocks, each from the end of the last scan.
fn gets_and_scans(blocks: u64, count: u64) -> impl Iterator<Item = Step> {
    let part = blocks / 5;
    gets(blocks, count).zip(0_u64..).flat_map(move |(get, at)| {
        let is_scan = at % GETS_BETWEEN_SCANS == GETS_BETWEEN_SCANS - 1;
        let first = at / GETS_BETWEEN_SCANS * part;
        let scan = (0..if is_scan { part } else { 0 })
            .map(move |block| Step::Scan((first + block) % blocks));
        std::iter::once(get).chain(scan)
    })
}

/// Returns the share of gets that found their block in the cache.
fn hit_rate(
    policy: &mut dyn Policy,
    steps: impl Iterator<Item = Step>,
    capacity_bytes: u64,
) -> f64 {
    let (mut asked, mut hits) = (0_u64, 0_u64);
    for step in steps {
        match step {
            Step::Get(block) => {
                asked += 1;
                hits += u64::from(policy.use_block(block));
            }
            Step::Scan(block) => {
                policy.use_block(block);
            }
        }
    }
    assert!(policy.bytes() <= capacity_bytes, "the budget is kept");
    hits as f64 / asked as f64
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let blocks: u64 = std::env::args().nth(1).map_or(Ok(100_000), |count| count.parse())?;
    if blocks < 1_000 {
        return Err("at least 1000 blocks are needed".into());
    }
    let (count, capacity) = (blocks * 20, blocks / 10 * BLOCK_BYTES);
    eprintln!("{blocks} blocks, a cache for {}, {count} gets", blocks / 10);
    eprintln!("{:>16}  {:>6}  {:>11}", "trace", "LRU", "quick_cache");
    let compare = |name: &str, steps: &dyn Fn() -> Box<dyn Iterator<Item = Step>>| {
        let lru = hit_rate(&mut Lru::new(capacity), steps(), capacity);
        let quick = hit_rate(&mut Quick::new(capacity), steps(), capacity);
        eprintln!("{name:>16}  {:>5.1}%  {:>10.1}%", lru * 100.0, quick * 100.0);
        assert!(quick > lru, "{name}: LRU is better, {lru} and {quick}");
        quick - lru
    };
    let alone = compare("gets", &|| Box::new(gets(blocks, count)));
    let scanned = compare("gets and scans", &|| Box::new(gets_and_scans(blocks, count)));
    assert!(scanned > alone, "a scan costs LRU more: {scanned} and {alone}");
    Ok(())
}
