//! Compares kinds of filters on the rows of existing files, without writing files.
//!
//! Builds each kind in memory from the rows of each file, and asks it for the absent keys in the key range of
//! the file: those that a get would look for there. Filters are built file by file, so that the memory is
//! that of one file's row hashes.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Context;
use filter::bloom::hbase::{
    ChunkBuilder, ChunkSizing, FoldedChunk, HashPair, HashType, may_contain,
};
use filter::{ErrorRate, FilterKind, KeyHash, Membership, Seed, Sizing, StoredFilter, build};
use serde::Serialize;

use super::existing::{SampledFile, for_each_cell};
use super::loaded::{FilterChoice, Plan};
use crate::failure::refuse;
use crate::text::output::or_dash;
use crate::text::progress::Progress;
use crate::text::rounded::{show_nanos, show_percent};
use crate::text::size_text::show_size;

/// HBase's defaults: `io.storefile.bloom.block.size` and `io.storefile.bloom.max.fold`.
const CHUNK_BYTES: u32 = 128 << 10;
const FOLDS: u32 = 7;

/// What a kind of filter would do for the files.
#[derive(Clone, Debug, Serialize)]
pub(super) struct KindRow {
    pub(super) filter: &'static str,
    /// `None` without a filter.
    pub(super) bits_per_key: Option<f64>,
    /// Of the filters of all files.
    pub(super) filter_bytes: u64,
    pub(super) error_rate_promised: Option<f64>,
    pub(super) error_rate_measured: f64,
    /// Files per absent get whose key range has the row; without a filter, a get searches them all.
    pub(super) files_in_range_per_get: f64,
    /// Files per absent get that are searched in vain.
    pub(super) false_files_per_get: f64,
    /// The mean time of a lookup in a filter, in the cache of the processor as far as it fits.
    pub(super) ns_per_lookup: Option<f64>,
}

/// The sums of a kind over all files.
#[derive(Clone, Copy, Default)]
struct Sums {
    rows: u64,
    bytes: u64,
    promised: f64,
    lookups: u64,
    maybe: u64,
    nanos: u128,
}

