//! Work on whole files: flush, compaction, filters, import, export, checkpoint.
//!
//! ```text
//! background ─┬─ tasks           pending work of the threads
//!             ├─ back_pressure   writers wait while flushes do not keep up
//!             ├─ flush           memstores to files
//!             ├─ drop_family     a flush that leaves one family out
//!             ├─ family_map      inserts the rows of files into the family maps
//!             └─ compaction, filters      rewrite files
//! import, export, checkpoint      copy files in, write files for HBase, share files
//! ```

mod back_pressure;
pub(crate) mod background;
pub(crate) mod checkpoint;
pub(crate) mod compaction;
mod drop_family;
pub(crate) mod export;
pub(crate) mod family_map;
pub(crate) mod filters;
pub(crate) mod flush;
pub(crate) mod import;
mod tasks;

#[cfg(test)]
mod tests;
