//! Valid names of column families (`ColumnFamilyDescriptorBuilder.isLegalColumnFamilyName`).

use sstable::escape;

/// The directory of a region in which HBase stores recovered edits.
const RECOVERED_EDITS: &[u8] = b"recovered.edits";

/// Refuses a family name that HBase refuses.
pub(crate) fn check_family(family: &[u8]) -> Result<(), String> {
    let is_refused = |byte: &u8| matches!(byte, 0..=0x1f | 0x7f | b':' | b'/' | b'\\');
    let what = match family {
        [] => return Err("the family is empty".to_owned()),
        [b'.', ..] => "begins with '.'",
        RECOVERED_EDITS => "is reserved by HBase",
        _ if family.iter().any(is_refused) => "has a control character, ':', '/' or '\\'",
        _ => return Ok(()),
    };
    Err(format!("\"{}\" cannot name a family: it {what}, which HBase refuses", escape(family)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_valid_as_in_hbase() {
        for family in [&b"f"[..], b"my family", b"a.b", b"\xc3\xa9", b"\xff", b"recovered.edits2"] {
            assert_eq!(check_family(family), Ok(()), "{}", escape(family));
        }
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
        ] {
            let error = check_family(family).expect_err(what);
            assert!(error.contains(what), "{error}");
        }
    }
}
