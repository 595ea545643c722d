//! The manifest: the store's families, their options and their files.
//!
//! The manifest is one small file that is rewritten for every change: write a temporary file, sync,
//! rename, sync the directory. A crash leaves the old manifest or the new one. A store file that the
//! manifest does not list is removed when the store is opened.
//!
//! | at | bytes | field          | encoding and meaning                                          |
//! |---:|------:|----------------|---------------------------------------------------------------|
//! |  0 |     8 | `magic`        | `STOREMAN`                                                    |
//! |  8 |     4 | `version`      | u32 BE; 3                                                     |
//! | 12 |     8 | `store`        | u64 BE; the store's id, drawn at random                       |
//! | 20 |     8 | `filter seed`  | u64 BE; of all row filters, drawn at random                   |
//! | 28 |     8 | `first segment`| u64 BE; the oldest log segment that is still needed           |
//! | 36 |     8 | `flushed`      | u64 BE; no later write gets this sequence id or a smaller one |
//! | 44 |     8 | `log end`      | u64 BE; all segments before this one must exist               |
//! | 52 |     2 | `families`     | u16 BE; the number of families                                |
//! | 54 |       | families       | one after another                                             |
//! |    |     4 | `checksum`     | u32 BE; CRC-32C of everything before it                       |
//!
//! A family:
//!
//! | bytes | field           | encoding and meaning                                            |
//! |------:|-----------------|-----------------------------------------------------------------|
//! |     2 | `id`            | u16 BE; the family's id in the log                              |
//! |   1+n | `name`          | u8 length and bytes                                             |
//! |       | options         | see [`options`]; they say whether `flushed` follows             |
//! |     8 | `flushed`       | u64 BE, if present: the log's cells up to this sequence id are  |
//! |       |                 | in files; the log is kept for another family                    |
//! |     4 | `files`         | u32 BE; the number of files                                     |
//!
//! A file: see [`file`](mod@super::file).

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use byteorder::{BigEndian, ReadBytesExt, WriteBytesExt};
use filter::Seed;
use sstable::SequenceId;

use crate::checksum::crc32c;
use crate::error::{Error, Result};
use crate::files::file_access::chunked_read::ChunkedReader;
use crate::files::names::identity::{random_number, random_seed};
use crate::files::names::segment_number::SegmentNumber;
use crate::files::names::{MANIFEST_NAME, MANIFEST_TEMPORARY_NAME, check_family_name, sequence};
use crate::options::FamilyOptions;
use crate::vfs::Vfs;

use super::bytes::{Invalid, read_short_bytes, write_short_bytes};
use super::file::FileEntry;
use super::options;

/// The contents of a manifest.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Manifest {
    pub(crate) store: u64,
    pub(crate) seed: Seed,
    pub(crate) first_segment: SegmentNumber,
    /// At least the newest sequence id of each flush, and of each file that is no longer listed.
    pub(crate) flushed: SequenceId,
    /// All segments from the first one up to this one, exclusive, must exist. It is on disk before the
    /// first record of a segment is written.
    pub(crate) log_end: SegmentNumber,
    pub(crate) families: Vec<FamilyEntry>,
}

/// The manifest's entry of a family.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FamilyEntry {
    pub(crate) id: u16,
    pub(crate) name: String,
    pub(crate) options: FamilyOptions,
    /// Recovery leaves out the log's cells up to this sequence id, which are in files.
    pub(crate) flushed: Option<SequenceId>,
    pub(crate) files: Vec<FileEntry>,
}

impl Manifest {
    pub(crate) const NAME: &str = MANIFEST_NAME;
    pub(crate) const TEMPORARY_NAME: &str = MANIFEST_TEMPORARY_NAME;
    const MAGIC: [u8; 8] = *b"STOREMAN";
    /// The place of the store's id.
    const STORE_AT: std::ops::Range<usize> = 12..20;
    const VERSION: u32 = 3;
    /// The maximum length of a manifest: about 4,000 files with keys of the maximum length, or a million
    /// with ordinary keys.
    const LEN_MAX: u64 = 256 << 20;

    /// Returns the manifest of a new store.
    pub(crate) fn new() -> Result<Self> {
        Ok(Self {
            store: random_number()?,
            seed: random_seed()?,
            first_segment: SegmentNumber::FIRST,
            flushed: SequenceId::new(0),
            log_end: SegmentNumber::FIRST,
            families: Vec::new(),
        })
    }

