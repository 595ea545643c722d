//! A bit array larger than memory, served through the block cache.
//!
//! The bits of a Bloom filter are stored in chunks of 4 KiB, each chunk in a row and a block of its
//! own. All bits of a key are in one chunk, so a lookup reads one block: from the cache if the
//! chunk is popular, else from the file. The memory of lookups is the cache's budget, regardless of
//! the size of the array.
//!
//! Building takes several passes over the keys and an eighth of the array's memory: each pass
//! builds one part of the chunks.
//!
//! ```text
//! cargo run --release -p hfile-store --example large_bits        64 MiB of bits, 8 MiB of cache
//! cargo run --release -p hfile-store --example large_bits -- 8   8 MiB of bits, 1 MiB of cache
//! ```

use std::error::Error;

use filter::{Seed, SeededHash};
use sstable::{BlockKind, BlockSource, BloomType};
use store::{FamilyOptions, Get, Put, Store, StoreOptions};

/// Bytes of a chunk.
const CHUNK: usize = 4 << 10;
/// Bits that a key sets. With [`BITS_PER_KEY`], 0.9 % of absent keys pass.
const PROBES: u64 = 7;
/// Bits of the array per key.
const BITS_PER_KEY: u64 = 10;
/// Passes over the keys while building.
const PASSES: u64 = 8;
/// The size of the array relative to the cache.
const CACHE_SHARE: u64 = 8;

/// The bit array.
struct Bits {
    store: Store,
    chunks: u64,
    seed: Seed,
}

impl Bits {
    fn hash(&self, key: u64) -> u64 {
        SeededHash::new(self.seed, &key.to_be_bytes()).get()
    }

    fn chunk(&self, hash: u64) -> u64 {
        ((u128::from(hash) * u128::from(self.chunks)) >> 64) as u64
    }

    /// Returns the positions of a key's bits in its chunk.
    fn positions(hash: u64) -> impl Iterator<Item = usize> {
        let step = hash.rotate_left(32) | 1;
        (0..PROBES).map(move |probe| {
            let mixed =
                hash.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(probe.wrapping_mul(step));
            (mixed >> 40) as usize % (CHUNK * 8)
        })
    }

    /// Writes all chunks, one part in each pass over the keys.
    fn build(&self, keys: u64) -> Result<(), Box<dyn Error>> {
        let part = self.chunks.div_ceil(PASSES);
        for first in (0..self.chunks).step_by(part as usize) {
            let count = part.min(self.chunks - first);
            let mut bits = vec![0_u8; count as usize * CHUNK];
            for hash in (0..keys).map(|key| self.hash(key)) {
                let Some(at) = self.chunk(hash).checked_sub(first).filter(|at| *at < count) else {
                    continue;
                };
                for position in Self::positions(hash) {
                    bits[at as usize * CHUNK + position / 8] |= 1 << (position % 8);
                }
            }
            for (chunk, number) in bits.chunks(CHUNK).zip(first..) {
                self.store.put(Put::new(number.to_be_bytes()).column("bits", "", chunk))?;
            }
            self.store.flush()?;
        }
        Ok(())
    }

    /// Returns whether a key may be in the set, and whether its chunk came from the cache.
    fn may_contain(&self, key: u64) -> Result<(bool, bool), Box<dyn Error>> {
        let hash = self.hash(key);
        let get = Get::row(self.chunk(hash).to_be_bytes()).column("bits", "");
        let (cells, trace) = self.store.get_traced(&get)?;
        let chunk = cells.first().ok_or("a chunk is missing")?.value();
        let is_set = |position: usize| chunk[position / 8] & 1 << (position % 8) != 0;
        let from_file = trace.blocks(BlockKind::Data, BlockSource::File);
        Ok((Self::positions(hash).all(is_set), from_file == 0))
    }

    /// Looks keys up; returns their number, the number of "maybe", and the share of cache hits.
    fn ask(&self, keys: impl Iterator<Item = u64>) -> Result<(u64, u64, f64), Box<dyn Error>> {
        let (mut asked, mut maybe, mut cached) = (0, 0, 0_u64);
        for key in keys {
            let (may_contain, from_cache) = self.may_contain(key)?;
            asked += 1;
            maybe += u64::from(may_contain);
            cached += u64::from(from_cache);
        }
        Ok((asked, maybe, cached as f64 / asked as f64))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mebibytes: u64 = std::env::args().nth(1).map_or(Ok(64), |count| count.parse())?;
    let (array, cache) = (mebibytes << 20, (mebibytes << 20) / CACHE_SHARE);
    let keys = array * 8 / BITS_PER_KEY;
    let directory = tempfile::tempdir()?;
    let options = StoreOptions::default().cache_bytes(cache).auto_compaction(false);
    let store = Store::open(directory.path(), options)?;
    // All chunks exist, so a filter over rows would be useless.
    let family = FamilyOptions::default().block_size(CHUNK as u32).bloom_type(BloomType::None);
    store.create_family("bits", family)?;
    let bits = Bits { store, chunks: array / CHUNK as u64, seed: Seed::new(7) };
    bits.build(keys)?;
    eprintln!("{keys} keys in {mebibytes} MiB of bits, {} KiB of cache", cache >> 10);

    // Popular keys: the frequency of the key of rank i is proportional to 1/i.
    let count = 60_000;
    let mut state = 1_u64;
    let popular = (0..count).map(|_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (keys as f64).powf((state >> 11) as f64 / (1_u64 << 53) as f64) as u64 % keys
    });
    let (asked, held, hot) = bits.ask(popular)?;
    assert_eq!(held, asked, "no member is denied");
    let (asked, held, cold) = bits.ask((0..keys).step_by((keys / count) as usize))?;
    assert_eq!(held, asked, "no member is denied");
    let (asked, passed, _) = bits.ask((0..count).map(|key| keys + key))?;
    let rate = passed as f64 / asked as f64;
    let cached = bits.store.stats().cache.block_bytes;
    eprintln!(
        "from the cache: {:.1}% of popular keys, {:.1}% of keys one after the other",
        hot * 100.0,
        cold * 100.0
    );
    eprintln!("{:.2}% of absent keys pass; the cache holds {} KiB", rate * 100.0, cached >> 10);
    assert!((0.006..0.013).contains(&rate), "{rate}");
    assert!(cached <= cache, "{cached} bytes exceed the budget");
    assert!(hot > 2.0 * cold, "the cache holds the popular chunks: {hot} and {cold}");
    assert!(
        cold < 2.5 / CACHE_SHARE as f64,
        "chunks that are read once come from the file: {cold}"
    );
    Ok(())
}
