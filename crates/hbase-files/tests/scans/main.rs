//! Scans of tables and snapshots, with cells in files, logs and both.

mod places_of_cells;
mod scan;
mod scan_damage;
mod splits;
mod store_file_cells;
mod unflushed;
