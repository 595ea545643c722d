//! The table of kinds, and what is generated from it: names, codes, building, planning.
//!
//! A new kind adds its folder and one row to the table. The row is read in three places: here, in
//! `stored` (the view of a stored filter) and in `sliced` (filters that are probed together).

use alloc::vec::Vec;
use core::fmt;

use crate::error::BuildError;
use crate::hash::{KeyHash, Seed};
use crate::membership::{FilterStats, Insert, Membership, Remove};
use crate::sizing::Sizing;
use crate::stored_view::StoredView;

/// Hands the table to the macro `$read`.
///
/// | column   | meaning                                                                              |
/// |----------|--------------------------------------------------------------------------------------|
/// | `code`   | number in the header of the stored form, [`StoredView::CODE`]; never used again      |
/// | `name`   | name on the command line, in manifests, documents and figures                        |
/// | `updates`  | `inserts`: one key at a time; `removes`: that, and keys can be removed;              |
/// |          | `builds`: static, built of all keys                                                 |
/// | `filter` | the type in memory, with `from_keys`, `plan` and `to_stored`; for `inserts` also     |
/// |          | `new`; for `removes` also `from_body`                                                |
/// | `stored` | the [`StoredView`]                                                                   |
/// | `sliced` | the [`SlicedForm`](crate::slices::SlicedForm)                                        |
///
/// Code 7 was a ribbon whose equations followed from the hash in another way. It stays unused.
macro_rules! kinds {
    ($read:ident) => {
        $read! {
            /// [`bloom::Classic`](crate::bloom::Classic): bits anywhere.
            ClassicBloom {
                code: 3, name: "classic-bloom", updates: inserts,
                filter: crate::bloom::Classic,
                stored: crate::bloom::ClassicView,
                sliced: crate::slices::BitSlices<crate::bloom::ClassicView>,
            }
            /// [`bloom::Blocked`](crate::bloom::Blocked): one cache line a key.
            BlockedBloom {
                code: 1, name: "blocked-bloom", updates: inserts,
                filter: crate::bloom::Blocked,
                stored: crate::bloom::BlockedView,
                sliced: crate::slices::BitSlices<crate::bloom::BlockedView>,
            }
            /// [`bloom::SplitBlock`](crate::bloom::SplitBlock): eight words a key, as in Parquet.
            SplitBlock {
                code: 2, name: "split-block", updates: inserts,
                filter: crate::bloom::SplitBlock,
                stored: crate::bloom::SplitBlockView,
                sliced: crate::slices::BitSlices<crate::bloom::SplitBlockView>,
            }
            /// [`CountingBloom`](crate::CountingBloom): counters in one cache line a key; keys can be removed
            /// and counted.
            CountingBloom {
                code: 4, name: "counting-bloom", updates: removes,
                filter: crate::counting::CountingBloom,
                stored: crate::counting::CountingView,
                sliced: crate::slices::BitSlices<crate::counting::CountingView>,
            }
            /// [`DLeft`](crate::DLeft): remainders in buckets of eight; keys can be removed and counted.
            DLeft {
                code: 5, name: "d-left", updates: removes,
                filter: crate::dleft::DLeft,
                stored: crate::dleft::DLeftView,
                sliced: crate::dleft::DLeftSlices,
            }
            /// [`Cuckoo`](crate::Cuckoo): fingerprints in buckets of four; keys can be removed.
            Cuckoo {
                code: 6, name: "cuckoo", updates: removes,
                filter: crate::cuckoo::Cuckoo,
                stored: crate::cuckoo::CuckooView,
                sliced: crate::cuckoo::CuckooSlices,
            }
            /// [`Ribbon`](crate::Ribbon): linear equations; built of all keys at once.
            Ribbon {
                code: 9, name: "ribbon", updates: builds,
                filter: crate::ribbon::Ribbon,
                stored: crate::ribbon::RibbonView,
                sliced: crate::ribbon::RibbonSlices,
            }
            /// [`BinaryFuse`](crate::BinaryFuse): three or four fingerprints a key; built of all keys at once.
            BinaryFuse {
                code: 8, name: "binary-fuse", updates: builds,
                filter: crate::fuse::BinaryFuse,
                stored: crate::fuse::FuseView,
                sliced: crate::fuse::FuseSlices,
            }
        }
    };
}
pub(crate) use kinds;

