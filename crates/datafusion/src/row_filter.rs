//! Turns predicates on the row key into ranges of rows.
//!
//! | predicate                         | rows                                   |
//! |-----------------------------------|----------------------------------------|
//! | `row = x`                         | `x..x\0`                               |
//! | `row < x`, `row <= x`             | `..x`, `..x\0`                         |
//! | `row >= x`, `row > x`             | `x..`, `x\0..`                         |
//! | `BETWEEN`, `IN`, `<>`             | unions and intersections of these      |
//! | `row LIKE 'x%'`                   | the rows that begin with `x`           |
//! | `row LIKE 'x%y'`, `row LIKE 'x_'` | the same; DataFusion checks each row   |
//! | `AND`, `OR`, `NOT`                | intersection, union, complement        |
//!
//! Bytes and text are compared byte by byte, by HBase and by DataFusion. Integers are stored in
//! two's complement, so that HBase sorts negative ones after the others: a range of integers is one or
//! two ranges of rows. Floats and truth values are not pushed down: several byte strings are equal
//! values (0.0 and −0.0, all bytes but zero), and NaN has an order of its own.

use std::cmp::Ordering;

use cells::ValueType;
use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::logical_expr::expr::{Between, InList, Like};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};

use crate::literal::{ColumnRef, bytes_of, integer_of, is_comparison, truth_of};
use crate::row_set::{RowSet, row_after};

/// The name of the column of row keys.
pub(crate) const ROW: &str = "row";

/// The rows that can satisfy a predicate.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct RowFilter {
    pub(crate) rows: RowSet,
    /// Whether all cells of these rows satisfy the predicate.
    pub(crate) is_exact: bool,
}

/// Reads predicates on row keys of one type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowFilters {
    row_type: ValueType,
}

/// A constant with which a row key is compared.
enum Key<'e> {
    Bytes(&'e [u8]),
    Integer(i128),
}

impl RowFilter {
    const fn exact(rows: RowSet) -> Self {
        Self { rows, is_exact: true }
    }
}

impl RowFilters {
    pub(crate) const fn new(row_type: ValueType) -> Self {
        Self { row_type }
    }

