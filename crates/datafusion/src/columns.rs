//! The families and columns that a scan reads.

use std::fmt;

use cells::escape;
use hfile_arrow::{BatchScan, PivotColumn};

use crate::column_filter::ColumnPattern;
use crate::source::{Source, SourceFamily};

/// The families and columns that a scan reads.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Columns {
    /// All columns of all families.
    All,
    /// These columns, by ascending family.
    Only(Vec<FamilyColumns>),
}

/// The columns of a family that a scan reads.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct FamilyColumns {
    family: Vec<u8>,
    /// The qualifiers, ascending; `None` for all.
    qualifiers: Option<Vec<Vec<u8>>>,
}

impl Columns {
    /// Returns the columns that have all cells of at least one pattern; all if there are no patterns.
    pub(crate) fn of_cells(source: &Source, patterns: Option<&[ColumnPattern]>) -> Self {
        let Some(patterns) = patterns else { return Self::All };
        let families = source.families().or_else(|| {
            // The columns of an HFile are not limited: its one family is known only to its cells, and
            // a raw scan of named columns leaves out the earlier of two cells with the same key.
            let named: Option<Vec<_>> = patterns.iter().map(|one| one.family.clone()).collect();
            let family = |name| SourceFamily { name, has_plain_columns: false };
            named.map(|names| names.into_iter().map(family).collect())
        });
        let Some(families) = families else { return Self::All };
        let mut only: Vec<_> = families
            .into_iter()
            .filter_map(|family| {
                let of_family = |pattern: &&ColumnPattern| {
                    pattern.family.as_ref().is_none_or(|wanted| *wanted == family.name)
                };
                let of_family: Vec<_> = patterns.iter().filter(of_family).collect();
                if of_family.is_empty() {
                    return None;
                }
                let qualifiers = of_family.into_iter().map(|one| one.qualifier.clone());
                let qualifiers = qualifiers.collect::<Option<Vec<_>>>().map(sorted);
                let qualifiers = qualifiers.filter(|_| family.has_plain_columns);
                Some(FamilyColumns { family: family.name, qualifiers })
            })
            .collect();
        only.sort_by(|one, other| one.family.cmp(&other.family));
        only.dedup();
        Self::Only(only)
    }

    /// Returns these columns.
    pub(crate) fn named<'c>(columns: impl Iterator<Item = &'c PivotColumn>) -> Self {
        let mut only: Vec<FamilyColumns> = Vec::new();
        for column in columns {
            match only.iter_mut().find(|known| known.family == column.family) {
                Some(FamilyColumns { qualifiers: Some(qualifiers), .. }) => {
                    qualifiers.push(column.qualifier.clone());
                }
                _ => only.push(FamilyColumns {
                    family: column.family.clone(),
                    qualifiers: Some(vec![column.qualifier.clone()]),
                }),
            }
        }
        for family in &mut only {
            family.qualifiers = family.qualifiers.take().map(sorted);
        }
        only.sort_by(|one, other| one.family.cmp(&other.family));
        Self::Only(only)
    }

    /// Returns whether there are no columns to read.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Only(families) if families.is_empty())
    }

    /// Returns a scan that reads these columns.
    pub(crate) fn select(&self, scan: BatchScan) -> BatchScan {
        let Self::Only(families) = self else { return scan };
        families.iter().fold(scan, |scan, FamilyColumns { family, qualifiers }| match qualifiers {
            None => scan.family(family),
            Some(qualifiers) => {
                qualifiers.iter().fold(scan, |scan, qualifier| scan.column(family, qualifier))
            }
        })
    }
}

fn sorted(mut names: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    names.sort_unstable();
    names.dedup();
    names
}

impl fmt::Display for Columns {
    /// Writes `f`, `f:q` or `*`, separated by commas, with HBase's escapes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Only(families) = self else { return write!(f, "*") };
        let mut separator = "";
        for FamilyColumns { family, qualifiers } in families {
            let family = escape(family);
            match qualifiers {
                None => write!(f, "{separator}{family}")?,
                Some(qualifiers) => {
                    for qualifier in qualifiers {
                        write!(f, "{separator}{family}:{}", escape(qualifier))?;
                        separator = ", ";
                    }
                }
            }
            separator = ", ";
        }
        Ok(())
    }
}
