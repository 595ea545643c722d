//! A dictionary of the compressed codec: later cells refer to its byte strings by number.
//!
//! The writer and the reader build the same dictionary. A byte string that the dictionary does not
//! have is written in full and gets the next number. Once the dictionary is full, the string
//! replaces the least recently used one and takes over its number. HBase's class: `LRUDictionary`.
//!
//! | bytes           | meaning                                                               |
//! |-----------------|-----------------------------------------------------------------------|
//! | `ff`, varint, … | length and bytes of a string, which is added unless it is empty       |
//! | `hh ll`         | the number of a string, u16 BE; the first byte is not `ff`            |

use super::error::Stop;
use super::input::Input;
use super::limits::DICTIONARIES_LEN_MAX;

/// The first byte of a string that is written in full.
const IN_FULL: u8 = 0xff;

/// The index that no slot has: marks the ends of the linked list.
const NONE: usize = usize::MAX;

/// A dictionary that replaces the least recently used entry when it is full.
pub(super) struct Dictionary {
    slots: Vec<Slot>,
    capacity: usize,
    most_recent: usize,
    least_recent: usize,
}

/// An entry, linked with the entries that were used just before and just after it.
struct Slot {
    bytes: Box<[u8]>,
    newer: usize,
    older: usize,
}

impl Dictionary {
    /// Creates an empty dictionary.
    pub(super) const fn new(capacity: usize) -> Self {
        Self { slots: Vec::new(), capacity, most_recent: NONE, least_recent: NONE }
    }

    /// Appends the next string of `input` to `out`, if it has at most `len_max` bytes.
    ///
    /// Returns the length of the string. `total` is the number of bytes in all dictionaries of the
    /// file, and is kept up to date.
    pub(super) fn read(
        &mut self,
        input: &mut Input,
        len_max: usize,
        total: &mut usize,
        out: &mut Vec<u8>,
    ) -> Result<usize, Stop> {
        let too_long = || Stop::wrong("a part of a cell is longer than the cell says");
        let first = input.byte()?;
        if first != IN_FULL {
            let index = usize::from(u16::from_be_bytes([first, input.byte()?]));
            let bytes = self
                .get(index)
                .ok_or_else(|| Stop::wrong(format!("no dictionary entry has number {index}")))?;
            if bytes.len() > len_max {
                return Err(too_long());
            }
            out.extend_from_slice(bytes);
            return Ok(bytes.len());
        }
        let len = input.varint_len()?;
        if len > len_max {
            return Err(too_long());
        }
        let bytes = input.take_part("a part of a cell", len, DICTIONARIES_LEN_MAX)?;
        out.extend_from_slice(bytes);
        if len > 0 {
            let replaced = self.add(bytes);
            *total = total.saturating_add(len).saturating_sub(replaced);
            Stop::check_limit("the dictionary", *total, DICTIONARIES_LEN_MAX)?;
        }
        Ok(len)
    }

    /// Returns an entry, and makes it the most recently used one.
    fn get(&mut self, index: usize) -> Option<&[u8]> {
        if index >= self.slots.len() {
            return None;
        }
        self.unlink(index);
        self.link_first(index);
        self.slots.get(index).map(|slot| &*slot.bytes)
    }

    /// Adds an entry as the most recently used one; returns the length of the entry that it replaces.
    fn add(&mut self, bytes: &[u8]) -> usize {
        let owned = Box::from(bytes);
        let mut replaced = 0;
        let index = if self.slots.len() < self.capacity {
            self.slots.push(Slot { bytes: owned, newer: NONE, older: NONE });
            self.slots.len().saturating_sub(1)
        } else {
            let index = self.least_recent;
            self.unlink(index);
            if let Some(slot) = self.slots.get_mut(index) {
                replaced = slot.bytes.len();
                slot.bytes = owned;
            }
            index
        };
        self.link_first(index);
        replaced
    }

    fn unlink(&mut self, index: usize) {
        let Some(&Slot { newer, older, .. }) = self.slots.get(index) else { return };
        match self.slots.get_mut(newer) {
            Some(slot) => slot.older = older,
            None => self.most_recent = older,
        }
        match self.slots.get_mut(older) {
            Some(slot) => slot.newer = newer,
            None => self.least_recent = newer,
        }
    }

    fn link_first(&mut self, index: usize) {
        let second = self.most_recent;
        if let Some(slot) = self.slots.get_mut(index) {
            slot.newer = NONE;
            slot.older = second;
        }
        match self.slots.get_mut(second) {
            Some(slot) => slot.newer = index,
            None => self.least_recent = index,
        }
        self.most_recent = index;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_dictionary_replaces_the_least_recently_used_entry() {
        let mut dictionary = Dictionary::new(3);
        for bytes in [b"a", b"b", b"c"] {
            assert_eq!(dictionary.add(bytes), 0);
        }
        assert_eq!(dictionary.get(0), Some(&b"a"[..]));
        assert_eq!(dictionary.get(3), None);
        // b is the least recently used one, then c.
        assert_eq!(dictionary.add(b"dd"), 1);
        assert_eq!(dictionary.get(1), Some(&b"dd"[..]));
        assert_eq!(dictionary.add(b"e"), 1);
        assert_eq!(dictionary.get(2), Some(&b"e"[..]));
        assert_eq!(dictionary.get(0), Some(&b"a"[..]));
        // Now dd is: e and a were used after it.
        assert_eq!(dictionary.add(b"f"), 2);
        assert_eq!(dictionary.get(1), Some(&b"f"[..]));
    }

    /// Compares with a list in the order of use.
    #[test]
    fn any_use_gives_the_entries_of_a_simple_list() {
        for capacity in [1, 2, 7] {
            let mut dictionary = Dictionary::new(capacity);
            let mut by_use: Vec<(usize, u32)> = Vec::new();
            let mut random: u32 = 1;
            for step in 0..5000_u32 {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let index = (random >> 20) as usize % (capacity + 1);
                if random & 0x8000 == 0 {
                    let index =
                        if by_use.len() < capacity { by_use.len() } else { by_use.remove(0).0 };
                    by_use.push((index, step));
                    dictionary.add(&step.to_be_bytes());
                } else {
                    let at = by_use.iter().position(|(number, _)| *number == index);
                    let expected = at.map(|at| {
                        let entry = by_use.remove(at);
                        by_use.push(entry);
                        entry.1.to_be_bytes()
                    });
                    assert_eq!(dictionary.get(index), expected.as_ref().map(|bytes| &bytes[..]));
                }
            }
        }
    }
}
