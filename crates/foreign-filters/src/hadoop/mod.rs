//! Hadoop's Bloom filters (`org.apache.hadoop.util.bloom`) in their Writable form, byte for byte.
//!
//! Hadoop's `MapFile` stores them, and engines that copied the classes, such as Hudi. All three
//! filters begin with the fields of the abstract class `Filter`; integers are big-endian:
//!
//! | at | bytes | field        | meaning                                                        |
//! |---:|------:|--------------|----------------------------------------------------------------|
//! |  0 |     4 | `VERSION`    | −1; a positive number is `nbHash` of the old unversioned form, which has no `hashType` and hashes with Jenkins |
//! |  4 |     4 | `nbHash`     | i32, probes per key                                            |
//! |  8 |     1 | `hashType`   | 0 Jenkins, 1 Murmur                                            |
//! |  9 |     4 | `vectorSize` | i32, bits (or counters) of the filter                          |
//!
//! `BloomFilter` continues with ⌈`vectorSize` / 8⌉ bytes; bit `p` is bit `p mod 8` of byte `p / 8`,
//! lowest first.
//!
//! `CountingBloomFilter` continues with ⌈`vectorSize` / 16⌉ words (i64) of sixteen 4-bit counters;
//! counter `p` is at bit `4·(p mod 16)` of word `p / 16`.
//!
//! `DynamicBloomFilter` continues with `nr` (i32, keys that a row takes), `currentNbRecord` (i32,
//! keys of the last row), the number of rows (i32), and the rows, each a whole `BloomFilter`.
//!
//! Probe i of a key is |hᵢ mod `vectorSize`| with Java's `int` arithmetic, where h₀ = hash(key, 0)
//! and hᵢ = hash(key, hᵢ₋₁). The Jenkins hash is HBase's. The Murmur hash is `MurmurHash2`,
//! but reads the last one to three bytes in reverse order and as signed numbers.

#[expect(clippy::missing_panics_doc, reason = "positions are below the number of bits")]
mod bits;
#[expect(
    clippy::missing_panics_doc,
    reason = "no call panics: positions are below the number of counters"
)]
mod counting;
#[expect(clippy::missing_panics_doc, reason = "a filter has between 1 and 2^31 − 1 rows")]
mod dynamic;
mod shape;
#[cfg(test)]
mod tests;

pub use bits::BloomFilter;
pub use counting::CountingBloomFilter;
pub use dynamic::{DynamicBloomFilter, InsertError};
pub use shape::{EmptyKey, Hash, InvalidShape, NotHadoop, Shape, ShapesDiffer};