    /// Returns the number of log segments that must exist.
    pub(crate) const fn log_segments(&self) -> u64 {
        let segments = self.log_end.0.checked_sub(self.first_segment.0);
        segments.expect("a manifest whose log ends before its first segment is refused")
    }

    /// Reads the manifest of the store in `directory`. Returns `None` if there is none.
    pub(crate) fn load(vfs: &dyn Vfs, directory: &Path) -> Result<Option<Self>> {
        let path = directory.join(Self::NAME);
        let source = match vfs.open(&path) {
            Ok(source) => source,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(&path, "open")(error)),
        };
        let mut pieces = ChunkedReader::new(source, &path, "a manifest", Self::LEN_MAX)?;
        if !pieces.bytes(0, Self::MAGIC.len())?.starts_with(&Self::MAGIC) {
            return Err(Error::corrupt(&path, 0, NO_MANIFEST));
        }
        let len = usize::try_from(pieces.len()).expect("256 MiB at most");
        Self::parse(pieces.bytes(0, len)?).map(Some).map_err(|(at, what)| {
            Error::corrupt(&path, u64::try_from(at).expect("an offset in memory"), what)
        })
    }

    /// Replaces the manifest of the store in `directory`. The new one is then on disk.
    pub(crate) fn store(&self, vfs: &dyn Vfs, directory: &Path) -> Result<()> {
        self.write_unfinished(vfs, directory)?;
        Self::install_unfinished(vfs, directory)
    }

    /// Writes the manifest to a temporary file, which is then on disk.
    pub(crate) fn write_unfinished(&self, vfs: &dyn Vfs, directory: &Path) -> Result<()> {
        let bytes = self.to_bytes();
        if u64::try_from(bytes.len()).is_ok_and(|len| len > Self::LEN_MAX) {
            let what = "the list of the store's files would exceed 256 MiB; compact the store";
            return Err(Error::invalid(what));
        }
        self.check_is_of_this_store(vfs, directory)?;
        Self::remove_unfinished(vfs, directory)?;
        let temporary = directory.join(Self::TEMPORARY_NAME);
        let mut file = vfs.create(&temporary).map_err(Error::io(&temporary, "create"))?;
        file.write_all(&bytes).map_err(Error::io(&temporary, "write"))?;
        file.sync().map_err(Error::io(&temporary, "sync"))
    }

    /// Refuses to replace the manifest of another store. A manifest without a whole header is replaced.
    fn check_is_of_this_store(&self, vfs: &dyn Vfs, directory: &Path) -> Result<()> {
        let path = directory.join(Self::NAME);
        let mut header = [0; Self::STORE_AT.end];
        match vfs.open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            file => {
                let file = file.map_err(Error::io(&path, "open"))?;
                match file.read_exact_at(&mut header, 0) {
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                    read => read.map_err(Error::io(&path, "read"))?,
                }
            }
        }
        let is_manifest = header.starts_with(&Self::MAGIC);
        if is_manifest && header[Self::STORE_AT] != self.store.to_be_bytes() {
            let what =
                "is the manifest of another store, which was put here while this store was open";
            return Err(Error::corrupt(&path, 0, what));
        }
        Ok(())
    }

    /// Replaces the manifest by the one in the temporary file.
    ///
    /// After an error it is unknown which of them is on disk.
    pub(crate) fn install_unfinished(vfs: &dyn Vfs, directory: &Path) -> Result<()> {
        let temporary = directory.join(Self::TEMPORARY_NAME);
        let path = directory.join(Self::NAME);
        // Without the kind of the error: the caller must not try again.
        let replaced = vfs.rename(&temporary, &path).map_err(io::Error::other);
        replaced.map_err(Error::io(&path, "replace"))?;
        let synced = vfs.sync_directory(directory).map_err(io::Error::other);
        synced.map_err(Error::io(directory, "sync"))
    }

    /// Removes the temporary file of a manifest that a crash left, if there is one.
    pub(crate) fn remove_unfinished(vfs: &dyn Vfs, directory: &Path) -> Result<()> {
        let temporary = directory.join(Self::TEMPORARY_NAME);
        match vfs.unlink(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Error::io(&temporary, "unlink")(error))
            }
            _ => Ok(()),
        }
    }

    /// Returns the name of the family with this id, for messages.
    pub(crate) fn family_name(&self, id: u16) -> Option<&str> {
        self.families.iter().find(|family| family.id == id).map(|family| &*family.name)
    }

    /// Returns the entry of an open family.
    pub(crate) fn family_mut(&mut self, id: u16) -> &mut FamilyEntry {
        let mut families = self.families.iter_mut();
        families
            .find(|family| family.id == id)
            .expect("the caller keeps the family from being dropped")
    }

    /// Asserts that a change keeps the ids, and decreases no sequence id or segment number.
    pub(crate) fn assert_may_become(&self, changed: &Self) {
        assert!(
            self.store == changed.store && self.seed == changed.seed,
            "a store keeps its id and its seed"
        );
        assert!(self.flushed <= changed.flushed, "the flushed sequence id never decreases");
        assert!(
            self.first_segment <= changed.first_segment && self.log_end <= changed.log_end,
            "segment numbers never decrease"
        );
        assert!(
            changed.first_segment <= changed.log_end,
            "the log's end is not before its first segment"
        );
        let mut kept = changed.families.iter();
        let newest = self.families.iter().map(|family| family.id).max();
        for family in &self.families {
            // A dropped family is missing; the others keep their order.
            if kept.as_slice().first().is_some_and(|first| first.id == family.id) {
                let name = kept.next().map(|kept| &kept.name);
                assert_eq!(name, Some(&family.name), "a family keeps its id and its name");
            }
        }
        assert!(
            kept.all(|added| newest.is_none_or(|newest| added.id > newest)),
            "families keep their order, and a new family has a new id"
        );
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&Self::MAGIC);
        self.write(&mut bytes).expect("writing to a vector cannot fail");
        let checksum = crc32c(&bytes);
        bytes.extend_from_slice(&checksum.to_be_bytes());
        bytes
    }

    fn write(&self, out: &mut Vec<u8>) -> io::Result<()> {
        out.write_u32::<BigEndian>(Self::VERSION)?;
        out.write_u64::<BigEndian>(self.store)?;
        out.write_u64::<BigEndian>(self.seed.get())?;
        out.write_u64::<BigEndian>(self.first_segment.0)?;
        out.write_u64::<BigEndian>(self.flushed.get())?;
        out.write_u64::<BigEndian>(self.log_end.0)?;
        out.write_u16::<BigEndian>(self.families.len().try_into().expect("ids are u16"))?;
        for family in &self.families {
            out.write_u16::<BigEndian>(family.id)?;
            write_short_bytes(out, family.name.as_bytes())?;
            options::write(out, &family.options, family.flushed)?;
            let count = family.files.len().try_into().expect("less than 2^32 files");
            out.write_u32::<BigEndian>(count)?;
            for file in &family.files {
                file.write(out)?;
            }
        }
        Ok(())
    }

    /// Parses a manifest. An error has the offset and the reason.
    fn parse(bytes: &[u8]) -> Result<Self, (usize, &'static str)> {
        if !bytes.starts_with(&Self::MAGIC) {
            return Err((0, NO_MANIFEST));
        }
        let Some((covered, checksum)) = bytes.split_last_chunk::<4>() else {
            return Err((0, "ends in its header"));
        };
        if u32::from_be_bytes(*checksum) != crc32c(covered) {
            return Err((covered.len(), "the checksum does not match"));
        }
        let Some(mut rest) = covered.get(Self::MAGIC.len()..) else {
            return Err((covered.len(), "ends in its header"));
        };
        let parsed = Self::read(&mut rest);
        let at = covered.len().checked_sub(rest.len()).expect("the rest is a suffix");
        let manifest = parsed.map_err(|wrong| (at, wrong.0))?;
        if rest.is_empty() { Ok(manifest) } else { Err((at, "bytes behind its end")) }
    }

    fn read(bytes: &mut &[u8]) -> Result<Self, Invalid> {
        let version = bytes.read_u32::<BigEndian>()?;
        if version != Self::VERSION {
            return Err(Invalid("unknown manifest version"));
        }
        let mut manifest = Self {
            store: bytes.read_u64::<BigEndian>()?,
            seed: Seed::new(bytes.read_u64::<BigEndian>()?),
            first_segment: SegmentNumber(bytes.read_u64::<BigEndian>()?),
            flushed: SequenceId::new(bytes.read_u64::<BigEndian>()?),
            log_end: SegmentNumber(bytes.read_u64::<BigEndian>()?),
            families: Vec::new(),
        };
        sequence::check(manifest.flushed).map_err(Invalid)?;
        if manifest.first_segment == SegmentNumber::END {
            return Err(Invalid("the log begins after the last segment"));
        }
        if manifest.log_end < manifest.first_segment {
            return Err(Invalid("the log ends before it begins"));
        }
        let (mut ids, mut names) = (BTreeSet::new(), BTreeSet::new());
        for _ in 0..bytes.read_u16::<BigEndian>()? {
            let family = read_family(bytes)?;
            if !ids.insert(family.id) || !names.insert(family.name.clone()) {
                return Err(Invalid("family listed twice"));
            }
            manifest.families.push(family);
        }
        Ok(manifest)
    }
}