/// Compares filters on files. The absent keys must be those that no file has.
///
/// # Errors
///
/// If a file cannot be read, or a filter cannot be built for its rows.
pub(super) fn compare(
    files: &[SampledFile<'_>],
    choices: &[FilterChoice],
    plan: Plan,
    progress: &Progress,
) -> anyhow::Result<Vec<KindRow>> {
    let absent: Vec<&[u8]> =
        files.iter().flat_map(|file| &file.absent_keys).map(Vec::as_slice).collect();
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
    hashes: Vec<KeyHash>,
    pairs: Vec<HashPair>,
}

impl FileRows {
    fn read(file: &SampledFile<'_>) -> anyhow::Result<Self> {
        let (mut first, mut last) = (None, Vec::new());
        let (mut hashes, mut pairs) = (Vec::new(), Vec::new());
        for_each_cell(file.input, |cell| {
            if first.is_some() && cell.row == last {
                return;
            }
            first.get_or_insert_with(|| cell.row.to_owned());
            cell.row.clone_into(&mut last);
            hashes.push(KeyHash::new(Seed::new(0), cell.row));
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
                sums.maybe += asked.len() as u64;
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
            plan.bits_per_key.map_or(Sizing::ErrorRate(ErrorRate::HBASE), Sizing::BitsPerKey);
        let bytes = build(kind, sizing, Seed::new(0), &self.hashes)?;
        let filter = StoredFilter::parse(bytes.as_slice())?;
        let keys: Vec<KeyHash> = asked.iter().map(|key| KeyHash::new(Seed::new(0), key)).collect();
        let start = Instant::now();
        let maybe = keys.iter().filter(|key| filter.may_contain(**black_box(key))).count();
        sums.nanos += start.elapsed().as_nanos();
        sums.maybe += maybe as u64;
        sums.bytes += bytes.len() as u64;
        sums.promised += filter.stats().error_rate * self.hashes.len() as f64;
        Ok(())
    }

    /// As HBase writes it: chunks of rows in order, of which a get asks one.
    fn measure_bloom(&self, plan: Plan, asked: &[&[u8]], sums: &mut Sums) -> anyhow::Result<()> {
        let rate = plan.bloom_error_rate()?.get();
        let sizing = ChunkSizing::new(rate as f32, CHUNK_BYTES, FOLDS)?;
        let per_chunk = sizing.max_keys as usize;
        let chunk = |pairs: &[HashPair]| {
            let mut chunk = ChunkBuilder::new(sizing);
            pairs.iter().for_each(|pair| chunk.insert(*pair));
            chunk.finish()
        };
        let chunks: Vec<FoldedChunk> = self.pairs.chunks(per_chunk).map(chunk).collect();
        sums.bytes += chunks.iter().map(|chunk| chunk.bits.len() as u64).sum::<u64>();
        sums.promised += rate * self.pairs.len() as f64;
        let pairs: Vec<HashPair> =
            asked.iter().map(|key| HashPair::new(HashType::Murmur, key)).collect();
        let start = Instant::now();
        // Which chunk has the range of a key does not change how often it answers "maybe".
        let maybe = pairs.iter().enumerate().filter(|(at, pair)| {
            let chunk = &chunks[at % chunks.len().max(1)];
            may_contain(&chunk.bits, sizing.hash_count, **black_box(pair))
        });
        sums.maybe += maybe.count() as u64;
        sums.nanos += start.elapsed().as_nanos();
        Ok(())
    }
}

impl Sums {
    fn row(&self, filter: &'static str, gets: f64) -> KindRow {
        let rows = self.rows.max(1) as f64;
        let has_filter = self.bytes > 0;
        KindRow {
            filter,
            bits_per_key: has_filter.then_some(self.bytes as f64 * 8.0 / rows),
            filter_bytes: self.bytes,
            error_rate_promised: has_filter.then_some(self.promised / rows),
            error_rate_measured: self.maybe as f64 / self.lookups.max(1) as f64,
            files_in_range_per_get: self.lookups as f64 / gets,
            false_files_per_get: self.maybe as f64 / gets,
            ns_per_lookup: has_filter.then_some(self.nanos as f64 / self.lookups.max(1) as f64),
        }
    }
}

pub(super) const HEADING: [&str; 7] =
    ["filter", "bits/key", "promised", "measured", "in range", "in vain", "lookup"];

impl KindRow {
    pub(super) fn cells(&self) -> Vec<String> {
        vec![
            self.filter.to_owned(),
            or_dash(self.bits_per_key, |bits| format!("{bits:.2}")),
            or_dash(self.error_rate_promised, show_percent),
            show_percent(self.error_rate_measured),
            format!("{:.2}", self.files_in_range_per_get),
            format!("{:.4}", self.false_files_per_get),
            or_dash(self.ns_per_lookup, show_nanos),
        ]
    }
}

/// Returns the line that recommends a filter; `None` if nothing was compared.
///
/// Kinds of the same error rate skip the same files, so the smallest one is recommended, unless it has twice
/// the error rate of the best.
pub(super) fn recommendation(kinds: &[KindRow]) -> Option<String> {
    let with_filter = || kinds.iter().filter(|kind| kind.bits_per_key.is_some());
    let best = with_filter().map(|kind| kind.error_rate_measured).reduce(f64::min)?;
    let limit = (best * 2.0).max(0.02);
    let is_good = |kind: &&KindRow| kind.error_rate_measured <= limit;
    let smallest =
        with_filter().filter(is_good).min_by_key(|kind| (kind.filter_bytes, kind.filter))?;
    let in_range = smallest.files_in_range_per_get;
    let skipped = in_range - smallest.false_files_per_get;
    let of_hbase = with_filter().find(|kind| kind.filter == "hbase-bloom");
    let of_hbase = of_hbase.filter(|hbase| hbase.filter != smallest.filter).map(|hbase| {
        format!(
            "; hbase-bloom, the one that HBase reads, takes {:.2} bits and skips {:.2}",
            hbase.bits_per_key.unwrap_or_default(),
            in_range - hbase.false_files_per_get
        )
    });
    Some(format!(
        "Recommended: {}: with {:.2} bits a row ({} for all files), an absent get skips {skipped:.2} of {in_range:.2} \
         files in range{}",
        smallest.filter,
        smallest.bits_per_key.unwrap_or_default(),
        show_size(smallest.filter_bytes),
        of_hbase.unwrap_or_default()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(filter: &'static str, bits: f64, measured: f64) -> KindRow {
        Sums {
            rows: 1000,
            bytes: (bits * 125.0) as u64,
            promised: 10.0,
            lookups: 10_000,
            maybe: (measured * 10_000.0) as u64,
            nanos: 10,
        }
        .row(filter, 1000.0)
    }

    #[test]
    fn the_smallest_filter_with_a_good_error_rate_is_recommended() {
        let kinds =
            [kind("hbase-bloom", 9.6, 0.01), kind("ribbon", 6.8, 0.01), kind("cuckoo", 4.0, 0.3)];
        let line = recommendation(&kinds).expect("a line");
        assert_eq!(
            line,
            "Recommended: ribbon: with 6.80 bits a row (850 B for all files), an absent get skips 9.90 of 10.00 \
             files in range; hbase-bloom, the one that HBase reads, takes 9.60 bits and skips 9.90"
        );
        assert_eq!(recommendation(&kinds[..0]), None);
    }
}
