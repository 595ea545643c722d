//! Scans of tables and snapshots, with cells in files, logs and both.

mod places_of_cells;
#[path = "../logs/plain_log.rs"]
mod plain_log;
mod restored;
mod scan;
mod scan_damage;
mod store_cells;
mod unflushed;
