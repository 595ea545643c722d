//! Bit-sliced filters: filters of the same shape, interleaved position by position.
//!
//! ```text
//! separate      file 0  ··1··0··1··      file 1  ··0··1··1··      file 2  ··1··1··1··      …
//!                         ▲  ▲  ▲                  ▲  ▲  ▲                  ▲  ▲  ▲
//!
//! bit-sliced    position p  1 0 1 …      position q  0 1 1 …      position r  1 1 1 …
//!                                              and:  0 0 1 …      only file 2 has all three
//! ```
//!
//! Probed separately, each filter costs at least one cache miss. Bit-sliced, a lookup costs the
//! cache lines of the key's positions, and each line has the bits of hundreds of filters. Filters
//! can be sliced together if a key has the same positions in all of them: if they have the same
//! kind, size and number of probes, in short the same *shape*.
//!
//! | file      | content                                                                        |
//! |-----------|--------------------------------------------------------------------------------|
//! | `filters` | [`SlicedFilters`]: groups filters by shape, and probes them                    |
//! | `group`   | filters of one shape, of any kind                                              |
//!
//! The tables are in [`slices`](crate::slices); each kind implements its sliced form in its own
//! folder.
//!
//! Bradley, den Bakker, Rocha, `McVean`, Iqbal: "Ultrafast search of all deposited bacterial and
//! viral genomic data", 2019 (BIGSI); Bingmann, Bradley, Gauger, Iqbal: "COBS: a Compact Bit-Sliced
//! Signature Index", 2019; Dadi et al.: "DREAM-Yara", 2018 (the interleaved Bloom filter).

mod filters;
mod group;
#[cfg(test)]
mod tests;

pub use filters::SlicedFilters;
