//! What a query of a file's filter asks for.

use std::fmt;

use serde::Serialize;

/// The key of a query: a row, or a column of a row, as gets that name columns ask a filter of type ROWCOL.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FilterQuery {
    #[default]
    Row,
    Column,
}

impl FilterQuery {
    pub(crate) const fn new(has_columns: bool) -> Self {
        if has_columns { Self::Column } else { Self::Row }
    }
}

impl fmt::Display for FilterQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Row => "row",
            Self::Column => "column",
        })
    }
}
