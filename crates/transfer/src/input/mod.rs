//! Cells from a file or a pipe: the cells format or CSV, compressed or not.
//!
//! ```text
//! cells           an input and its cells, in either format
//! file            a file or stdin, decompressed
//! limited_lines   an input that fails in a line that is too long
//! read_bytes      how far the input is read
//! ```

mod cells;
mod file;
mod limited_lines;
mod read_bytes;

pub(crate) use self::cells::LineNumber;
pub use self::cells::{Input, InputFormat, InputOptions};
pub use self::file::{display_name, open_keys};
