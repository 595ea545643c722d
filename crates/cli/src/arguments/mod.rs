//! Arguments that several verbs share, and the parsers of their values.

pub(crate) mod cell_options;
pub(crate) mod cells_input;
pub(crate) mod csv;
pub(crate) mod export;
pub(crate) mod format_options;
pub(crate) mod given;
pub(crate) mod key_text;
pub(crate) mod names;
pub(crate) mod reading_options;
pub(crate) mod row_options;
pub(crate) mod sizing;
pub(crate) mod sort;
pub(crate) mod table_options;
pub(crate) mod time_range;
pub(crate) mod writing_options;