const NO_MANIFEST: &str = "not a manifest";

fn read_family(bytes: &mut &[u8]) -> Result<FamilyEntry, Invalid> {
    let id = bytes.read_u16::<BigEndian>()?;
    let name = read_short_bytes(bytes)?;
    let name = String::from_utf8(name).map_err(|_| Invalid("family name is not UTF-8"))?;
    if check_family_name(&name).is_err() {
        return Err(Invalid("family name cannot be a directory"));
    }
    let (options, flushed) = options::read(bytes)?;
    let mut files = Vec::new();
    let mut names = BTreeSet::new();
    for _ in 0..bytes.read_u32::<BigEndian>()? {
        let file = FileEntry::read(bytes)?;
        if !names.insert(file.name.clone()) {
            return Err(Invalid("file listed twice"));
        }
        files.push(file);
    }
    Ok(FamilyEntry { id, name, options, flushed, files })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cells::KeepDeletedCells;
    use filter::{ErrorRate, FilterKind, Sizing};
    use sstable::{BloomType, Compression, DataBlockEncoding, KeyRef, Timestamp};

    use super::super::file::{FileId, FlatKey};
    use super::*;
    use crate::family_map::mode::MapMode;
    use crate::files::names::identity::is_store_file_name;

    fn key(row: &[u8]) -> FlatKey {
        let mut key = Vec::new();
        KeyRef { family: b"f", ..KeyRef::before_row(row) }.write_flat(&mut key);
        FlatKey::parse(key).unwrap()
    }

    fn full() -> Manifest {
        let file = FileEntry {
            name: "00ff00ff00ff00ff00ff00ff00ff00ff".to_owned(),
            id: FileId::from_name("0123456789abcdef0123456789abcdef"),
            length: 5000,
            checksum: 7,
            cells: 12,
            sequence_min: SequenceId::new(3),
            sequence_max: SequenceId::new(9),
            carries_sequence_ids: true,
            times: Some((Timestamp::new(0), Timestamp::new(1000))),
            first_key: key(b"a"),
            last_key: key(&[0xff; 300]),
        };
        let foreign = FileEntry {
            name: "ff".repeat(16),
            id: None,
            times: None,
            carries_sequence_ids: false,
            ..file.clone()
        };
        let rate = ErrorRate::new(0.01).unwrap();
        let kinds = FilterKind::IN_FILES.iter().copied();
        let sizings = [Sizing::ErrorRate(rate), Sizing::BitsPerKey(9.5), Sizing::Bytes(4096)];
        let plain = FamilyOptions::default();
        let filtered = kinds
            .flat_map(|kind| sizings.map(|sizing| FamilyOptions::default().filter(kind, sizing)));
        let options = [
            plain.clone().ttl(Some(Duration::from_secs(60))).min_versions(1).versions(5),
            plain.clone().keep_deleted_cells(KeepDeletedCells::Ttl).in_memory(true),
            plain.clone().bloom_type(BloomType::RowPrefixFixedLength(12)).block_size(512),
            plain.clone().compression(Compression::Lz4).bloom_type(BloomType::RowCol),
            plain.clone().data_block_encoding(DataBlockEncoding::FastDiff),
            plain.clone().family_map(MapMode::Off),
            plain.clone().family_map(MapMode::Files).in_memory(true),
            plain.family_map(MapMode::Wide),
        ];
        let mut manifest = Manifest::new().unwrap();
        for (id, options) in (0..).zip(options.into_iter().chain(filtered)) {
            let files = vec![file.clone(), foreign.clone()];
            let flushed = (id % 2 == 1).then_some(SequenceId::new(9));
            let name = format!("f{id}");
            manifest.families.push(FamilyEntry { id, name, options, flushed, files });
        }
        manifest
    }

    fn changed(change: impl Fn(&mut Manifest)) -> bool {
        let before = Manifest { flushed: SequenceId::new(5), ..full() };
        let mut after = before.clone();
        change(&mut after);
        std::panic::catch_unwind(|| before.assert_may_become(&after)).is_ok()
    }

    #[test]
    fn a_change_of_the_manifest_takes_nothing_back() {
        assert!(changed(|_| {}));
        assert!(changed(|manifest| manifest.flushed = SequenceId::new(manifest.flushed.get() + 1)));
        assert!(changed(|manifest| manifest.log_end = manifest.log_end.next()));
        assert!(!changed(|manifest| manifest.store ^= 1));
        assert!(
            !changed(|manifest| manifest.flushed = SequenceId::new(manifest.flushed.get() - 1))
        );
        assert!(!changed(|manifest| manifest.first_segment.0 -= 1));
        assert!(!changed(|manifest| manifest.first_segment = manifest.log_end.next()));
        assert!(changed(|manifest| drop(manifest.families.pop())));
        assert!(changed(|manifest| drop(manifest.families.remove(0))));
        assert!(changed(
            |manifest| manifest.families[0].options = FamilyOptions::default().versions(9)
        ));
        assert!(!changed(|manifest| manifest.families.swap(0, 1)));
        assert!(!changed(|manifest| manifest.families[1].name = "other".to_owned()));
        assert!(!changed(|manifest| {
            let dropped = manifest.families.remove(0);
            manifest.families.push(FamilyEntry { name: "reused".to_owned(), ..dropped });
        }));
    }

    #[test]
    fn a_manifest_reads_back() {
        for manifest in [Manifest::new().unwrap(), full()] {
            assert_eq!(Manifest::parse(&manifest.to_bytes()), Ok(manifest));
        }
    }

    #[test]
    fn what_is_listed_twice_is_refused() {
        let manifest = full();
        let (mut families, mut files) = (manifest.clone(), manifest.clone());
        families.families.push(manifest.families[0].clone());
        let file = manifest.families[0].files[0].clone();
        files.families[0].files.push(file);
        for (wrong, what) in [(families, "family"), (files, "file")] {
            let refused = Manifest::parse(&wrong.to_bytes()).unwrap_err().1;
            assert_eq!(refused, format!("{what} listed twice"));
        }
    }

    #[test]
    fn sequence_ids_that_no_write_has_are_refused() {
        let (mut log, mut file) = (full(), full());
        log.flushed = SequenceId::MAX;
        file.families[0].files[0].sequence_max = SequenceId::MAX;
        for wrong in [log, file] {
            let refused = Manifest::parse(&wrong.to_bytes()).unwrap_err().1;
            assert_eq!(refused, "a sequence id that no write can have");
        }
    }

    #[test]
    fn a_manifest_that_was_cut_or_flipped_is_refused() {
        let mut manifest = full();
        manifest.families.truncate(2);
        let bytes = manifest.to_bytes();
        for at in 0..bytes.len() {
            assert!(Manifest::parse(&bytes[..at]).is_err(), "cut at {at}");
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << bit;
                assert!(Manifest::parse(&flipped).is_err(), "byte {at}, bit {bit}");
            }
        }
    }

    /// A correct checksum does not make a manifest trustworthy.
    #[test]
    fn wrong_bytes_under_a_right_checksum_never_panic() {
        let bytes = full().to_bytes();
        let covered = bytes.len() - 4;
        for at in 8..covered {
            for byte in [0, 1, 0x7f, 0xff] {
                let mut wrong = bytes[..covered].to_vec();
                wrong[at] = byte;
                wrong.extend_from_slice(&crc32c(&wrong).to_be_bytes());
                if let Ok(manifest) = Manifest::parse(&wrong) {
                    for family in &manifest.families {
                        check_family_name(&family.name).unwrap();
                        assert!(family.files.iter().all(|file| is_store_file_name(&file.name)));
                    }
                }
            }
        }
    }
}
