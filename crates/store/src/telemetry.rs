//! Telemetry of background work: `tracing` spans and `metrics`, each behind the feature of its
//! name.
//!
//! Reads are not covered; their counters are in [`ReadTrace`](crate::ReadTrace) and
//! [`Stats`](crate::Stats).
//!
//! | metric                   | kind      | recorded for                             |
//! |--------------------------|-----------|------------------------------------------|
//! | `store_flush_seconds`    | histogram | each flush                               |
//! | `store_compact_seconds`  | histogram | each compaction                          |
//! | `store_recover_seconds`  | histogram | each recovery of the log                 |
//! | `store_stall_seconds`    | histogram | each write that waited for memory        |
//! | `store_filter_problems`  | counter   | each file with an unusable filter        |
//! | `store_filters_omitted`  | counter   | each file that was written without its filter |
//! | `store_flush_failures`   | counter   | each flush that could not write a family |
//!
//! The spans are `store.flush`, `store.compact` and `store.recover`, at the level INFO. An unusable
//! filter is an event at the level WARN with the fields `family`, `file` and `what`. So are a file
//! without its filter and a flush that could not write a family, without the field `file`.

#[cfg(feature = "metrics")]
use std::time::Instant;

use crate::stats::FilterProblem;

/// The kinds of work that are recorded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Work {
    Flush,
    Compact,
    Recover,
    Stall,
}

/// Records work from `begin` until the value is dropped.
#[derive(Debug)]
#[must_use]
pub(crate) struct WorkSpan {
    #[cfg(feature = "tracing")]
    _span: Option<tracing::span::EnteredSpan>,
    #[cfg(feature = "metrics")]
    seconds: (Work, Instant),
}

impl WorkSpan {
    pub(crate) fn begin(work: Work) -> Self {
        #[cfg(not(any(feature = "tracing", feature = "metrics")))]
        let _ = work;
        Self {
            #[cfg(feature = "tracing")]
            _span: span(work),
            #[cfg(feature = "metrics")]
            seconds: (work, Instant::now()),
        }
    }
}

/// Reports an unusable filter; the caller does so once per file.
pub(crate) fn report_filter_problem(problem: &FilterProblem) {
    #[cfg(feature = "tracing")]
    tracing::warn!(
        family = problem.family,
        file = problem.file,
        what = problem.what,
        "unusable filter; reads ignore it"
    );
    #[cfg(feature = "metrics")]
    metrics::counter!("store_filter_problems").increment(1);
    #[cfg(not(feature = "tracing"))]
    let _ = problem;
}

/// Reports a file that was written without its filter, which is impossible for its rows.
pub(crate) fn report_filter_omission(family: &str, what: &str) {
    #[cfg(feature = "tracing")]
    tracing::warn!(family, what, "a file was written without its row filter");
    #[cfg(feature = "metrics")]
    metrics::counter!("store_filters_omitted").increment(1);
    #[cfg(not(feature = "tracing"))]
    let _ = (family, what);
}

/// Reports a flush that could not write the file of a family.
pub(crate) fn report_flush_failure(family: &str, what: &str) {
    #[cfg(feature = "tracing")]
    tracing::warn!(family, what, "the family cannot be flushed; its cells stay in memory");
    #[cfg(feature = "metrics")]
    metrics::counter!("store_flush_failures").increment(1);
    #[cfg(not(feature = "tracing"))]
    let _ = (family, what);
}

#[cfg(feature = "tracing")]
fn span(work: Work) -> Option<tracing::span::EnteredSpan> {
    let span = match work {
        Work::Flush => tracing::info_span!("store.flush"),
        Work::Compact => tracing::info_span!("store.compact"),
        Work::Recover => tracing::info_span!("store.recover"),
        Work::Stall => return None, // A stall is part of the caller's own span.
    };
    Some(span.entered())
}

#[cfg(feature = "metrics")]
impl Drop for WorkSpan {
    fn drop(&mut self) {
        let (work, start) = self.seconds;
        let name = match work {
            Work::Flush => "store_flush_seconds",
            Work::Compact => "store_compact_seconds",
            Work::Recover => "store_recover_seconds",
            Work::Stall => "store_stall_seconds",
        };
        metrics::histogram!(name).record(start.elapsed().as_secs_f64());
    }
}

#[cfg(test)]
#[cfg(any(feature = "tracing", feature = "metrics"))]
mod tests {
    use std::sync::{Arc, Mutex};

