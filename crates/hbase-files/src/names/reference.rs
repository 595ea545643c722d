//! Names of references: small files that stand for a half of a file of another region.
//!
//! A split or a merge writes `NAME.REGION`: NAME is the file, or a link to it, in the region REGION
//! of the same table. HBase: `StoreFileInfo.REF_NAME_PATTERN`. The contents are
//! [`sstable::Reference`].

use std::fmt;
use std::str::FromStr;

use super::{HFileLink, HFileName, InvalidName, RegionName};

/// What a reference refers to, by its name in the other region.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum ReferredName {
    /// An HFile.
    HFile(HFileName),
    /// A link to an HFile of another table.
    Link(HFileLink),
}

impl FromStr for ReferredName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        text.parse().map(Self::HFile).or_else(|_| text.parse().map(Self::Link))
    }
}

impl fmt::Display for ReferredName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HFile(name) => name.fmt(f),
            Self::Link(name) => name.fmt(f),
        }
    }
}

/// The name of a reference to a half of a file, `NAME.REGION`.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ReferenceName {
    /// The file in the other region.
    pub referred: ReferredName,
    /// The other region: the parent of a split, or one of the regions of a merge.
    pub region: RegionName,
}

impl FromStr for ReferenceName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        // The table's name in a link may contain dots; the name of a region contains none.
        let (referred, region) = text.rsplit_once('.').ok_or(InvalidName)?;
        Ok(Self { referred: referred.parse()?, region: region.parse()? })
    }
}

impl fmt::Display for ReferenceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.referred, self.region)
    }
}
