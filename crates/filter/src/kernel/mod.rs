//! The inner loops of the filters: a key's bits in a cache line.

mod portable;

pub(crate) use portable::{LINE_PROBES_MAX, Line, line_contains, line_insert};
