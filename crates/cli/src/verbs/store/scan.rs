//! `hfile store scan`: prints the visible cells of families, row by row.

use anyhow::Context;
use sstable::Timestamp;
use transfer::CellsOutput;

use super::directory::{Directory, warn_about_filters};
use super::versions::Versions;
use crate::arguments::format_options::FormatOptions;
use crate::arguments::given::Given;
use crate::arguments::key_text::KeyText;
use crate::failure::Answer;
use crate::text::output::{STDOUT, stdout};

/// Print the visible cells of one family, or of each family in turn.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile store scan DIR --limit 10
  hfile store scan DIR f --start row1 --stop row2 --versions 3
  hfile store scan DIR f --prefix user. --qualifier name --qualifier mail
  hfile store scan DIR f --value-contains Ada
  hfile store scan DIR f --raw --format cells

Visible cells are the cells that HBase returns: neither deleted nor expired, and at most --versions of a column.
With --value-contains, --versions counts only the cells that contain the bytes, among the versions that the
family keeps.
Exit status: 0 all printed, 1 the store is damaged, 2 wrong usage, 3 could not read.")]
pub(crate) struct Scan {
    #[command(flatten)]
    directory: Directory,
    /// Column family [default: all]
    family: Option<String>,
    /// Start at this row, which is printed: text with \xNN, or hex:…
    #[arg(long, value_name = "ROW")]
    start: Option<KeyText>,
    /// Stop before this row, which is not printed
    #[arg(long, value_name = "ROW")]
    stop: Option<KeyText>,
    /// Print only rows that begin with this: text with \xNN, or hex:…
    #[arg(long, value_name = "PREFIX")]
    prefix: Option<KeyText>,
    /// Print only this column: text with \xNN, or hex:…; repeatable
    #[arg(long, value_name = "QUALIFIER")]
    qualifier: Vec<KeyText>,
    /// Print only columns whose qualifier begins with this
    #[arg(long, value_name = "PREFIX")]
    qualifier_prefix: Option<KeyText>,
    /// Print only cells whose value contains these bytes: text with \xNN, or hex:…
    #[arg(long, value_name = "BYTES")]
    value_contains: Option<KeyText>,
    /// Print rows in descending order, from the greatest row or --start
    #[arg(long)]
    reverse: bool,
    #[command(flatten)]
    versions: Versions,
    /// Show all stored cells: delete markers, deleted cells and expired cells too
    #[arg(long)]
    raw: bool,
    /// Print at most this many cells, of all families together
    #[arg(long, value_name = "CELLS")]
    limit: Option<u64>,
    #[command(flatten)]
    format: FormatOptions,
}

impl Scan {
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        let time_range = self.versions.time_range()?;
        let store = self.directory.open_read_only()?;
        let families = Directory::families(&store, self.family.as_deref())?;
        let mut output = CellsOutput::new(stdout(), self.format.get()).context(STDOUT)?;
        let mut remaining = self.limit.unwrap_or(u64::MAX);
        for family in &families {
            for cell in store.scan(self.request(family, time_range))? {
                if remaining == 0 {
                    break;
                }
                remaining -= 1;
                output.write(&cell?.as_ref()).context(STDOUT)?;
            }
        }
        output.flush().context(STDOUT)?;
        warn_about_filters(&store);
        Ok(Answer::Positive)
    }

    fn request(&self, family: &str, (min, max): (Timestamp, Timestamp)) -> store::Scan {
        let bytes = |text: &Option<KeyText>| text.as_ref().map(|text| text.as_bytes().to_vec());
        let scan = store::Scan::family(family)
            .versions(self.versions.count(self.raw))
            .time_range(min, max)
            .raw(self.raw)
            .reverse(self.reverse)
            .given(bytes(&self.start), store::Scan::start)
            .given(bytes(&self.stop), store::Scan::stop)
            .given(bytes(&self.prefix), store::Scan::prefix)
            .given(bytes(&self.qualifier_prefix), store::Scan::qualifier_prefix)
            .given(bytes(&self.value_contains), store::Scan::value_contains);
        self.qualifier.iter().map(KeyText::as_bytes).fold(scan, store::Scan::column)
    }
}
