//! Maps the columns of CSV or of record batches to parts of cells, by the options.
//!
//! ```text
//! names      id , name        , info:age          row: id, column: name=info:name, types: info:age=int32
//! record     7  , Ann         , 41
//! cells      7/info:age=\x00\x00\x00\x29   7/info:name=Ann
//! ```
//!
//! The cells of a record are in HBase's order, so that records with ascending rows need no sorting.

use std::collections::BTreeSet;
use std::fmt::Display;

use cells::{ValueType, check_family_name, escape, parse_time, unescape};
use sstable::{KeyRef, Timestamp};

use super::options::ColumnOptions;
use crate::option_problem::{InputOption, OptionProblem};

/// A mapping of named columns to cells.
#[derive(Debug)]
pub(crate) struct Mapping {
    /// The names of all columns.
    pub(crate) names: Vec<String>,
    /// The indexes of the columns of the row key.
    pub(crate) row: Vec<usize>,
    /// What is between them in a row key.
    pub(crate) row_separator: Vec<u8>,
    /// The type of each part of the row key.
    pub(crate) row_type: Option<ValueType>,
    /// Where the timestamps come from.
    pub(crate) timestamp: TimestampSource,
    /// The columns that become cells, by family and qualifier.
    pub(crate) values: Vec<ValueColumn>,
}

/// Where the timestamps of cells come from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TimestampSource {
    /// All cells have this one.
    Fixed(Timestamp),
    /// This column has them.
    Column(usize),
}

/// A column whose fields become cells.
#[derive(Debug)]
pub(crate) struct ValueColumn {
    /// Its index among the names.
    pub(crate) at: usize,
    /// The family of its cells.
    pub(crate) family: Vec<u8>,
    /// The qualifier of its cells.
    pub(crate) qualifier: Vec<u8>,
    /// The type that the options give it.
    pub(crate) value_type: Option<ValueType>,
}

impl ValueColumn {
    /// Creates a column without a given type.
    pub(crate) fn new(at: usize, family: &[u8], qualifier: &[u8]) -> Self {
        Self { at, family: family.to_vec(), qualifier: qualifier.to_vec(), value_type: None }
    }

    fn shown(&self) -> String {
        format!("{}:{}", escape(&self.family), escape(&self.qualifier))
    }
}

impl Mapping {
    /// Maps named columns; columns that name no family get `family`.
    ///
    /// `qualifier_of` decodes a qualifier that is a part of a name.
    ///
    /// # Errors
    ///
    /// If the options do not match the columns.
    pub(crate) fn from_names(
        options: &ColumnOptions,
        names: Vec<String>,
        family: Option<&str>,
        now: Timestamp,
        qualifier_of: fn(&str) -> Vec<u8>,
    ) -> Result<Self, OptionProblem> {
        let find = |option, name: &String| {
            position(&names, name).map_err(|what| OptionProblem::value(option, what))
        };
        if options.row.is_empty() {
            return Err(OptionProblem::NoRow(names));
        }
        let of_row = options.row.iter().map(|name| find(InputOption::Row, name));
        let row = of_row.collect::<Result<Vec<_>, _>>()?;
        if row.len() > 1 && options.row_separator.is_none() {
            return Err(OptionProblem::NoRowSeparator);
        }
        let timestamp = timestamp_source(options, &names, now)?;
        let to_ignore = options.ignore.iter().map(|name| find(InputOption::Ignore, name));
        let ignored = to_ignore.collect::<Result<Vec<_>, _>>()?;
        let mut values = Vec::new();
        for column in &options.column {
            let at = find(InputOption::Column, &column.name)?;
            values.push(ValueColumn::new(at, &column.family, &column.qualifier));
        }
        let mut has_other_role: BTreeSet<usize> = row.iter().chain(&ignored).copied().collect();
        has_other_role.extend(values.iter().map(|value| value.at));
        if let TimestampSource::Column(at) = timestamp {
            has_other_role.insert(at);
        }
        let mut without_family = Vec::new();
        for (at, name) in names.iter().enumerate().filter(|(at, _)| !has_other_role.contains(at)) {
            if name.is_empty() {
                return Err(OptionProblem::UnnamedColumn(at + 1));
            }
            let (own_family, qualifier) = match (name.split_once(':'), family) {
                (Some((own_family, qualifier)), _) if !own_family.is_empty() => {
                    check_header_family(name, own_family)?;
                    (own_family, qualifier)
                }
                (_, Some(family)) => (family, name.as_str()),
                _ => {
                    without_family.push(name.clone());
                    continue;
                }
            };
            values.push(ValueColumn::new(at, own_family.as_bytes(), &qualifier_of(qualifier)));
        }
        if !without_family.is_empty() {
            return Err(OptionProblem::NoFamily(without_family));
        }
        Self::new(options, names, row, timestamp, values)
    }

