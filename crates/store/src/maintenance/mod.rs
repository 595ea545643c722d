//! What a store does with whole files: it makes them from memstores, merges them, takes them in and
//! gives them out.
//!
//! ```text
//! background ─┬─ tasks           what there is to do, for whom
//!             ├─ back_pressure   writers wait while flushes do not keep up
//!             ├─ flush           memstores to files
//!             └─ compaction, filters      files to better files
//! import, export, checkpoint      files from elsewhere, for elsewhere, and shared
//! ```

mod back_pressure;
pub(crate) mod background;
pub(crate) mod checkpoint;
pub(crate) mod compaction;
pub(crate) mod export;
pub(crate) mod filters;
pub(crate) mod flush;
pub(crate) mod import;
mod tasks;

#[cfg(test)]
mod tests;
