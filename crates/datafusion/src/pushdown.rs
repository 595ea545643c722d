//! What a query's predicates let a scan leave out: rows, columns and times.

use std::collections::HashSet;

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::{Between, InList, Like};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, TableProviderFilterPushDown};
use hfile_arrow::PivotColumn;

use crate::column_filter::{self, ColumnPatterns};
use crate::literal::{is_comparison, is_constant};
use crate::options::{Form, TableOptions};
use crate::row_filter::RowFilters;
use crate::row_set::RowSet;
use crate::source::Source;
use crate::time_filter::TimeFilter;

/// The maximum number of ranges of rows of one query. Each range is a scan of its own.
const RANGES_MAX: usize = 64;

/// What the predicates of a query leave to read.
#[derive(Clone, Debug)]
pub(crate) struct Pushdown {
    pub(crate) rows: RowSet,
    /// The cells to read; `None` for all.
    pub(crate) columns: Option<ColumnPatterns>,
    /// The times to read; `None` for all.
    pub(crate) times: Option<TimeFilter>,
    /// In a pivot: each row of the answer has a value in at least one of these columns. `None` if a row
    /// of the answer may have a value in none of the columns that the predicates name.
    pub(crate) one_of: Option<HashSet<String>>,
}

/// What one predicate leaves to read.
struct OneFilter {
    pushdown: Pushdown,
    support: TableProviderFilterPushDown,
}

impl Pushdown {
    /// Returns what all of `filters` leave to read.
    pub(crate) fn of(source: &Source, options: &TableOptions, filters: &[Expr]) -> Self {
        let mut all = Self { rows: RowSet::all(), columns: None, times: None, one_of: None };
        for filter in filters {
            let one = OneFilter::read(source, options, filter).pushdown;
            all.rows = all.rows.intersection(&one.rows);
            all.columns = match (all.columns, one.columns) {
                (Some(all), Some(one)) => Some(column_filter::both(all, &one)),
                (all, one) => all.or(one),
            };
            all.times = match (all.times, one.times) {
                (Some(all), Some(one)) => Some(all.intersection(one)),
                (all, one) => all.or(one),
            };
            // If two predicates each need a value, the columns of the first are enough.
            all.one_of = all.one_of.or(one.one_of);
        }
        all
    }

    /// Returns whether the scan applies `filter` exactly, in part, or not at all.
    pub(crate) fn support(
        source: &Source,
        options: &TableOptions,
        filter: &Expr,
    ) -> TableProviderFilterPushDown {
        OneFilter::read(source, options, filter).support
    }

    /// Returns whether nothing is left to read.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.ranges().is_empty()
            || self.columns.as_ref().is_some_and(Vec::is_empty)
            || self.times.is_some_and(TimeFilter::is_empty)
    }
}

impl OneFilter {
    fn read(source: &Source, options: &TableOptions, filter: &Expr) -> Self {
        let (rows, has_exact_rows) = rows(source, options, filter);
        let (mut columns, mut times, mut one_of) = (None, None, None);
        match &options.form {
            Form::Cells => {
                columns = column_filter::read(filter);
                // In a scan that is not raw, or has a maximum of versions, a version counts only if its
                // time is in the range, so that a range would show older versions.
                if options.raw
                    && options.versions == u32::MAX
                    && let Some(shown) = source.plain_times()
                {
                    times = TimeFilter::read(filter, &shown);
                }
            }
            Form::Pivot { columns, .. } => {
                let names: HashSet<_> = columns.iter().map(PivotColumn::to_string).collect();
                one_of = needs_value(filter, &names).then(|| referenced(filter, &names));
            }
        }
        let limits = rows.is_some() || columns.is_some() || times.is_some() || one_of.is_some();
        let support = if has_exact_rows || times.is_some_and(|times| times.is_exact) {
            TableProviderFilterPushDown::Exact
        } else if limits {
            TableProviderFilterPushDown::Inexact
        } else {
            TableProviderFilterPushDown::Unsupported
        };
        let rows = rows.unwrap_or_else(RowSet::all);
        Self { pushdown: Pushdown { rows, columns, times, one_of }, support }
    }
}

/// Returns the rows that can satisfy a filter, and whether all their cells do.
fn rows(source: &Source, options: &TableOptions, filter: &Expr) -> (Option<RowSet>, bool) {
    if !source.has_rows_in_byte_order() {
        return (None, false);
    }
    let Some(found) = RowFilters::new(options.row_type).read(filter) else { return (None, false) };
    let is_exact = found.is_exact && found.rows.ranges().len() <= RANGES_MAX;
    let rows = found.rows.coarsened(RANGES_MAX);
    if rows.is_all() && !is_exact {
        return (None, false);
    }
    (Some(rows), is_exact)
}

/// Returns whether `filter` is true only for rows that have a value in a column that it names.
fn needs_value(filter: &Expr, names: &HashSet<String>) -> bool {
    let is_column = |expression: &Expr| {
        let column = match expression {
            Expr::Cast(cast) => &cast.expr,
            _ => expression,
        };
        matches!(column, Expr::Column(column) if column_of(&column.name, names).is_some())
    };
    match filter {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            needs_value(left, names) || needs_value(right, names)
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
            needs_value(left, names) && needs_value(right, names)
        }
        // With null, a comparison is null, and so is its negation.
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_comparison(*op) => {
            is_column(left) && is_constant(right) || is_constant(left) && is_column(right)
        }
        Expr::IsNotNull(inner) => is_column(inner),
        Expr::Like(Like { expr, .. }) | Expr::Between(Between { expr, .. }) => is_column(expr),
        Expr::InList(InList { expr, list, .. }) => !list.is_empty() && is_column(expr),
        _ => false,
    }
}

/// Returns the columns that a filter names.
fn referenced(filter: &Expr, names: &HashSet<String>) -> HashSet<String> {
    let mut found = HashSet::new();
    let visited = filter.apply(|expression| {
        if let Expr::Column(column) = expression
            && let Some(name) = column_of(&column.name, names)
        {
            found.insert(name.to_owned());
        }
        Ok(TreeNodeRecursion::Continue)
    });
    debug_assert!(visited.is_ok(), "the closure never fails");
    found
}

/// Returns the column whose value or timestamp has this name.
pub(crate) fn column_of<'n>(name: &'n str, names: &HashSet<String>) -> Option<&'n str> {
    let time_of = || name.strip_suffix(TIMESTAMP_SUFFIX).filter(|column| names.contains(*column));
    if names.contains(name) { Some(name) } else { time_of() }
}

/// The end of the name of a column that has the timestamps of another column.
const TIMESTAMP_SUFFIX: &str = ":timestamp";