    /// Returns the rows that can satisfy a predicate; `None` if it does not limit the rows.
    pub(crate) fn read(self, predicate: &Expr) -> Option<RowFilter> {
        if let Some(truth) = truth_of(predicate) {
            return Some(RowFilter::exact(if truth { RowSet::all() } else { RowSet::empty() }));
        }
        match predicate {
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
                match (self.read(left), self.read(right)) {
                    (Some(left), Some(right)) => Some(RowFilter {
                        rows: left.rows.intersection(&right.rows),
                        is_exact: left.is_exact && right.is_exact,
                    }),
                    (one, other) => one.or(other).map(|one| RowFilter { is_exact: false, ..one }),
                }
            }
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
                let (left, right) = (self.read(left)?, self.read(right)?);
                let is_exact = left.is_exact && right.is_exact;
                Some(RowFilter { rows: left.rows.union(right.rows), is_exact })
            }
            Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_comparison(*op) => {
                self.compare(left, *op, right).or_else(|| self.compare(right, op.swap()?, left))
            }
            Expr::Not(inner) => complement(&self.read(inner)?),
            Expr::Between(between) => self.between(between),
            Expr::InList(list) => self.in_list(list),
            Expr::Like(like) => self.like(like),
            _ => None,
        }
    }

    /// Returns the rows of `row op constant`.
    fn compare(self, column: &Expr, op: Operator, constant: &Expr) -> Option<RowFilter> {
        let column = self.row(column)?;
        let rows = match self.key(constant)? {
            Key::Bytes(bytes) => bytes_compared(op, bytes)?,
            Key::Integer(number) => self.integers_compared(op, number)?,
        };
        Some(RowFilter { rows, is_exact: !column.is_text_of_bytes })
    }

    fn between(self, between: &Between) -> Option<RowFilter> {
        let Between { expr, negated, low, high } = between;
        let low = self.compare(expr, Operator::GtEq, low)?;
        let high = self.compare(expr, Operator::LtEq, high)?;
        let is_exact = low.is_exact && high.is_exact;
        let inside = RowFilter { rows: low.rows.intersection(&high.rows), is_exact };
        if *negated { complement(&inside) } else { Some(inside) }
    }

    fn in_list(self, in_list: &InList) -> Option<RowFilter> {
        let InList { expr, list, negated } = in_list;
        let mut found = RowFilter::exact(RowSet::empty());
        for constant in list {
            let one = self.compare(expr, Operator::Eq, constant)?;
            found.rows = found.rows.union(one.rows);
            found.is_exact &= one.is_exact;
        }
        if *negated { complement(&found) } else { Some(found) }
    }

    fn like(self, like: &Like) -> Option<RowFilter> {
        let Like { negated, expr, pattern, escape_char, case_insensitive } = like;
        let column = self.row(expr)?;
        let has_bytes = matches!(self.row_type, ValueType::String | ValueType::BinaryHex);
        if *case_insensitive || escape_char.is_some_and(|escape| escape != '\\') || !has_bytes {
            return None;
        }
        let pattern = bytes_of(pattern)?;
        let special = pattern.iter().position(|byte| matches!(byte, b'%' | b'_' | b'\\'));
        let (prefix, rest) = pattern.split_at(special.unwrap_or(pattern.len()));
        let found = match rest {
            [] => RowFilter::exact(RowSet::row(prefix)),
            [b'%'] => RowFilter::exact(RowSet::prefix(prefix)),
            _ => RowFilter { rows: RowSet::prefix(prefix), is_exact: false },
        };
        let found = RowFilter { is_exact: found.is_exact && !column.is_text_of_bytes, ..found };
        if *negated { complement(&found) } else { Some(found) }
    }

    /// Returns the column of row keys, if the expression is that column.
    fn row(self, expression: &Expr) -> Option<ColumnRef<'_>> {
        let data_type = |name: &str| (name == ROW).then(|| self.data_type());
        ColumnRef::of(expression, data_type).filter(|column| column.name == ROW)
    }

    fn data_type(self) -> DataType {
        match self.row_type {
            ValueType::String => DataType::Utf8,
            ValueType::Int8 => DataType::Int8,
            ValueType::Int16 => DataType::Int16,
            ValueType::Int32 => DataType::Int32,
            ValueType::Int64 => DataType::Int64,
            ValueType::Float32 => DataType::Float32,
            ValueType::Float64 => DataType::Float64,
            ValueType::Bool => DataType::Boolean,
            ValueType::Timestamp => DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
            ValueType::Date => DataType::Date32,
            ValueType::Decimal(decimal) => {
                DataType::Decimal128(decimal.precision(), decimal.scale().cast_signed())
            }
            ValueType::BinaryHex => DataType::Binary,
        }
    }

    fn key(self, constant: &Expr) -> Option<Key<'_>> {
        match self.row_type {
            ValueType::String | ValueType::BinaryHex => bytes_of(constant).map(Key::Bytes),
            ValueType::Int8 | ValueType::Int16 | ValueType::Int32 | ValueType::Int64 => {
                integer_of(constant).map(Key::Integer)
            }
            ValueType::Float32
            | ValueType::Float64
            | ValueType::Bool
            | ValueType::Timestamp
            | ValueType::Date
            | ValueType::Decimal(_) => None,
        }
    }

    /// Returns the rows of the integers for which `integer op number`.
    fn integers_compared(self, op: Operator, number: i128) -> Option<RowSet> {
        let (min, max) = (i128::MIN, i128::MAX);
        Some(match op {
            Operator::Eq => self.integers(number, number),
            Operator::NotEq => self.integers(number, number).complement(),
            Operator::Lt => self.integers(min, number.saturating_sub(1)),
            Operator::LtEq => self.integers(min, number),
            Operator::Gt => self.integers(number.saturating_add(1), max),
            Operator::GtEq => self.integers(number, max),
            _ => return None,
        })
    }

    /// Returns the rows of the integers from `min` to `max`, which is among them.
    fn integers(self, min: i128, max: i128) -> RowSet {
        let bits = match self.row_type {
            ValueType::Int8 => 8,
            ValueType::Int16 => 16,
            ValueType::Int32 => 32,
            _ => 64,
        };
        let (least, greatest) = (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1);
        let row = |number: i128| number.to_be_bytes()[16 - bits / 8..].to_vec();
        let range = |min: i128, max: i128| match min.cmp(&max) {
            Ordering::Greater => RowSet::empty(),
            _ => RowSet::from(row(min), Some(row_after(&row(max)))),
        };
        range(min.max(0), max.min(greatest)).union(range(min.max(least), max.min(-1)))
    }
}

/// Returns the rows for which `row op bytes`.
fn bytes_compared(op: Operator, bytes: &[u8]) -> Option<RowSet> {
    Some(match op {
        Operator::Eq => RowSet::row(bytes),
        Operator::NotEq => RowSet::row(bytes).complement(),
        Operator::Lt => RowSet::from(Vec::new(), Some(bytes.to_vec())),
        Operator::LtEq => RowSet::from(Vec::new(), Some(row_after(bytes))),
        Operator::Gt => RowSet::from(row_after(bytes), None),
        Operator::GtEq => RowSet::from(bytes.to_vec(), None),
        _ => return None,
    })
}

/// Returns the rows that do not satisfy a predicate; `None` if that is not known.
///
/// A row key is never null, so each row satisfies the predicate or its negation.
fn complement(filter: &RowFilter) -> Option<RowFilter> {
    filter.is_exact.then(|| RowFilter::exact(filter.rows.complement()))
}
