//! What every kind of filter implements for its stored form.

use core::fmt::Debug;

use crate::error::FormatError;
use crate::hash::KeyHash;
use crate::header::Header;
use crate::membership::{FilterStats, answer_batch};

/// A kind's stored form, parsed: what its header says of its body, without the body.
///
/// It answers lookups in a body wherever its bytes are. The body of every call must be the one that was
/// parsed: a view holds offsets into it. Lookups in another body may answer wrongly, but stay within it.
pub(crate) trait StoredView: Copy + Debug {
    /// The number of the kind in the header. [`kinds`](crate::kinds) checks that no two are equal.
    const CODE: u8;

    /// Checks the parameters in the header against the body.
    ///
    /// # Errors
    ///
    /// [`FormatError::Parameters`] if they contradict each other or the body's length.
    fn parse(header: &Header, body: &[u8]) -> Result<Self, FormatError>;

    /// Returns false if the key was certainly never inserted.
    fn may_contain(&self, body: &[u8], hash: KeyHash) -> bool;

    /// Prefetches what [`may_contain`](Self::may_contain) reads first.
    fn prefetch(&self, body: &[u8], hash: KeyHash);

    /// As [`Membership::prefetch_next`](crate::Membership::prefetch_next).
    fn prefetch_next(&self, _body: &[u8], _hash: KeyHash) -> bool {
        true
    }

    /// Sets each answer to that of [`may_contain`](Self::may_contain).
    fn may_contain_batch(&self, body: &[u8], hashes: &[KeyHash], answers: &mut [bool]) {
        let may_contain = |hash| self.may_contain(body, hash);
        answer_batch(hashes, answers, |hash| self.prefetch(body, hash), may_contain);
    }

    /// Returns what a filter of so many keys costs and how often it errs.
    fn stats(&self, body: &[u8], keys: u64) -> FilterStats;
}
