//! Names of MOB files: HFiles that hold the large values of a family.
//!
//! | characters | field                                                            |
//! |-----------:|------------------------------------------------------------------|
//! |         32 | MD5 of the start key of the region that wrote the file, in hex   |
//! |          8 | the day of the newest cell, `YYYYMMDD`                           |
//! |         32 | a UUID in hex                                                    |
//! |         33 | `_` and the encoded name of the region; absent in old versions   |

use std::fmt;
use std::str::FromStr;

use super::region::is_hex;
use super::{InvalidName, RegionName};

/// The name of a MOB file. Its fields are in the table at the top of `names/mob.rs`.
///
/// ```
/// use hbase_files::MobFileName;
///
/// let text = "d41d8cd98f00b204e9800998ecf8427e20231114edfb7cfcfcf24910afe31a93ac1e32c7_d857be384bc1e2dee0397fd01260d85d";
/// let name: MobFileName = text.parse()?;
/// assert_eq!(name.day(), "20231114");
/// assert_eq!(name.to_string(), text);
/// # Ok::<(), hbase_files::InvalidName>(())
/// ```
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct MobFileName {
    text: Box<str>,
    region: Option<RegionName>,
}

impl MobFileName {
    const START_KEY_LEN: usize = 32;
    const DAY_LEN: usize = 8;
    const LEN: usize = Self::START_KEY_LEN + Self::DAY_LEN + 32;

    /// Returns the day of the newest cell, as `YYYYMMDD`.
    pub fn day(&self) -> &str {
        self.text.get(Self::START_KEY_LEN..Self::START_KEY_LEN + Self::DAY_LEN).unwrap_or_default()
    }

    /// Returns the region that wrote the file, if the name has it.
    pub const fn region(&self) -> Option<&RegionName> {
        self.region.as_ref()
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for MobFileName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let (digits, region) = match text.split_once('_') {
            Some((digits, region)) => (digits, Some(region.parse()?)),
            None => (text, None),
        };
        let name = Self { text: text.into(), region };
        let is_day = name.day().bytes().all(|byte| byte.is_ascii_digit());
        if digits.len() == Self::LEN && is_hex(digits) && is_day {
            Ok(name)
        } else {
            Err(InvalidName)
        }
    }
}

impl fmt::Display for MobFileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
