//! `hfile store get`: prints the cells of rows that deletes, versions and TTL leave visible.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use anyhow::Context;
use sstable::Cell;
use store::Store;
use transfer::CellsOutput;

use super::directory::{Directory, warn_about_filters};
use super::versions::Versions;
use crate::arguments::format_options::FormatOptions;
use crate::arguments::key_text::KeyText;
use crate::failure::Answer;
use crate::text::output::{STDOUT, stdout};
use crate::text::row_not_found::{print_row_is_hidden, print_row_not_found};

/// Print the visible cells of one or more rows.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store get DIR row1
  hfile store get DIR 'row\\x00' --versions 3 --format cells
  hfile store get DIR row1 row2 row3
  hfile store get DIR --from rows.txt
  hfile store get DIR row1 --raw

hfile store explain shows the steps of a get.

Visible cells are the cells that HBase returns: neither deleted nor expired, and at most --versions of a column.
Rows without a visible cell are named on stderr.
Exit status: 0 all rows found, 1 a row is absent, or the store is damaged, 2 wrong usage, 3 could not read.")]
pub(crate) struct Get {
    #[command(flatten)]
    directory: Directory,
    /// Row keys: text with \xNN, or hex:…
    #[arg(value_name = "ROW", required_unless_present = "from")]
    rows: Vec<KeyText>,
    /// Read more row keys from this file, one per line; - is stdin
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    #[command(flatten)]
    versions: Versions,
    /// Show all stored cells: delete markers, deleted cells and expired cells too
    #[arg(long)]
    raw: bool,
    #[command(flatten)]
    format: FormatOptions,
}

impl Get {
    /// Prints the cells. The answer is negative if a row was not found.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        // Reports invalid options before the store is opened.
        self.versions.time_range()?;
        let store = self.directory.open_read_only()?;
        let mut rows = self.rows;
        if let Some(path) = &self.from {
            rows.extend(read_rows(path)?);
        }
        let cells_of_rows = if self.raw {
            rows.iter()
                .map(|row| stored_cells(&store, row, &self.versions))
                .collect::<Result<_, _>>()?
        } else {
            let gets = rows.iter().map(|row| self.versions.get(row));
            store.multi_get(&gets.collect::<Result<Vec<_>, _>>()?)?
        };
        let mut output = CellsOutput::new(stdout(), self.format.get()).context(STDOUT)?;
        for cell in cells_of_rows.iter().flatten() {
            output.write(&cell.as_ref()).context(STDOUT)?;
        }
        output.flush().context(STDOUT)?;
        warn_about_filters(&store);
        let found = rows.iter().zip(&cells_of_rows);
        let missing: Vec<_> =
            found.filter(|(_, cells)| cells.is_empty()).map(|(row, _)| row).collect();
        for row in &missing {
            if !self.raw && is_hidden(&store, row, &self.versions)? {
                print_row_is_hidden(row, true);
            } else {
                print_row_not_found(row, true);
            }
        }
        Ok(Answer::from_bool(missing.is_empty()))
    }
}

/// Returns the stored cells of a row: a get has only visible ones, and a scan can have all.
fn stored_cells(store: &Store, row: &KeyText, versions: &Versions) -> anyhow::Result<Vec<Cell>> {
    let mut cells = Vec::new();
    for (family, _) in store.families() {
        for cell in store.scan(raw_scan(&family, row, versions)?)? {
            cells.push(cell?);
        }
    }
    Ok(cells)
}

/// Whether a row without visible cells has cells or delete markers.
fn is_hidden(store: &Store, row: &KeyText, versions: &Versions) -> anyhow::Result<bool> {
    for (family, _) in store.families() {
        if store.scan(raw_scan(&family, row, versions)?)?.next().transpose()?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn raw_scan(family: &str, row: &KeyText, versions: &Versions) -> anyhow::Result<store::Scan> {
    let (min, max) = versions.time_range()?;
    let from_row = store::Scan::family(family).start(row.as_bytes());
    let scan = from_row.stop([row.as_bytes(), b"\0"].concat());
    Ok(scan.versions(versions.count(true)).time_range(min, max).raw(true))
}

/// Reads row keys from a file, one per line; skips empty lines.
fn read_rows(path: &Path) -> anyhow::Result<Vec<KeyText>> {
    let mut rows = Vec::new();
    for (read, number) in transfer::open_keys(path)?.lines().zip(1_u64..) {
        let line = read.with_context(|| {
            format!("{}: cannot read line {number}", transfer::display_name(path))
        })?;
        if !line.is_empty() {
            rows.push(line.parse()?);
        }
    }
    Ok(rows)
}
