//! Hashes of texts, in manifests and in the names of files.

use filter::{Seed, SeededHash};

/// Returns a hash of a text, in 16 hex digits.
pub(super) fn text_hash(text: &str) -> String {
    let hash = SeededHash::new(Seed::new(0), text);
    format!("{:016x}", hash.get())
}
