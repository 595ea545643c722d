//! The table of filter kinds, and the code generated from it: names, codes, building, planning.
//!
//! To add a kind, write its module and add one row to the table. Two modules generate code from the
//! table: this one and `stored` (lookups in a stored filter).

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use crate::error::BuildError;
use crate::hash::{KeyHash, Seed, SeededHashes};
use crate::membership::{FilterStats, Insert, Membership, Remove};
use crate::sizing::Sizing;
use crate::stored_view::StoredView;

/// Calls the macro `$expand` with the table as its input.
///
/// | column    | meaning                                                                          |
/// |-----------|----------------------------------------------------------------------------------|
/// | `code`    | number in the header of the stored form, [`StoredView::CODE`]; the code of a     |
/// |           | removed kind is not reused                                                       |
/// | `name`    | name on the command line, in manifests, documents and figures                    |
/// | `updates` | method of [`KindVisitor`]. `inserts`: keys are inserted one by one; `removes`:   |
/// |           | they can also be removed; `builds`: static, built from all keys in one step      |
/// | `filter`  | the type in memory, with `from_hashes`, `plan` and `to_stored`; for `inserts`    |
/// |           | also `with_seed`; for `removes` also `with_seed` and `from_body`                 |
/// | `stored`  | the [`StoredView`]                                                               |
///
/// HFiles have no filters with counters ([`FilterKind::IN_FILES`]).
macro_rules! kinds {
    ($expand:ident) => {
        $expand! {
            /// [`Classic`](crate::Classic): the bits of a key are anywhere in the
            /// filter.
            ClassicBloom {
                code: 3, name: "classic-bloom", updates: inserts,
                filter: crate::bloom::Classic,
                stored: crate::bloom::ClassicView,
            }
            /// [`Blocked`](crate::Blocked): all bits of a key in one cache line.
            BlockedBloom {
                code: 1, name: "blocked-bloom", updates: inserts,
                filter: crate::bloom::Blocked,
                stored: crate::bloom::BlockedView,
            }
            /// [`SplitBlock`](crate::SplitBlock): one bit in each of eight words, as
            /// in Parquet.
            SplitBlock {
                code: 2, name: "split-block", updates: inserts,
                filter: crate::bloom::SplitBlock,
                stored: crate::bloom::SplitBlockView,
            }
            /// [`CountingBloom`](crate::CountingBloom): all counters of a key in one cache line;
            /// keys can be removed and counted.
            CountingBloom {
                code: 4, name: "counting-bloom", updates: removes,
                filter: crate::counting::CountingBloom,
                stored: crate::counting::CountingView,
            }
            /// [`DLeft`](crate::DLeft): remainders (parts of a key's hash) in buckets of eight;
            /// keys can be removed and counted.
            DLeft {
                code: 5, name: "d-left", updates: removes,
                filter: crate::dleft::DLeft,
                stored: crate::dleft::DLeftView,
            }
            /// [`Cuckoo`](crate::Cuckoo): fingerprints (parts of a key's hash) in buckets of four;
            /// keys can be removed.
            Cuckoo {
                code: 6, name: "cuckoo", updates: removes,
                filter: crate::cuckoo::Cuckoo,
                stored: crate::cuckoo::CuckooView,
            }
            /// [`Ribbon`](crate::Ribbon): the solution of one linear equation per key; static:
            /// built from all keys in one step.
            Ribbon {
                code: 9, name: "ribbon", updates: builds,
                filter: crate::ribbon::Ribbon,
                stored: crate::ribbon::RibbonView,
            }
            /// [`BinaryFuse`](crate::BinaryFuse): three or four slots per key, whose exclusive or
            /// is the key's fingerprint; static: built from all keys in one step.
            BinaryFuse {
                code: 8, name: "binary-fuse", updates: builds,
                filter: crate::fuse::BinaryFuse,
                stored: crate::fuse::FuseView,
            }
        }
    };
}
pub(crate) use kinds;

