//! Cells from files, a pipe or a program: the cells format, CSV or record batches.
//!
//! ```text
//! cells           an input and its cells, in any format
//! file            a file or stdin, decompressed
//! limited_lines   an input that fails in a line that is too long
//! ```

mod cells;
mod file;
mod limited_lines;

pub(crate) use self::cells::LineNumber;
pub use self::cells::{Input, InputFormat, InputOptions};
pub use self::file::{display_name, open_keys};
