//! Stores whose log or manifest is whatever bytes are given, as [`parts`](crate::parts) does it for
//! files: checksums and ids are made right, for they would keep the input away from what is behind.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use store::{Clock, FamilyOptions, Put, Scan, Store, StoreOptions, Timestamp, salvage, verify};

use crate::disk::Disk;

const STORE: &str = "/fuzzed";
/// Bytes of a segment before its records, and where its id stands among them.
const SEGMENT_HEADER_LEN: usize = 56;
const SEGMENT_ID: std::ops::Range<usize> = 28..36;
/// The fields in front of a record's cells.
const RECORD_HEADER_LEN: usize = 32;

/// The records of a log segment. A first byte says whether they are given as they are, or made right
/// one by one: checksum, length where it goes past the end, and the segment's id.
///
/// # Panics
///
/// As all targets: if what is read contradicts itself, which is what fuzzing looks for.
pub fn wal(input: &[u8]) -> bool {
    let Some((mode, records)) = input.split_first() else { return false };
    let (disk, segment) = sound();
    let mut bytes = disk.bytes(&segment);
    bytes.truncate(SEGMENT_HEADER_LEN);
    let id: [u8; 8] = bytes[SEGMENT_ID].try_into().expect("eight bytes");
    let mut records = records.to_vec();
    if mode & 1 == 1 {
        make_right(&mut records, id);
    }
    bytes.extend(records);
    disk.overwrite(&segment, &bytes);
    read(&disk)
}

/// A manifest behind its magic and before its checksum.
///
/// # Panics
///
/// As [`wal`].
pub fn manifest(input: &[u8]) -> bool {
    let (disk, _) = sound();
    let mut bytes = b"STOREMAN".to_vec();
    bytes.extend_from_slice(input);
    bytes.extend(crc32c::crc32c(&bytes).to_be_bytes());
    disk.overwrite(&manifest_path(), &bytes);
    read(&disk)
}

/// Inputs to begin with.
pub(crate) fn seeds(target: &str) -> Vec<Vec<u8>> {
    let (disk, segment) = sound();
    let seed = if target == "wal" {
        [&[1][..], &disk.bytes(&segment)[SEGMENT_HEADER_LEN..]].concat()
    } else {
        let bytes = disk.bytes(&manifest_path());
        bytes[8..bytes.len() - 4].to_vec()
    };
    vec![seed]
}

fn make_right(mut records: &mut [u8], id: [u8; 8]) {
    while records.len() >= RECORD_HEADER_LEN {
        let stated: [u8; 4] = records[4..8].try_into().expect("four bytes");
        let stated = usize::try_from(u32::from_be_bytes(stated)).unwrap_or(usize::MAX);
        let len = stated.min(records.len() - RECORD_HEADER_LEN);
        let (record, rest) = records.split_at_mut(RECORD_HEADER_LEN + len);
        record[4..8].copy_from_slice(&(len as u32).to_be_bytes());
        record[8..16].copy_from_slice(&id);
        let checksum = crc32c::crc32c(&record[4..]);
        record[..4].copy_from_slice(&checksum.to_be_bytes());
        records = rest;
    }
}

/// A store of two families, a file and a log, made once, and the log's last segment.
fn sound() -> (Disk, PathBuf) {
    static SOUND: LazyLock<Disk> = LazyLock::new(|| {
        let disk = Disk::default();
        let store = Store::open(STORE, options(&disk)).expect("a disk without faults");
        for (family, versions) in [("f", 1), ("g", 3)] {
            let options = FamilyOptions::default().versions(versions);
            store.create_family(family, options).expect("a new name");
        }
        for row in ["a", "b", "c"] {
            let put = Put::new(row).column("f", "q", "value").column("g", "", row);
            store.put(put).expect("a disk without faults");
            if row == "a" {
                store.flush().expect("a disk without faults");
            }
        }
        disk.after_kill()
    });
    let disk = SOUND.after_kill();
    let segments =
        disk.paths().into_iter().filter(|path| path.parent().is_some_and(|it| it.ends_with("wal")));
    let segment = segments.max().expect("a store has a log");
    (disk, segment)
}

fn manifest_path() -> PathBuf {
    Path::new(STORE).join("MANIFEST")
}

fn options(disk: &Disk) -> StoreOptions {
    let options = StoreOptions::default().vfs(Arc::new(disk.clone())).cache_bytes(1 << 20);
    let options = options.clock(Clock::fixed(Timestamp::new(1000)));
    options.background(false).auto_compaction(false)
}

/// Opens the store, twice, and reads all of it; whether it opens. What opens is sound, and what is
/// salvaged from it is the same.
fn read(disk: &Disk) -> bool {
    let salvaged = disk.after_kill();
    let is_sound = verify(STORE, &options(disk), |_| {});
    let families = ["f".to_owned(), "g".to_owned()];
    let saved = salvage(STORE, "/saved", &options(&salvaged), &families, |_| {});
    let Some(cells) = open_and_scan(disk, STORE) else { return false };
    assert!(is_sound.is_ok_and(|is_sound| is_sound), "it opens, and yet verify calls it damaged");
    assert_eq!(open_and_scan(disk, STORE).as_ref(), Some(&cells), "the same twice");
    if saved.expect("what opens can be salvaged") {
        assert_eq!(open_and_scan(&salvaged, "/saved"), Some(cells), "nothing was lost");
    }
    true
}

fn open_and_scan(disk: &Disk, directory: &str) -> Option<Vec<String>> {
    let store = Store::open(directory, options(disk)).ok()?;
    let mut shown = Vec::new();
    for (family, _) in store.families() {
        let scan = Scan::family(&family).raw(true).versions(u32::MAX);
        shown.extend(store.scan(scan).ok()?.map(|cell| format!("{:?}", cell.ok())));
    }
    Some(shown)
}
