//! The stages in order: load, read, merge, read again, remove.

use std::io;

use workload::Asked;

use crate::contenders;
use crate::engine::{Contender, Shape};
use crate::figure::Figure;
use crate::goals::{FEW_FILES, GET_OF_EQUAL_ROWS, MANY_FILES};
use crate::reads::{Amount, Questions, scan};
use crate::record::Record;
use crate::stores::{CACHE_BYTES_ALL, Stores};
use crate::work_directory::WorkDirectory;

/// Number of files in the shape "many files".
pub(crate) const FILES: u64 = 16;
/// Number of parts in which a levelled store is loaded.
const PARTS: u64 = 8;

/// The amount of work of a run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Rows of the main comparison.
    pub(crate) rows: u64,
    /// Rows of a second comparison, with a small cache.
    pub(crate) more_rows: Option<u64>,
    /// Whether only the figures that have a limit are measured.
    pub(crate) limits_only: bool,
    pub(crate) amount: Amount,
    /// The largest number of rows that a scan reads.
    pub(crate) scanned: u64,
    pub(crate) shapes: Vec<Shape>,
}

/// The plan of a run, its directory and its record.
pub(crate) struct Comparison<'a> {
    pub(crate) place: &'a WorkDirectory,
    pub(crate) plan: &'a Plan,
    pub(crate) record: Record<'a>,
}

