//! Damaged copies of sound files: media damage, and damage that checksums do not reveal.
//!
//! | class      | damage                                                      | a read may return             |
//! |------------|-------------------------------------------------------------|-------------------------------|
//! | `Raw`      | bytes changed, checksums kept                               | the right answer or an error  |
//! | `Placed`   | whole sound blocks moved, lost, or from another file        | the right answer or an error  |
//! | `Stale`    | a whole sound block of another version of the file, in its  | the contents of that block,   |
//! |            | old position, contradicted by nothing else in the file      | within the range of the block |
//! | `Repaired` | bytes changed or blocks moved, then `previous` offsets and  | see docs/src/reference/       |
//! |            | checksums recomputed                                        | hostile-files.md              |

use std::collections::BTreeSet;
use std::ops::Range;

use crate::Random;
use sstable::{BlockType, ChecksumType};

use crate::sound::Sound;

/// The class of damage of a mutant; see the table above.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[expect(missing_docs, reason = "the table above has them")]
pub enum Class {
    Raw,
    Placed,
    Stale,
    Repaired,
}

/// A damaged copy of a file.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The numbers of the blocks whose bytes changed.
    pub touched: BTreeSet<usize>,
    /// The class of its damage.
    pub class: Class,
}

/// The length of a version 3 trailer.
const TRAILER_LEN: usize = 4096;

impl Mutant {
    /// Applies one to three random changes to a file.
    ///
    /// `others` are files of the same shape that blocks may be copied from.
    pub fn new(sound: &Sound, others: &[Other], random: &mut Random) -> Self {
        let mut mutant = Self::unchanged(sound);
        match random.below(14) {
            0 | 1 => mutant.swap(sound, random),
            2 | 3 => mutant.duplicate(sound, random),
            4 => mutant.drop_block(sound, random),
            5 => mutant.lose_write(sound, random),
            6 | 7 if !others.is_empty() => {
                mutant.take_from(&others[random.below(others.len())], sound, random);
            }
            8 => mutant.change_trailer(random),
            9 | 10 => mutant.change_unrepaired(sound, random),
            _ => {
                mutant.class = Class::Repaired;
                for _ in 0..=random.below(3) {
                    mutant.change_block(sound, random);
                }
            }
        }
        mutant
    }

    fn unchanged(sound: &Sound) -> Self {
        Self { bytes: sound.bytes.clone(), touched: BTreeSet::new(), class: Class::Placed }
    }

    /// Overwrites bytes at offset `at` of a block and recomputes the block's checksums.
    ///
    /// Returns `None` if the bytes do not fit into the block.
    pub fn overwritten(sound: &Sound, block: usize, at: usize, bytes: &[u8]) -> Option<Self> {
        let mut mutant = Self { class: Class::Repaired, ..Self::unchanged(sound) };
        let covered = sound.covered(block);
        let start = covered.start + at;
        let end = Some(start + bytes.len()).filter(|end| *end <= covered.end)?;
        mutant.bytes[start..end].copy_from_slice(bytes);
        mutant.repair(sound, block);
        Some(mutant)
    }

    /// Changes bytes of one block: bit flips, splices, huge numbers, header fields.
    fn change_block(&mut self, sound: &Sound, random: &mut Random) {
        let block = random.below(sound.blocks.len());
        let Range { start, end } = sound.covered(block);
        if end - start <= 33 {
            return;
        }
        let bytes = &mut self.bytes;
        let in_body = |random: &mut Random| start + 33 + random.below(end - start - 33);
        let place = in_body(random);
        match random.below(7) {
            0 => bytes[place] ^= 1 << random.below(8),
            1 => bytes[place] = random.next_u64() as u8,
            2 => {
                // A huge length, or zero in place of a number.
                let number = [0x7fff_ffff_u32, 0xffff_ffff, 0x0001_0000, 0][random.below(4)];
                let room = (end - place).min(4);
                bytes[place..place + room].copy_from_slice(&number.to_be_bytes()[..room]);
            }
            3 => {
                let from = in_body(random);
                let len = random.below(40).min(end - place).min(end - from);
                bytes.copy_within(from..from + len, place);
            }
            4 => {
                let other = sound.covered(random.below(sound.blocks.len()));
                let from = other.start + random.below(other.len());
                let len = (1 + random.below(200)).min(end - place).min(other.end - from);
                bytes.copy_within(from..from + len, place);
            }
            // Sizes, previous block or checksum type.
            5 => bytes[start + 8 + random.below(25)] ^= 1 << random.below(8),
            // An uncompressed size that exceeds the data.
            _ => {
                let size = [0x7fff_ffff_u32, 1 << 30, 16 << 20, 1 << 20][random.below(4)];
                bytes[start + 12..start + 16].copy_from_slice(&size.to_be_bytes());
            }
        }
        self.repair(sound, block);
    }

