//! Turns predicates on the timestamp of cells into a range of times.

use std::ops::Range;

use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::expr::Between;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};

use crate::literal::{ColumnRef, integer_of};

/// The timestamps of the cells that can satisfy a predicate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct TimeFilter {
    /// The least timestamp.
    pub(crate) min: i64,
    /// The timestamp before which all are.
    pub(crate) max: i64,
    /// Whether all cells that the source shows of this range satisfy the predicate.
    pub(crate) is_exact: bool,
}

impl TimeFilter {
    /// Returns the times that can satisfy a predicate; `None` if it does not limit them.
    ///
    /// `shown` are the times that the source shows without the predicate: the range is within them,
    /// so that the scan shows no other cells either.
    pub(crate) fn read(predicate: &Expr, shown: &Range<i64>) -> Option<Self> {
        let compare = |column, op, constant| compare(column, op, constant, shown);
        match predicate {
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
                match (Self::read(left, shown), Self::read(right, shown)) {
                    (Some(left), Some(right)) => Some(left.intersection(right)),
                    (one, other) => one.or(other).map(|one| Self { is_exact: false, ..one }),
                }
            }
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
                compare(left, *op, right).or_else(|| compare(right, op.swap()?, left))
            }
            Expr::Between(Between { expr, negated: false, low, high }) => {
                let low = compare(expr, Operator::GtEq, low)?;
                Some(low.intersection(compare(expr, Operator::LtEq, high)?))
            }
            _ => None,
        }
    }

    /// Returns the times of both ranges.
    pub(crate) fn intersection(self, other: Self) -> Self {
        Self {
            min: self.min.max(other.min),
            max: self.max.min(other.max),
            is_exact: self.is_exact && other.is_exact,
        }
    }

    /// Returns whether the range has no times.
    pub(crate) const fn is_empty(self) -> bool {
        self.min >= self.max
    }
}

/// Returns the times of `timestamp op constant`, within `shown`.
fn compare(column: &Expr, op: Operator, constant: &Expr, shown: &Range<i64>) -> Option<TimeFilter> {
    ColumnRef::of(column, |_| Some(DataType::Int64)).filter(|column| column.name == "timestamp")?;
    let time = integer_of(constant)?;
    let (min, max) = match op {
        Operator::Eq => (time, time.saturating_add(1)),
        Operator::Lt => (i128::MIN, time),
        Operator::LtEq => (i128::MIN, time.saturating_add(1)),
        Operator::Gt => (time.saturating_add(1), i128::MAX),
        Operator::GtEq => (time, i128::MAX),
        _ => return None,
    };
    let within = |time: i128| {
        // Not `clamp`, which panics if the source shows no times.
        i64::try_from(time.max(shown.start.into()).min(shown.end.into())).ok()
    };
    Some(TimeFilter { min: within(min)?, max: within(max)?, is_exact: true })
}
