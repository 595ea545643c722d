//! Turns predicates on the family and the qualifier of cells into columns to read.

use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};

use crate::literal::{ColumnRef, bytes_of, truth_of};

/// More combinations of families and qualifiers than this are not pushed down.
const PATTERNS_MAX: usize = 256;

/// Cells that can satisfy a predicate: cells of a family, of a qualifier, or of both.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct ColumnPattern {
    /// The family; `None` for all.
    pub(crate) family: Option<Vec<u8>>,
    /// The qualifier; `None` for all.
    pub(crate) qualifier: Option<Vec<u8>>,
}

/// The cells to read: cells of at least one pattern.
pub(crate) type ColumnPatterns = Vec<ColumnPattern>;

/// Returns the columns whose cells can satisfy a predicate; `None` if it does not limit them.
pub(crate) fn read(predicate: &Expr) -> Option<ColumnPatterns> {
    match predicate {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            match (read(left), read(right)) {
                (Some(left), Some(right)) => Some(both(left, &right)),
                (one, other) => one.or(other),
            }
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
            let mut either = read(left)?;
            either.extend(read(right)?);
            either.dedup();
            (either.len() <= PATTERNS_MAX).then_some(either)
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => {
            let pattern = pattern(left, right).or_else(|| pattern(right, left))?;
            Some(vec![pattern])
        }
        Expr::InList(InList { expr, list, negated: false }) if list.len() <= PATTERNS_MAX => {
            list.iter().map(|constant| pattern(expr, constant)).collect()
        }
        _ => truth_of(predicate).and_then(|truth| (!truth).then(Vec::new)),
    }
}

/// Returns the cells that satisfy both of two predicates, or more of them.
pub(crate) fn both(one: ColumnPatterns, other: &[ColumnPattern]) -> ColumnPatterns {
    if one.len().saturating_mul(other.len()) > PATTERNS_MAX {
        return one;
    }
    let pairs = one.iter().flat_map(|one| other.iter().map(move |other| (one, other)));
    let common = pairs.filter_map(|(one, other)| {
        Some(ColumnPattern {
            family: agreed(one.family.as_ref(), other.family.as_ref())?.cloned(),
            qualifier: agreed(one.qualifier.as_ref(), other.qualifier.as_ref())?.cloned(),
        })
    });
    common.collect()
}

/// Returns what satisfies two limits, where `None` is no limit; `None` if nothing does.
#[expect(
    clippy::option_option,
    reason = "the outer one says that the limits contradict each other"
)]
fn agreed<'p>(one: Option<&'p Vec<u8>>, other: Option<&'p Vec<u8>>) -> Option<Option<&'p Vec<u8>>> {
    match (one, other) {
        (Some(one), Some(other)) => (one == other).then_some(Some(one)),
        _ => Some(one.or(other)),
    }
}

/// Returns the cells of `column = constant`.
fn pattern(column: &Expr, constant: &Expr) -> Option<ColumnPattern> {
    let column = ColumnRef::of(column, |_| Some(DataType::Binary))?;
    let wanted = bytes_of(constant)?.to_vec();
    match column.name {
        "family" => Some(ColumnPattern { family: Some(wanted), qualifier: None }),
        "qualifier" => Some(ColumnPattern { family: None, qualifier: Some(wanted) }),
        _ => None,
    }
}
