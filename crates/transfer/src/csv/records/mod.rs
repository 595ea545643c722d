//! Records of CSV: fields between separators, quoted or not, over one or more lines.
//!
//! ```text
//! 1,plain,"quoted, with a separator","with a ""quote""","over
//! two lines",last
//! ```
//!
//! A record ends at a line feed outside quotes; a carriage return before it is dropped. A quote opens a quoted
//! field only at the field's first byte; elsewhere it is an ordinary byte. The closing quote must be followed by
//! a separator or the end of the line. Empty lines are skipped.
//!
//! The crate `csv` closes an unclosed quote at the end of the input. Here it is an error, as is a record that
//! such a quote makes too long. Parsing then resumes on the line after the bad record's *first* line, so that a
//! stray quote costs one line. Only a record with valid quotes and a too large field is skipped as a whole.
//! `csv-core` is no base for this: it takes text after a closing quote as part of the field, and tells neither
//! that, nor whether a field was quoted, nor where its quote opened.
//!
//! ```text
//! reader   buffers the input as far as a record needs
//! parser   finds the fields of a record, or its problem
//! record   returns the texts of the fields
//! ```

mod parser;
mod reader;
mod record;

pub(super) use self::parser::Dialect;
pub(super) use self::reader::Records;
pub(super) use self::record::Record;