/// Generates [`FilterKind`] and the functions that choose by kind.
macro_rules! filter_kind {
    ($(
        $(#[$doc:meta])*
        $kind:ident {
            code: $code:literal, name: $name:literal, updates: $updates:ident,
            filter: $filter:ty, stored: $stored:ty, sliced: $sliced:ty,
        }
    )*) => {
        /// A kind of filter that has a stored form.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum FilterKind {
            $($(#[$doc])* $kind = $code,)*
        }

        impl FilterKind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// Returns the name that the command line, documents and figures use.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// Calls the method of `visitor` that suits how the kind takes its keys, with the function that
            /// makes such a filter.
            ///
            /// ```
            /// use filter::{BuildError, FilterKind, Insert, KindVisitor, Membership, Remove, Sizing};
            /// use filter::KeyHash;
            ///
            /// struct CanRemove;
            ///
            /// impl KindVisitor for CanRemove {
            ///     type Output = bool;
            ///
            ///     fn inserts<F: Insert>(self, _: fn(Sizing, u64) -> Result<F, BuildError>) -> bool {
            ///         false
            ///     }
            ///
            ///     fn removes<F: Remove>(self, _: fn(Sizing, u64) -> Result<F, BuildError>) -> bool {
            ///         true
            ///     }
            ///
            ///     fn builds<F: Membership>(
            ///         self,
            ///         _: fn(Sizing, &[KeyHash]) -> Result<F, BuildError>,
            ///     ) -> bool {
            ///         false
            ///     }
            /// }
            ///
            /// assert!(FilterKind::Cuckoo.visit(CanRemove) && !FilterKind::Ribbon.visit(CanRemove));
            /// ```
            pub fn visit<V: KindVisitor>(self, visitor: V) -> V::Output {
                match self {
                    $(Self::$kind => visitor.$updates(filter_kind!(@maker $updates $filter)),)*
                }
            }
        }

        /// Builds a filter over the keys and returns its stored form, which
        /// [`StoredFilter`](crate::StoredFilter) reads.
        ///
        /// A key may occur more than once. No keys give a filter of [`HEADER_LEN`](crate::HEADER_LEN) bytes
        /// that denies everything.
        ///
        /// # Errors
        ///
        /// [`BuildError`] if no filter of that kind and sizing can be made.
        pub fn build(
            kind: FilterKind,
            sizing: Sizing,
            seed: Seed,
            keys: &[KeyHash],
        ) -> Result<Vec<u8>, BuildError> {
            match kind {
                $(FilterKind::$kind => Ok(<$filter>::from_keys(sizing, keys)?.to_stored(seed)),)*
            }
        }

        /// Returns what a filter of so many different keys will cost and how often it will err, without
        /// making it.
        ///
        /// ```
        /// use filter::{ErrorRate, FilterKind, Sizing, plan};
        ///
        /// let sizing = Sizing::ErrorRate(ErrorRate::new(0.01)?);
        /// let billion = plan(FilterKind::BlockedBloom, sizing, 1_000_000_000)?;
        /// assert!((9.9..10.0).contains(&billion.bits_per_key()));
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        ///
        /// # Errors
        ///
        /// [`BuildError`] if no filter of that kind and sizing can be made.
        pub fn plan(kind: FilterKind, sizing: Sizing, keys: u64) -> Result<FilterStats, BuildError> {
            match kind {
                $(FilterKind::$kind => <$filter>::plan(sizing, keys),)*
            }
        }

        // A stored form writes its code by itself, so that no kind depends on this table.
        $(const _: () = assert!(<$stored as StoredView>::CODE == $code);)*
    };
    (@maker builds $filter:ty) => { <$filter>::from_keys };
    (@maker $inserts:ident $filter:ty) => { <$filter>::new };
}
kinds!(filter_kind);

impl FilterKind {
    /// Returns the kind with that name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// Returns the kind with that number in the header of its stored form, if there is one.
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| *kind as u8 == code)
    }
}

impl fmt::Display for FilterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What to do with filters in memory of a kind that is known only at run time: see
/// [`FilterKind::visit`].
///
/// A method is called with the type of the filter, so that its lookups inline.
pub trait KindVisitor {
    /// What the visit results in.
    type Output;

    /// Takes a kind to which keys are added one by one; `make` sizes an empty filter for so many keys.
    fn inserts<F: Insert>(self, make: fn(Sizing, u64) -> Result<F, BuildError>) -> Self::Output;

    /// Takes a kind from which keys can also be removed.
    fn removes<F: Remove>(self, make: fn(Sizing, u64) -> Result<F, BuildError>) -> Self::Output;

    /// Takes a static kind, which is built of all keys at once.
    fn builds<F: Membership>(
        self,
        build: fn(Sizing, &[KeyHash]) -> Result<F, BuildError>,
    ) -> Self::Output;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorRate, StoredFilter};

    #[test]
    fn what_is_planned_is_what_is_built() {
        let keys: Vec<_> =
            (0..50_000_u32).map(|key| KeyHash::new(Seed::new(1), &key.to_le_bytes())).collect();
        for &kind in FilterKind::ALL {
            let sizing = Sizing::ErrorRate(ErrorRate::HBASE);
            let planned = plan(kind, sizing, keys.len() as u64).expect("possible");
            let built = build(kind, sizing, Seed::new(1), &keys).expect("possible");
            let built = StoredFilter::parse(built).expect("our own bytes").stats();
            assert_eq!(planned.keys, built.keys, "{kind}");
            // A few keys that found no place in their buckets may be in a stash.
            assert!(built.bytes.abs_diff(planned.bytes) <= planned.bytes / 100, "{kind}");
            assert!((planned.error_rate / built.error_rate - 1.0).abs() < 0.01, "{kind}");
            assert!(planned.error_rate <= 0.01, "{kind}");
        }
    }

    #[test]
    fn names_lead_back_to_their_kinds() {
        for &kind in FilterKind::ALL {
            assert_eq!(FilterKind::from_name(kind.name()), Some(kind));
            assert_eq!(FilterKind::from_code(kind as u8), Some(kind));
        }
        assert_eq!(FilterKind::from_name("none"), None);
    }
}
