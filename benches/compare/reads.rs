//! Timed gets and scans of stores with the same rows, in turns; every answer is checked.

use std::thread;

use workload::cpu_time::{THREAD, cpu_nanos};
use workload::{Asked, RowKey, Rows, ScanSum, alternate};

use crate::engine::Engine;
use crate::figure::{Figure, Reads};
use crate::load::count_file_reads;
use crate::stores::{OpenStore, Stores};

/// Questions with their keys made beforehand.
pub(crate) struct Questions {
    asked: Asked,
    rows: Rows,
    /// Rows with an index below this are present.
    count: u64,
    questions: Vec<(RowKey, u64)>,
}

/// The amount of work per measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Amount {
    pub(crate) rounds: usize,
    /// Gets per turn.
    pub(crate) gets: usize,
    /// Number of different questions, which are repeated.
    pub(crate) questions: usize,
}

impl Questions {
    pub(crate) fn new(stores: &Stores, asked: Asked, count: usize) -> Self {
        let indexes = asked.questions(stores.count, count, 7);
        let (rows, count) = (stores.rows, stores.count);
        let questions = indexes.into_iter().map(|index| (rows.key(index), index)).collect();
        Self { asked, rows, count, questions }
    }

    /// Asks `count` questions, starting at `first`, and checks the answers.
    fn ask(&self, engine: &dyn Engine, first: usize, count: usize) {
        for (key, index) in self.questions.iter().cycle().skip(first).take(count) {
            let mut found = false;
            engine.get(key.as_ref(), &mut |value| {
                assert!(value == self.rows.value(*index), "row {index} has a wrong value");
                found = true;
            });
            assert_eq!(found, *index < self.count, "row {index}");
        }
    }

    /// Asks in several threads; returns their processor time.
    fn ask_in_threads(&self, engine: &dyn Engine, first: usize, share: usize, parts: usize) -> u64 {
        thread::scope(|scope| {
            let ask = |part| {
                move || {
                    engine.count_reads(false);
                    self.ask(engine, first + part * share, share);
                    cpu_nanos(THREAD)
                }
            };
            let threads: Vec<_> = (0..parts).map(|part| scope.spawn(ask(part))).collect();
            threads.into_iter().map(|thread| thread.join().expect("answers are right")).sum()
        })
    }

    /// Asks every question once in each store, to fill the caches.
    pub(crate) fn warm(&self, stores: &[OpenStore<'_>]) {
        for store in stores {
            self.ask(&*store.engine, 0, self.questions.len());
        }
    }

    /// Times gets in turns, then counts their work.
    pub(crate) fn measure(
        &self,
        stores: &[OpenStore<'_>],
        amount: Amount,
        threads: usize,
    ) -> Vec<Figure> {
        for store in stores {
            store.engine.count_reads(false);
        }
        let share = amount.gets / threads;
        let samples = alternate(stores.len(), amount.rounds, |at, round| {
            let engine = &*stores[at].engine;
            let first = round * amount.gets % self.questions.len();
            let ended = match threads {
                1 => {
                    self.ask(engine, first, share);
                    0
                }
                threads => self.ask_in_threads(engine, first, share, threads),
            };
            ((share * threads) as u64, ended)
        });
        let figure = |(store, samples): (&OpenStore<'_>, _)| {
            let bits = |bytes: u64| bytes as f64 * 8.0 / store.stores.count as f64;
            // The counters of several threads cannot be combined.
            let is_counted = threads == 1;
            let reads = is_counted.then(|| self.count(&*store.engine, amount.gets));
            Figure {
                asked: Some(self.asked.name().to_owned()),
                files: store.engine.files(),
                filter_bits_per_key: store.engine.filter_bytes().map(bits),
                memory_bits_per_key: store.engine.memory_bytes().map(bits),
                threads,
                reads: reads.unwrap_or_default(),
                ..store.stores.figure(store.contender, "get", samples)
            }
        };
        stores.iter().zip(samples).map(figure).collect()
    }

    /// Returns the averages of a get over the first questions, untimed.
    fn count(&self, engine: &dyn Engine, gets: usize) -> Reads {
        let by_get = |number: u64| number as f64 / gets as f64;
        let file_reads = count_file_reads(|| self.ask(engine, 0, gets)).map(by_get);
        engine.count_reads(true);
        let before = engine.counters();
        self.ask(engine, 0, gets);
        let after = engine.counters();
        engine.count_reads(false);
        let Some((after, before)) = after.zip(before) else {
            return Reads { file_reads, ..Reads::default() };
        };
        let asked = self.questions.iter().cycle().take(gets);
        let found = asked.filter(|question| question.1 < self.count).count() as u64;
        let checks = after.filter_checks - before.filter_checks;
        let negatives = after.filter_negatives - before.filter_negatives;
        let by_map = after.map_false_files - before.map_false_files;
        Reads {
            filter_checks: Some(by_get(checks)),
            filter_negatives: Some(by_get(negatives)),
            false_positives: Some(by_get((checks - negatives).saturating_sub(found) + by_map)),
            data_blocks: Some(by_get(after.data_blocks - before.data_blocks)),
            file_reads,
            file_reads_uncached: Vec::new(),
        }
    }

    /// Counts data blocks by the kernel's read calls, round by round: with nearly no cache, each
    /// data block that a get searches is one call.
    pub(crate) fn count_uncached(&self, engine: &dyn Engine, rounds: usize) -> Vec<f64> {
        let half = self.questions.len() / 2;
        self.ask(engine, 0, half); // Caches the index.
        let gets = half / rounds; // Other keys than above.
        let count = |round| count_file_reads(|| self.ask(engine, half + round * gets, gets));
        (0..rounds).filter_map(count).map(|calls| calls as f64 / gets as f64).collect()
    }
}

/// Times scans of the first `count` rows in key order, in turns, and checks that each returns them
/// all.
pub(crate) fn scan(
    stores: &Stores,
    open: &[OpenStore<'_>],
    rounds: usize,
    count: u64,
) -> Vec<Figure> {
    let mut keys: Vec<_> = (0..stores.count).map(|index| (stores.rows.key(index), index)).collect();
    keys.sort_unstable_by(|a, b| a.0.as_ref().cmp(b.0.as_ref()));
    let expected = stores.rows.sum(keys[..count as usize].iter().map(|(_, index)| *index));
    let scan = |store: &OpenStore<'_>| {
        let mut sum = ScanSum::default();
        store.engine.scan(count, &mut |key, value| sum.add(key, value));
        assert_eq!(sum, expected, "the scan returns every row and value");
    };
    open.iter().for_each(scan);
    let samples = alternate(open.len(), rounds, |contender, _| {
        scan(&open[contender]);
        (count, 0)
    });
    let figure = |(store, samples): (&OpenStore<'_>, _)| Figure {
        files: store.engine.files(),
        ..stores.figure(store.contender, "scan", samples)
    };
    open.iter().zip(samples).map(figure).collect()
}
