//! Columns and constants in expressions, as the predicates that are pushed down have them.

use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::{Expr, Operator};
use datafusion::scalar::ScalarValue;

/// A reference to a column.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ColumnRef<'e> {
    /// The name of the column.
    pub(crate) name: &'e str,
    /// Whether the expression casts bytes to text, which fails for bytes that are no UTF-8.
    ///
    /// DataFusion makes such casts where bytes are compared with text.
    pub(crate) is_text_of_bytes: bool,
}

impl<'e> ColumnRef<'e> {
    /// Returns the column of an expression that is a column, or a cast of one that keeps the order.
    ///
    /// `data_type` returns the type of a column.
    pub(crate) fn of(
        expression: &'e Expr,
        data_type: impl Fn(&str) -> Option<DataType>,
    ) -> Option<Self> {
        let (inner, target) = match expression {
            Expr::Column(column) => {
                return Some(Self { name: &column.name, is_text_of_bytes: false });
            }
            Expr::Cast(cast) => (&*cast.expr, cast.field.data_type()),
            Expr::TryCast(cast) => (&*cast.expr, cast.field.data_type()),
            _ => return None,
        };
        let Expr::Column(column) = inner else { return None };
        let is_text_of_bytes = match (data_type(&column.name)?, target) {
            (from, to) if is_text(&from) && is_text(to) || is_bytes(&from) && is_bytes(to) => false,
            (from, to) if is_bytes(&from) && is_text(to) => true,
            (DataType::Int16, DataType::Int32 | DataType::Int64)
            | (DataType::Int32, DataType::Int64) => false,
            _ => return None,
        };
        Some(Self { name: &column.name, is_text_of_bytes })
    }
}

const fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

const fn is_bytes(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
}

/// Returns the bytes of a constant that is text or bytes, and not null.
pub(crate) fn bytes_of(expression: &Expr) -> Option<&[u8]> {
    let Expr::Literal(value, _) = expression else { return None };
    match value {
        ScalarValue::Binary(bytes)
        | ScalarValue::LargeBinary(bytes)
        | ScalarValue::BinaryView(bytes) => bytes.as_deref(),
        ScalarValue::Utf8(text) | ScalarValue::LargeUtf8(text) | ScalarValue::Utf8View(text) => {
            text.as_deref().map(str::as_bytes)
        }
        _ => None,
    }
}

/// Returns the value of a constant that is an integer, and not null.
pub(crate) fn integer_of(expression: &Expr) -> Option<i128> {
    let Expr::Literal(value, _) = expression else { return None };
    match value {
        ScalarValue::Int8(number) => number.map(i128::from),
        ScalarValue::Int16(number) => number.map(i128::from),
        ScalarValue::Int32(number) => number.map(i128::from),
        ScalarValue::Int64(number) => number.map(i128::from),
        ScalarValue::UInt8(number) => number.map(i128::from),
        ScalarValue::UInt16(number) => number.map(i128::from),
        ScalarValue::UInt32(number) => number.map(i128::from),
        ScalarValue::UInt64(number) => number.map(i128::from),
        _ => None,
    }
}

/// Returns the value of a constant that is a truth value, and not null.
pub(crate) const fn truth_of(expression: &Expr) -> Option<bool> {
    match expression {
        Expr::Literal(ScalarValue::Boolean(truth), _) => *truth,
        _ => None,
    }
}

/// Returns whether the expression is a constant that is not null.
pub(crate) fn is_constant(expression: &Expr) -> bool {
    matches!(expression, Expr::Literal(value, _) if !value.is_null())
}

/// Returns whether the operator is a comparison.
pub(crate) const fn is_comparison(operator: Operator) -> bool {
    matches!(
        operator,
        Operator::Eq
            | Operator::NotEq
            | Operator::Lt
            | Operator::LtEq
            | Operator::Gt
            | Operator::GtEq
    )
}
