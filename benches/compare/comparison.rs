//! The stages in order: load, read, merge, read again, remove.

use std::io;
use std::path::Path;

use workload::Asked;

use crate::contenders::{WITH_FILES, WITHOUT_FILES};
use crate::engine::{Contender, Shape};
use crate::figure::Figure;
use crate::plan::{FILES, Plan};
use crate::reads::{Questions, scan};
use crate::record::Record;
use crate::stores::{CACHE_BYTES_ALL, Store, fill, merge, open_all, remove};

/// Number of parts in which a levelled store is loaded.
const PARTS: u64 = 8;

/// The plan of a run, its directory and its record.
pub(crate) struct Comparison<'a> {
    pub(crate) place: &'a Path,
    pub(crate) plan: &'a Plan,
    pub(crate) record: Record,
}

impl Comparison<'_> {
    /// Runs all stages.
    pub(crate) fn run(&mut self) -> io::Result<()> {
        let wants = |shape| self.plan.shapes.contains(&shape);
        let (many, levelled) = (wants(Shape::ManyFiles), wants(Shape::Levelled));
        if many || wants(Shape::OneRun) {
            self.unmerged_and_merged(many, wants(Shape::OneRun))?;
        }
        let rows = self.plan.rows;
        if levelled {
            let all = [WITH_FILES, WITHOUT_FILES].concat();
            let mut stores = self.fill("levelled", &all, Shape::Levelled, rows, PARTS)?;
            self.reads(&mut stores, "levelled, read")?;
            remove(stores)?;
        }
        if many {
            self.equal_rows()?;
        }
        if let Some(rows) = self.plan.more_rows.filter(|_| many) {
            let name = "more rows: many files";
            let mut stores = self.fill(name, WITH_FILES, Shape::ManyFiles, rows, FILES)?;
            self.small_cache(&mut stores, name)?;
            remove(stores)?;
        }
        Ok(())
    }

    /// Fills stores as a stage of its own.
    fn fill(
        &mut self,
        name: &str,
        contenders: &[Contender],
        shape: Shape,
        rows: u64,
        parts: u64,
    ) -> io::Result<Vec<Store>> {
        let (stores, filled) = fill(self.place, contenders, shape, rows, parts)?;
        self.record.add(filled);
        self.record.end_stage(&format!("{name}, filled"))?;
        Ok(stores)
    }

    /// Measures many overlapping files, then their merge to one run.
    fn unmerged_and_merged(&mut self, many: bool, merged: bool) -> io::Result<()> {
        let (name, rows) = ("equal bits: many files", self.plan.rows);
        let mut stores = self.fill(name, WITH_FILES, Shape::ManyFiles, rows, FILES)?;
        if many {
            self.reads(&mut stores, "equal bits: many files, read")?;
            self.small_cache(&mut stores, name)?;
        }
        if merged {
            merge(&mut stores);
            self.record.end_stage("equal bits: merged to one run")?;
            self.reads(&mut stores, "equal bits: one run, read")?;
        }
        remove(stores)
    }

    /// Measures all reads of stores whose blocks all fit into the cache.
    fn reads(&mut self, stores: &mut [Store], stage: &str) -> io::Result<()> {
        let (plan, shape) = (self.plan, stores[0].shape);
        self.record.add(stores.iter().map(Store::read_files).collect::<io::Result<_>>()?);
        let absent = Questions::new(stores, Asked::Absent, plan);
        let count = |store: &mut Store| absent.count_uncached(store, plan.rounds);
        let blocks: Vec<_> = stores.iter_mut().map(count).collect();
        if !plan.limits_only {
            self.record.add(stores.iter_mut().map(|store| store.time_opening(5)).collect());
        }
        open_all(stores, CACHE_BYTES_ALL);
        for asked in Asked::ALL {
            let questions = Questions::new(stores, asked, plan);
            questions.warm(stores);
            let mut figures = questions.measure(stores, plan, 1);
            if asked == Asked::Absent {
                for (figure, blocks) in figures.iter_mut().zip(&blocks) {
                    figure.data_blocks_read.clone_from(blocks);
                }
            }
            self.record.add(figures);
            if shape == Shape::ManyFiles && !plan.limits_only {
                self.record.add(questions.measure(stores, plan, 2));
            }
        }
        if shape == Shape::OneRun || shape == Shape::ManyFiles && !plan.limits_only {
            self.record.add(scan(stores, plan));
        }
        self.record.end_stage(stage)
    }

    /// Measures gets with a cache for an eighth of the rows.
    fn small_cache(&mut self, stores: &mut [Store], name: &str) -> io::Result<()> {
        stores.iter().try_for_each(|store| store.read_files().map(drop))?;
        let bytes = (stores[0].count << 25) / 2_000_000; // 32 MiB for 2,000,000 rows of 120 bytes.
        let cache = format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
        open_all(stores, bytes);
        let asked: &[_] = if self.plan.limits_only { &[Asked::Present] } else { &Asked::ALL };
        for asked in asked {
            let mut figures = self.gets(stores, *asked);
            for figure in &mut figures {
                figure.cache.clone_from(&cache);
            }
            self.record.add(figures);
        }
        self.record.end_stage(&format!("{name}, read with a small cache"))
    }

    /// Measures ours with the same rows in 4 and in 64 files.
    fn equal_rows(&mut self) -> io::Result<()> {
        let (with_and_without_map, mut stores) = (&WITH_FILES[..2], Vec::new());
        for files in [4, 64] {
            let (place, rows) = (self.place, self.plan.rows);
            stores.extend(fill(place, with_and_without_map, Shape::ManyFiles, rows, files)?.0);
        }
        open_all(&mut stores, CACHE_BYTES_ALL);
        for asked in Asked::ALL {
            let mut figures = self.gets(&stores, asked);
            for figure in &mut figures {
                let files = figure.files.unwrap_or_default();
                figure.work = format!("{} of equal rows in {files} files", figure.work);
            }
            self.record.add(figures);
        }
        self.record.end_stage("equal rows in 4 and 64 files, filled and read")?;
        remove(stores)
    }

    fn gets(&self, stores: &[Store], asked: Asked) -> Vec<Figure> {
        let questions = Questions::new(stores, asked, self.plan);
        questions.warm(stores);
        questions.measure(stores, self.plan, 1)
    }
}