/// Generates [`FilterKind`] and the functions that dispatch by kind.
macro_rules! filter_kind {
    ($(
        $(#[$doc:meta])*
        $kind:ident {
            code: $code:literal, name: $name:literal, updates: $updates:ident,
            filter: $filter:ty, stored: $stored:ty,
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

            /// The kinds that HFiles and stores use.
            ///
            /// The others, [`CountingBloom`](Self::CountingBloom) and [`DLeft`](Self::DLeft), take
            /// more bits for counters, which serve nobody in a file: its keys do not change.
            pub const IN_FILES: &[Self] = &[
                Self::ClassicBloom,
                Self::BlockedBloom,
                Self::SplitBlock,
                Self::Cuckoo,
                Self::Ribbon,
                Self::BinaryFuse,
            ];

            /// Returns the name that the command line, documents and figures use.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// Calls the method of `visitor` that fits the kind, with the constructor of its
            /// filter: `inserts`, `removes` or `builds` of [`KindVisitor`].
            #[doc(hidden)]
            pub fn visit<V: KindVisitor>(self, visitor: V) -> V::Output {
                match self {
                    $(Self::$kind => visitor.$updates(filter_kind!(@constructor $updates $filter)),)*
                }
            }
        }

        /// Builds a filter from hashes with a seed, as [`FilterKind::build`] does.
        ///
        /// # Errors
        ///
        /// [`BuildError`] if no filter of this kind has the requested size or error rate.
        pub fn build(
            kind: FilterKind,
            sizing: Sizing,
            seed: Seed,
            keys: &[KeyHash],
        ) -> Result<Vec<u8>, BuildError> {
            match kind {
                $(FilterKind::$kind => Ok(<$filter>::from_hashes(sizing, seed, keys)?.to_stored()),)*
            }
        }

        /// Returns the expected size and error rate of a filter of `keys` distinct keys, without
        /// building it.
        ///
        /// ```
        /// use filter::{FilterKind, Sizing, plan};
        ///
        /// let sizing = Sizing::error_rate(0.01)?;
        /// let billion = plan(FilterKind::BlockedBloom, sizing, 1_000_000_000)?;
        /// assert!((9.9..10.0).contains(&billion.bits_per_key()));
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        ///
        /// # Errors
        ///
        /// [`BuildError`] if no filter of this kind has the requested size or error rate, or if no
        /// memory can hold it.
        pub fn plan(kind: FilterKind, sizing: Sizing, keys: u64) -> Result<FilterStats, BuildError> {
            match kind {
                $(FilterKind::$kind => <$filter>::plan(sizing, keys)?.if_possible(),)*
            }
        }

        // Each kind states its own code as well, so that its module does not depend on this table.
        // Compilation fails if the two differ.
        $(const _: () = assert!(<$stored as StoredView>::CODE == $code);)*
    };
    (@constructor builds $filter:ty) => { <$filter>::from_hashes };
    (@constructor $inserts:ident $filter:ty) => { <$filter>::with_seed };
}
kinds!(filter_kind);

impl FilterKind {
    /// Builds a filter and returns its stored form, for [`StoredFilter`](crate::StoredFilter).
    ///
    /// Duplicate keys are allowed. Without keys the filter is 64 bytes long and denies every key.
    ///
    /// ```
    /// use filter::{FilterKind, Seed, SeededHashes, Sizing, StoredFilter};
    ///
    /// let keys = SeededHashes::new(Seed::random(), ["row1", "row2"]);
    /// let bytes = FilterKind::BlockedBloom.build(Sizing::error_rate(0.01)?, &keys)?;
    /// assert!(StoredFilter::parse(bytes)?.may_contain("row2"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BuildError`] if no filter of this kind has the requested size or error rate.
    pub fn build(self, sizing: Sizing, keys: &SeededHashes) -> Result<Vec<u8>, BuildError> {
        build(self, sizing, keys.seed(), keys.hashes())
    }

    /// Returns the kind with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// Returns the kind with this code in the header of the stored form.
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| *kind as u8 == code)
    }
}

impl fmt::Display for FilterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Parses the name of a kind, as [`FilterKind::name`] returns it.
///
/// ```
/// use filter::FilterKind;
///
/// assert_eq!("cuckoo".parse(), Ok(FilterKind::Cuckoo));
/// let unknown = "cukoo".parse::<FilterKind>().expect_err("misspelled");
/// assert!(unknown.to_string().starts_with(r#"no kind of filter is named "cukoo"; the kinds are"#));
/// ```
impl FromStr for FilterKind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Self, UnknownKind> {
        Self::from_name(name).ok_or_else(|| UnknownKind { name: name.to_owned() })
    }
}

/// No kind of filter has this name.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("no kind of filter is named {name:?}; the kinds are {}", KindNames)]
#[non_exhaustive]
pub struct UnknownKind {
    /// The name.
    pub name: String,
}

/// The names of all kinds, separated by commas.
struct KindNames;

