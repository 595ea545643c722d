//! The trait that each kind of filter implements for lookups in its stored form.

use core::fmt::Debug;

use crate::error::FormatError;
use crate::hash::KeyHash;
use crate::header::Header;
use crate::membership::{FilterStats, answer_batch};

/// The parsed parameters of a stored filter, without its body.
///
/// Each call must pass the body that was parsed, because a view holds offsets into it. With another
/// body the answers may be wrong, but no access is out of bounds.
pub(crate) trait StoredView: Copy + Debug {
    /// The code of the kind in the header. [`kinds`](crate::kinds) checks that codes are unique.
    const CODE: u8;

    /// Checks the parameters in the header against the body.
    ///
    /// # Errors
    ///
    /// [`FormatError::Parameters`] if they contradict each other or the body's length.
    fn parse(header: &Header, body: &[u8]) -> Result<Self, FormatError>;

    /// Returns false if the key was certainly never inserted.
    fn may_contain(&self, body: &[u8], hash: KeyHash) -> bool;

    /// Prefetches the lines that [`may_contain`](Self::may_contain) reads first.
    fn prefetch(&self, body: &[u8], hash: KeyHash);

    /// Sets each answer to that of [`may_contain`](Self::may_contain).
    fn may_contain_batch(&self, body: &[u8], hashes: &[KeyHash], answers: &mut [bool]) {
        let may_contain = |hash| self.may_contain(body, hash);
        answer_batch(hashes, answers, |hash| self.prefetch(body, hash), may_contain);
    }

    /// Returns the size and expected error rate of a filter with this body and number of keys.
    fn stats(&self, body: &[u8], keys: u64) -> FilterStats;
}

/// Implements [`Membership`](crate::engine::Membership) for a filter in memory with its stored form's view.
///
/// The filter has the fields `view`, `keys` and `body`, the bytes that the view describes.
macro_rules! membership_of_view {
    ($filter:ty) => {
        impl $crate::membership::Membership for $filter {
            // A call costs a quarter of a cached lookup.
            #[inline(always)]
            fn may_contain(&self, hash: $crate::hash::KeyHash) -> bool {
                self.view.may_contain(&self.body, hash)
            }

            #[inline]
            fn prefetch(&self, hash: $crate::hash::KeyHash) {
                self.view.prefetch(&self.body, hash);
            }

            fn may_contain_batch(&self, hashes: &[$crate::hash::KeyHash], answers: &mut [bool]) {
                self.view.may_contain_batch(&self.body, hashes, answers);
            }

            fn stats(&self) -> $crate::membership::FilterStats {
                self.view.stats(&self.body, self.keys)
            }
        }
    };
}
pub(crate) use membership_of_view;
