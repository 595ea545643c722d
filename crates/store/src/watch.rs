//! What others may see of the work that a store does on its own: spans of `tracing`, numbers of the
//! `metrics` facade, each behind the feature of its name. Without them nothing of this is left, and
//! reads are not watched in any case: what they do is in their traces and in the store's stats.
//!
//! | metric                   | kind      | of                                     |
//! |--------------------------|-----------|----------------------------------------|
//! | `store_flush_seconds`    | histogram | each flush                             |
//! | `store_compact_seconds`  | histogram | each compaction                        |
//! | `store_recover_seconds`  | histogram | each reading of the log at opening     |
//! | `store_stall_seconds`    | histogram | each write that had to wait for memory |
//!
//! The spans are `store.flush`, `store.compact` and `store.recover`, at the level INFO.

#[cfg(feature = "metrics")]
use std::time::Instant;

/// What is watched.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Work {
    Flush,
    Compact,
    Recover,
    Stall,
}

/// Watches work from its beginning until this is dropped.
#[derive(Debug)]
#[must_use]
pub(crate) struct Watch {
    #[cfg(feature = "tracing")]
    _span: Option<tracing::span::EnteredSpan>,
    #[cfg(feature = "metrics")]
    seconds: (Work, Instant),
}

impl Watch {
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

#[cfg(feature = "tracing")]
fn span(work: Work) -> Option<tracing::span::EnteredSpan> {
    let span = match work {
        Work::Flush => tracing::info_span!("store.flush"),
        Work::Compact => tracing::info_span!("store.compact"),
        Work::Recover => tracing::info_span!("store.recover"),
        Work::Stall => return None, // It is a part of a write, whose caller has a span of its own.
    };
    Some(span.entered())
}

#[cfg(feature = "metrics")]
impl Drop for Watch {
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

    use crate::sync::lock;
    use crate::{FamilyOptions, Put, Store, StoreOptions};

    type Names = Arc<Mutex<Vec<String>>>;

    /// A span that one thread meets first while another takes its subscriber may pass that by.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    /// Opens a store, and flushes and compacts it.
    fn work() {
        let directory = tempfile::tempdir().unwrap();
        let options = StoreOptions::default().background(false);
        let store = Store::open(directory.path(), options).unwrap();
        store.create_family("f", FamilyOptions::default()).unwrap();
        store.put(Put::new("row").column("f", "q", "value")).unwrap();
        store.flush().unwrap();
        store.compact("f", true).unwrap();
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
            fn event(&self, _: &Event<'_>) {}
            fn enter(&self, _: &Id) {}
            fn exit(&self, _: &Id) {}
        }

        let _alone = lock(&ONE_AT_A_TIME);
        let names = Names::default();
        tracing::subscriber::with_default(Listener(Arc::clone(&names)), work);
        assert_eq!(*lock(&names), ["store.recover", "store.flush", "store.compact"]);
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
