//! The table of HBase's bulk load: its regions and its name.

use store::FamilyOptions;

use crate::arguments::key_text::KeyText;
use crate::failure::UsageError;
use crate::text::bulk_load::NewTable;

/// The table that the files are for.
#[derive(clap::Args)]
pub(crate) struct TableOptions {
    /// Start a new file before each of these rows, in ascending order: text with \xNN, or hex:…
    #[arg(long, value_name = "ROW,…", value_delimiter = ',')]
    splits: Vec<KeyText>,
    /// Name this table in the printed commands, which create and load it [default: TABLE]
    #[arg(long, value_name = "TABLE")]
    table: Option<String>,
}

impl TableOptions {
    /// Whether any of the options is given.
    pub(crate) const fn are_given(&self) -> bool {
        !self.splits.is_empty() || self.table.is_some()
    }

    /// Whether the table has a name.
    pub(crate) const fn has_table(&self) -> bool {
        self.table.is_some()
    }

    /// Returns the start rows of the table's regions, except the first region's.
    ///
    /// # Errors
    ///
    /// [`UsageError`] if they are not in ascending order.
    pub(crate) fn splits(&self) -> Result<Vec<Vec<u8>>, UsageError> {
        let splits: Vec<_> = self.splits.iter().map(|row| row.as_bytes().to_vec()).collect();
        match self.splits.windows(2).zip(splits.windows(2)).find(|(_, rows)| rows[0] >= rows[1]) {
            None => Ok(splits),
            Some((shown, _)) => Err(UsageError(format!(
                "--splits must ascend, but {} does not sort before {}",
                shown[0], shown[1]
            ))),
        }
    }

    /// Returns the table with these families and with regions at `splits`.
    pub(crate) fn table<'t>(
        &'t self,
        families: Vec<(String, FamilyOptions)>,
        splits: &'t [Vec<u8>],
    ) -> NewTable<'t> {
        NewTable { name: self.table.as_deref(), families, splits }
    }
}
