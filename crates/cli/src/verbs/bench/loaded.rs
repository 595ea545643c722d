//! Loads a store with one kind of filter, and measures gets on it.
//!
//! Every filter gets the same rows in the same files: the store is flushed after the rows of each
//! file and is never compacted.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use filter::{ErrorRate, FilterKind, Sizing};
use hfile_cli::workload::{
    FAMILY, KeySet, Measured, Mix, PlannedGet, QUALIFIER, Values, load, measure, plan_gets,
    unmerged,
};
use sstable::{BloomType, Cell, ReadTrace, Reader, ReaderOptions};
use store::{Durability, FamilyOptions, Get, MapMode, Stats, Store};
use transfer::ScratchDirectory;

use super::figures::{FilterFigures, figures};
use super::report::{Load, LoadedMap, Row};
use crate::arguments::names::Named;
use crate::text::progress::Progress;

/// Length of the family and the qualifier of each cell in bytes.
pub(super) const COLUMN_LEN: usize = FAMILY.len() + QUALIFIER.len();

/// Files that a family map covers at most.
const MAP_FILES_MAX: u64 = 64;

/// The filter of a store's files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum FilterChoice {
    /// No filter: a get searches every file whose range covers the key.
    None,
    /// HBase's Bloom filter over rows.
    ///
    /// Sized for HBase's default error rate of 1 %, or by bits per key.
    HBaseBloom,
    /// A row filter in META blocks, one of this project's kinds; the files have no HBase Bloom.
    ///
    /// Sized for an error rate of 1 %, or by a budget of bits per key, which the store divides
    /// among all files.
    Ours(FilterKind),
    /// A map of the rows of all files in memory; the files have no filter.
    FamilyMap,
    /// The same map with wider entries.
    FamilyMapWide,
}

impl Named for FilterChoice {
    const WHAT: &'static str = "filter";

    fn known() -> Vec<(&'static str, Self)> {
        Self::all().map(|choice| (choice.name(), choice)).collect()
    }
}

impl FilterChoice {
    /// Returns every choice that this build supports.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let ours = FilterKind::IN_FILES.iter().map(|kind| Self::Ours(*kind));
        [Self::None, Self::HBaseBloom]
            .into_iter()
            .chain(ours)
            .chain([Self::FamilyMap, Self::FamilyMapWide])
    }

    /// Returns the name in reports and on the command line.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::HBaseBloom => "hbase-bloom",
            Self::Ours(kind) => kind.name(),
            Self::FamilyMap => "family-map",
            Self::FamilyMapWide => "family-map-wide",
        }
    }

    /// Returns the expected error rate for the report; `None` without a filter.
    ///
    /// This is the rate that the filter is sized for. A filter that is sized by bits per key has
    /// the rate `found`, which follows from the sizes of the written filters.
    fn error_rate(self, plan: Plan, found: Option<f64>) -> Option<f64> {
        match (self, plan.bits_per_key) {
            (Self::None | Self::FamilyMap | Self::FamilyMapWide, _) => None,
            (_, None) => Some(plan.error_rate.get()),
            (_, Some(_)) => found,
        }
    }

    const fn family_map(self) -> MapMode {
        match self {
            Self::FamilyMap => MapMode::Files,
            Self::FamilyMapWide => MapMode::Wide,
            _ => MapMode::Off,
        }
    }

    fn family_options(self, plan: Plan, rows: usize) -> FamilyOptions {
        let options = FamilyOptions::default().family_map(self.family_map());
        match self {
            Self::None | Self::FamilyMap | Self::FamilyMapWide => {
                options.bloom_type(BloomType::None)
            }
            Self::HBaseBloom => options.bloom_type(BloomType::Row),
            Self::Ours(kind) => {
                let sizing = plan.bits_per_key.map_or(Sizing::ErrorRate(plan.error_rate), |bits| {
                    Sizing::Bytes((bits * rows as f64 / 8.0) as u64)
                });
                options.bloom_type(BloomType::None).filter(kind, sizing)
            }
        }
    }
}

/// The options of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Measured gets per mix.
    pub(super) gets: usize,
    /// Length of each value in bytes.
    pub(super) value_size: usize,
    /// Capacity of the block cache in bytes.
    pub(super) cache_bytes: u64,
    /// Seed of the values and of the random gets.
    pub(super) seed: u64,
    /// Filter bits per row, averaged over all files; `None` for an error rate per file.
    pub(super) bits_per_key: Option<f64>,
    /// The error rate of filters that are not sized by bits per row.
    pub(super) error_rate: ErrorRate,
}

