//! The vector instruction sets on targets that have none of them: types without a value.

use super::operations::Operations;

macro_rules! absent {
    ($name:ident) => {
        /// An instruction set that no processor of this target has.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub(crate) enum $name {}

        impl $name {
            pub(super) const fn detect() -> Option<Self> {
                None
            }
        }

        impl Operations for $name {}
    };
}

absent!(Sse2);
absent!(Avx2);
absent!(Avx512);