impl fmt::Display for KindNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, kind) in FilterKind::ALL.iter().enumerate() {
            write!(f, "{}{kind}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// Code that is generic over the filter type of a kind known only at run time.
///
/// [`FilterKind::visit`] calls the method that fits the kind. The methods are generic over the
/// filter type, so that the compiler can inline lookups.
pub trait KindVisitor {
    /// The result of the visit.
    type Output;

    /// Visits a kind whose keys are inserted one by one; `with_seed` returns an empty filter sized
    /// for a number of keys.
    fn inserts<F: Insert>(
        self,
        with_seed: fn(Sizing, u64, Seed) -> Result<F, BuildError>,
    ) -> Self::Output;

    /// Visits a kind whose keys can also be removed.
    fn removes<F: Remove>(
        self,
        with_seed: fn(Sizing, u64, Seed) -> Result<F, BuildError>,
    ) -> Self::Output;

    /// Visits a static kind; `from_hashes` builds a filter from all keys.
    fn builds<F: Membership>(
        self,
        from_hashes: fn(Sizing, Seed, &[KeyHash]) -> Result<F, BuildError>,
    ) -> Self::Output;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counting::CountingBloom;
    use crate::cuckoo::Cuckoo;
    use crate::dleft::DLeft;
    use crate::error::FormatError;
    use crate::sizing::ErrorRate;
    use crate::stored::StoredFilter;

    #[test]
    fn a_built_filter_has_the_planned_size_and_error_rate() {
        let keys: Vec<_> =
            (0..50_000_u32).map(|key| KeyHash::new(Seed::new(1), &key.to_le_bytes())).collect();
        for &kind in FilterKind::ALL {
            let sizing = Sizing::ErrorRate(ErrorRate::HBASE);
            let planned = plan(kind, sizing, keys.len() as u64).expect("possible");
            let built = build(kind, sizing, Seed::new(1), &keys).expect("possible");
            let built = StoredFilter::parse(built).expect("our own bytes").stats();
            assert_eq!(planned.keys, built.keys, "{kind}");
            // A plan does not include the stash of a d-left filter: the few keys whose buckets
            // are full.
            assert!(built.bytes.abs_diff(planned.bytes) <= planned.bytes / 100, "{kind}");
            assert!((planned.error_rate / built.error_rate - 1.0).abs() < 0.01, "{kind}");
            assert!(planned.error_rate <= 0.01, "{kind}");
        }
    }

    #[test]
    fn no_plan_is_below_the_bound_at_its_own_error_rate() {
        let counts = [1, 2, 7, 50, 100, 300, 768, 769, 770, 800, 1_100, 2_000, 3_000, 4_500, 7_000];
        let large = [10_000, 20_000, 65_537, 100_000, 1_000_000, 1_000_000_000];
        for &kind in FilterKind::ALL {
            for keys in counts.into_iter().chain(large) {
                for rate in [0.5, 0.1, 0.03, 0.01, 0.005, 0.001, 1.0 / 256.0, 1e-4, 2e-5] {
                    let sizing = Sizing::error_rate(rate).expect("a rate");
                    let Ok(planned) = plan(kind, sizing, keys) else { continue };
                    let bound = crate::theory::bits_per_key_floor(planned.error_rate);
                    let bits = planned.bits_per_key();
                    assert!(bits >= bound, "{kind}, {keys} keys at {rate}: {bits}, bound {bound}");
                }
            }
        }
    }

    #[test]
    fn a_kind_is_found_by_its_name_and_by_its_code() {
        for &kind in FilterKind::ALL {
            assert_eq!(FilterKind::from_name(kind.name()), Some(kind));
            assert_eq!(FilterKind::from_code(kind as u8), Some(kind));
        }
        assert_eq!(FilterKind::from_name("none"), None);
        let unknown = "none".parse::<FilterKind>().expect_err("no kind").to_string();
        for kind in FilterKind::ALL {
            assert!(unknown.contains(kind.name()), "{unknown}");
        }
    }

    #[test]
    fn a_type_refuses_a_stored_filter_of_another_kind() {
        let keys = [KeyHash::new(Seed::new(1), b"row1")];
        for &kind in FilterKind::ALL {
            let bytes = build(kind, Sizing::BitsPerKey(64.0), Seed::new(1), &keys).expect("fits");
            let stored = StoredFilter::parse(bytes).expect("our own bytes");
            let refused = [
                (FilterKind::Cuckoo, Cuckoo::from_stored(&stored).err()),
                (FilterKind::DLeft, DLeft::from_stored(&stored).err()),
                (FilterKind::CountingBloom, CountingBloom::from_stored(&stored).err()),
            ];
            for (own, error) in refused {
                let other = matches!(error, Some(FormatError::OtherKind(_)));
                assert_eq!(other, kind != own, "{kind} as {own}: {error:?}");
            }
        }
    }
}
