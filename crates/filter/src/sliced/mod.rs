//! Filters of the same shape laid side by side, position by position, so that a key asks all of them by
//! one look at a few lines of memory.
//!
//! ```text
//! apart         file 0  ··1··0··1··      file 1  ··0··1··1··      file 2  ··1··1··1··      …
//!                         ▲  ▲  ▲                  ▲  ▲  ▲                  ▲  ▲  ▲
//!
//! side by side  position p  1 0 1 …      position q  0 1 1 …      position r  1 1 1 …
//!                                              and:  0 0 1 …      only file 2 has all three
//! ```
//!
//! Asked apart, each filter costs at least one line of memory that no cache has. Side by side, a key costs
//! the lines of its positions, each of which has the bits of hundreds of filters. Filters can lie so if a
//! key has the same positions in all of them, that is if they are of one kind, equally large and made for
//! equally many probes: one *shape*.
//!
//! | file       | idea                                                                           |
//! |------------|--------------------------------------------------------------------------------|
//! | `filters`  | the type that users make; which filters have the same shape                    |
//! | `group`    | filters of one shape, of any kind                                              |
//! | `rows`     | the table: rows, stripes, fields                                               |
//! | `bits`     | Bloom filters: a row is a bit; all rows of a key are set                       |
//! | `equation` | the exclusive or of a key's rows is its fingerprint                            |
//! | `fuse`     | binary fuse filters: a row is a slot                                           |
//! | `ribbon`   | ribbon filters: a row is a slot of the first layer                             |
//! | `cells`    | some cell of a key's rows holds what the key has there                         |
//! | `cuckoo`   | cuckoo filters: a row is a bucket of fingerprints                              |
//! | `dleft`    | d-left filters: a row is a bucket of remainders                                |
//!
//! Bradley, den Bakker, Rocha, `McVean`, Iqbal: "Ultrafast search of all deposited bacterial and viral genomic
//! data", 2019 (BIGSI); Bingmann, Bradley, Gauger, Iqbal: "COBS: a Compact Bit-Sliced Signature Index",
//! 2019; Dadi et al.: "DREAM-Yara", 2018 (the interleaved Bloom filter).

mod bits;
mod cells;
mod cuckoo;
mod dleft;
mod equation;
mod filters;
mod fuse;
mod group;
mod ribbon;
mod rows;
#[cfg(test)]
mod tests;

pub use filters::SlicedFilters;
