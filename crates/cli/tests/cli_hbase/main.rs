//! HBase's directories on the command line: roots, tables, snapshots, logs, and exports of them. The transcripts have what
//! the verbs print.

mod changed_roots;
#[path = "../support/command_line.rs"]
mod command_line;
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
mod old_releases;
mod root_judge;
mod several;
mod snapshot_cells;
mod snapshot_judge;
mod wal;
