//! `hfile snapshot export` and `hfile table export`: write the cells of tables to files, by region.

use std::path::{Path, PathBuf};

use transfer::TableSource;

use super::place::{OpenTable, Places};
use super::several::Selected;
use crate::arguments::cell_options::CellOptions;
use crate::arguments::export::ExportArguments;
use crate::arguments::row_options::RowOptions;
use crate::failure::Answer;
use crate::text::export_report::ExportReport;
use crate::text::output::ReportFormat;
use crate::text::progress::Shown;
use crate::text::warnings::{print_missing, print_old_log_cells};

// The doc comments and the examples stand with the nouns, in `snapshot.rs` and `table.rs`.
#[derive(clap::Args)]
pub(crate) struct Export<P: Places> {
    #[command(flatten)]
    place: P,
    #[command(flatten)]
    export: ExportArguments,
    #[command(flatten)]
    rows: RowOptions,
    #[command(flatten)]
    cells: CellOptions,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl<P: Places> Export<P> {
    /// Writes the files. The answer is negative if cells are missing.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let mut selected = Selected::of(self.place.named())?;
        selected.leave_out_tables_of_hbase("exported", "export");
        let is_one = selected.only.is_some();
        selected.for_each(|name, printed| {
            let open = self.place.open_one(&selected.root, name, printed)?;
            let parent = &self.export.output;
            let output = if is_one { parent.clone() } else { parent.join(directory_name(name)) };
            self.export(open, &output)
        })
    }

    fn export(&self, open: OpenTable, output: &Path) -> anyhow::Result<Answer> {
        self.rows.check(open.table.row_order())?;
        let mut scan = open.scan(&self.cells)?;
        let OpenTable { table, snapshot, .. } = open;
        self.rows.limit(&mut scan);
        let form = self.export.form.form(&mut scan)?;
        let format = form.format;
        let exported = TableSource::new(&table, snapshot).export(scan, form, output, &Shown)?;
        print_missing(&exported.missing);
        print_old_log_cells(&exported.old_log_cells);
        self.cells.explain(&exported.trace);
        let report = ExportReport::new(output, format, &exported).with_table(&table);
        self.report_format.print(&report)?;
        Ok(Answer::from_bool(exported.is_whole))
    }
}

/// Returns the directory of a table or a snapshot below the output: its name, with `=` in place of `:`,
/// which HDFS does not allow in names.
pub(super) fn directory_name(name: &str) -> PathBuf {
    name.replace(':', "=").into()
}
