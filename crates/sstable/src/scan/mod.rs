//! Scans of a file, forwards and backwards, with or without prefetching.

#[allow(clippy::arithmetic_side_effects, reason = "a number of a row that is at least 1")]
mod backward;
mod end;
pub(crate) mod position;
pub(crate) mod read_ahead;
#[allow(clippy::arithmetic_side_effects, reason = "a counter")]
pub(crate) mod scanner;
mod stop;
