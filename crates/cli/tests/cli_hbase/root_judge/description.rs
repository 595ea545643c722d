//! Other versions of `.tableinfo.SEQUENCE.LENGTH`: the magic `PBUF` and a message `TableSchema`.

use std::fs;
use std::path::{Path, PathBuf};

use support::Random;

use super::changes::Change;

/// Adds a second description with another sequence number.
pub(crate) fn double(change: &Change<'_>, random: &mut Random) -> String {
    let (bytes, how) = altered(&change.bytes(), random);
    let sequence = [0, 2, 2, 10][random.below(4)];
    let place = change.element.path.with_file_name("unnamed");
    let (bytes, len) = match random.below(4) {
        // An earlier change may have left an empty file.
        0 if bytes.len() > 1 => (bytes[..=random.below(bytes.len() - 1)].to_vec(), bytes.len()),
        1 => (bytes.clone(), bytes.len() + 1),
        _ => (bytes.clone(), bytes.len()),
    };
    let name = match random.below(8) {
        0 => format!(".tableinfo.{sequence:010}"),
        _ => format!(".tableinfo.{sequence:010}.{len}"),
    };
    let (path, written) = (place.with_file_name(&name), bytes.len());
    fs::write(change.root.join(path), bytes).expect("ours");
    format!("{how}, also as {name} of {written} bytes")
}

/// Replaces the description by an altered one, whose name has its length.
pub(crate) fn age(change: &Change<'_>, random: &mut Random) -> String {
    let (bytes, how) = altered(&change.bytes(), random);
    fs::remove_file(change.path()).expect("ours");
    let path = named(&change.element.path, bytes.len());
    fs::write(change.root.join(path), bytes).expect("ours");
    how
}

fn named(path: &Path, len: usize) -> PathBuf {
    path.with_file_name(format!(".tableinfo.0000000001.{len}"))
}

/// Returns the description of a table whose settings are others, and which.
fn altered(bytes: &[u8], random: &mut Random) -> (Vec<u8>, String) {
    const TRACKER: &[u8] = b"hbase.store.file-tracker.impl";
    let mut bytes = bytes.to_vec();
    match random.below(5) {
        0 | 1 => {
            let digit = b'1' + u8::try_from(random.below(5)).expect("small");
            let how = replace_versions(&mut bytes, digit, random);
            (bytes, how.unwrap_or_else(|| "the same".to_owned()))
        }
        // An attribute is field 2, a pair in the configuration field 4; a later one wins.
        2 => {
            let value = [&b"FILE"[..], b"DEFAULT"][random.below(2)];
            let field = [0x12, 0x22][random.below(2)];
            let pair = [&[0x0a, 29][..], TRACKER, &[0x12, low(value.len())], value].concat();
            bytes.extend([field, low(pair.len())]);
            bytes.extend(pair);
            let value = String::from_utf8_lossy(value);
            (bytes, format!("field {field:#x} with the tracker {value}"))
        }
        3 => match without_last_family(&bytes) {
            Some(fewer) => (fewer, "without the last family".to_owned()),
            None => (bytes, "the same".to_owned()),
        },
        _ => (bytes, "the same".to_owned()),
    }
}

fn low(len: usize) -> u8 {
    u8::try_from(len).expect("short")
}

/// Sets `VERSIONS` or `MIN_VERSIONS` of one family.
fn replace_versions(bytes: &mut [u8], digit: u8, random: &mut Random) -> Option<String> {
    const NAME: &[u8] = b"VERSIONS\x12\x01";
    let at = |at: &usize| bytes[*at..].starts_with(NAME);
    let places: Vec<usize> = (0..bytes.len()).filter(at).collect();
    let at = *places.get(random.below(places.len().max(1)))? + NAME.len();
    let old = std::mem::replace(bytes.get_mut(at)?, digit);
    Some(format!("versions at {at}: {} for {}", char::from(digit), char::from(old)))
}

/// Leaves out the last field 3 of the message, a family.
fn without_last_family(bytes: &[u8]) -> Option<Vec<u8>> {
    const MAGIC_LEN: usize = 4;
    let (mut at, mut last) = (MAGIC_LEN, None);
    while at < bytes.len() {
        let (mut len, mut shift, mut next) = (0_usize, 0, at + 1);
        loop {
            let byte = *bytes.get(next)?;
            len |= usize::from(byte & 0x7f) << shift;
            (shift, next) = (shift + 7, next + 1);
            if byte < 0x80 {
                break;
            }
        }
        if bytes[at] == 0x1a {
            last = Some((at, next + len));
        }
        at = next + len;
    }
    let (from, to) = last?;
    Some([&bytes[..from], bytes.get(to..)?].concat())
}
