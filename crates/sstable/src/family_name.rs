//! The rule of HBase for names of column families.
//!
//! | a name must not             | because                                                        |
//! |-----------------------------|----------------------------------------------------------------|
//! | be empty                    |                                                                |
//! | have more than 127 bytes    | a key stores its length in a byte of Java                      |
//! | begin with `.`              | HBase keeps directories of its own under such names            |
//! | have a control character, `:`, `/` or `\` | `:` separates it from the qualifier, and a name is a directory |
//! | be `recovered.edits`        | that is a directory of each region                             |
//!
//! Control characters are the bytes 0x00 to 0x1f and 0x7f. Spaces and bytes from 0x80 are valid.
//! HBase: `ColumnFamilyDescriptorBuilder.isLegalColumnFamilyName`.

use crate::text::escape;

/// A name that HBase does not allow for a column family.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{}", self.message())]
pub struct InvalidFamilyName {
    name: Vec<u8>,
    what: &'static str,
}

impl InvalidFamilyName {
    fn message(&self) -> String {
        let Self { name, what } = self;
        if name.is_empty() {
            return "the family is empty".to_owned();
        }
        format!("\"{}\" cannot name a family: it {what}, which HBase refuses", escape(name))
    }
}

/// The maximum number of bytes of a name.
const LEN_MAX: usize = 127;
/// The directory of a region in which HBase stores recovered edits.
const RECOVERED_EDITS: &[u8] = b"recovered.edits";

/// Checks that HBase allows a name for a column family.
///
/// ```
/// use sstable::check_family_name;
///
/// assert!(check_family_name(b"my family").is_ok());
/// assert!(check_family_name(b"a:b").is_err());
/// ```
///
/// # Errors
///
/// [`InvalidFamilyName`], whose text says which part of HBase's rule the name breaks.
pub fn check_family_name(name: &[u8]) -> Result<(), InvalidFamilyName> {
    let is_refused = |byte: &u8| matches!(byte, 0..=0x1f | 0x7f | b':' | b'/' | b'\\');
    let what = match name {
        [] => "is empty",
        [b'.', ..] => "begins with '.'",
        RECOVERED_EDITS => "is reserved by HBase",
        _ if name.len() > LEN_MAX => "has more than 127 bytes",
        _ if name.iter().any(is_refused) => "has a control character, ':', '/' or '\\'",
        _ => return Ok(()),
    };
    Err(InvalidFamilyName { name: name.to_vec(), what })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_shows_the_name_and_the_broken_rule() {
        let told = |name: &[u8]| check_family_name(name).expect_err("refused").to_string();
        assert_eq!(told(b""), "the family is empty");
        assert!(told(b"a\0").starts_with("\"a\\x00\" cannot name a family: it has a control"));
        assert!(told(b"..").contains("begins with '.'"));
        assert!(told(b"recovered.edits").contains("is reserved by HBase"));
        assert!(told(&[b'f'; 128]).contains("more than 127 bytes"));
    }
}