    /// Recomputes the checksums of a block in place.
    fn repair(&mut self, sound: &Sound, block: usize) {
        self.touched.insert(block);
        let header = sound.blocks[block].1;
        let covered = sound.covered(block);
        let sums =
            sums(header.checksum_type, &self.bytes[covered.clone()], header.bytes_per_checksum);
        self.bytes[covered.end..covered.end + sums.len()].copy_from_slice(&sums);
    }

    /// Swaps two blocks of one type.
    ///
    /// If they have the same length, half of the time their previous offsets are corrected.
    fn swap(&mut self, sound: &Sound, random: &mut Random) {
        let Some((first, second)) = two_of_a_type(sound, random) else { return };
        let (one, other) = (whole(sound, first), whole(sound, second));
        let (front, back) = (&sound.bytes[one.clone()], &sound.bytes[other.clone()]);
        let between = &sound.bytes[one.end..other.start];
        self.bytes[one.start..other.end].copy_from_slice(&[back, between, front].concat());
        self.touched.extend(first..=second);
        if one.len() == other.len() && random.below(2) == 0 {
            for block in [first, second] {
                self.keep_previous(sound, block);
            }
        }
    }

    /// Copies a block over another of its type, or inserts the copy after that one.
    fn duplicate(&mut self, sound: &Sound, random: &mut Random) {
        let Some((first, second)) = two_of_a_type(sound, random) else { return };
        let (first, second) = if random.below(2) == 0 { (first, second) } else { (second, first) };
        let (from, to) = (whole(sound, first), whole(sound, second));
        let copy = sound.bytes[from.clone()].to_vec();
        self.touched.insert(second);
        if from.len() == to.len() {
            self.bytes[to].copy_from_slice(&copy);
            if random.below(2) == 0 {
                self.keep_previous(sound, second);
            }
        } else {
            self.bytes.splice(to.end..to.end, copy.iter().copied());
            shift_offsets(&mut self.bytes, to.end as u64, copy.len() as i64);
        }
    }

    /// Removes a block and corrects the offsets in the trailer.
    fn drop_block(&mut self, sound: &Sound, random: &mut Random) {
        let dropped = whole(sound, random.below(sound.blocks.len()));
        let (start, len) = (dropped.start as u64, dropped.len() as i64);
        self.bytes.drain(dropped);
        shift_offsets(&mut self.bytes, start, -len);
    }

    /// Zeroes a block, as if its write was lost.
    fn lose_write(&mut self, sound: &Sound, random: &mut Random) {
        let block = random.below(sound.blocks.len());
        self.bytes[whole(sound, block)].fill(0);
        self.touched.insert(block);
    }

    /// Replaces a block by the block of `other` at the same number, if type and length are equal.
    ///
    /// Half of the time the copy keeps the previous offset of the block that it replaces.
    fn take_from(&mut self, other: &Other, sound: &Sound, random: &mut Random) {
        for _ in 0..30 {
            let block = random.below(sound.blocks.len());
            let Some((at, header)) = other.file.blocks.get(block) else { continue };
            let (_, own) = sound.blocks[block];
            let (place, from) = (whole(sound, block), at.get() as usize);
            if header.block_type != own.block_type || header.len() != own.len() {
                continue;
            }
            let new = &other.file.bytes[from..from + place.len()];
            if self.bytes[place.clone()] == *new {
                continue;
            }
            let start = place.start;
            self.bytes[place].copy_from_slice(new);
            self.touched.insert(block);
            if random.below(2) == 0 {
                self.keep_previous(sound, block);
            } else if self.bytes[start + 16..start + 24] == sound.bytes[start + 16..start + 24]
                && (other.fits && own.block_type != BlockType::Meta
                    || !is_identified_by_content(own.block_type))
            {
                self.class = Class::Stale;
            }
            return;
        }
    }

    /// Flips bits or overwrites bytes, and leaves the checksums unchanged.
    fn change_unrepaired(&mut self, sound: &Sound, random: &mut Random) {
        let block = random.below(sound.blocks.len());
        let place = whole(sound, block);
        let is_checked = sound.blocks[block].1.checksum_type != ChecksumType::Null;
        self.class = if is_checked { Class::Raw } else { Class::Repaired };
        self.touched.insert(block);
        let at = place.start + random.below(place.len());
        match random.below(3) {
            0 => self.bytes[at] ^= 1 << random.below(8),
            1 => {
                let end = (at + 1 + random.below(64)).min(place.end);
                self.bytes[at..end].fill(random.next_u64() as u8);
            }
            _ => {
                let len = (1 + random.below(512)).min(place.end - at);
                let from = random.below(sound.bytes.len() - len);
                self.bytes[at..at + len].copy_from_slice(&sound.bytes[from..from + len]);
            }
        }
    }

    /// Flips a bit of the trailer, which has no checksum.
    fn change_trailer(&mut self, random: &mut Random) {
        let start = self.bytes.len() - TRAILER_LEN;
        let message_len = usize::from(self.bytes[start + 8]);
        let at = if random.below(20) == 0 {
            self.bytes.len() - 1 - random.below(4)
        } else {
            start + random.below(9 + message_len)
        };
        self.bytes[at] ^= 1 << random.below(8);
        self.class = Class::Raw;
    }

