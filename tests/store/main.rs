//! What a store answers: families, settings, times, histories beside a model, threads, and copies.
#![expect(clippy::unwrap_used, reason = "this is a test, also outside of its test functions")]

mod compaction_waits;
mod expired;
mod export_import;
mod families;
mod history;
mod key_value;
mod merged_scans;
mod mixed_files;
mod one_millisecond;
mod read_only;
mod recorded_answers;
mod refused_imports;
mod same_answers;
mod settings;
mod snapshots;
mod threads;
mod writes_meanwhile;
