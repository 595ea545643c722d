//! From a key's bytes to hashes: [`KeyHash`], on which all our filters work, and the hashes of foreign formats.
//!
//! HBase's three Bloom hashes, bit for bit:
//!
//! | code in a file | hash    | where it comes from                                             |
//! |---------------:|---------|-----------------------------------------------------------------|
//! |              0 | Jenkins | Bob Jenkins' lookup3, `hashlittle`                              |
//! |              1 | Murmur  | `MurmurHash2` with sign-extended tail bytes; HBase's default    |
//! |              2 | Murmur3 | `MurmurHash3_x86_32`, as published                              |
//!
//! All take a 32-bit seed and wrap, as Java's `int` does. `metro` is the hash of the Go
//! cuckoo filter, `hadoop_murmur` that of Hadoop's Bloom filters.

mod jenkins;
mod key;
mod metro;
mod murmur2;
#[cfg(feature = "std")]
mod murmur3;

pub(crate) use jenkins::jenkins;
pub use key::{KeyHash, Seed};
pub(crate) use metro::metro64;
pub(crate) use murmur2::{hadoop_murmur, murmur2, murmur2_twice};
#[cfg(feature = "std")]
pub(crate) use murmur3::murmur3;
