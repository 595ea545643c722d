//! `hfile snapshot export` and `hfile table export`: write the cells of a table to files, by region.

use transfer::TableSource;

use super::place::{OpenTable, Place};
use crate::arguments::cell_options::CellOptions;
use crate::arguments::export::ExportArguments;
use crate::arguments::row_options::RowOptions;
use crate::failure::Answer;
use crate::text::export_report::ExportReport;
use crate::text::output::ReportFormat;
use crate::text::progress::Shown;
use crate::text::warnings::{print_missing, print_old_log_cells};

// The doc comments and the examples are those of the nouns, `snapshot.rs` and `table.rs`.
#[derive(clap::Args)]
pub(crate) struct Export<P: Place> {
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

impl<P: Place> Export<P> {
    /// Writes the files. The answer is negative if cells are missing.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let open = self.place.open()?;
        self.rows.check(open.table.row_order())?;
        let mut scan = open.scan(&self.cells)?;
        let OpenTable { table, snapshot, .. } = open;
        self.rows.limit(&mut scan);
        let form = self.export.form.form(&mut scan)?;
        let (output, format) = (&self.export.output, form.format);
        let exported = TableSource::new(&table, snapshot).export(scan, form, output, &Shown)?;
        print_missing(&exported.missing);
        print_old_log_cells(&exported.old_log_cells);
        self.cells.explain(&exported.trace);
        self.report_format.print(&ExportReport::new(output, format, &exported))?;
        Ok(Answer::from_bool(exported.is_whole))
    }
}
