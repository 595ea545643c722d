//! Runs a verb for one, several or all tables or snapshots of a root directory.

use anyhow::bail;
use hbase_files::{FormerTable, RootDirectory, TableName};

use super::place::{NamedPlaces, NamedTable};
use crate::failure::Answer;
use crate::inputs::Outcomes;
use crate::text::stderr::print_message;
use crate::text::warnings::PrintedWarnings;

/// The tables or snapshots of a run: their root directory and their names.
pub(super) struct Selected {
    pub(super) root: RootDirectory,
    pub(super) names: Vec<String>,
    /// The name, if the arguments give exactly one. Its report is detailed.
    pub(super) only: Option<String>,
    /// Whether the names are all that the root directory has.
    pub(super) is_all: bool,
    unit: &'static str,
}

impl Selected {
    /// Opens the root directory, and lists its names if none is given.
    pub(super) fn of<P: NamedPlaces>(places: &P) -> anyhow::Result<Self> {
        let root = places.root()?;
        let given = places.given();
        let names = if given.is_empty() { places.all(&root)? } else { given.to_vec() };
        if names.is_empty() {
            bail!("{}: no {}s", root.path().display(), P::UNIT);
        }
        let only = if let [name] = given { Some(name.clone()) } else { None };
        Ok(Self { root, names, only, is_all: given.is_empty(), unit: P::UNIT })
    }

    /// Leaves out `hbase:meta` and the other tables that HBase has for itself if no table is named, and says so.
    pub(super) fn leave_out_tables_of_hbase(&mut self, done: &str, verb: &str) {
        if !self.is_all || self.unit != "table" {
            return;
        }
        let of_hbase = self.names.extract_if(.., |name| {
            name.parse::<TableName>().is_ok_and(|table| table.namespace() == "hbase")
        });
        let left_out = of_hbase.collect::<Vec<_>>().join(", ");
        if !left_out.is_empty() {
            print_message(format_args!(
                "hfile: not {done}: {left_out}: tables that HBase has for itself; name them to {verb} them"
            ));
        }
    }

    /// Says which tables `done` leaves out if no table is named: tables that are gone but have left some files.
    pub(super) fn tell_former_tables(&self, done: &str) -> anyhow::Result<()> {
        if !self.is_all || self.unit != "table" {
            return Ok(());
        }
        let former = self.root.former_tables()?;
        let (logs, files): (Vec<_>, Vec<_>) =
            former.into_iter().partition(|table| table.place == FormerTable::RECOVERED_EDITS);
        let archived = "archived files are left; hfile snapshot reads them if a snapshot has them";
        let recovered = "recovered edits are left; hfile wal reads them";
        for (tables, left) in [(files, archived), (logs, recovered)] {
            let mut names: Vec<String> =
                tables.iter().map(|table| table.name.to_string()).collect();
            names.dedup();
            if !names.is_empty() {
                let list = names.join(", ");
                print_message(format_args!("hfile: not {done}: {list}: gone, only {left}"));
            }
        }
        Ok(())
    }

    /// Runs `work` for each table or snapshot, as [`for_each`](Self::for_each) does.
    pub(super) fn for_each_named<P: NamedPlaces>(
        &self,
        places: &P,
        mut work: impl FnMut(&NamedTable, &mut PrintedWarnings) -> anyhow::Result<Answer>,
    ) -> anyhow::Result<Answer> {
        self.for_each(|name, printed| work(&places.open_named(&self.root, name, printed)?, printed))
    }

    /// Runs `work` for each name, and combines the answers. Continues after a name that fails.
    ///
    /// # Errors
    ///
    /// If one could not be read, even if the answer for another is negative.
    pub(super) fn for_each(
        &self,
        mut work: impl FnMut(&str, &mut PrintedWarnings) -> anyhow::Result<Answer>,
    ) -> anyhow::Result<Answer> {
        let mut printed = PrintedWarnings::default();
        if let Some(name) = &self.only {
            return work(name, &mut printed);
        }
        let mut outcomes = Outcomes::default();
        for name in &self.names {
            outcomes.record(work(name, &mut printed))?;
        }
        outcomes.conclude(self.names.len(), self.unit)
    }
}
