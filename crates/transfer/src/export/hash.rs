//! Hashes of texts, in manifests and in the names of files.

use filter::Seed;
use filter::engine::KeyHash;

/// Returns a hash of a text, in 16 hex digits.
pub(super) fn text_hash(text: &str) -> String {
    let hash = KeyHash::new(Seed::new(0), text.as_bytes());
    format!("{:016x}", hash.get())
}
