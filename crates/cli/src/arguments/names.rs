//! Names of codecs, encodings, filter kinds and so on, in options and in JSON settings.
//!
//! Names are accepted in any case. The error for an unknown name lists the known ones.

use std::ffi::OsStr;
use std::marker::PhantomData;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use filter::FilterKind;
use filter::hbase::HashType;
use serde::{Deserialize, Deserializer};
use sstable::{
    BloomType, ChecksumType, Comparator, Compression, DataBlockEncoding, HBaseVersion, ZstdFraming,
};
use store::{Durability, KeepDeletedCells, MapMode};

/// A type whose values have names on the command line.
pub(crate) trait Named: Clone + Send + Sync + 'static {
    /// The word for a value in errors, such as `compression`.
    const WHAT: &'static str;

    /// Returns all names with their values.
    fn known() -> Vec<(&'static str, Self)>;
}

/// Returns the value with this name, in any case.
fn find<T: Named>(name: &str) -> Option<T> {
    let mut known = T::known().into_iter();
    known.find_map(|(known, value)| known.eq_ignore_ascii_case(name).then_some(value))
}

/// Returns the clap parser of the names of `T`.
pub(crate) const fn name_parser<T: Named>() -> NameParser<T> {
    NameParser(PhantomData)
}

/// The clap parser of the names of `T`. It also makes shells complete them.
#[derive(Clone)]
pub(crate) struct NameParser<T>(PhantomData<fn() -> T>);

impl<T: Named> TypedValueParser for NameParser<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        if let Some(found) = value.to_str().and_then(find) {
            return Ok(found);
        }
        let names = T::known().into_iter().map(|(name, _)| name);
        // The value is none of the names. The error of this parser lists them and suggests a similar one.
        let name = PossibleValuesParser::new(names).parse_ref(command, arg, value)?;
        let what = format!("unknown {} {name:?}", T::WHAT);
        Err(command.clone().error(ErrorKind::InvalidValue, what))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(T::known().into_iter().map(|(name, _)| PossibleValue::new(name))))
    }
}

/// Reads an optional name of JSON settings.
///
/// # Errors
///
/// The known names, if the name is none of them.
pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: Named>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let Some(name) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    find(&name).map(Some).ok_or_else(|| {
        let names: Vec<&str> = T::known().into_iter().map(|(name, _)| name).collect();
        let what = format!("unknown {} {name:?}; known are {}", T::WHAT, names.join(", "));
        serde::de::Error::custom(what)
    })
}

/// Implements [`Named`] for types: the word for a value in errors, and the names with their values.
macro_rules! named {
    ($($(#[$attribute:meta])* $type:ty, $what:literal: $known:expr;)+) => {
        $(
            $(#[$attribute])*
            impl Named for $type {
                const WHAT: &'static str = $what;

                fn known() -> Vec<(&'static str, Self)> {
                    $known
                }
            }
        )+
    };
}

named! {
    Compression, "compression": {
        let supported = Self::ALL.into_iter().filter(|codec| codec.is_supported());
        supported.map(|codec| (codec.name(), codec)).collect()
    };
    DataBlockEncoding, "data block encoding": {
        Self::ALL.map(|encoding| (encoding.name(), encoding)).into()
    };
    ZstdFraming, "ZSTD framing": Self::ALL.map(|framing| (framing.name(), framing)).into();
    HBaseVersion, "HBase version": Self::ALL.map(|version| (version.name(), version)).into();
    ChecksumType, "checksum": Self::ALL.map(|checksum| (checksum.name(), checksum)).into();
    Comparator, "comparator": vec![("BYTES", Self::Bytes), ("META", Self::Meta)];
    /// `ROWPREFIX_FIXED_LENGTH` has the length 0 here; another option sets the length.
    BloomType, "Bloom type": {
        let known = [Self::None, Self::Row, Self::RowCol, Self::RowPrefixFixedLength(0)];
        known.map(|known| (known.name(), known)).into()
    };
    HashType, "Bloom hash": Self::ALL.iter().map(|hash| (hash.name(), *hash)).collect();
    KeepDeletedCells, "kind of kept cells": {
        [Self::False, Self::True, Self::Ttl].map(|keep| (keep.name(), keep)).into()
    };
    Durability, "durability": Self::ALL.map(|level| (level.name(), level)).into();
    MapMode, "family map": Self::ALL.map(|mode| (mode.name(), mode)).into();
    /// The kinds that files have.
    FilterKind, "filter": Self::IN_FILES.iter().map(|kind| (kind.name(), *kind)).collect();
    LibraryKind, "filter": {
        FilterKind::ALL.iter().map(|kind| (kind.name(), Self(*kind))).collect()
    };
    KindOrNone, "filter": {
        let known = FilterKind::known().into_iter();
        let kinds = known.map(|(name, kind)| (name, Self(Some(kind))));
        [("none", Self(None))].into_iter().chain(kinds).collect()
    };
}

/// A kind of filter that the library has, also one that files do not have.
#[derive(Clone, Copy)]
pub(crate) struct LibraryKind(pub(crate) FilterKind);

/// A kind of filter, or `None` for `none`.
#[derive(Clone, Copy)]
pub(crate) struct KindOrNone(pub(crate) Option<FilterKind>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_accepted_in_any_case() {
        assert_eq!(find("lz4"), Some(Compression::Lz4));
        assert_eq!(find("fast_Diff"), Some(DataBlockEncoding::FastDiff));
        assert_eq!(find("Ribbon"), Some(FilterKind::Ribbon));
        assert_eq!(find("rowcol"), Some(BloomType::RowCol));
        assert_eq!(find("MURMUR3"), Some(HashType::Murmur3));
        assert_eq!(find("crc32c"), Some(ChecksumType::Crc32c));
        assert_eq!(find::<Compression>("LZ5"), None);
    }
}
