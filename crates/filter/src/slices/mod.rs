//! Tables of bit-sliced filters, with which each kind implements its sliced form.
//!
//! | file          | content                                                                        |
//! |---------------|--------------------------------------------------------------------------------|
//! | `sliced_form` | the trait that each kind implements                                            |
//! | `rows`        | the table: rows, stripes, fields                                               |
//! | `bits`        | Bloom filters: a row is a bit; all rows of a key are set                       |
//! | `equation`    | ribbon, binary fuse: the exclusive or of a key's rows is its fingerprint       |
//! | `cells`       | cuckoo, d-left: a cell of a key's rows holds the key's fingerprint             |
//!
//! [`sliced`](crate::sliced) explains the idea and names the papers.

mod bits;
mod cells;
mod equation;
mod rows;
mod sliced_form;

pub(crate) use bits::{BitPositions, BitSlices};
pub(crate) use cells::CellQuery;
pub(crate) use rows::{Rows, for_field_len};
pub(crate) use sliced_form::SlicedForm;
