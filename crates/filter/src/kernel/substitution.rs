//! The inner loop of building a ribbon filter: back substitution, from the last slot to the first.
//!
//! ```text
//! column j   slots after the present one, 63 of them
//!            × the coefficients of the present slot's row        parity ^ bit j of the fingerprint
//!            → the present slot                                  enters at bit 0
//! ```
//!
//! Each slot depends on the one after it, so the latency of a step decides the time.

use super::column_vectors::LANES;

/// For each of [`LANES`] columns, 64 slots from the present one on, which is bit 0.
pub(crate) type Slots = [u64; LANES];
