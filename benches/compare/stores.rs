//! The stores of a comparison: loaded once for each engine and filter, and opened by each contender.

use std::path::PathBuf;
use std::{fs, io};

use workload::Rows;

use crate::contenders::Contender;
use crate::engine::{Engine, Settings, Shape};
use crate::figure::{Figure, Reads};
use crate::place::{Place, bytes_on_disk, copy};
use crate::rounds::{Samples, alternate};

/// Makes all keys and values.
pub(crate) const SEED: u64 = 1;
/// So that everything fits.
pub(crate) const CACHE_BYTES_ALL: u64 = 8 << 30;

/// Contenders with the same rows.
pub(crate) struct Stores {
    pub(crate) contenders: Vec<Contender>,
    /// Of each contender.
    directories: Vec<PathBuf>,
    pub(crate) shape: Shape,
    pub(crate) rows: Rows,
    pub(crate) count: u64,
}

impl Stores {
    /// Loads `count` rows into each, part by part and in turns. Returns what a row took until it
    /// was in a file, and in the levelled shape until nothing more was to be merged.
    pub(crate) fn load(
        place: &Place,
        name: &str,
        contenders: Vec<Contender>,
        shape: Shape,
        count: u64,
        parts: u64,
    ) -> io::Result<(Self, Vec<Figure>)> {
        let directory = |it: &Contender| place.join(name).join(it.name);
        let directories: Vec<_> = contenders.iter().map(directory).collect();
        let rows = Rows::new(SEED);
        let stores = Self { contenders, directories, shape, rows, count };
        let owners = stores.owners();
        let mut open = Vec::new();
        for owner in &owners {
            fs::create_dir_all(&stores.directories[*owner])?;
            open.push(stores.open_one(*owner, CACHE_BYTES_ALL));
        }
        let samples = alternate(owners.len(), parts as usize, |contender, part| {
            let first = count * part as u64 / parts;
            let end = count * (part as u64 + 1) / parts;
            open[contender].load(rows, first..end);
            if shape == Shape::Levelled {
                open[contender].settle();
            } else {
                open[contender].flush();
            }
            (end - first, 0)
        });
        drop(open);
        stores.copy_to_others()?;
        let figures = owners.iter().zip(samples).map(|(owner, samples)| Figure {
            work: "fill".to_owned(),
            ..stores.figure(*owner, samples)
        });
        let figures = figures.collect();
        Ok((stores, figures))
    }

    /// Merges each store to one run.
    pub(crate) fn compact(&mut self) -> io::Result<()> {
        self.shape = Shape::Compacted;
        for owner in self.owners() {
            let engine = self.open_one(owner, CACHE_BYTES_ALL);
            engine.compact();
        }
        self.copy_to_others()
    }

    /// Opens all, some times over; returns them with what it took in milliseconds.
    pub(crate) fn open(
        &self,
        cache_bytes: u64,
        rounds: usize,
    ) -> (Vec<Box<dyn Engine>>, Vec<Figure>) {
        let mut all = vec![Samples::default(); self.contenders.len()];
        let mut open = Vec::new();
        for _ in 0..rounds {
            open.clear();
            let samples = alternate(self.contenders.len(), 1, |contender, _| {
                open.push(self.open_one(contender, cache_bytes));
                (1_000_000, 0)
            });
            for (all, one) in all.iter_mut().zip(samples) {
                all.wall.extend(one.wall);
                all.cpu.extend(one.cpu);
            }
        }
        let figures = all.into_iter().enumerate().map(|(contender, samples)| Figure {
            work: "open".to_owned(),
            unit: "ms".to_owned(),
            ..self.figure(contender, samples)
        });
        (open, figures.collect())
    }

    /// What the files take.
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

    /// A figure of a contender, of which the work is still to be named.
    pub(crate) fn figure(&self, contender: usize, samples: Samples) -> Figure {
        let it = &self.contenders[contender];
        Figure {
            contender: it.name.to_owned(),
            engine: it.engine.to_owned(),
            work: String::new(),
            asked: None,
            shape: self.shape.name().to_owned(),
            rows: self.count,
            files: None,
            filter_bits_per_key: None,
            cache: "all".to_owned(),
            threads: 1,
            unit: "ns".to_owned(),
            wall: samples.wall,
            cpu: samples.cpu,
            reads: Reads::default(),
        }
    }

    pub(crate) fn open_one(&self, contender: usize, cache_bytes: u64) -> Box<dyn Engine> {
        let it = &self.contenders[contender];
        let (filter, cache) = (it.filter, it.cache);
        let settings = Settings { shape: self.shape, filter, cache_bytes, cache };
        (it.open)(&self.directories[contender], settings)
    }

    /// Those that are loaded; the others get copies of the files of these.
    fn owners(&self) -> Vec<usize> {
        (0..self.contenders.len()).filter(|at| self.owner(*at) == *at).collect()
    }

    fn owner(&self, contender: usize) -> usize {
        let it = &self.contenders[contender];
        let has_the_same_files =
            |other: &Contender| other.engine == it.engine && other.filter == it.filter;
        self.contenders.iter().position(has_the_same_files).unwrap_or(contender)
    }

    fn copy_to_others(&self) -> io::Result<()> {
        for (contender, directory) in self.directories.iter().enumerate() {
            let owner = self.owner(contender);
            if owner != contender {
                if directory.exists() {
                    fs::remove_dir_all(directory)?;
                }
                copy(&self.directories[owner], directory)?;
            }
        }
        Ok(())
    }
}
