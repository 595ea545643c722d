//! Records of CSV: fields between separators, quoted or not, over one or more lines.
//!
//! ```text
//! 1,plain,"quoted, with a separator","with a ""quote""","over
//! two lines",last
//! ```
//!
//! A record ends at a line feed outside quotes; a carriage return before it is dropped. A quote opens a quoted
//! field only at the field's first byte, and elsewhere stands for itself. Behind the quote that closes a field
//! there is a separator or the end of the line. Empty lines are passed over.
//!
//! The crate `csv` takes a quote that is never closed for one that is closed at the end of the input. Here it
//! is an error, and so is a record that such a quote makes too long. The next record then begins on the line after
//! the bad record's *first* line: a stray quote costs one line and not what follows. Only a record whose quotes are
//! sound, and of which a field is too large, is skipped as a whole.
//!
//! ```text
//! reader   bytes of the input, held as far as a record needs them
//! parser   where the fields of a record are, or why it is none
//! record   the texts of its fields
//! ```

mod parser;
mod reader;
mod record;

pub(super) use self::parser::Dialect;
pub(super) use self::reader::Records;
pub(super) use self::record::Record;
