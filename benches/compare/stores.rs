//! The stores of a comparison: loaded once per engine and filter, opened by each contender.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use std::{fs, io, thread};

use workload::Rows;
use workload::cpu_time::{PROCESS, cpu_nanos};
use workload::{Samples, alternate};

use crate::contenders::Contender;
use crate::engine::{Engine, Settings, Shape};
use crate::figure::{CACHE_ALL, Figure, Reads};
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
#[derive(Clone, Copy)]
pub(crate) struct Turn<'a> {
    pub(crate) stores: &'a Stores,
    /// Its number in `stores`.
    pub(crate) contender: usize,
    pub(crate) engine: &'a dyn Engine,
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
        let directory = |of: &Contender| place.join(name).join(of.name);
        let directories: Vec<_> = contenders.iter().map(directory).collect();
        let stores = Self { contenders, directories, shape, rows: Rows::new(SEED), count };
        let owners = stores.owners();
        for owner in &owners {
            fs::create_dir_all(&stores.directories[*owner])?;
        }
        let open: Vec<_> =
            owners.iter().map(|owner| stores.open_one(*owner, CACHE_BYTES_ALL)).collect();
        let samples = stores.fill(&open, parts);
        let mut more = Vec::new();
        if shape == Shape::Levelled {
            for (owner, engine) in owners.iter().zip(&open) {
                more.extend(coverage(&**engine, &|samples| stores.figure(*owner, samples)));
            }
        }
        drop(open);
        stores.share_with_others()?;
        let figures = owners.iter().zip(samples).map(|(owner, samples)| Figure {
            work: "fill".to_owned(),
            ..stores.figure(*owner, samples)
        });
        let figures = figures.chain(more).collect();
        Ok((stores, figures))
    }

    /// Loads the rows into the open stores, part by part in turns.
    fn fill(&self, open: &[Box<dyn Engine>], parts: u64) -> Vec<Samples> {
        alternate(open.len(), parts as usize, |contender, part| {
            let first = self.count * part as u64 / parts;
            let end = self.count * (part as u64 + 1) / parts;
            open[contender].load(self.rows, first..end);
            if self.shape == Shape::Levelled {
                open[contender].settle();
            } else {
                open[contender].flush();
            }
            (end - first, 0)
        })
    }

    /// Merges each store to one run with all processors, untimed.
    pub(crate) fn compact(&mut self) -> io::Result<()> {
        self.shape = Shape::OneRun;
        let owners = Mutex::new(self.owners());
        let next = || owners.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let merge = || {
            while let Some(owner) = next() {
                self.open_one(owner, CACHE_BYTES_ALL).compact();
            }
        };
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(merge);
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
    pub(crate) fn open(&self, cache_bytes: u64) -> Vec<Box<dyn Engine>> {
        let open = |contender| {
            let engine = self.open_one(contender, cache_bytes);
            engine.build_maps();
            engine
        };
        (0..self.contenders.len()).map(open).collect()
    }

    /// Opens and closes each store several times; returns the time of each open in milliseconds.
    ///
    /// Our family maps are built after the store is open, which is not part of the time.
    pub(crate) fn time_opening(&self, cache_bytes: u64, rounds: usize) -> Vec<Figure> {
        let mut all = vec![Samples::default(); self.contenders.len()];
        for _ in 0..rounds {
            for (contender, samples) in all.iter_mut().enumerate() {
                let (cpu, start) = (cpu_nanos(PROCESS), Instant::now());
                let engine = self.open_one(contender, cache_bytes);
                samples.wall.push(start.elapsed().as_secs_f64() * 1e3);
                samples.cpu.push(cpu_nanos(PROCESS).saturating_sub(cpu) as f64 / 1e6);
                // Closed at once, so that its background work does not disturb the next one.
                drop(engine);
            }
        }
        let figures = all.into_iter().enumerate().map(|(contender, samples)| Figure {
            work: "open".to_owned(),
            unit: "ms".to_owned(),
            ..self.figure(contender, samples)
        });
        figures.collect()
    }

    /// Returns a turn for each of the open stores.
    pub(crate) fn turns<'a>(&'a self, engines: &'a [Box<dyn Engine>]) -> Vec<Turn<'a>> {
        let turn = |contender: usize| {
            let engine = &*engines[contender];
            Turn { stores: self, contender, engine }
        };
        (0..engines.len()).map(turn).collect()
    }

    /// Returns the sizes of the stores on disk.
    pub(crate) fn sizes(&self) -> io::Result<Vec<Figure>> {
        let size = |owner: usize| {
            let bytes = bytes_on_disk(&self.directories[owner])? as f64;
            let samples = Samples { wall: vec![bytes], cpu: Vec::new() };
            let figure = self.figure(owner, samples);
            Ok(Figure { work: "disk".to_owned(), unit: "bytes".to_owned(), ..figure })
        };
        self.owners().into_iter().map(size).collect()
    }

    /// Removes all files.
    pub(crate) fn remove(self) -> io::Result<()> {
        self.directories.iter().try_for_each(fs::remove_dir_all)
    }

    /// Makes a figure of a contender; the caller sets the kind of work.
    pub(crate) fn figure(&self, contender: usize, samples: Samples) -> Figure {
        let made_by = &self.contenders[contender];
        Figure {
            contender: made_by.name.to_owned(),
            engine: made_by.engine.to_owned(),
            work: String::new(),
            asked: None,
            shape: self.shape,
            rows: self.count,
            files: None,
            filter_bits_per_key: None,
            memory_bits_per_key: None,
            cache: CACHE_ALL.to_owned(),
            threads: 1,
            unit: "ns".to_owned(),
            wall: samples.wall,
            cpu: samples.cpu,
            reads: Reads::default(),
        }
    }

    pub(crate) fn open_one(&self, contender: usize, cache_bytes: u64) -> Box<dyn Engine> {
        let Contender { filter, map, cache, open, .. } = self.contenders[contender];
        let settings = Settings { shape: self.shape, filter, map, cache_bytes, cache };
        open(&self.directories[contender], settings)
    }

    /// Contenders that load their own store; the others get links or copies of these files.
    fn owners(&self) -> Vec<usize> {
        (0..self.contenders.len()).filter(|at| self.owner(*at) == *at).collect()
    }

    fn owner(&self, contender: usize) -> usize {
        let this = &self.contenders[contender];
        let has_same_files = |other: &Contender| {
            other.engine == this.engine && other.filter == this.filter && other.map == this.map
        };
        self.contenders.iter().position(has_same_files).unwrap_or(contender)
    }

    fn share_with_others(&self) -> io::Result<()> {
        for (contender, directory) in self.directories.iter().enumerate() {
            let owner = self.owner(contender);
            if owner != contender {
                if directory.exists() {
                    fs::remove_dir_all(directory)?;
                }
                // The extension of RocksDB's table files; only RocksDB has several kinds of cache.
                share(&self.directories[owner], directory, "sst")?;
            }
        }
        Ok(())
    }
}
