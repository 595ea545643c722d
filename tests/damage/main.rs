//! Damaged HFiles, logs and manifests, and the corpus of the fuzz targets.
#![expect(clippy::unwrap_used, reason = "this is a test, also outside of its test functions")]

mod fuzz_corpus;
mod hfiles;
mod hudi;
mod stores;
