//! The family map: one lookup that names the files of a family that may hold a row.
//!
//! ```text
//! row's hash ─ FamilyMap ─→ slots ─ Coverage ─→ files
//!              │                    └ one for each version of the file list: the file of each slot
//!              └ lines of fingerprints and slot numbers, and a stash; shared by many versions
//! ```
//!
//! | file         | content                                                                  |
//! |--------------|--------------------------------------------------------------------------|
//! | `fingerprint` | computes the lines and the fingerprint of a hash                         |
//! | `line`       | one cache line of entries                                                |
//! | `extensions` | the further bits of the fingerprints of a line in a wide map             |
//! | `lines`      | all lines of a map, with or without extensions                           |
//! | `stash`      | the hashes whose lines were all full                                     |
//! | `map`        | lines and stash together: inserts and lookups                            |
//! | `mode`       | the setting of a family: no map, a map of one form, or as its files need |
//! | `form`       | the two forms of a map: fingerprints of 10 or of 26 bits                 |
//! | `choice`     | which families get a map, and of which form                              |
//! | `sweep`      | copies a map without the entries of dead slots                           |
//! | `slots`      | a set of slot numbers                                                    |
//! | `row_hashes` | the hashes of the rows of cells in ascending order                       |
//! | `coverage`   | the slots of each file of a list, and the answer for a row               |
//! | `backoff`    | when a map that could not be built, or a file that could not be read, is tried again |
//!
//! A slot number stands for the rows of one file: the rows that one [`SlotWriter`](map::SlotWriter) inserted, or
//! the rows of several slots that a sweep has merged. A version
//! *covers* a file if the file is one of the first 64 of its list, and each row of the file was
//! inserted under one of the file's slots. A slot is *dead* if no file of the current version has
//! it. Four invariants make the answer of every version correct, even the answer of an old snapshot after further
//! inserts:
//!
//! 1. An entry of a map is never moved or removed, and its slot and fingerprint never change
//!    once a file has the slot.
//! 2. A map gives out each slot number only once.
//! 3. A file gets its slots in a new version, after all its rows were inserted. The version is
//!    published under a lock, so a reader of the version sees the entries.
//! 4. A version refers to its map and to the slots of its files. A map that replaces another comes
//!    with a new version; readers of older versions keep the old map.

pub(crate) mod backoff;
pub(crate) mod choice;
pub(crate) mod coverage;
mod extensions;
mod fingerprint;
pub(crate) mod form;
mod line;
mod lines;
pub(crate) mod map;
pub(crate) mod mode;
pub(crate) mod row_hashes;
pub(crate) mod slots;
mod stash;
mod sweep;

#[cfg(test)]
mod tests;
