//! Timed gets and scans of stores with the same rows, in turns; every answer is checked.

use std::thread;

use workload::cpu_time::{THREAD, cpu_nanos};
use workload::{Asked, RowKey, ScanSum, alternate};

use crate::engine::{Counters, Engine, OURS_DEFAULT};
use crate::figure::Figure;
use crate::load::count_file_reads;
use crate::plan::Plan;
use crate::stores::{ROWS, Store};

/// Questions with their keys made beforehand.
pub(crate) struct Questions {
    asked: Asked,
    /// Rows with an index below this are present.
    count: u64,
    questions: Vec<(RowKey, u64)>,
}

impl Questions {
    pub(crate) fn new(stores: &[Store], asked: Asked, plan: &Plan) -> Self {
        let count = stores[0].count;
        let indexes = asked.questions(count, plan.questions, 7);
        let questions = indexes.into_iter().map(|index| (ROWS.key(index), index)).collect();
        Self { asked, count, questions }
    }

    /// Asks `count` questions, starting at `first`, and checks the answers.
    fn ask(&self, engine: &dyn Engine, first: usize, count: usize) {
        for (key, index) in self.questions.iter().cycle().skip(first).take(count) {
            let mut found = false;
            engine.get(key.as_ref(), &mut |value| {
                assert!(value == ROWS.value(*index), "row {index} has a wrong value");
                found = true;
            });
            assert_eq!(found, *index < self.count, "row {index}");
        }
    }

    /// Asks in several threads; returns the processor time of the threads that ended.
    fn ask_in(&self, threads: usize, engine: &dyn Engine, first: usize, share: usize) -> u64 {
        thread::scope(|scope| {
            let ask = |part: usize| {
                move || {
                    engine.count_reads(false);
                    self.ask(engine, first + part * share, share);
                    cpu_nanos(THREAD)
                }
            };
            let others: Vec<_> = (1..threads).map(|part| scope.spawn(ask(part))).collect();
            self.ask(engine, first, share);
            others.into_iter().map(|thread| thread.join().expect("answers are right")).sum()
        })
    }

    /// Asks every question once in each store, to fill the caches.
    pub(crate) fn warm(&self, stores: &[Store]) {
        for store in stores {
            self.ask(store.engine(), 0, self.questions.len());
        }
    }

    /// Times gets in turns, then counts their work.
    pub(crate) fn measure(&self, stores: &[Store], plan: &Plan, threads: usize) -> Vec<Figure> {
        for store in stores {
            store.engine().count_reads(false);
        }
        let share = plan.gets / threads;
        let samples = alternate(stores.len(), plan.rounds, |store, round| {
            let first = round * plan.gets % self.questions.len();
            let ended = self.ask_in(threads, stores[store].engine(), first, share);
            ((share * threads) as u64, ended)
        });
        let work = format!("{} get", self.asked.name());
        let figure = |(store, samples): (&Store, _)| {
            let engine = store.engine();
            let bits = |bytes: u64| bytes as f64 * 8.0 / store.count as f64;
            let mut figure = Figure {
                files: engine.files(),
                filter_bits_per_key: engine.filter_bytes().map(bits),
                memory_bits_per_key: engine.memory_bytes().map(bits),
                threads,
                ..store.figure(&work, "ns", samples)
            };
            // The counters of several threads cannot be combined.
            if threads == 1 {
                self.count(engine, plan.gets, &mut figure);
            }
            figure
        };
        stores.iter().zip(samples).map(figure).collect()
    }

    /// Adds the averages of a get over the first questions, untimed.
    fn count(&self, engine: &dyn Engine, gets: usize, figure: &mut Figure) {
        engine.count_reads(true);
        let before = engine.counters();
        self.ask(engine, 0, gets);
        let after = engine.counters();
        engine.count_reads(false);
        let Some((after, before)) = after.zip(before) else { return };
        let by_get = |counter: fn(&Counters) -> u64| {
            Some((counter(&after) - counter(&before)) as f64 / gets as f64)
        };
        let found = if self.asked == Asked::Present { 1.0 } else { 0.0 };
        let passed = by_get(|of| of.filter_checks - of.filter_negatives);
        let by_filter = passed.map(|passed| (passed - found).max(0.0));
        figure.false_positives = by_filter.zip(by_get(|of| of.map_false_files)).map(|(a, b)| a + b);
        figure.filter_checks = by_get(|of| of.filter_checks);
        figure.data_blocks = by_get(|of| of.data_blocks);
    }

    /// Counts data blocks by the kernel's read calls, round by round: with nearly no cache, each
    /// data block that a get searches is one call.
    pub(crate) fn count_uncached(&self, store: &mut Store, rounds: usize) -> Vec<f64> {
        // The cache holds little more than the index, or than a family map: maps may take half of
        // the cache, and the gets touch too few blocks to fill the other half.
        store.open(store.count * if store.contender.name == OURS_DEFAULT { 32 } else { 4 });
        let engine = store.engine();
        engine.build_maps();
        let half = self.questions.len() / 2;
        self.ask(engine, 0, half); // Caches the index.
        let gets = half / rounds; // Other keys than above.
        let count = |round| count_file_reads(|| self.ask(engine, half + round * gets, gets));
        (0..rounds).filter_map(count).map(|calls| calls as f64 / gets as f64).collect()
    }
}

/// Times scans of the first rows in key order, in turns, and checks that each returns them all.
pub(crate) fn scan(stores: &[Store], plan: &Plan) -> Vec<Figure> {
    let count = stores[0].count;
    let mut keys: Vec<_> = (0..count).map(|index| (ROWS.key(index), index)).collect();
    keys.sort_unstable_by(|a, b| a.0.as_ref().cmp(b.0.as_ref()));
    keys.truncate(plan.scanned);
    let expected = ROWS.sum(keys.iter().map(|(_, index)| *index));
    let scan = |store: &Store| {
        let mut sum = ScanSum::default();
        store.engine().scan(keys.len(), &mut |key, value| sum.add(key, value));
        assert_eq!(sum, expected, "the scan returns every row and value");
    };
    stores.iter().for_each(scan);
    let samples = alternate(stores.len(), plan.rounds, |store, _| {
        scan(&stores[store]);
        (keys.len() as u64, 0)
    });
    let figure = |(store, samples): (&Store, _)| {
        let files = store.engine().files();
        Figure { files, ..store.figure("scan", "ns", samples) }
    };
    stores.iter().zip(samples).map(figure).collect()
}
