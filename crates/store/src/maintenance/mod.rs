//! Work on whole files: flush, compaction, filters, import, export, checkpoint.
//!
//! ```text
//! background ─┬─ tasks           pending work of the threads
//!             ├─ back_pressure   writers wait while flushes do not keep up
//!             ├─ family_turns    who may change the files of a family
//!             ├─ flush           memstores to files
//!             ├─ drop_family     a flush that leaves one family out
//!             ├─ clear_family    leaves a family without files and memstores
//!             ├─ map_upkeep      inserts the rows of files into the family maps
//!             ├─ expired         removes files all of whose cells have expired
//!             └─ compaction, filters      rewrite files
//! import, export, checkpoint      copy files in, write files for HBase, share files
//! ```

mod back_pressure;
pub(crate) mod background;
pub(crate) mod checkpoint;
mod clear_family;
pub(crate) mod compaction;
mod drop_family;
mod expired;
pub(crate) mod export;
mod failed_maps;
mod family_turns;
pub(crate) mod filters;
pub(crate) mod flush;
pub(crate) mod import;
pub(crate) mod map_upkeep;
mod rate_limit;
mod tasks;

#[cfg(test)]
mod tests;
