//! The methods of filters that take keys, on top of the traits that take hashes.
//!
//! The methods are inherent, so that a user of a filter imports no trait. A key is hashed with the
//! filter's seed; a [`SeededHash`](crate::SeededHash) must have this seed.

/// Implements the methods of a kind of filter.
///
/// `builds` is a static kind with `from_hashes`; `inserts` has `with_seed` as well; `removes` can
/// also remove keys. The filter has a field `seed`.
macro_rules! filter_methods {
    ($filter:ty, builds) => {
        $crate::methods::lookup_methods!($filter, seed);

        impl $filter {
            /// Builds a filter of all keys, sized for their number.
            ///
            /// Duplicate keys are allowed. The filter has the seed of the hashes.
            ///
            /// # Errors
            ///
            /// [`BuildError`](crate::BuildError) if no filter of the keys has the requested size or
            /// error rate.
            pub fn build(
                sizing: $crate::sizing::Sizing,
                keys: &$crate::hash::SeededHashes,
            ) -> Result<Self, $crate::error::BuildError> {
                Self::from_hashes(sizing, keys.seed(), keys.hashes())
            }
        }
    };
    ($filter:ty, inserts) => {
        $crate::methods::filter_methods!($filter, builds);

        impl $filter {
            /// Creates an empty filter for `keys` keys with a random seed.
            ///
            /// [`with_seed`](Self::with_seed) says what holds beyond this number. Needs the feature
            /// `std`.
            ///
            /// # Errors
            ///
            /// [`BuildError`](crate::BuildError) if there is no filter of that sizing.
            #[cfg(feature = "std")]
            pub fn new(
                sizing: $crate::sizing::Sizing,
                keys: u64,
            ) -> Result<Self, $crate::error::BuildError> {
                Self::with_seed(sizing, keys, $crate::hash::Seed::random())
            }

            /// Inserts a key.
            ///
            /// # Errors
            ///
            /// [`Full`](crate::Full) if the filter cannot hold another key. The filter is then
            /// unchanged.
            ///
            /// # Panics
            ///
            /// If `key` is a [`SeededHash`](crate::SeededHash) with another seed than the filter's.
            #[inline]
            pub fn insert(
                &mut self,
                key: impl $crate::hash::Key,
            ) -> Result<(), $crate::error::Full> {
                let hash = key.hash_with(self.seed);
                $crate::membership::Insert::insert(self, hash)
            }
        }
    };
    ($filter:ty, removes) => {
        $crate::methods::filter_methods!($filter, inserts);

        impl $filter {
            /// Removes one copy of a key.
            ///
            /// Remove only keys that were inserted. An absent key may look like a member to the
            /// filter. If the absent key is removed, the filter may deny that member later.
            ///
            /// # Errors
            ///
            /// [`Absent`](crate::Absent) if the filter certainly does not hold the key. The filter
            /// is then unchanged.
            ///
            /// # Panics
            ///
            /// If `key` is a [`SeededHash`](crate::SeededHash) with another seed than the filter's.
            #[inline]
            pub fn remove(
                &mut self,
                key: impl $crate::hash::Key,
            ) -> Result<(), $crate::error::Absent> {
                let hash = key.hash_with(self.seed);
                $crate::membership::Remove::remove(self, hash)
            }
        }
    };
}
pub(crate) use filter_methods;

/// Implements `from_hashes` of a kind of filter that takes as many keys as `with_seed` is told.
macro_rules! from_hashes_by_inserts {
    ($filter:ty) => {
        impl $filter {
            /// Builds a filter from hashes with a seed, sized for their number.
            pub(crate) fn from_hashes(
                sizing: $crate::sizing::Sizing,
                seed: $crate::hash::Seed,
                keys: &[$crate::hash::KeyHash],
            ) -> Result<Self, $crate::error::BuildError> {
                let mut filter = Self::with_seed(sizing, keys.len() as u64, seed)?;
                $crate::membership::insert_all(&mut filter, keys)?;
                Ok(filter)
            }
        }
    };
}
pub(crate) use from_hashes_by_inserts;

/// Implements the methods that every filter has.
///
/// `$seed` is the field of the filter's seed, `$bytes` the type parameter of a stored filter.
macro_rules! lookup_methods {
    ($filter:ty, $($seed:ident).+ $(, $bytes:ident: $bound:path)?) => {
        #[expect(
            clippy::len_without_is_empty,
            reason = "the length matters, not whether it is zero"
        )]
        impl$(<$bytes: $bound>)? $filter {
            /// Returns the seed with which the filter hashes its keys.
            pub const fn seed(&self) -> $crate::hash::Seed {
                self.$($seed).+
            }

            /// Hashes a key, for lookups in several filters with the same seed.
            ///
            /// # Panics
            ///
            /// If `key` is a [`SeededHash`](crate::SeededHash) with another seed.
            pub fn hash(&self, key: impl $crate::hash::Key) -> $crate::hash::SeededHash {
                $crate::hash::SeededHash::new(self.$($seed).+, key)
            }

            /// Returns false if the key was certainly never inserted, true if it may have been.
            ///
            /// # Panics
            ///
            /// If `key` is a [`SeededHash`](crate::SeededHash) with another seed than the filter's.
            #[inline]
            pub fn may_contain(&self, key: impl $crate::hash::Key) -> bool {
                $crate::membership::Membership::may_contain(self, key.hash_with(self.$($seed).+))
            }

            /// Looks up a batch of keys, and sets `answers[i]` for the key at `i`.
            ///
            /// Faster than single lookups if the filter is larger than the processor's caches,
            /// because the cache misses of different keys overlap.
            ///
            /// # Panics
            ///
            /// If there are more or fewer answers than keys, or the hashes have another seed than
            /// the filter.
            pub fn may_contain_batch(
                &self,
                keys: &$crate::hash::SeededHashes,
                answers: &mut [bool],
            ) {
                let hashes = keys.hashes_with(self.$($seed).+);
                $crate::membership::Membership::may_contain_batch(self, hashes, answers);
            }

            /// Returns the filter's size and expected error rate.
            pub fn stats(&self) -> $crate::membership::FilterStats {
                $crate::membership::Membership::stats(self)
            }

            /// Returns the number of keys in the filter; each copy of a key counts.
            pub fn len(&self) -> u64 {
                $crate::membership::Membership::len(self)
            }
        }
    };
}
pub(crate) use lookup_methods;
