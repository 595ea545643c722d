//! Runs a verb for one, several or all tables or snapshots of a root directory.

use anyhow::bail;
use hbase_files::RootDirectory;

use super::place::{NamedPlaces, NamedTable};
use crate::failure::Answer;
use crate::inputs::Outcomes;
use crate::text::warnings::Told;

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

    /// Runs `work` for each table or snapshot, as [`for_each`](Self::for_each) does.
    pub(super) fn for_each_named<P: NamedPlaces>(
        &self,
        places: &P,
        mut work: impl FnMut(&NamedTable, &mut Told) -> anyhow::Result<Answer>,
    ) -> anyhow::Result<Answer> {
        self.for_each(|name, told| work(&places.open_named(&self.root, name, told)?, told))
    }

    /// Runs `work` for each name, and combines the answers. Continues after a name that fails.
    ///
    /// # Errors
    ///
    /// If one could not be read, even if the answer for another is negative.
    pub(super) fn for_each(
        &self,
        mut work: impl FnMut(&str, &mut Told) -> anyhow::Result<Answer>,
    ) -> anyhow::Result<Answer> {
        let mut told = Told::default();
        if let Some(name) = &self.only {
            return work(name, &mut told);
        }
        let mut outcomes = Outcomes::default();
        for name in &self.names {
            outcomes.record(work(name, &mut told))?;
        }
        outcomes.conclude(self.names.len(), self.unit)
    }
}
