//! Compares kinds of filters on the rows of existing files, without writing files.
//!
//! Builds each kind in memory from the rows of each file, and asks it for the absent keys in the key range of
//! the file: a get would look for these keys there. Filters are built file by file, so that only the row hashes of
//! one file are in memory.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Context;
use filter::hbase::{ChunkBuilder, ChunkSizing, FoldedChunk, HashPair, HashType, may_contain};
use filter::theory::hbase_bloom_error_rate;
use filter::{FilterKind, Seed, SeededHash, SeededHashes, Sizing, StoredFilter};

use super::file_cells::for_each_cell;
use super::kind_row::KindRow;
use super::loaded::{FilterChoice, Plan};
use crate::failure::refuse;
use crate::inputs::Input;
use crate::text::progress::Progress;

/// HBase's defaults: `io.storefile.bloom.block.size` and `io.storefile.bloom.max.fold`.
const CHUNK_BYTES: u32 = 128 << 10;
const FOLDS: u32 = 7;

/// A file to compare filters on.
#[derive(Clone, Copy)]
pub(super) struct ComparedFile<'f> {
    pub(super) input: &'f Input,
    /// Keys that no file has.
    pub(super) absent_keys: &'f [Vec<u8>],
}

/// The sums of a kind over all files.
#[derive(Clone, Copy, Default)]
struct Sums {
    rows: u64,
    bytes: u64,
    promised: f64,
    lookups: u64,
    false_positives: u64,
    nanos: u128,
}

