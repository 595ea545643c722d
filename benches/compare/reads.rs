//! Timed gets and scans of stores with the same rows, in turns; every answer is checked.

use std::thread;

use workload::alternate;
use workload::cpu_time::{THREAD, cpu_nanos};
use workload::{Asked, RowKey, Rows, ScanSum};

use crate::engine::{Counters, Engine};
use crate::figure::{Figure, Reads};
use crate::process::FileReads;
use crate::stores::{Stores, Turn};

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
    fn ask_in_threads(
        &self,
        engine: &dyn Engine,
        first: usize,
        count: usize,
        threads: usize,
    ) -> u64 {
        let share = count / threads;
        thread::scope(|scope| {
            let ask = |part| {
                move || {
                    engine.count_reads(false);
                    self.ask(engine, first + part * share, share);
                    cpu_nanos(THREAD)
                }
            };
            let threads: Vec<_> = (0..threads).map(|part| scope.spawn(ask(part))).collect();
            threads.into_iter().map(|thread| thread.join().expect("answers are right")).sum()
        })
    }

    /// Asks every question once in each store, to fill the caches.
    pub(crate) fn warm(&self, turns: &[Turn<'_>]) {
        for turn in turns {
            self.ask(turn.engine, 0, self.questions.len());
        }
    }

    /// Times gets in turns, then counts their work.
    pub(crate) fn measure(
        &self,
        turns: &[Turn<'_>],
        amount: Amount,
        threads: usize,
    ) -> Vec<Figure> {
        for turn in turns {
            turn.engine.count_reads(false);
        }
        let all = self.questions.len();
        let samples = alternate(turns.len(), amount.rounds, |at, round| {
            let engine = turns[at].engine;
            let first = round * amount.gets % all;
            if threads == 1 {
                self.ask(engine, first, amount.gets);
                (amount.gets as u64, 0)
            } else {
                let ended = self.ask_in_threads(engine, first, amount.gets, threads);
                ((amount.gets / threads * threads) as u64, ended)
            }
        });
        let figure = |(turn, samples): (&Turn<'_>, _)| {
            let Turn { stores, contender, engine } = *turn;
            let bits = |bytes: u64| bytes as f64 * 8.0 / stores.count as f64;
            Figure {
                work: "get".to_owned(),
                asked: Some(self.asked.name().to_owned()),
                files: engine.files(),
                filter_bits_per_key: engine.filter_bytes().map(bits),
                memory_bits_per_key: engine.memory_bytes().map(bits),
                threads,
                // The counters of several threads cannot be combined.
                reads: if threads == 1 {
                    self.count(engine, amount.gets)
                } else {
                    Reads::default()
                },
                ..stores.figure(contender, samples)
            }
        };
        turns.iter().zip(samples).map(figure).collect()
    }

    /// Returns the averages of a get over the first questions, untimed.
    fn count(&self, engine: &dyn Engine, gets: usize) -> Reads {
        let by_get = |number: u64| number as f64 / gets as f64;
        let file = self.file_reads(engine, 0, gets);
        engine.count_reads(true);
        let before = engine.counters();
        self.ask(engine, 0, gets);
        let counted = engine.counters().zip(before).map(|(after, before)| after.since(before));
        engine.count_reads(false);
        let here =
            self.questions.iter().cycle().take(gets).filter(|question| question.1 < self.count);
        let found = here.count() as u64;
        let false_positives = |counters: Counters| {
            (counters.filter_checks - counters.filter_negatives).saturating_sub(found)
                + counters.map_false_files
        };
        Reads {
            filter_checks: counted.map(|counters| by_get(counters.filter_checks)),
            filter_negatives: counted.map(|counters| by_get(counters.filter_negatives)),
            false_positives: counted.map(|counters| by_get(false_positives(counters))),
            data_blocks: counted.map(|counters| by_get(counters.data_blocks)),
            file_reads: file.map(|reads| by_get(reads.calls)),
            file_bytes: file.map(|reads| by_get(reads.bytes)),
            file_reads_uncached: Vec::new(),
        }
    }

    /// Returns the kernel's read counts for `gets` gets, starting at question `first`.
    fn file_reads(&self, engine: &dyn Engine, first: usize, gets: usize) -> Option<FileReads> {
        FileReads::of(|| self.ask(engine, first, gets))
    }

    /// Counts data blocks by the kernel's read calls, round by round: with nearly no cache, each
    /// data block that a get searches is one call.
    pub(crate) fn count_uncached(&self, engine: &dyn Engine, rounds: usize) -> Vec<f64> {
        let half = self.questions.len() / 2;
        self.ask(engine, 0, half); // Caches the index.
        let gets = half / rounds; // Other keys than above.
        let count = |round| self.file_reads(engine, half + round * gets, gets);
        let reads = (0..rounds).filter_map(count);
        reads.map(|counted| counted.calls as f64 / gets as f64).collect()
    }
}

/// Times scans of the first `count` rows in key order, in turns, and checks that each returns them
/// all.
pub(crate) fn scan(
    stores: &Stores,
    engines: &[Box<dyn Engine>],
    rounds: usize,
    count: u64,
) -> Vec<Figure> {
    let expected = first_rows(stores, count);
    let scan = |engine: &dyn Engine| {
        let mut sum = ScanSum::default();
        engine.scan(count, &mut |key, value| sum.add(key, value));
        assert_eq!(sum, expected, "the scan returns every row and value");
    };
    for engine in engines {
        scan(&**engine);
    }
    let samples = alternate(engines.len(), rounds, |contender, _| {
        scan(&*engines[contender]);
        (count, 0)
    });
    let figure = |(contender, samples): (usize, _)| Figure {
        work: "scan".to_owned(),
        files: engines[contender].files(),
        ..stores.figure(contender, samples)
    };
    samples.into_iter().enumerate().map(figure).collect()
}

/// Returns the checksum of the first `count` rows in key order.
fn first_rows(stores: &Stores, count: u64) -> ScanSum {
    let mut keys: Vec<_> = (0..stores.count).map(|index| (stores.rows.key(index), index)).collect();
    keys.sort_unstable_by(|a, b| a.0.as_ref().cmp(b.0.as_ref()));
    stores.rows.sum(keys[..count as usize].iter().map(|(_, index)| *index))
}
