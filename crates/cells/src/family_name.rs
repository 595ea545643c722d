//! The rule of HBase for names of column families.
//!
//! | a name must not             | because                                                        |
//! |-----------------------------|----------------------------------------------------------------|
//! | be empty                    | a column is written as `family:qualifier`                      |
//! | have more than 127 bytes    | a key stores its length in a signed byte                       |
//! | begin with `.`              | HBase keeps directories of its own under such names            |
//! | have a `:`                  | it separates family and qualifier                              |
//! | have a control character, `/` or `\` | a name is a directory                                |
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
/// The directory of recovered edits in a region.
const RECOVERED_EDITS: &[u8] = b"recovered.edits";

/// Checks that HBase allows a name for a column family.
///
/// ```
/// use cells::check_family_name;
///
/// assert!(check_family_name(b"my family").is_ok());
/// assert!(check_family_name(b"a:b").is_err());
/// ```
///
/// # Errors
///
/// [`InvalidFamilyName`], whose text says which part of HBase's rule the name breaks.
pub fn check_family_name(name: &[u8]) -> Result<(), InvalidFamilyName> {
    let what = match name {
        [] => "is empty",
        [b'.', ..] => "begins with '.'",
        RECOVERED_EDITS => "is reserved by HBase",
        _ if name.len() > LEN_MAX => "has more than 127 bytes",
        _ if name.iter().any(|byte| matches!(byte, 0..=0x1f | 0x7f | b':' | b'/' | b'\\')) => {
            "has a control character, ':', '/' or '\\'"
        }
        _ => return Ok(()),
    };
    Err(InvalidFamilyName { name: name.to_vec(), what })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_valid_as_in_hbase() {
        for family in [&b"f"[..], b"my family", b"a.b", b"\xc3\xa9", b"\xff", b"recovered.edits2"] {
            assert_eq!(check_family_name(family), Ok(()), "{}", escape(family));
        }
        assert_eq!(check_family_name(&[b'f'; LEN_MAX]), Ok(()));
        for (family, what) in [
            (&b""[..], "the family is empty"),
            (b".f", "begins with '.'"),
            (b"..", "begins with '.'"),
            (b"a:b", "has a control character"),
            (b"a/b", "has a control character"),
            (b"a\\b", "has a control character"),
            (b"a\0", "\"a\\x00\" cannot name a family: it has a control character"),
            (b"a\x1f", "has a control character"),
            (b"a\x7f", "has a control character"),
            (b"recovered.edits", "is reserved by HBase"),
            (&[b'f'; LEN_MAX + 1], "has more than 127 bytes"),
        ] {
            let error = check_family_name(family).expect_err(what).to_string();
            assert!(error.contains(what), "{error}");
        }
    }
}
