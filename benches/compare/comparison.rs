//! The stages in order: load, read, merge, read again, remove.

use std::io;

use workload::Asked;

use crate::contenders;
use crate::engine::{MapChoice, Shape};
use crate::figure::Figure;
use crate::plan::{FEW_FILES, FILES, GET_OF_EQUAL_ROWS, MANY_FILES, Plan};
use crate::reads::{Questions, scan};
use crate::record::Record;
use crate::stores::{CACHE_BYTES_ALL, Stores};
use crate::work_directory::WorkDirectory;

/// Number of parts in which a levelled store is loaded.
const PARTS: u64 = 8;
const OPENINGS: usize = 5;

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
        self.levelled(rows)?;
        self.equal_rows(rows)?;
        match more_rows.filter(|_| self.plan.shapes.contains(&Shape::ManyFiles)) {
            Some(rows) => self.small_cache_alone(rows),
            None => Ok(()),
        }
    }

    /// Measures many overlapping files with a small cache, and nothing else.
    fn small_cache_alone(&mut self, rows: u64) -> io::Result<()> {
        let (name, contenders) = ("more rows", contenders::with_equal_bits());
        let loaded = Stores::load(self.place, name, contenders, Shape::ManyFiles, rows, FILES)?;
        let (stores, filled) = loaded;
        self.record.add(filled);
        self.record.end_stage(&format!("{name}: many files, filled"))?;
        self.small_cache(&stores)?;
        self.record.end_stage(&format!("{name}: many files, read with a small cache"))?;
        stores.remove()
    }

    /// Measures many overlapping files, then their merge to one run.
    fn unmerged_and_merged(&mut self, rows: u64) -> io::Result<()> {
        let (name, contenders) = ("equal bits", contenders::with_equal_bits());
        let wanted = |shape| self.plan.shapes.contains(&shape);
        let (many, compacted) = (wanted(Shape::ManyFiles), wanted(Shape::OneRun));
        if !many && !compacted {
            return Ok(());
        }
        let loaded = Stores::load(self.place, name, contenders, Shape::ManyFiles, rows, FILES)?;
        let (mut stores, filled) = loaded;
        self.record.add(filled);
        self.record.end_stage(&format!("{name}: many files, filled"))?;
        if many {
            self.reads(&stores)?;
            self.record.end_stage(&format!("{name}: many files, read"))?;
            self.small_cache(&stores)?;
            self.record.end_stage(&format!("{name}: many files, read with a small cache"))?;
        }
        if compacted {
            stores.compact()?;
            self.record.end_stage(&format!("{name}: merged to one run"))?;
            self.reads(&stores)?;
            self.record.end_stage(&format!("{name}: one run, read"))?;
        }
        stores.remove()
    }

    /// Measures the files that each engine's own compaction leaves.
    fn levelled(&mut self, rows: u64) -> io::Result<()> {
        if !self.plan.shapes.contains(&Shape::Levelled) {
            return Ok(());
        }
        let mut contenders = contenders::with_equal_bits();
        contenders.extend(contenders::without_filters());
        let loaded =
            Stores::load(self.place, "levelled", contenders, Shape::Levelled, rows, PARTS)?;
        let (stores, filled) = loaded;
        self.record.add(filled);
        self.record.end_stage("levelled, filled")?;
        self.reads(&stores)?;
        self.record.end_stage("levelled, read")?;
        stores.remove()
    }

    /// Measures all reads of stores whose blocks all fit into the cache.
    fn reads(&mut self, stores: &Stores) -> io::Result<()> {
        let amount = self.plan.amount;
        self.record.add(stores.sizes()?);
        stores.read_all()?;
        let absent = Questions::new(stores, Asked::Absent, amount.questions);
        let uncached = count_uncached(stores, &absent, amount.rounds);
        if !self.plan.limits_only {
            self.record.add(stores.time_opening(CACHE_BYTES_ALL, OPENINGS));
        }
        let engines = stores.open(CACHE_BYTES_ALL);
        let turns = stores.turns(&engines);
        for asked in Asked::ALL {
            let questions = Questions::new(stores, asked, amount.questions);
            questions.warm(&turns);
            let mut figures = questions.measure(&turns, amount, 1);
            if asked == Asked::Absent {
                for (figure, file_reads) in figures.iter_mut().zip(&uncached) {
                    figure.reads.file_reads_uncached.clone_from(file_reads);
                }
            }
            self.record.add(figures);
            if stores.shape == Shape::ManyFiles && !self.plan.limits_only {
                self.record.add(questions.measure(&turns, amount, 2));
            }
        }
        let has_scans = match stores.shape {
            Shape::OneRun => true,
            Shape::ManyFiles => !self.plan.limits_only,
            Shape::Levelled => false,
        };
        if has_scans {
            let count = stores.count.min(self.plan.scanned);
            self.record.add(scan(stores, &engines, amount.rounds, count));
        }
        Ok(())
    }

    /// Measures gets with a cache for an eighth of the rows.
    fn small_cache(&mut self, stores: &Stores) -> io::Result<()> {
        stores.read_all()?;
        let bytes = (stores.count << 25) / 2_000_000; // 32 MiB for 2,000,000 rows of 120 bytes.
        let engines = stores.open(bytes);
        let turns = stores.turns(&engines);
        let asked: &[_] = if self.plan.limits_only { &[Asked::Present] } else { &Asked::ALL };
        for asked in asked {
            let questions = Questions::new(stores, *asked, self.plan.amount.questions);
            questions.warm(&turns);
            let figures = questions.measure(&turns, self.plan.amount, 1);
            let cache = format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
            let small = |figure| Figure { cache: cache.clone(), ..figure };
            self.record.add(figures.into_iter().map(small).collect());
        }
        Ok(())
    }

    /// Measures ours with the same rows in few and in many files.
    fn equal_rows(&mut self, rows: u64) -> io::Result<()> {
        if !self.plan.shapes.contains(&Shape::ManyFiles) {
            return Ok(());
        }
        let load = |files: u64| {
            let (contenders, name) = (contenders::ours_at_ten_bits(), format!("{files} files"));
            Stores::load(self.place, &name, contenders, Shape::ManyFiles, rows, files)
        };
        let (few, many) = (load(FEW_FILES)?.0, load(MANY_FILES)?.0);
        let engines = [few.open(CACHE_BYTES_ALL), many.open(CACHE_BYTES_ALL)];
        let turns = [few.turns(&engines[0]), many.turns(&engines[1])].concat();
        for asked in Asked::ALL {
            let questions = Questions::new(&few, asked, self.plan.amount.questions);
            questions.warm(&turns);
            let figures = questions.measure(&turns, self.plan.amount, 1);
            let named = |figure| Figure { work: GET_OF_EQUAL_ROWS.to_owned(), ..figure };
            self.record.add(figures.into_iter().map(named).collect());
        }
        drop(engines);
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
        let bytes_per_row = match stores.contenders[contender].map {
            MapChoice::Default => 32,
            MapChoice::Off => 4,
        };
        let engine = stores.open_one(contender, stores.count * bytes_per_row);
        engine.build_maps();
        questions.count_uncached(&*engine, rounds)
    };
    (0..stores.contenders.len()).map(count).collect()
}
