//! Names of links: empty files that lead to an HFile of another table.
//!
//! `clone_snapshot` and `restore_snapshot` write `[NS=]TABLE=REGION-FILE`. The directory of the link is the
//! directory of its family. HBase: `HFileLink`.

use std::fmt;
use std::str::FromStr;

use super::{HFileName, InvalidName, MobFileName, RegionName};

/// The name of a table, with its namespace.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TableName {
    namespace: Option<Box<str>>,
    name: Box<str>,
}

impl TableName {
    /// Creates a name. `None` is the namespace `default`.
    ///
    /// # Errors
    ///
    /// [`InvalidName`] if HBase does not allow the name.
    pub fn new(namespace: Option<&str>, name: &str) -> Result<Self, InvalidName> {
        let is_sound = !name.is_empty()
            && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
            && !name.starts_with(['-', '.'])
            && namespace.is_none_or(|name| {
                !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
            });
        if !is_sound {
            return Err(InvalidName);
        }
        Ok(Self { namespace: namespace.map(Into::into), name: name.into() })
    }

    /// Returns the namespace, which is `default` if none is given.
    pub fn namespace(&self) -> &str {
        self.namespace.as_deref().unwrap_or("default")
    }

    /// Returns the name without the namespace.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether this is `hbase:meta`, the table of regions.
    pub fn is_meta(&self) -> bool {
        self.namespace() == "hbase" && self.name() == "meta"
    }
}

impl FromStr for TableName {
    type Err = InvalidName;

    /// Parses `TABLE` or `NAMESPACE:TABLE`.
    fn from_str(text: &str) -> Result<Self, InvalidName> {
        match text.split_once(':') {
            Some(("default", name)) => Self::new(None, name),
            Some((namespace, name)) => Self::new(Some(namespace), name),
            None => Self::new(None, text),
        }
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}:")?;
        }
        f.write_str(&self.name)
    }
}

/// The name of a file that has cells: an HFile or a MOB file.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum DataFileName {
    /// An HFile.
    HFile(HFileName),
    /// A MOB file.
    Mob(MobFileName),
}

impl DataFileName {
    /// Returns the name.
    pub fn as_str(&self) -> &str {
        match self {
            Self::HFile(name) => name.as_str(),
            Self::Mob(name) => name.as_str(),
        }
    }
}

impl FromStr for DataFileName {
    type Err = InvalidName;

    /// A MOB file's name without a region consists of hex digits too, so that pattern is tried first.
    fn from_str(text: &str) -> Result<Self, InvalidName> {
        text.parse().map(Self::Mob).or_else(|_| text.parse().map(Self::HFile))
    }
}

impl fmt::Display for DataFileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The name of a link, `[NS=]TABLE=REGION-FILE`: where the HFile is that the link stands for.
///
/// ```
/// use hbase_files::HFileLink;
///
/// let text = "ns1=t4=ea869e80a7caba94c6902edc38fe97ad-7870cbc258c3453e91d8ee4528e8f438";
/// let link: HFileLink = text.parse()?;
/// assert_eq!(link.table.to_string(), "ns1:t4");
/// assert_eq!(link.region.as_str(), "ea869e80a7caba94c6902edc38fe97ad");
/// assert_eq!(link.to_string(), text);
/// # Ok::<(), hbase_files::InvalidName>(())
/// ```
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct HFileLink {
    /// The table of the HFile.
    pub table: TableName,
    /// The region of the HFile.
    pub region: RegionName,
    /// The name of the HFile.
    pub file: DataFileName,
}

impl FromStr for HFileLink {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        // Only the table's name may contain `-` before the region, and no part contains `=`.
        let (table_text, place) = text.rsplit_once('=').ok_or(InvalidName)?;
        let table = match table_text.split_once('=') {
            Some((namespace, name)) => TableName::new(Some(namespace), name)?,
            None => TableName::new(None, table_text)?,
        };
        let (region, file) = place.split_once('-').ok_or(InvalidName)?;
        Ok(Self { table, region: region.parse()?, file: file.parse()? })
    }
}

impl fmt::Display for HFileLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = &self.table.namespace {
            write!(f, "{namespace}=")?;
        }
        write!(f, "{}={}-{}", self.table.name, self.region, self.file)
    }
}
