//! The names of exported files, by which an export recognises those that a stopped run left.
//!
//! ```text
//! INDEX-STEM-NUMBER.EXTENSION       05-digit index of the part, six digits
//! FAMILY/PREFIX24NUMBER             an HFile: 24 and 8 hex digits, as HBase names its files
//! .hfile-ABC123                     a file that is not finished yet; see `temporary`
//! ```

use std::path::Path;

use super::form::ExportFormat;
use super::hash::text_hash;
use super::source::Part;

/// What the names of unfinished files begin with, and how many letters and digits follow.
const TEMPORARY: (&str, usize) = (".hfile-", 6);
/// The digits of a file's number.
const DIGITS: usize = 6;
/// The hex digits of an HFile's number.
const HEX_DIGITS: usize = 8;

/// Returns the beginning of the names of a part's files, without the directory of a family.
pub(super) fn prefix(format: ExportFormat, index: usize, part: &Part) -> String {
    let Part { name, file_stem, .. } = part;
    if format != ExportFormat::Hfiles {
        return format!("{index:05}-{file_stem}-");
    }
    match name.get(..24) {
        Some(prefix) if name.len() == 32 && is_hex(name) => prefix.to_owned(),
        _ => format!("{}{index:08x}", text_hash(name)),
    }
}

/// Returns the path of a file in the directory of the export; `family` is the family of an HFile.
pub(super) fn path(format: ExportFormat, family: &str, prefix: &str, number: u32) -> String {
    match format {
        ExportFormat::Hfiles => format!("{family}/{prefix}{number:0HEX_DIGITS$x}"),
        _ => format!("{prefix}{number:0DIGITS$}.{}", format.extension()),
    }
}

/// Returns whether the path of a file has a name that begins with a prefix.
pub(super) fn has_prefix(format: ExportFormat, path: &Path, prefix: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let Some(rest) = name.and_then(|name| name.strip_prefix(prefix)) else { return false };
    if format == ExportFormat::Hfiles {
        return rest.len() == HEX_DIGITS && is_hex(rest);
    }
    let (number, extension) = rest.split_once('.').unwrap_or((rest, ""));
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    number.len() == DIGITS && is_number && extension == format.extension()
}

/// Returns whether a path names a file that was not finished.
pub(super) fn is_temporary(path: &Path) -> bool {
    let (begin, len) = TEMPORARY;
    let name = path.file_name().and_then(|name| name.to_str());
    let rest = name.and_then(|name| name.strip_prefix(begin));
    rest.is_some_and(|rest| {
        rest.len() == len && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
