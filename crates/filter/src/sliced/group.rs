//! A group of bit-sliced filters of one shape, which dispatches to the sliced form of their kind.

use alloc::vec::Vec;

use crate::error::BuildError;
use crate::hash::KeyHash;
use crate::kinds::kinds;
use crate::slices::{Rows, SlicedForm};
use crate::stored::{StoredFilter, View};

/// A filter's shape: the code of its kind, and the parameters that determine the fields of a key.
///
/// Filters of equal shapes can be bit-sliced together.
pub(super) type Shape = (u8, [u64; 3]);

/// Generates [`Group`], which dispatches to the sliced form by kind.
macro_rules! group {
    ($(
        $(#[$doc:meta])*
        $kind:ident {
            code: $code:literal, name: $name:literal, updates: $updates:ident,
            filter: $filter:ty, stored: $stored:ty, sliced: $sliced:ty,
        }
    )*) => {
        /// Returns the shape of a filter; `None` if it cannot be sliced.
        pub(super) fn shape<B: AsRef<[u8]>>(filter: &StoredFilter<B>) -> Option<Shape> {
            let (header, body) = filter.header_and_body();
            if body.is_empty() {
                return None;
            }
            let parameters = match filter.view() {
                $(View::$kind(view) => <$sliced>::shape(view, header, body)?,)*
            };
            Some((header.kind, parameters))
        }

        /// Filters of one shape, and so of one kind, bit-sliced.
        #[derive(Clone, Debug)]
        pub(super) enum Group {
            $($kind($sliced),)*
        }

        impl Group {
            /// Bit-slices filters of one shape.
            ///
            /// # Panics
            ///
            /// If there are no filters, or if their kinds differ.
            pub(super) fn new<B: AsRef<[u8]>>(
                filters: &[&StoredFilter<B>],
            ) -> Result<Self, BuildError> {
                let first = filters.first().expect("a group has filters");
                Ok(match first.view() {
                    $(View::$kind(_) => {
                        let views = filters.iter().map(|filter| match filter.view() {
                            View::$kind(view) => (*view, filter.header_and_body().1),
                            _ => panic!("filters of one shape are of one kind"),
                        });
                        Self::$kind(<$sliced>::new(&views.collect::<Vec<_>>())?)
                    })*
                })
            }

            /// Returns the table of the sliced form.
            #[inline]
            fn rows(&self) -> &Rows {
                match self {
                    $(Self::$kind(sliced) => sliced.rows(),)*
                }
            }

            /// Returns the bytes of memory that the group takes.
            pub(super) fn memory_bytes(&self) -> u64 {
                match self {
                    $(Self::$kind(sliced) => sliced.memory_bytes(),)*
                }
            }

            /// Prefetches the rows that a lookup reads first.
            #[inline]
            pub(super) fn prefetch(&self, hash: KeyHash) {
                match self {
                    $(Self::$kind(sliced) => sliced.prefetch(hash),)*
                }
            }

            /// Returns a word with a bit for each filter of a stripe that may hold the key.
            #[inline]
            fn candidates(&self, hash: KeyHash, stripe: usize) -> u64 {
                match self {
                    $(Self::$kind(sliced) => sliced.candidates(hash, stripe),)*
                }
            }
        }
    };
}
kinds!(group);

impl Group {
    /// Calls `on_candidate` for each filter that may hold the key.
    ///
    /// The argument is the filter's index in the group. Indexes are in ascending order.
    #[inline]
    pub(super) fn probe(&self, hash: KeyHash, mut on_candidate: impl FnMut(usize)) {
        let rows = self.rows();
        for stripe in 0..rows.stripe_count() {
            let mut candidates = self.candidates(hash, stripe) & rows.filter_mask(stripe);
            while candidates != 0 {
                on_candidate(rows.first_filter(stripe) + candidates.trailing_zeros() as usize);
                candidates &= candidates - 1;
            }
        }
    }
}
