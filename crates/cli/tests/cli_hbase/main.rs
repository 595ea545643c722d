//! HBase's directories on the command line: roots, tables, snapshots, logs, and exports of them.

mod changed_roots;
#[path = "../support/command_line.rs"]
mod command_line;
mod describe;
mod directories;
mod directory_cases;
mod export;
mod export_again;
#[cfg(unix)]
mod export_stopped;
#[path = "../support/export.rs"]
mod exports;
mod filelist;
mod filelist_judge;
mod lost_logs;
mod messages;
mod old_releases;
mod root_judge;
mod several;
mod snapshot;
mod snapshot_cells;
mod snapshot_judge;
mod unflushed;
mod wal;
