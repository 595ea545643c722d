//! Reads CSV, in any layout or as `hfile cat` prints it, as cells.
//!
//! ```text
//! bytes ─→ records ─→ own form ─→ cells        as printed by `hfile cat`: one cell per record
//!             │     └ layout ───→ cells        the options map the columns
//!             └ bad lines: end the run, or are counted, or are copied to a file
//! ```

mod cat_form;
mod cells;
mod layout;
mod options;
mod records;

pub(crate) use self::cells::{CsvCells, CsvContext};
pub use self::options::{CsvOptions, Quote};