/// Compares filters on files.
///
/// # Errors
///
/// If a file cannot be read, or a filter cannot be built for its rows.
pub(super) fn compare(
    files: &[ComparedFile<'_>],
    choices: &[FilterChoice],
    plan: Plan,
    progress: &Progress,
) -> anyhow::Result<Vec<KindRow>> {
    let absent: Vec<&[u8]> =
        files.iter().flat_map(|file| file.absent_keys).map(Vec::as_slice).collect();
    let mut sums = vec![Sums::default(); choices.len()];
    for file in files {
        progress.advance(1);
        let rows = FileRows::read(file)?;
        let asked: Vec<&[u8]> =
            absent.iter().copied().filter(|key| rows.has_in_range(key)).collect();
        for (choice, sums) in choices.iter().zip(&mut sums) {
            rows.measure(*choice, plan, &asked, sums)
                .with_context(|| format!("{}: {}", file.input.name(), choice.name()))?;
        }
    }
    let gets = absent.len().max(1) as f64;
    Ok(choices.iter().zip(&sums).map(|(choice, sums)| sums.row(choice.name(), gets)).collect())
}

/// Checks that a kind can be compared on existing files.
pub(super) fn check(choices: &[FilterChoice]) -> anyhow::Result<()> {
    for choice in choices {
        if matches!(choice, FilterChoice::FamilyMap | FilterChoice::FamilyMapWide) {
            refuse!(
                "--filters {}: a family map is of a store, and not of files; see hfile store stats --with-map",
                choice.name()
            );
        }
    }
    Ok(())
}

/// The rows of a file as hashes, and its key range.
struct FileRows {
    first: Vec<u8>,
    last: Vec<u8>,
    hashes: SeededHashes,
    pairs: Vec<HashPair>,
}

impl FileRows {
    fn read(file: &ComparedFile<'_>) -> anyhow::Result<Self> {
        let (mut first, mut last) = (None, Vec::new());
        let (mut hashes, mut pairs) = (SeededHashes::empty(Seed::new(0)), Vec::new());
        for_each_cell(file.input, |cell| {
            if first.is_some() && cell.row == last {
                return;
            }
            first.get_or_insert_with(|| cell.row.to_owned());
            cell.row.clone_into(&mut last);
            hashes.push(cell.row);
            pairs.push(HashPair::new(HashType::Murmur, cell.row));
        })?;
        Ok(Self { first: first.unwrap_or_default(), last, hashes, pairs })
    }

    fn has_in_range(&self, key: &[u8]) -> bool {
        &self.first[..] <= key && key <= &self.last[..]
    }

    /// Builds a filter and asks it, and adds the figures to the sums.
    fn measure(
        &self,
        choice: FilterChoice,
        plan: Plan,
        asked: &[&[u8]],
        sums: &mut Sums,
    ) -> anyhow::Result<()> {
        sums.rows += self.hashes.len() as u64;
        sums.lookups += asked.len() as u64;
        match choice {
            FilterChoice::Ours(kind) => self.measure_ours(kind, plan, asked, sums)?,
            FilterChoice::HBaseBloom => self.measure_bloom(plan, asked, sums)?,
            FilterChoice::None | FilterChoice::FamilyMap | FilterChoice::FamilyMapWide => {
                sums.false_positives += asked.len() as u64;
            }
        }
        Ok(())
    }

    fn measure_ours(
        &self,
        kind: FilterKind,
        plan: Plan,
        asked: &[&[u8]],
        sums: &mut Sums,
    ) -> anyhow::Result<()> {
        let sizing =
            plan.bits_per_key.map_or(Sizing::ErrorRate(plan.error_rate), Sizing::BitsPerKey);
        let bytes = kind.build(sizing, &self.hashes)?;
        let filter = StoredFilter::parse(bytes.as_slice())?;
        let keys: Vec<SeededHash> = asked.iter().map(|key| filter.hash(key)).collect();
        let start = Instant::now();
        let maybe = keys.iter().filter(|key| filter.may_contain(**black_box(key))).count();
        sums.nanos += start.elapsed().as_nanos();
        sums.false_positives += maybe as u64;
        sums.bytes += bytes.len() as u64;
        sums.promised += filter.stats().error_rate * self.hashes.len() as f64;
        Ok(())
    }

    /// As HBase writes it: chunks of rows in order; a get asks one chunk.
    fn measure_bloom(&self, plan: Plan, asked: &[&[u8]], sums: &mut Sums) -> anyhow::Result<()> {
        let rate = plan.bloom_error_rate()?.get();
        let sizing = ChunkSizing::new(rate as f32, CHUNK_BYTES, FOLDS)?;
        let per_chunk = sizing.max_keys as usize;
        let mut chunks: Vec<FoldedChunk> = Vec::new();
        for pairs in self.pairs.chunks(per_chunk) {
            let mut builder = ChunkBuilder::new(sizing);
            for pair in pairs {
                builder.insert(*pair);
            }
            let chunk = builder.finish();
            sums.bytes += chunk.bits.len() as u64;
            // Of the chunk as it is: a chunk of few keys is larger than the rate demands.
            let (keys, bits) = (pairs.len() as f64, chunk.bits.len() as f64 * 8.0);
            sums.promised += hbase_bloom_error_rate(keys, bits, sizing.hash_count.into()) * keys;
            chunks.push(chunk);
        }
        let asked_pairs: Vec<HashPair> =
            asked.iter().map(|key| HashPair::new(HashType::Murmur, key)).collect();
        let start = Instant::now();
        // Which chunk has the range of a key does not change how often it answers "maybe".
        let maybe = asked_pairs.iter().enumerate().filter(|(at, pair)| {
            let chunk = &chunks[at % chunks.len().max(1)];
            may_contain(&chunk.bits, sizing.hash_count, **black_box(pair))
        });
        sums.false_positives += maybe.count() as u64;
        sums.nanos += start.elapsed().as_nanos();
        Ok(())
    }
}

impl Sums {
    fn row(&self, filter: &'static str, gets: f64) -> KindRow {
        let rows = self.rows.max(1) as f64;
        let has_filter = self.bytes > 0;
        let measured = |sum: f64| (self.lookups > 0).then(|| sum / self.lookups as f64);
        KindRow {
            filter,
            bits_per_key: has_filter.then_some(self.bytes as f64 * 8.0 / rows),
            filter_bytes: self.bytes,
            error_rate_promised: has_filter.then_some(self.promised / rows),
            error_rate_measured: measured(self.false_positives as f64),
            lookups: self.lookups,
            files_in_range_per_get: self.lookups as f64 / gets,
            false_files_per_get: self.false_positives as f64 / gets,
            ns_per_lookup: if has_filter { measured(self.nanos as f64) } else { None },
        }
    }
}