impl Comparison<'_> {
    /// Runs all stages.
    ///
    /// # Errors
    ///
    /// If a call of the operating system fails.
    pub(crate) fn run(&mut self) -> io::Result<()> {
        let Plan { rows, more_rows, .. } = *self.plan;
        self.unmerged_and_merged(rows)?;
        if self.wants(Shape::Levelled) {
            let all =
                [contenders::with_equal_bits(), contenders::without_unmerged_files()].concat();
            let stores = self.load("levelled", all, Shape::Levelled, rows, PARTS)?;
            self.reads(&stores, "levelled, read")?;
            stores.remove()?;
        }
        if !self.wants(Shape::ManyFiles) {
            return Ok(());
        }
        self.equal_rows(rows)?;
        let Some(rows) = more_rows else { return Ok(()) };
        let (name, contenders) = ("more rows: many files", contenders::with_equal_bits());
        let stores = self.load(name, contenders, Shape::ManyFiles, rows, FILES)?;
        self.small_cache(&stores, name)?;
        stores.remove()
    }

    fn wants(&self, shape: Shape) -> bool {
        self.plan.shapes.contains(&shape)
    }

    /// Loads stores as a stage of its own.
    fn load(
        &mut self,
        name: &str,
        contenders: Vec<Contender>,
        shape: Shape,
        rows: u64,
        parts: u64,
    ) -> io::Result<Stores> {
        let (stores, filled) = Stores::load(self.place, name, contenders, shape, rows, parts)?;
        self.record.add(filled);
        self.record.end_stage(&format!("{name}, filled"))?;
        Ok(stores)
    }

    /// Measures many overlapping files, then their merge to one run.
    fn unmerged_and_merged(&mut self, rows: u64) -> io::Result<()> {
        let (many, merged) = (self.wants(Shape::ManyFiles), self.wants(Shape::OneRun));
        if !many && !merged {
            return Ok(());
        }
        let (name, contenders) = ("equal bits: many files", contenders::with_equal_bits());
        let mut stores = self.load(name, contenders, Shape::ManyFiles, rows, FILES)?;
        if many {
            self.reads(&stores, "equal bits: many files, read")?;
            self.small_cache(&stores, name)?;
        }
        if merged {
            stores.compact()?;
            self.record.end_stage("equal bits: merged to one run")?;
            self.reads(&stores, "equal bits: one run, read")?;
        }
        stores.remove()
    }

    /// Measures all reads of stores whose blocks all fit into the cache.
    fn reads(&mut self, stores: &Stores, stage: &str) -> io::Result<()> {
        let Plan { amount, limits_only, .. } = *self.plan;
        self.record.add(stores.sizes()?);
        stores.read_all()?;
        let absent = Questions::new(stores, Asked::Absent, amount.questions);
        let uncached = count_uncached(stores, &absent, amount.rounds);
        if !limits_only {
            self.record.add(stores.time_opening(CACHE_BYTES_ALL, 5));
        }
        let open = stores.open(CACHE_BYTES_ALL);
        for asked in Asked::ALL {
            let questions = Questions::new(stores, asked, amount.questions);
            questions.warm(&open);
            let mut figures = questions.measure(&open, amount, 1);
            if asked == Asked::Absent {
                for (figure, file_reads) in figures.iter_mut().zip(&uncached) {
                    figure.reads.file_reads_uncached.clone_from(file_reads);
                }
            }
            self.record.add(figures);
            if stores.shape == Shape::ManyFiles && !limits_only {
                self.record.add(questions.measure(&open, amount, 2));
            }
        }
        let has_scans = match stores.shape {
            Shape::OneRun => true,
            Shape::ManyFiles => !limits_only,
            Shape::Levelled => false,
        };
        if has_scans {
            let count = stores.count.min(self.plan.scanned);
            self.record.add(scan(stores, &open, amount.rounds, count));
        }
        self.record.end_stage(stage)
    }

    /// Measures gets with a cache for an eighth of the rows.
    fn small_cache(&mut self, stores: &Stores, name: &str) -> io::Result<()> {
        stores.read_all()?;
        let bytes = (stores.count << 25) / 2_000_000; // 32 MiB for 2,000,000 rows of 120 bytes.
        let cache = format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
        let open = stores.open(bytes);
        let asked: &[_] = if self.plan.limits_only { &[Asked::Present] } else { &Asked::ALL };
        for asked in asked {
            let questions = Questions::new(stores, *asked, self.plan.amount.questions);
            questions.warm(&open);
            let figures = questions.measure(&open, self.plan.amount, 1);
            let small = |figure| Figure { cache: cache.clone(), ..figure };
            self.record.add(figures.into_iter().map(small).collect());
        }
        self.record.end_stage(&format!("{name}, read with a small cache"))
    }

    /// Measures ours with the same rows in few and in many files.
    fn equal_rows(&mut self, rows: u64) -> io::Result<()> {
        let load = |files: u64| {
            let (ours, name) = (contenders::ours_at_ten_bits(), format!("{files} files"));
            Stores::load(self.place, &name, ours, Shape::ManyFiles, rows, files)
        };
        let (few, many) = (load(FEW_FILES)?.0, load(MANY_FILES)?.0);
        let open: Vec<_> =
            [&few, &many].into_iter().flat_map(|stores| stores.open(CACHE_BYTES_ALL)).collect();
        for asked in Asked::ALL {
            let questions = Questions::new(&few, asked, self.plan.amount.questions);
            questions.warm(&open);
            let figures = questions.measure(&open, self.plan.amount, 1);
            let named = |figure| Figure { work: GET_OF_EQUAL_ROWS.to_owned(), ..figure };
            self.record.add(figures.into_iter().map(named).collect());
        }
        drop(open);
        let name = format!("equal rows in {FEW_FILES} and {MANY_FILES} files, filled and read");
        self.record.end_stage(&name)?;
        few.remove()?;
        many.remove()
    }
}

/// Counts data blocks of absent gets by the kernel's read calls. The cache holds little more than
/// the index, or than a family map.
fn count_uncached(stores: &Stores, questions: &Questions, rounds: usize) -> Vec<Vec<f64>> {
    let count = |contender: usize| {
        // Maps may take half of the cache. The gets touch too few blocks to fill the other half.
        let bytes_per_row = if stores.contenders[contender].has_map { 32 } else { 4 };
        let engine = stores.open_one(contender, stores.count * bytes_per_row);
        engine.build_maps();
        questions.count_uncached(&*engine, rounds)
    };
    (0..stores.contenders.len()).map(count).collect()
}