impl Plan {
    const fn values(self) -> Values {
        Values { seed: self.seed, size: self.value_size }
    }

    /// Returns the error rate that HBase's Bloom filter is sized for.
    ///
    /// HBase sizes it by an error rate only, so bits per key are converted to one.
    pub(super) fn bloom_error_rate(self) -> anyhow::Result<ErrorRate> {
        let rate = self.bits_per_key.map(filter::theory::bloom_best_error_rate);
        Ok(rate.map_or(Ok(self.error_rate), ErrorRate::new)?)
    }
}

/// Loads one store and measures all mixes on it. Progress names the store as `shown`.
pub(super) fn run(
    choice: FilterChoice,
    keys: &KeySet,
    plan: Plan,
    shown: &str,
) -> anyhow::Result<(Load, Vec<Row>)> {
    let scratch = ScratchDirectory::create(None)?;
    let loading = Progress::new(format!("loading, {shown}"), keys.present.len() as u64);
    let mut loaded = Loaded::load(scratch.path(), choice, keys, plan, &loading)?;
    drop(loading);
    // Each mix has gets that warm the cache and gets that are measured.
    let progress = Progress::new(format!("measuring gets, {shown}"), 2 * Mix::ALL.len() as u64);
    let mut rows = Vec::new();
    for mix in Mix::ALL {
        // Warms the cache with other gets of the same mix.
        loaded.measure(&plan_gets(keys, mix, plan.gets / 4, !plan.seed), plan)?;
        progress.advance(1);
        let measured = loaded.measure(&plan_gets(keys, mix, plan.gets, plan.seed), plan)?;
        rows.push(Row::new(&loaded.figures, mix, &measured));
        progress.advance(1);
    }
    let gets = plan_gets(keys, Mix::Present, plan.gets.div_ceil(4), plan.seed);
    loaded.load.ns_median_get = loaded.measure_get(&gets, plan)?.quantile(0.5);
    loaded.load.ns_median_get_with = loaded.measure_get_with(&gets, plan)?.quantile(0.5);
    if choice.family_map() != MapMode::Off {
        loaded.load.map_by_default = Some(loaded.map_by_default()?.name());
    }
    Ok((loaded.load, rows))
}

/// A loaded store, with the figures of its load and of its filters.
struct Loaded {
    store: Store,
    load: Load,
    figures: FilterFigures,
}

impl Loaded {
    fn load(
        directory: &Path,
        choice: FilterChoice,
        keys: &KeySet,
        plan: Plan,
        progress: &Progress,
    ) -> anyhow::Result<Self> {
        let options = unmerged(plan.cache_bytes).bloom_error_rate(plan.bloom_error_rate()?);
        let store = Store::open(directory, options)?;
        store.create_family(FAMILY, choice.family_options(plan, keys.present.len()))?;
        let start = Instant::now();
        load(&store, keys, plan.values(), Durability::Logged, |rows| progress.advance(rows))?;
        if plan.bits_per_key.is_some() && matches!(choice, FilterChoice::Ours(_)) {
            // The budget is for all files, but a flush divides it only among the files so far. The
            // rebuild divides it among all.
            store.rebuild_filters(FAMILY)?;
        }
        wait_for_family_map(&store, choice);
        let seconds = start.elapsed().as_secs_f64();
        let files = store_files(&directory.join(FAMILY))?;
        let mut readers = Vec::new();
        for (path, _) in &files {
            readers.push(Reader::open_file(path, ReaderOptions::default())?);
        }
        let load = Load {
            filter: choice.name(),
            rows_per_second: keys.present.len() as f64 / seconds,
            file_bytes: files.iter().map(|(_, bytes)| bytes).sum(),
            map: loaded_map(&store.stats(), keys.present.len()),
            // Found out and measured after the gets with counters.
            map_by_default: None,
            ns_median_get: 0,
            ns_median_get_with: 0,
        };
        let found = figures(&readers, false)?;
        let error_rate = choice.error_rate(plan, found.error_rate);
        let family_map = store.stats().families.first().and_then(|family| family.map);
        let map_bits = family_map.map(|map| map.bytes as f64 * 8.0 / keys.present.len() as f64);
        let bits_per_key = found.bits_per_key.or(map_bits);
        let map = family_map.map(|map| map.mode.name());
        let name = choice.name();
        let figures = FilterFigures { name, map, bits_per_key, error_rate, ..found };
        Ok(Self { store, load, figures })
    }

