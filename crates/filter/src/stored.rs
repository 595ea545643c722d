//! A filter in its stored form: the bytes and the parameters parsed from them.

use crate::error::FormatError;
use crate::hash::KeyHash;
use crate::header::{self, HEADER_LEN, Header};
use crate::kinds::{FilterKind, kinds};
use crate::membership::{FilterStats, Membership};
use crate::methods::lookup_methods;
use crate::stored_view::StoredView;

/// A stored filter of any kind, in borrowed, owned or shared bytes.
///
/// Parsing checks all lengths and the checksum, and allocates nothing. Lookups in a parsed filter
/// cannot fail.
///
/// ```
/// use filter::{FilterKind, Seed, SeededHashes, Sizing, StoredFilter};
///
/// let keys = SeededHashes::new(Seed::random(), ["row1", "row2"]);
/// let bytes = FilterKind::Ribbon.build(Sizing::error_rate(0.01)?, &keys)?;
///
/// let filter = StoredFilter::parse(bytes.as_slice())?; // The seed is in the bytes.
/// assert_eq!((filter.kind(), filter.len()), (FilterKind::Ribbon, 2));
/// assert!(filter.may_contain("row1"));
/// assert!(StoredFilter::parse(&bytes[..bytes.len() - 1]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct StoredFilter<B> {
    bytes: B,
    kind: FilterKind,
    header: Header,
    view: View,
}

/// Generates [`View`], which dispatches by kind, and `from_stored` for each kind with removal.
///
/// The table is in `kinds`. `from_stored` is generated for rows whose `updates` is `removes`.
macro_rules! view {
    ($(
        $(#[$doc:meta])*
        $kind:ident {
            code: $code:literal, name: $name:literal, updates: $updates:ident,
            filter: $filter:ty, stored: $stored:ty,
        }
    )*) => {
        /// The parsed parameters of a stored filter, by kind.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum View {
            $($kind($stored),)*
        }

        impl View {
            fn parse(kind: FilterKind, header: &Header, body: &[u8]) -> Result<Self, FormatError> {
                Ok(match kind {
                    $(FilterKind::$kind => Self::$kind(StoredView::parse(header, body)?),)*
                })
            }

            #[inline(always)]
            fn may_contain(&self, body: &[u8], hash: KeyHash) -> bool {
                match self {
                    $(Self::$kind(view) => view.may_contain(body, hash),)*
                }
            }

            #[inline(always)]
            fn prefetch(&self, body: &[u8], hash: KeyHash) {
                match self {
                    $(Self::$kind(view) => view.prefetch(body, hash),)*
                }
            }

            fn may_contain_batch(&self, body: &[u8], hashes: &[KeyHash], answers: &mut [bool]) {
                match self {
                    $(Self::$kind(view) => view.may_contain_batch(body, hashes, answers),)*
                }
            }

            fn stats(&self, body: &[u8], keys: u64) -> FilterStats {
                match self {
                    $(Self::$kind(view) => view.stats(body, keys),)*
                }
            }
        }

        $(view!(@from_stored $updates $filter);)*
    };
    (@from_stored removes $filter:ty) => {
        impl $filter {
            /// Copies a stored filter into memory, where keys can be inserted and removed.
            ///
            /// # Errors
            ///
            /// [`FormatError::OtherKind`] if the filter is of another kind,
            /// [`FormatError::Parameters`] if its parameters contradict each other.
            pub fn from_stored<B: AsRef<[u8]>>(stored: &StoredFilter<B>) -> Result<Self, FormatError> {
                let (header, body) = stored.header_and_body();
                Self::from_body(header, body)
            }
        }
    };
    (@from_stored $other:ident $filter:ty) => {};
}
kinds!(view);

impl<B: AsRef<[u8]>> StoredFilter<B> {
    /// Parses the bytes that [`FilterKind::build`] or a filter's `to_stored` returned.
    ///
    /// # Errors
    ///
    /// [`FormatError`] if the bytes are truncated, damaged, or not a filter of a known kind.
    pub fn parse(bytes: B) -> Result<Self, FormatError> {
        let (header, body) = Header::parse(bytes.as_ref())?;
        let kind = FilterKind::from_code(header.kind).ok_or(FormatError::Kind(header.kind))?;
        let view = View::parse(kind, &header, body)?;
        Ok(Self { bytes, kind, header, view })
    }

    /// Returns the kind of the filter.
    pub fn kind(&self) -> FilterKind {
        self.kind
    }

    /// Returns the checksum in the header, which covers header and body.
    ///
    /// It can identify the filter in metadata that is stored apart from it.
    ///
    /// # Panics
    ///
    /// If `B::as_ref` now returns fewer bytes than a header has. It returned a whole header when
    /// the filter was parsed.
    pub fn checksum(&self) -> u64 {
        header::stored_checksum(self.as_bytes()).expect("a parsed filter has a header")
    }

    /// Returns the bits per key, without the header; 0 without keys.
    pub fn bits_per_key(&self) -> f64 {
        self.stats().bits_per_key()
    }

    /// Returns the expected false-positive rate, from 0 (for an empty filter) to 1.
    pub fn error_rate(&self) -> f64 {
        self.stats().error_rate
    }

    /// Returns the stored form: header and body.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// Returns the value that was passed to `parse`.
    pub fn into_inner(self) -> B {
        self.bytes
    }

    /// Returns the header and the body.
    pub(crate) fn header_and_body(&self) -> (&Header, &[u8]) {
        (&self.header, self.body())
    }

    /// Returns the bytes after the header.
    ///
    /// Empty if `B::as_ref` now returns fewer bytes than a header has. `AsRef` does not guarantee
    /// the same bytes in each call.
    fn body(&self) -> &[u8] {
        self.bytes.as_ref().get(HEADER_LEN..).unwrap_or_default()
    }
}

lookup_methods!(StoredFilter<B>, header.seed, B: AsRef<[u8]>);

impl<B: AsRef<[u8]>> Membership for StoredFilter<B> {
    #[inline]
    fn may_contain(&self, hash: KeyHash) -> bool {
        self.view.may_contain(self.body(), hash)
    }

    #[inline]
    fn prefetch(&self, hash: KeyHash) {
        self.view.prefetch(self.body(), hash);
    }

    fn may_contain_batch(&self, hashes: &[KeyHash], answers: &mut [bool]) {
        self.view.may_contain_batch(self.body(), hashes, answers);
    }

    fn stats(&self) -> FilterStats {
        self.view.stats(self.body(), self.header.keys)
    }

    fn len(&self) -> u64 {
        self.header.keys
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::hash::Seed;

    /// Code 7 is retired: it was a ribbon with other equations. If it were parsed as the ribbon of
    /// code 9, it would deny its own keys.
    #[test]
    fn unknown_codes_are_refused() {
        let known: Vec<u8> = FilterKind::ALL.iter().map(|kind| *kind as u8).collect();
        for kind in (0..=u8::MAX).filter(|kind| !known.contains(kind)) {
            let header = Header { kind, seed: Seed::new(1), keys: 0, parameters: [0; 3] };
            let bytes = header.write(&[]);
            let refused = StoredFilter::parse(&bytes).expect_err("not a kind");
            assert_eq!(refused, FormatError::Kind(kind));
        }
        assert!(!known.contains(&7));
    }
}
