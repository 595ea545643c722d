//! Reads CSV, in any layout or as `hfile cat` prints it, as cells.
//!
//! ```text
//! bytes ─→ records ─→ own form ─→ cells        as printed by `hfile cat`: one cell per record
//!             │     └ layout ───→ cells        --row and other options map the columns
//!             └ bad lines: end the run, or are counted, or are copied to a file
//! ```

mod bad_lines;
mod cat_form;
mod cells;
mod layout;
mod options;
mod records;
mod time;

pub use self::bad_lines::Problem;
pub use self::cells::ColumnFamily;
pub(crate) use self::cells::{CsvCells, CsvContext};
pub use self::options::{BadLinePolicy, CsvOptions, MappedColumn, Quote, TypedColumn};
