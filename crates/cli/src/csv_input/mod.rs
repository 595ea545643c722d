//! CSV as people have it, or as `hfile cat` prints it, becomes cells.
//!
//! ```text
//! bytes ─→ records ─→ own form ─→ cells        one cell a record
//!             │     └ layout ───→ cells        --row and other options say what the columns are
//!             └ bad lines: the run stops, or they are counted, or kept in a file
//! ```

mod bad_lines;
mod cells;
mod layout;
mod options;
mod own_form;
mod records;
mod time;
mod value;

pub(crate) use self::bad_lines::Problem;
pub(crate) use self::cells::{ColumnFamily, CsvCells, CsvContext};
pub(crate) use self::options::CsvOptions;
