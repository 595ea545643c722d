//! Stores whose log or manifest is arbitrary input, as [`parts`](crate::parts) does for files.
//!
//! Checksums and ids are recomputed, because wrong ones would reject the input before it is parsed.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use store::tools::{SalvageOutcome, VerifyOutcome, salvage, verify};
use store::{Clock, FamilyOptions, Put, Scan, Store, StoreOptions, Timestamp};

use crate::disk::Disk;
use crate::test_store::quiet_on;

const STORE: &str = "/fuzzed";
/// The length of a segment header, and the range of the segment id in it.
const SEGMENT_HEADER_LEN: usize = 56;
const SEGMENT_ID: std::ops::Range<usize> = 28..36;
/// The length of the fields before the cells of a record.
const RECORD_HEADER_LEN: usize = 32;

/// The records of a log segment.
///
/// The first byte selects whether they are taken as they are or repaired: checksum, a length that
/// exceeds the segment, and segment id.
///
/// # Panics
///
/// As all targets: if two reads contradict each other, which fuzzing looks for.
pub fn wal(input: &[u8]) -> bool {
    let Some((mode, records)) = input.split_first() else { return false };
    let (disk, segment) = sound();
    let mut bytes = disk.bytes(&segment);
    bytes.truncate(SEGMENT_HEADER_LEN);
    let id: [u8; 8] = bytes[SEGMENT_ID].try_into().expect("eight bytes");
    let mut records = records.to_vec();
    if mode & 1 == 1 {
        repair_records(&mut records, id);
    }
    bytes.extend(records);
    disk.overwrite(&segment, &bytes);
    read(&disk)
}

/// A manifest after its magic and before its checksum.
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

/// Returns the initial corpus of a target.
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

fn repair_records(mut records: &mut [u8], id: [u8; 8]) {
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

/// Returns a copy of a store with two families, a file and a log, and the path of its last segment.
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
    let segments = disk
        .paths()
        .into_iter()
        .filter(|path| path.parent().is_some_and(|parent| parent.ends_with("wal")));
    let segment = segments.max().expect("a store has a log");
    (disk, segment)
}

fn manifest_path() -> PathBuf {
    Path::new(STORE).join("MANIFEST")
}

fn options(disk: &Disk) -> StoreOptions {
    quiet_on(disk).cache_bytes(1 << 20).clock(Clock::fixed(Timestamp::new(1000)))
}

/// Opens the store twice and reads all of it; returns whether it opens.
///
/// A store that opens must be sound, and salvaging it must give the same cells.
fn read(disk: &Disk) -> bool {
    let salvaged = disk.after_kill();
    let verified = verify(STORE, &options(disk), |_| {});
    let families = ["f".to_owned(), "g".to_owned()];
    let saved = salvage(STORE, "/saved", &options(&salvaged), &families, |_| {});
    let Some(cells) = open_and_scan(disk, STORE) else { return false };
    assert!(
        matches!(verified, Ok(VerifyOutcome::Sound)),
        "the store opens, but verify finds damage"
    );
    assert_eq!(
        open_and_scan(disk, STORE).as_ref(),
        Some(&cells),
        "the second open returns the same cells"
    );
    if saved.expect("a store that opens can be salvaged") == SalvageOutcome::Whole {
        assert_eq!(open_and_scan(&salvaged, "/saved"), Some(cells), "salvage loses no cell");
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
