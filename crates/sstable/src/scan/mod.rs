//! Cells of a file in their order, forwards and backwards, with or without reading ahead.

pub(crate) mod read_ahead;
pub(crate) mod scanner;
