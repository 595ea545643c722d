//! Filters of one shape, of any kind: how they are recognised, bit-sliced, and probed.

use alloc::vec::Vec;

use crate::error::BuildError;
use crate::hash::KeyHash;
use crate::kinds::kinds;
use crate::slices::{Rows, SlicedForm};
use crate::stored::{StoredFilter, View};

/// What decides where a key's fields are and what is compared there: filters in which all of that is equal can be
/// sliced together. First the code of the kind, then its numbers.
pub(super) type Shape = (u8, [u64; 3]);

/// Generates [`Group`], which dispatches to the sliced form of a kind by a `match`.
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
            let numbers = match filter.view() {
                $(View::$kind(view) => <$sliced>::shape(view, header, body)?,)*
            };
            Some((header.kind, numbers))
        }

        /// Filters of one shape, bit-sliced.
        #[derive(Clone, Debug)]
        pub(super) enum Group {
            $($kind($sliced),)*
        }

        impl Group {
            /// Slices filters of one shape.
            pub(super) fn new<B: AsRef<[u8]>>(
                members: &[&StoredFilter<B>],
            ) -> Result<Self, BuildError> {
                let first = members.first().expect("a group has members");
                Ok(match first.view() {
                    $(View::$kind(_) => {
                        let views = members.iter().map(|member| match member.view() {
                            View::$kind(view) => (*view, member.header_and_body().1),
                            _ => panic!("filters of one shape are of one kind"),
                        });
                        Self::$kind(<$sliced>::new(&views.collect::<Vec<_>>())?)
                    })*
                })
            }

            /// Returns the table.
            #[inline]
            fn rows(&self) -> &Rows {
                match self {
                    $(Self::$kind(sliced) => sliced.rows(),)*
                }
            }

            /// Returns how many bytes of memory it takes.
            pub(super) fn memory_bytes(&self) -> u64 {
                match self {
                    $(Self::$kind(sliced) => sliced.memory_bytes(),)*
                }
            }

            /// Prefetches what a key reads first.
            #[inline]
            pub(super) fn prefetch(&self, hash: KeyHash) {
                match self {
                    $(Self::$kind(sliced) => sliced.prefetch(hash),)*
                }
            }

            /// Returns a bit for each filter of a stripe that may hold the key.
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
    /// Calls `found` with the index of each filter that may hold the key, in order.
    #[inline]
    pub(super) fn probe(&self, hash: KeyHash, mut found: impl FnMut(usize)) {
        let rows = self.rows();
        for stripe in 0..rows.stripes() {
            let mut left = self.candidates(hash, stripe) & rows.filter_mask(stripe);
            while left != 0 {
                found(rows.first_filter(stripe) + left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
    }
}
