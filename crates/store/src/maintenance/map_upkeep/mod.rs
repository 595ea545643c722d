//! Keeps the family maps complete: inserts the rows of flushes and of files that are not covered.
//!
//! ```text
//! flush            inserts the rows once it has written the file; the version that lists the file
//!                  covers it at once
//! compaction       does not change the map: the new file gets the slots of its inputs
//! bulk load,       the file is not covered: reads query its filter until the compaction thread has
//! import, open     inserted its rows. With `MapMode::Auto`, files that were there at the open wait
//!                  until the reads justify it
//! no room          the compaction thread copies the map without dead slots, or builds a larger one
//! ```
//!
//! | file          | content                                                               |
//! |---------------|-----------------------------------------------------------------------|
//! | `new_rows`    | inserts the rows of a flush once its file is written                  |
//! | `cover`       | takes steps until all files of all families are covered               |
//! | `next_step`   | chooses the next step: cover a file, sweep, build or drop the map     |
//! | `build`       | takes a step, and publishes the new version                           |
//! | `missing`     | the files that the map covers, could cover or lacks, and their rows   |
//! | `failures`    | records failures, and schedules the next attempt                      |
//!
//! Only the thread that builds a map sees it until a version refers to it. A file is covered only
//! in versions that were published after all of its rows were inserted. Each step is taken under
//! the lock that compactions take, so that no compaction replaces the files meanwhile. Flushes
//! continue, and insert into the map of the current version. If that map is replaced during a
//! flush, the flushed file is not covered, and is read later.
//!
//! No failure here fails a write or a read: reads query the filters of the files that are not
//! covered. Builds, sweeps and reads of files that fail are counted in `Stats::map_failures`, and
//! repeated after delays that double up to ten minutes, because memory can become free and a failed
//! read can succeed. A damaged file is not read again.

mod build;
mod cover;
mod failures;
mod missing;
mod new_rows;
mod next_step;

pub(crate) use new_rows::NewRows;

#[cfg(test)]
mod tests;
