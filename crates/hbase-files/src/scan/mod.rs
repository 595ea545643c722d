//! Scans over the cells of a table or region, as HBase returns them.
//!
//! ```text
//! store files of a family ─┐
//! cells that are only in   ├─ cells::merge ─ cells::rules ─┐
//! logs (`with_logs`)      ─┘                               │
//! the other families of the region ────────────────────────┴─ by row ─ MOB values ─→ cells
//! ```
//!
//! `options.rs` has the parameters, `plan.rs` what is derived from them once for all regions.
//! `open.rs` opens the files of a region and skips those that cannot contribute; `file_cells.rs`
//! iterates over one of them. `family.rs`, `region.rs` and
//! `table.rs` combine them. `parallel.rs` runs parts of the table on several threads, and
//! `batch.rs` carries their cells. `mob.rs` reads values from MOB files. `logs.rs` has the cells that
//! were not flushed, and `log_reader.rs` reads them: `log_regions.rs` has them while they are read,
//! `log_runs.rs` those that do not fit into memory, `log_cells.rs` iterates over both. `wal/region_events.rs` has
//! what makes them old. `damage.rs` collects what a scan leaves out because of damage.
//! `store_file_cells.rs` has the cells of a single file that the same parameters select. The folder `split` divides a scan into parts for other processes.

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
