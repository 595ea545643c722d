//! Scans over the cells of a table or region, as HBase returns them.
//!
//! ```text
//! store files of a family ─┐
//! cells that are only in   ├─ cells::merge ─ cells::rules ─┐
//! logs (`with_logs`)      ─┘                               │
//! the other families of the region ────────────────────────┴─ by row ─ MOB values ─→ cells
//! ```
//!
//! | to find                                                  | file                      |
//! |----------------------------------------------------------|---------------------------|
//! | the parameters of a scan                                 | `options.rs`              |
//! | what is derived from the parameters, once for all regions | `plan.rs`, `row_range.rs` |
//! | where a file is left out                                 | `open.rs`                 |
//! | the cells of a file                                      | `file_cells.rs`           |
//! | the cells of a family, a region, the table               | `family.rs`, `region.rs`, `table.rs`; `source.rs` is what a family merges |
//! | parts of the table on several threads, and their cells   | `parallel.rs`, `batch.rs` |
//! | parts of a scan for other processes                      | the folder `split`        |
//! | values in MOB files                                      | `mob.rs`                  |
//! | cells that were not flushed                              | `unflushed.rs`, `logs.rs` |
//! | how the logs are read                                    | `log_reader.rs`; `wal/region_events.rs` has what makes cells old |
//! | these cells while logs are read, on disk, in order       | `log_regions.rs`, `log_runs.rs`, `log_cells.rs` |
//! | what a scan leaves out because of damage                 | `damage.rs`               |
//! | the cells of a single file by the same parameters        | `store_file_cells.rs`     |

mod batch;
mod damage;
mod family;
mod file_cells;
mod log_cells;
mod log_reader;
mod log_regions;
mod log_runs;
mod logs;
mod mob;
mod open;
mod options;
mod parallel;
mod plan;
mod region;
mod row_range;
mod source;
mod split;
mod store_file_cells;
mod table;
mod unflushed;

pub use damage::MissingCells;
pub use logs::{OldLogCells, TornLog};
pub(crate) use mob::{MobValue, is_reference, mob_value};
pub use options::{FamilyColumns, MobValues, TableScan};
pub use split::{ScanSplit, SplitCells, SplitPlan};
pub use store_file_cells::StoreFileCells;
pub use table::TableCells;
pub use unflushed::UnflushedCells;
