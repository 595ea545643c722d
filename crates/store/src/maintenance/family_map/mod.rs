//! Keeps the family maps complete: inserts the rows of flushes and of files that are not covered.
//!
//! ```text
//! flush            inserts the rows while it writes the file, whose first version covers it
//! compaction       does not change a map of files: the new file gets the slots of its inputs;
//!                  inserts its rows into a map of blocks, if there is room
//! bulk load,       the file is not covered: reads query its filter until the compaction thread has
//! import, open     inserted its rows
//! no room          the compaction thread copies the map without dead slots, or builds a larger one
//! ```
//!
//! | file          | content                                                               |
//! |---------------|-----------------------------------------------------------------------|
//! | `new_rows`    | inserts the rows of a flush or compaction while it writes its file    |
//! | `cover`       | takes steps until all files of all families are covered               |
//! | `next_step`   | chooses the next step: cover a file, sweep, build or drop the map     |
//! | `build`       | does a step, and publishes the version that results                   |
//! | `missing`     | the files of a family that its map does not cover, and their rows     |
//! | `failures`    | what failed, and when it is tried again                               |
//!
//! A map is private until a version refers to it, and a file is covered only in versions that were
//! published after all of its rows were inserted. While files are read, the compaction turn is
//! held, so that no compaction replaces them. Flushes continue, and insert into the map of the
//! current version. If that map is replaced during a flush, the flushed file is not covered, and is
//! read later.
//!
//! No failure here fails a write or a read. Failures are counted in `Stats::map_failures`, and
//! reads query the filters of the files that are not covered. What failed is tried again, after
//! delays that double up to ten minutes, because memory or the disk may return.

mod build;
mod cover;
mod failures;
mod missing;
mod new_rows;
mod next_step;

pub(crate) use failures::GivenUp;
pub(crate) use new_rows::NewRows;

#[cfg(test)]
mod tests;
