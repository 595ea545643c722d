//! Names of HFiles that a flush, a compaction or a bulk load wrote.

use std::fmt;
use std::str::FromStr;

use super::InvalidName;
use super::region::is_hex;

/// The name of an HFile: hex digits, for a bulk-loaded file followed by `_SeqId_N_`.
///
/// The suffix `_del` marks a file of delete markers in a MOB family of old versions of HBase.
///
/// ```
/// use hbase_files::HFileName;
///
/// let name: HFileName = "acc76237a7fc4ca094701df6b3ceff42_SeqId_37_".parse()?;
/// assert_eq!(name.sequence_id(), Some(37));
/// # Ok::<(), hbase_files::InvalidName>(())
/// ```
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct HFileName {
    text: Box<str>,
    sequence_id: Option<u64>,
}

impl HFileName {
    /// The digits of a UUID, as all recent versions of HBase name their files.
    const DIGITS: usize = 32;

    /// Returns the sequence id that a bulk-loaded file has in its name.
    ///
    /// The cells of such a file carry no sequence ids of their own.
    pub const fn sequence_id(&self) -> Option<u64> {
        self.sequence_id
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the name begins with a UUID. Shorter hex names may be names of other files.
    pub(crate) fn has_uuid(&self) -> bool {
        let digits = self.text.split('_').next().unwrap_or_default();
        digits.len() == Self::DIGITS
    }
}

impl FromStr for HFileName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let (digits, suffix) = text.find('_').map_or((text, ""), |at| text.split_at(at));
        if !is_hex(digits) {
            return Err(InvalidName);
        }
        let sequence_id = match suffix {
            "" | "_del" => None,
            _ => {
                let rest = suffix.strip_prefix("_SeqId_").ok_or(InvalidName)?;
                let number = rest.strip_suffix('_').ok_or(InvalidName)?;
                if !number.bytes().all(|byte| byte.is_ascii_digit()) {
                    return Err(InvalidName);
                }
                Some(number.parse().map_err(|_| InvalidName)?)
            }
        };
        Ok(Self { text: text.into(), sequence_id })
    }
}

impl fmt::Display for HFileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
