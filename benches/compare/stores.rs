//! The stores of a comparison: loaded once per engine and filter, opened by each contender.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use std::{fs, io, thread};

use workload::cpu_time::{PROCESS, cpu_nanos};
use workload::{Rows, Samples, alternate};

use crate::engine::{Contender, Engine, Settings, Shape};
use crate::figure::Figure;
use crate::maps::coverage;
use crate::work_directory::{WorkDirectory, bytes_on_disk, read_all, share};

/// The seed of all keys and values.
pub(crate) const SEED: u64 = 1;
/// A cache that holds everything.
pub(crate) const CACHE_BYTES_ALL: u64 = 8 << 30;

/// Contenders with the same rows.
pub(crate) struct Stores {
    pub(crate) contenders: Vec<Contender>,
    /// One per contender.
    directories: Vec<PathBuf>,
    pub(crate) shape: Shape,
    pub(crate) rows: Rows,
    pub(crate) count: u64,
}

/// An open store that takes part in a measurement.
pub(crate) struct OpenStore<'a> {
    pub(crate) stores: &'a Stores,
    /// Its number in `stores`.
    pub(crate) contender: usize,
    pub(crate) engine: Box<dyn Engine>,
}

impl Stores {
    /// Loads `count` rows into each store, part by part in turns.
    ///
    /// Returns the time per row until it was in a file, or in the levelled shape until merging was
    /// done.
    pub(crate) fn load(
        place: &WorkDirectory,
        name: &str,
        contenders: Vec<Contender>,
        shape: Shape,
        count: u64,
        parts: u64,
    ) -> io::Result<(Self, Vec<Figure>)> {
        let directory = |of: &Contender| place.path().join(name).join(of.name);
        let directories: Vec<_> = contenders.iter().map(directory).collect();
        let stores = Self { contenders, directories, shape, rows: Rows::new(SEED), count };
        let owners = stores.owners();
        for owner in &owners {
            fs::create_dir_all(&stores.directories[*owner])?;
        }
        let open: Vec<_> =
            owners.iter().map(|owner| stores.open_one(*owner, CACHE_BYTES_ALL)).collect();
        let samples = alternate(open.len(), parts as usize, |contender, part| {
            let [first, end] = [part as u64, part as u64 + 1].map(|part| count * part / parts);
            open[contender].load(stores.rows, first..end);
            if shape == Shape::Levelled {
                open[contender].settle();
            } else {
                open[contender].flush();
            }
            (end - first, 0)
        });
        let fills = owners.iter().zip(samples);
        let mut figures: Vec<_> =
            fills.map(|(owner, samples)| stores.figure(*owner, "fill", samples)).collect();
        if shape == Shape::Levelled {
            for (owner, engine) in owners.iter().zip(&open) {
                let coverage = coverage(&**engine, &stores.contenders[*owner]);
                figures.extend(coverage.into_iter().map(|of| Figure { shape, rows: count, ..of }));
            }
        }
        drop(open);
        stores.share_with_others()?;
        Ok((stores, figures))
    }

    /// Merges each store to one run with all processors, untimed.
    pub(crate) fn compact(&mut self) -> io::Result<()> {
        self.shape = Shape::OneRun;
        let owners = Mutex::new(self.owners());
        let next = || owners.lock().unwrap_or_else(PoisonError::into_inner).pop();
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(|| {
                    while let Some(owner) = next() {
                        self.open_one(owner, CACHE_BYTES_ALL).compact();
                    }
                });
            }
        });
        self.share_with_others()
    }

    /// Reads all files, so that they are in the page cache and no engine waits for the disk.
    ///
    /// The kernel may have dropped files that were not read while other stores were measured.
    pub(crate) fn read_all(&self) -> io::Result<()> {
        self.owners().into_iter().try_for_each(|owner| read_all(&self.directories[owner]))
    }

    /// Opens all stores; our family maps are complete.
    pub(crate) fn open(&self, cache_bytes: u64) -> Vec<OpenStore<'_>> {
        let open = |contender| {
            let engine = self.open_one(contender, cache_bytes);
            engine.build_maps();
            OpenStore { stores: self, contender, engine }
        };
        (0..self.contenders.len()).map(open).collect()
    }

    /// Opens and closes each store several times; returns the time of each open in milliseconds.
    ///
    /// Our family maps are built after the store is open, which is not part of the time.
    pub(crate) fn time_opening(&self, cache_bytes: u64, rounds: usize) -> Vec<Figure> {
        let time = |contender: usize| {
            let mut samples = Samples::default();
            for _ in 0..rounds {
                let (cpu, start) = (cpu_nanos(PROCESS), Instant::now());
                let engine = self.open_one(contender, cache_bytes);
                samples.wall.push(start.elapsed().as_secs_f64() * 1e3);
                samples.cpu.push(cpu_nanos(PROCESS).saturating_sub(cpu) as f64 / 1e6);
                // Closed at once, so that its background work does not disturb the next one.
                drop(engine);
            }
            Figure { unit: "ms".to_owned(), ..self.figure(contender, "open", samples) }
        };
        (0..self.contenders.len()).map(time).collect()
    }

    /// Returns the sizes of the stores on disk.
    pub(crate) fn sizes(&self) -> io::Result<Vec<Figure>> {
        let size = |owner: usize| {
            let wall = vec![bytes_on_disk(&self.directories[owner])? as f64];
            let figure = self.figure(owner, "disk", Samples { wall, cpu: Vec::new() });
            Ok(Figure { unit: "bytes".to_owned(), ..figure })
        };
        self.owners().into_iter().map(size).collect()
    }

    /// Removes all files.
    pub(crate) fn remove(self) -> io::Result<()> {
        self.directories.iter().try_for_each(fs::remove_dir_all)
    }

    /// Makes a figure of a contender.
    pub(crate) fn figure(&self, contender: usize, work: &str, samples: Samples) -> Figure {
        let figure = Figure::new(&self.contenders[contender], work, samples);
        Figure { shape: self.shape, rows: self.count, ..figure }
    }

    pub(crate) fn open_one(&self, contender: usize, cache_bytes: u64) -> Box<dyn Engine> {
        let (shape, directory) = (self.shape, &self.directories[contender]);
        let contender = self.contenders[contender];
        (contender.open)(directory, Settings { contender, shape, cache_bytes })
    }

    /// Contenders that load their own store; the others get links or copies of these files.
    fn owners(&self) -> Vec<usize> {
        (0..self.contenders.len()).filter(|at| self.owner(*at) == *at).collect()
    }

    fn owner(&self, contender: usize) -> usize {
        let this = &self.contenders[contender];
        self.contenders.iter().position(|other| other.has_files_of(this)).unwrap_or(contender)
    }

    fn share_with_others(&self) -> io::Result<()> {
        for (contender, directory) in self.directories.iter().enumerate() {
            let owner = self.owner(contender);
            if owner != contender {
                if directory.exists() {
                    fs::remove_dir_all(directory)?;
                }
                share(&self.directories[owner], directory)?;
            }
        }
        Ok(())
    }
}
