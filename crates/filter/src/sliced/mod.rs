//! Bit-sliced filters: filters of the same shape, interleaved position by position, so that a key probes all of
//! them by reading a few cache lines.
//!
//! ```text
//! separate      file 0  ··1··0··1··      file 1  ··0··1··1··      file 2  ··1··1··1··      …
//!                         ▲  ▲  ▲                  ▲  ▲  ▲                  ▲  ▲  ▲
//!
//! bit-sliced    position p  1 0 1 …      position q  0 1 1 …      position r  1 1 1 …
//!                                              and:  0 0 1 …      only file 2 has all three
//! ```
//!
//! Probed separately, each filter costs at least one cache miss. Bit-sliced, a key costs the lines of its
//! positions, and each line has the bits of hundreds of filters. Filters can be bit-sliced together if a key has
//! the same positions in all of them, that is if they are of one kind, equally large and made for equally many
//! probes: one *shape*.
//!
//! | file      | idea                                                                           |
//! |-----------|--------------------------------------------------------------------------------|
//! | `filters` | the type that users make; which filters have the same shape                    |
//! | `group`   | filters of one shape, of any kind                                              |
//!
//! The tables themselves are in [`slices`](crate::slices), and each kind's use of them in its own folder.
//!
//! Bradley, den Bakker, Rocha, `McVean`, Iqbal: "Ultrafast search of all deposited bacterial and viral genomic
//! data", 2019 (BIGSI); Bingmann, Bradley, Gauger, Iqbal: "COBS: a Compact Bit-Sliced Signature Index",
//! 2019; Dadi et al.: "DREAM-Yara", 2018 (the interleaved Bloom filter).

mod filters;
mod group;
#[cfg(test)]
mod tests;

pub use filters::SlicedFilters;
