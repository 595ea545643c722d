//! Tables of bit-sliced filters, from which each kind makes its sliced form.
//!
//! | file          | idea                                                                           |
//! |---------------|--------------------------------------------------------------------------------|
//! | `sliced_form` | what a kind implements                                                         |
//! | `rows`        | the table: rows, stripes, fields                                               |
//! | `bits`        | Bloom filters: a row is a bit; all rows of a key are set                       |
//! | `equation`    | ribbon, binary fuse: the exclusive or of a key's rows is its fingerprint       |
//! | `cells`       | cuckoo, d-left: some cell of a key's rows holds what the key has there         |
//!
//! [`sliced`](crate::sliced) has the idea and the papers.

mod bits;
mod cells;
mod equation;
mod rows;
mod sliced_form;

pub(crate) use bits::{BitPositions, BitSlices};
pub(crate) use cells::CellQuery;
pub(crate) use rows::{Rows, for_field_len};
pub(crate) use sliced_form::SlicedForm;