    /// Restores the previous offset of a block that was replaced, and recomputes its checksums.
    fn keep_previous(&mut self, sound: &Sound, block: usize) {
        self.class = Class::Repaired;
        let place = sound.covered(block).start + 16..sound.covered(block).start + 24;
        self.bytes[place.clone()].copy_from_slice(&sound.bytes[place]);
        let header = sound.blocks[block].1;
        let start = sound.covered(block).start;
        // The new block may have another data length.
        let data_len =
            u32::from_be_bytes(self.bytes[start + 29..start + 33].try_into().expect("four bytes"));
        let end = start + data_len as usize;
        let sums = sums(header.checksum_type, &self.bytes[start..end], header.bytes_per_checksum);
        self.bytes[end..end + sums.len()].copy_from_slice(&sums);
    }
}

/// A file of the same shape as the one that is damaged.
#[derive(Clone, Debug)]
pub struct Other {
    /// The file.
    pub file: Sound,
    /// Whether the keys of each block fit into the range of the block at the same number.
    pub fits: bool,
}

/// Whether a reader can detect that a block of this type is misplaced.
///
/// It detects this by the keys or, for row filters, by the checksum in the filter index.
const fn is_identified_by_content(block_type: BlockType) -> bool {
    use BlockType::{Data, EncodedData, IntermediateIndex, LeafIndex, Meta};
    matches!(block_type, Data | EncodedData | IntermediateIndex | LeafIndex | Meta)
}

/// The range of a block, with its checksums.
fn whole(sound: &Sound, block: usize) -> Range<usize> {
    let (at, header) = sound.blocks[block];
    let start = at.get() as usize;
    start..start + header.len() as usize
}

/// Returns two blocks of one type in file order, if there are any; half of the time of equal
/// length.
fn two_of_a_type(sound: &Sound, random: &mut Random) -> Option<(usize, usize)> {
    let of_one_len = random.below(2) == 0;
    for _ in 0..30 {
        let (first, second) = (random.below(sound.blocks.len()), random.below(sound.blocks.len()));
        let (one, other) = (&sound.blocks[first].1, &sound.blocks[second].1);
        if first < second
            && one.block_type == other.block_type
            && one.block_type != BlockType::RootIndex
            && (!of_one_len || one.len() == other.len())
        {
            return Some((first, second));
        }
    }
    None
}

fn sums(kind: ChecksumType, covered: &[u8], bytes_per_checksum: u32) -> Vec<u8> {
    let sum = |chunk: &[u8]| match kind {
        ChecksumType::Null => 0,
        ChecksumType::Crc32 => crc32fast::hash(chunk),
        ChecksumType::Crc32c => crc32c::crc32c(chunk),
    };
    let chunks = covered.chunks(bytes_per_checksum as usize);
    chunks.flat_map(|chunk| sum(chunk).to_be_bytes()).collect()
}

/// Adds `by` to the trailer's offsets that are at least `from`.
///
/// These are the offsets of the file info, of the load-on-open section and of the last data block.
pub(crate) fn shift_offsets(bytes: &mut [u8], from: u64, by: i64) {
    let start = bytes.len() - TRAILER_LEN;
    let end = start + 9 + usize::from(bytes[start + 8]);
    let mut at = start + 9;
    while at < end {
        let (field, wire_type) = (bytes[at] >> 3, bytes[at] & 7);
        let (value, len) = varint(&bytes[at + 1..end]);
        if matches!(field, 1 | 2 | 10) && value != u64::MAX && value >= from {
            // Encoded in as many bytes as before, so that the other fields keep their offsets.
            let mut shifted = value.wrapping_add_signed(by);
            for (index, byte) in bytes[at + 1..at + 1 + len].iter_mut().enumerate() {
                *byte = (shifted & 0x7f) as u8 | if index + 1 < len { 0x80 } else { 0 };
                shifted >>= 7;
            }
        }
        at += 1 + len + if wire_type == 2 { value as usize } else { 0 };
    }
}

/// Writes a field of the trailer whose value takes one byte.
pub(crate) fn set_trailer(bytes: &mut [u8], wanted: u8, number: u8) {
    let start = bytes.len() - TRAILER_LEN;
    let mut at = start + 9;
    while at < start + 9 + usize::from(bytes[start + 8]) {
        let (field, wire_type) = (bytes[at] >> 3, bytes[at] & 7);
        let (value, len) = varint(&bytes[at + 1..]);
        if field == wanted && len == 1 {
            bytes[at + 1] = number;
        }
        at += 1 + len + if wire_type == 2 { value as usize } else { 0 };
    }
}

/// Returns the varint at the start of the bytes, and its length.
fn varint(bytes: &[u8]) -> (u64, usize) {
    let len = bytes.iter().take_while(|byte| **byte & 0x80 != 0).count() + 1;
    let digits = bytes[..len].iter().rev();
    (digits.fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f)), len)
}
