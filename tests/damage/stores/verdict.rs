//! The reports of verify and salvage about a damaged store, and the refusal to open it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use store::tools::{FileReport, SalvageOutcome, VerifyEvent, VerifyOutcome, salvage, verify};
use store::{Clock, Error, Scan, Store, StoreOptions, Timestamp};
use support::disk::Disk;
use support::test_store::quiet_on;

pub(crate) const STORE: &str = "/data/store";
pub(crate) const SAVED: &str = "/data/saved";

pub(crate) type Content = BTreeMap<String, String>;

pub(crate) fn options(disk: &Disk) -> StoreOptions {
    quiet_on(disk).clock(Clock::fixed(Timestamp::new(1000)))
}

pub(crate) fn content_of(store: &Store) -> Content {
    let mut content = Content::new();
    for family in ["f", "g"] {
        for cell in store.scan(Scan::family(family)).unwrap() {
            let cell = cell.unwrap();
            let [row, value] =
                [cell.row(), cell.value()].map(|bytes| String::from_utf8_lossy(bytes));
            content.insert(format!("{family}/{row}"), value.into_owned());
        }
    }
    content
}

/// Returns all files of the damaged store, to check that they are not changed.
pub(crate) fn files(disk: &Disk) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = disk.paths().into_iter().filter(|path| {
        path.starts_with(STORE) && !path.ends_with("LOCK") // Verify and salvage create it.
    });
    paths.map(|path| (path.clone(), disk.bytes(&path))).collect()
}

/// The results of verify and salvage.
pub(crate) struct Verdict {
    pub(crate) is_sound: bool,
    /// The damaged parts.
    pub(crate) wrong: Vec<FileReport>,
    pub(crate) is_whole: bool,
    pub(crate) lost: Vec<FileReport>,
    pub(crate) saved: Content,
}

pub(crate) fn judge(disk: &Disk) -> Verdict {
    let before = files(disk);
    let take = |damaged: &mut Vec<FileReport>, event: &VerifyEvent<'_>| {
        if let VerifyEvent::Done(report) = event
            && !report.is_sound()
        {
            damaged.push((*report).clone());
        }
    };
    let (mut wrong, mut lost) = (Vec::new(), Vec::new());
    let options = options(disk);
    let verified = verify(STORE, &options, |event| take(&mut wrong, &event)).unwrap();
    let families = ["f".to_owned(), "g".to_owned()];
    let salvaged =
        salvage(STORE, SAVED, &options, &families, |event| take(&mut lost, &event)).unwrap();
    assert_eq!(files(disk), before, "the damaged store is not changed");
    let verified_copy = verify(SAVED, &options, |_| {}).unwrap();
    assert_eq!(verified_copy, VerifyOutcome::Sound, "the salvaged store is sound");
    let saved = Store::open(SAVED, options).unwrap();
    Verdict {
        is_sound: verified == VerifyOutcome::Sound,
        wrong,
        is_whole: salvaged == SalvageOutcome::Whole,
        lost,
        saved: content_of(&saved),
    }
}

/// Returns the file and offset at which the store refuses to open.
pub(crate) fn refusal(disk: &Disk) -> (PathBuf, u64) {
    let before = files(disk);
    match Store::open(STORE, options(disk)) {
        Err(Error::Corrupt { path, at, .. }) => {
            assert_eq!(files(disk), before, "a refused store is not changed");
            (path, at)
        }
        other => panic!("not refused: {other:?}"),
    }
}
