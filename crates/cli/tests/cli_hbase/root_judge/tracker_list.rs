//! Other versions of `.filelist/f1` and `f2`.
//!
//! | bytes | field                                                             |
//! |------:|-------------------------------------------------------------------|
//! |     4 | length of the message, BE                                         |
//! |     … | message: 1 timestamp, 2 entries (1 name, 2 length), 3 version     |
//! |     4 | CRC-32 of the message, BE                                         |

use std::fs;

use support::{Random, crc32};

use super::changes::Change;
use super::tree;

/// Writes an older or newer list, or the same, into the other file of the pair.
pub(crate) fn double(change: &Change<'_>, random: &mut Random) -> Option<String> {
    let path = &change.element.path;
    let other = path.with_file_name(if tree::name(path) == "f1" { "f2" } else { "f1" });
    let mut list = List::parse(&change.bytes())?;
    let how = list.alter([-1, 0, 1][random.below(3)], random);
    fs::write(change.root.join(&other), list.bytes()).expect("ours");
    Some(format!("{how}, also as {}", tree::name(&other)))
}

/// Replaces the list by an older one.
pub(crate) fn age(change: &Change<'_>, random: &mut Random) -> Option<String> {
    let mut list = List::parse(&change.bytes())?;
    let how = list.alter(-1, random);
    fs::write(change.path(), list.bytes()).expect("ours");
    Some(how)
}

struct List {
    timestamp: u64,
    entries: Vec<Vec<u8>>,
    version: u64,
}

impl List {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let len = usize::try_from(u32::from_be_bytes(bytes.first_chunk().copied()?)).ok()?;
        let mut rest = bytes.get(4..4 + len)?;
        let mut list = Self { timestamp: 0, entries: Vec::new(), version: 0 };
        while let Some((tag, after)) = rest.split_first() {
            rest = after;
            let number = varint(&mut rest)?;
            match tag {
                0x08 => list.timestamp = number,
                0x18 => list.version = number,
                _ => {
                    let (entry, after) = rest.split_at_checked(usize::try_from(number).ok()?)?;
                    list.entries.push(entry.to_vec());
                    rest = after;
                }
            }
        }
        Some(list)
    }

    /// Moves its time, and perhaps leaves out a file or raises the version.
    fn alter(&mut self, millis: i64, random: &mut Random) -> String {
        self.timestamp = self.timestamp.saturating_add_signed(millis);
        let mut how = format!("{millis} ms");
        match random.below(4) {
            0 | 1 if !self.entries.is_empty() => {
                self.entries.remove(random.below(self.entries.len()));
                how += ", without a file";
            }
            2 => {
                self.version += 1;
                how += ", of a higher version";
            }
            _ => {}
        }
        how
    }

    fn bytes(&self) -> Vec<u8> {
        let mut message = vec![0x08];
        put_varint(self.timestamp, &mut message);
        for entry in &self.entries {
            message.push(0x12);
            put_varint(u64::try_from(entry.len()).expect("small"), &mut message);
            message.extend(entry);
        }
        message.push(0x18);
        put_varint(self.version, &mut message);
        let len = u32::try_from(message.len()).expect("small").to_be_bytes();
        [&len[..], &message, &crc32(&message).to_be_bytes()].concat()
    }
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn put_varint(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(u8::try_from(number & 0x7f).expect("7 bits") | 0x80);
        number >>= 7;
    }
    bytes.push(u8::try_from(number).expect("7 bits"));
}