    fn measure(&self, gets: &[PlannedGet<'_>], plan: Plan) -> anyhow::Result<Measured> {
        let mut expected = vec![0; plan.value_size];
        measure(
            gets,
            |key| self.get(key),
            |planned_get, cells| plan.values().check(planned_get, cells, &mut expected),
        )
    }

    /// Measures gets without counters.
    fn measure_get(&self, gets: &[PlannedGet<'_>], plan: Plan) -> anyhow::Result<Measured> {
        let mut expected = vec![0; plan.value_size];
        measure(
            gets,
            |key| {
                let cells = self.store.get(&Get::row(key).column(FAMILY, QUALIFIER))?;
                Ok((cells, ReadTrace::default()))
            },
            |planned_get, cells| plan.values().check(planned_get, cells, &mut expected),
        )
    }

    /// Measures gets that borrow the value and copy it into one buffer.
    fn measure_get_with(&self, gets: &[PlannedGet<'_>], plan: Plan) -> anyhow::Result<Measured> {
        let mut expected = vec![0; plan.value_size];
        let value = RefCell::new(Vec::with_capacity(plan.value_size));
        measure(
            gets,
            |key| {
                let (mut copy, mut cells) = (value.borrow_mut(), 0_u64);
                copy.clear();
                self.store.get_with(&Get::row(key).column(FAMILY, QUALIFIER), |cell| {
                    cells += 1;
                    copy.extend_from_slice(cell.value);
                })?;
                Ok((cells, ReadTrace::default()))
            },
            |planned_get, cells| {
                if let Some(index) = planned_get.member {
                    hfile_cli::workload::fill_value(plan.seed, index as u64, &mut expected);
                }
                let right = *cells == 1 && *value.borrow() == expected;
                right.then_some(true).ok_or_else(|| "get_with visits other cells".to_owned())
            },
        )
    }

    /// Lets the store choose the map, and returns its choice; `Off` if it makes none.
    fn map_by_default(&self) -> anyhow::Result<MapMode> {
        let options = self.store.family(FAMILY).unwrap_or_default();
        // Without the present map, which the store would keep.
        for mode in [MapMode::Off, MapMode::Auto] {
            self.store.alter_family(FAMILY, options.clone().family_map(mode))?;
            self.store.build_family_maps();
        }
        let stats = self.store.stats();
        let map = stats.family(FAMILY).and_then(|family| family.map);
        Ok(map.map_or(MapMode::Off, |map| map.mode))
    }

    fn get(&self, key: &[u8]) -> anyhow::Result<(Vec<Cell>, ReadTrace)> {
        Ok(self.store.get_traced(&Get::row(key).column(FAMILY, QUALIFIER))?)
    }
}

/// Returns the figures of the family map; `None` without one.
fn loaded_map(stats: &Stats, rows: usize) -> Option<LoadedMap> {
    let map = stats.family(FAMILY)?.map?;
    Some(LoadedMap {
        map_covered_files: map.covered_files,
        map_bytes: map.bytes,
        map_bits_per_row: map.bytes as f64 * 8.0 / rows as f64,
        map_builds: stats.map_builds,
        map_rebuilds: stats.map_rebuilds,
        map_build_seconds: stats.map_build_time.as_secs_f64(),
        map_failures: stats.map_failures,
    })
}

/// Waits until the family map covers all files, or does not fit into the cache's budget.
fn wait_for_family_map(store: &Store, choice: FilterChoice) {
    while choice.family_map() != MapMode::Off {
        let stats = store.stats();
        let family = stats.families.first();
        let is_complete = family.is_none_or(|family| {
            family.map.unwrap_or_default().covered_files >= family.files.min(MAP_FILES_MAX)
        });
        if is_complete || stats.map_failures > 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Lists the files in the directory of a family, with their sizes in bytes.
fn store_files(family: &Path) -> anyhow::Result<Vec<(PathBuf, u64)>> {
    list_with_sizes(family).with_context(|| format!("{}: cannot list", family.display()))
}

fn list_with_sizes(directory: &Path) -> std::io::Result<Vec<(PathBuf, u64)>> {
    let mut files = Vec::new();
    for listed in std::fs::read_dir(directory)? {
        let entry = listed?;
        files.push((entry.path(), entry.metadata()?.len()));
    }
    Ok(files)
}