    use crate::options::{FamilyOptions, StoreOptions};
    use crate::store::{CompactionKind, Store};
    use crate::sync::lock;
    use crate::write::mutation::Put;

    type Names = Arc<Mutex<Vec<String>>>;

    /// Damages the filter of a store file, and reads from the store.
    fn read_with_damaged_filter() {
        let directory = tempfile::tempdir().unwrap();
        let rate = filter::ErrorRate::new(0.01).unwrap();
        let sizing = filter::Sizing::ErrorRate(rate);
        let family = FamilyOptions::default().filter(filter::FilterKind::BlockedBloom, sizing);
        let options = StoreOptions::default().background(false);
        let store = Store::open(directory.path(), options.clone()).unwrap();
        store.create_family("f", family).unwrap();
        store.put(Put::new("row").column("f", "q", "value")).unwrap();
        store.flush().unwrap();
        let path = store.check_files("f").unwrap().remove(0).path;
        drop(store);
        let mut bytes = std::fs::read(&path).unwrap();
        let meta = bytes.windows(8).position(|magic| magic == b"METABLKc").unwrap();
        bytes[meta + 40] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let store = Store::open(directory.path(), options).unwrap();
        for _ in 0..3 {
            assert_eq!(store.get(&crate::read::query::Get::row("row")).unwrap().len(), 1);
        }
    }

    /// Serializes the tests: `tracing` caches per call site whether a subscriber listens, and tests
    /// in parallel can miss spans.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    /// Opens, flushes and compacts a store.
    fn work() {
        let directory = tempfile::tempdir().unwrap();
        let options = StoreOptions::default().background(false);
        let store = Store::open(directory.path(), options).unwrap();
        store.create_family("f", FamilyOptions::default()).unwrap();
        store.put(Put::new("row").column("f", "q", "value")).unwrap();
        store.flush().unwrap();
        store.compact("f", CompactionKind::Major).unwrap();
    }

    #[cfg(feature = "tracing")]
    #[test]
    fn recovery_flush_and_compaction_are_spans() {
        use tracing::span::{Attributes, Id, Record};
        use tracing::{Event, Metadata, Subscriber};

        struct Listener(Names);

        impl Subscriber for Listener {
            fn enabled(&self, _: &Metadata<'_>) -> bool {
                true
            }

            fn new_span(&self, span: &Attributes<'_>) -> Id {
                lock(&self.0).push(span.metadata().name().to_owned());
                Id::from_u64(1)
            }

            fn record(&self, _: &Id, _: &Record<'_>) {}
            fn record_follows_from(&self, _: &Id, _: &Id) {}
            fn event(&self, event: &Event<'_>) {
                let level = event.metadata().level();
                let names = event.metadata().fields().iter().map(|field| field.name());
                let names: Vec<_> = names.collect();
                lock(&self.0).push(format!("{level} {}", names.join(" ")));
            }
            fn enter(&self, _: &Id) {}
            fn exit(&self, _: &Id) {}
        }

        let _alone = lock(&ONE_AT_A_TIME);
        let names = Names::default();
        tracing::subscriber::with_default(Listener(Arc::clone(&names)), work);
        assert_eq!(*lock(&names), ["store.recover", "store.flush", "store.compact"]);
        lock(&names).clear();
        tracing::subscriber::with_default(Listener(Arc::clone(&names)), read_with_damaged_filter);
        let warned: Vec<_> =
            lock(&names).iter().filter(|name| name.starts_with("WARN")).cloned().collect();
        assert_eq!(warned, ["WARN message family file what"]);
    }

    #[cfg(feature = "metrics")]
    #[test]
    fn recovery_flush_and_compaction_are_timed() {
        use metrics::{
            Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit,
        };

        struct Listener(Names);

        impl Recorder for Listener {
            fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
            fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
            fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

            fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
                Counter::noop()
            }

            fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
                Gauge::noop()
            }

            fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
                lock(&self.0).push(key.name().to_owned());
                Histogram::noop()
            }
        }

        let _alone = lock(&ONE_AT_A_TIME);
        let names = Names::default();
        metrics::with_local_recorder(&Listener(Arc::clone(&names)), work);
        let expected = ["store_recover_seconds", "store_flush_seconds", "store_compact_seconds"];
        assert_eq!(*lock(&names), expected);
    }
}
