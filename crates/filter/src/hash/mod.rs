//! Hashes of keys with their seed, and the hashes of HBase's Bloom filters.
//!
//! HBase's three Bloom hashes, bit for bit:
//!
//! | code in a file | hash    | definition                                                      |
//! |---------------:|---------|-----------------------------------------------------------------|
//! |              0 | Jenkins | Bob Jenkins' lookup3, `hashlittle`                              |
//! |              1 | Murmur  | `MurmurHash2` with sign-extended tail bytes; HBase's default    |
//! |              2 | Murmur3 | `MurmurHash3_x86_32`, as published                              |
//!
//! All take a 32-bit seed, and their arithmetic wraps like Java's `int`.

mod jenkins;
mod key;
mod murmur2;
#[cfg(feature = "std")]
mod murmur3;
mod seeded;

pub(crate) use jenkins::jenkins;
pub use key::{KeyHash, Seed};
pub(crate) use murmur2::{murmur2, murmur2_twice};
#[cfg(feature = "std")]
pub(crate) use murmur3::murmur3;
pub use seeded::{Key, SeededHash, SeededHashes};