    /// Maps columns whose roles are known.
    ///
    /// # Errors
    ///
    /// If two columns have the same cells, or a type is of an unknown column.
    pub(crate) fn new(
        options: &ColumnOptions,
        names: Vec<String>,
        row: Vec<usize>,
        timestamp: TimestampSource,
        mut values: Vec<ValueColumn>,
    ) -> Result<Self, OptionProblem> {
        if values.is_empty() {
            let what =
                "no column becomes a cell: keys alone are not stored; add a column with a value";
            return Err(OptionProblem::Other(what.to_owned()));
        }
        for value in &values {
            check_family_name(&value.family)
                .map_err(|what| OptionProblem::Other(format!("{}: {what}", value.shown())))?;
        }
        values.sort_by(|one, other| {
            (&one.family, &one.qualifier).cmp(&(&other.family, &other.qualifier))
        });
        let same = values.windows(2).find(|pair| {
            pair[0].family == pair[1].family && pair[0].qualifier == pair[1].qualifier
        });
        if let Some(pair) = same {
            let (first, second) = (pair[0].at.min(pair[1].at), pair[0].at.max(pair[1].at));
            let [one, other] = [first, second].map(|at| &names[at]);
            let what = format!("columns {one} and {other} both map to {}", pair[0].shown());
            return Err(OptionProblem::Other(what));
        }
        for typed in &options.types {
            let known = values
                .iter_mut()
                .find(|value| value.family == typed.family && value.qualifier == typed.qualifier);
            let Some(value) = known else {
                let (family, qualifier) = (escape(&typed.family), escape(&typed.qualifier));
                let columns: Vec<_> = values.iter().map(ValueColumn::shown).collect();
                let list = columns.join(", ");
                let what = format!("no column maps to {family}:{qualifier}; known are {list}");
                return Err(OptionProblem::value(InputOption::Types, what));
            };
            value.value_type = Some(typed.value_type);
        }
        Ok(Self {
            names,
            row,
            row_separator: options.row_separator.as_deref().map_or(Vec::new(), unescape),
            row_type: options.row_type,
            timestamp,
            values,
        })
    }

    /// Returns the names of the columns that are read.
    #[cfg(feature = "arrow")]
    pub(crate) fn used_names(&self) -> Vec<String> {
        let time = match self.timestamp {
            TimestampSource::Fixed(_) => None,
            TimestampSource::Column(at) => Some(at),
        };
        let rest: BTreeSet<usize> = self.values.iter().map(|value| value.at).chain(time).collect();
        self.row.iter().copied().chain(rest).map(|at| self.names[at].clone()).collect()
    }

    /// Returns the families of all cells.
    pub(crate) fn families(&self) -> Vec<Vec<u8>> {
        let families: BTreeSet<_> = self.values.iter().map(|value| value.family.clone()).collect();
        families.into_iter().collect()
    }

    /// Returns the timestamp of all cells, unless a column contains timestamps.
    pub(crate) const fn fixed_timestamp(&self) -> Option<Timestamp> {
        match self.timestamp {
            TimestampSource::Fixed(timestamp) => Some(timestamp),
            TimestampSource::Column(_) => None,
        }
    }
}

/// Returns the timestamp source that the options give.
pub(crate) fn timestamp_source(
    options: &ColumnOptions,
    names: &[String],
    now: Timestamp,
) -> Result<TimestampSource, OptionProblem> {
    let wrong = |what| OptionProblem::value(InputOption::Timestamp, what);
    let text = match options.timestamp.as_deref() {
        None | Some("NOW") => return Ok(TimestampSource::Fixed(now)),
        Some(text) => text,
    };
    if text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() {
        if names.iter().any(|name| name == text) {
            return Err(wrong(format!(
                "{text} could be a column or a time; write column:{text} for the column, or 0{text} for \
                 milliseconds since 1970"
            )));
        }
        return Ok(TimestampSource::Fixed(parse_time(text.as_bytes()).map_err(wrong)?));
    }
    let name = text.strip_prefix("column:").unwrap_or(text);
    match (position(names, name), parse_time(text.as_bytes())) {
        (Ok(at), _) => Ok(TimestampSource::Column(at)),
        (Err(_), Ok(timestamp)) if !names.iter().any(|known| known == name) => {
            Ok(TimestampSource::Fixed(timestamp))
        }
        (Err(what), _) => Err(wrong(format!(
            "{what}; expected a column, NOW, milliseconds since 1970, or an ISO 8601 time"
        ))),
    }
}

/// Returns the index of a column.
fn position(names: &[String], name: &str) -> Result<usize, String> {
    let mut found = names.iter().enumerate().filter(|(_, known)| *known == name);
    match (found.next(), found.next()) {
        (Some((at, _)), None) => Ok(at),
        (Some(_), Some(_)) => Err(format!("two columns are named {name}")),
        (None, _) => Err(format!("no column is named {name}; known are {}", names.join(", "))),
    }
}

/// Adds the column's name to a problem.
pub(crate) fn in_column(name: &str, what: impl Display) -> String {
    format!("column {name:?}: {what}")
}

/// Refuses an empty or too long row.
pub(crate) fn check_row(row: &[u8]) -> Result<(), String> {
    let len = row.len();
    if len == 0 {
        return Err("the row is empty".to_owned());
    }
    if len > KeyRef::ROW_LEN_MAX {
        return Err(format!("a row of {len} bytes exceeds the maximum of {}", KeyRef::ROW_LEN_MAX));
    }
    Ok(())
}

/// Refuses a family in a header that is probably part of the column's name, as in `created at 12:30`.
fn check_header_family(column: &str, family: &str) -> Result<(), OptionProblem> {
    if family.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)) {
        return Ok(());
    }
    Err(OptionProblem::HeaderFamily { column: column.to_owned(), family: family.to_owned() })
}
