//! The stores of a comparison, one for each contender.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use workload::cpu_time::{PROCESS, cpu_nanos};
use workload::{Rows, Samples, alternate};

use crate::engine::{Contender, Engine, Settings, Shape};
use crate::figure::Figure;
use crate::work_directory::read_all;

/// The rows of all stores.
pub(crate) const ROWS: Rows = Rows::new(1);
/// A cache that holds everything.
pub(crate) const CACHE_BYTES_ALL: u64 = 8 << 30;
/// The time after a fill at which the maps should cover every file.
const LATER: Duration = Duration::from_secs(5);

/// A store with the first `count` of all rows.
pub(crate) struct Store {
    pub(crate) contender: Contender,
    directory: PathBuf,
    pub(crate) shape: Shape,
    pub(crate) count: u64,
    /// `None` while the store is closed.
    engine: Option<Box<dyn Engine>>,
}

impl Store {
    pub(crate) fn engine(&self) -> &dyn Engine {
        &**self.engine.as_ref().expect("the store is open")
    }

    /// Opens the store, and closes it before if it is open.
    pub(crate) fn open(&mut self, cache_bytes: u64) {
        self.engine = None;
        let (name, is_levelled) = (self.contender.name, self.shape == Shape::Levelled);
        let settings = Settings { name, is_levelled, cache_bytes };
        self.engine = Some((self.contender.open)(&self.directory, settings));
    }

    /// Makes a figure of the store.
    pub(crate) fn figure(&self, work: &str, unit: &str, samples: Samples) -> Figure {
        let (shape, rows, unit) = (self.shape, self.count, unit.to_owned());
        Figure { shape, rows, unit, ..Figure::new(self.contender.name, work, samples) }
    }

    /// Makes a figure of a number that was measured once.
    fn single(&self, work: &str, unit: &str, sample: f64) -> Figure {
        self.figure(work, unit, Samples { wall: vec![sample], cpu: Vec::new() })
    }

    /// Reads all files into the page cache; returns the size of the store on disk.
    pub(crate) fn read_files(&self) -> io::Result<Figure> {
        Ok(self.single("bytes on disk", "bytes", read_all(&self.directory)? as f64))
    }

    /// Opens and closes the store several times; returns the time of each open.
    ///
    /// Our family maps are built after the store is open, which is not part of the time.
    pub(crate) fn time_opening(&mut self, rounds: usize) -> Figure {
        let mut samples = Samples::default();
        for _ in 0..rounds {
            self.engine = None;
            let (cpu, start) = (cpu_nanos(PROCESS), Instant::now());
            self.open(CACHE_BYTES_ALL);
            samples.wall.push(start.elapsed().as_secs_f64() * 1e3);
            samples.cpu.push(cpu_nanos(PROCESS).saturating_sub(cpu) as f64 / 1e6);
        }
        // Closed, so that its background work does not disturb the next store.
        self.engine = None;
        self.figure("open", "ms", samples)
    }

    /// Counts the files that maps cover now, which is the end of a fill, and five seconds later.
    ///
    /// Engines without maps have no such figures.
    fn coverage(&self) -> Vec<Figure> {
        let (engine, end) = (self.engine(), Instant::now());
        let (Some(covered), Some(files)) = (engine.mapped_files(), engine.files()) else {
            return Vec::new();
        };
        while end.elapsed() < LATER && engine.mapped_files() < engine.files() {
            thread::sleep(Duration::from_millis(2));
        }
        let (milliseconds, later) = (end.elapsed().as_secs_f64() * 1e3, engine.mapped_files());
        let unmapped = |covered: u64| files.saturating_sub(covered) as f64;
        let unmapped_later = unmapped(later.unwrap_or_default());
        let mut figures = vec![
            self.single("files at the end of the fill", "files", files as f64),
            self.single("files without a map at the end of the fill", "files", unmapped(covered)),
            self.single("files without a map 5 s later", "files", unmapped_later),
        ];
        if unmapped_later == 0.0 {
            figures.push(self.single("time until maps cover all files", "ms", milliseconds));
        }
        for figure in &mut figures {
            figure.files = Some(files);
        }
        figures
    }
}

/// Loads `count` rows into a store of each contender, part by part in turns.
///
/// The figures are the time per row until it was in a file, or in the levelled shape until merging
/// was done.
pub(crate) fn fill(
    place: &Path,
    contenders: &[Contender],
    shape: Shape,
    count: u64,
    parts: u64,
) -> io::Result<(Vec<Store>, Vec<Figure>)> {
    let mut stores = Vec::new();
    for &contender in contenders {
        let directory = place.join(format!("{count} rows in {parts}")).join(contender.name);
        fs::create_dir_all(&directory)?;
        stores.push(Store { contender, directory, shape, count, engine: None });
    }
    open_all(&mut stores, CACHE_BYTES_ALL);
    let samples = alternate(stores.len(), parts as usize, |store, part| {
        let [first, end] = [part as u64, part as u64 + 1].map(|part| count * part / parts);
        let mut rows = (first..end).map(|index| (ROWS.key(index), ROWS.value(index)));
        let engine = stores[store].engine();
        engine.load(&mut rows);
        engine.arrange(shape);
        (end - first, 0)
    });
    let filled = stores.iter().zip(samples).map(|(of, samples)| of.figure("fill", "ns", samples));
    let mut figures: Vec<_> = filled.collect();
    if shape == Shape::Levelled {
        figures.extend(stores.iter().flat_map(Store::coverage));
    }
    for store in &mut stores {
        store.engine = None;
    }
    Ok((stores, figures))
}

/// Opens all stores; our family maps are complete.
pub(crate) fn open_all(stores: &mut [Store], cache_bytes: u64) {
    for store in stores {
        store.open(cache_bytes);
        store.engine().build_maps();
    }
}

/// Merges each store to one run, untimed, all at the same time.
pub(crate) fn merge(stores: &mut [Store]) {
    thread::scope(|scope| {
        for store in stores {
            scope.spawn(|| {
                store.open(CACHE_BYTES_ALL);
                store.engine().arrange(Shape::OneRun);
                store.shape = Shape::OneRun;
                store.engine = None;
            });
        }
    });
}

/// Closes the stores and removes their files.
pub(crate) fn remove(stores: Vec<Store>) -> io::Result<()> {
    stores.into_iter().try_for_each(|store| {
        drop(store.engine);
        fs::remove_dir_all(store.directory)
    })
}
