//! Scans of a file, forwards and backwards, with or without prefetching.

mod backward;
pub(crate) mod read_ahead;
pub(crate) mod scanner;
