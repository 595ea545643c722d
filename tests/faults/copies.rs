//! Copies of a store of which any call fails, or during which the power is cut: what opens is whole, and the
//! original stays as it was.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use store::tools::SalvageOutcome;
use store::{Durability, FamilyOptions, Put, Result, Scan, Store};
use support::Random;
use support::disk::{Disk, Fault, Faults};
use support::test_store::{disk_with_data, quiet_on};

const STORE: &str = "/data/store";
const COPY: &str = "/data/copy";

/// Copies a store to `COPY`, and returns whether all of it.
type Copying = fn(&Disk) -> Result<bool>;

const COPIES: [(&str, Copying); 2] = [
    ("checkpoint", |disk| {
        Store::open(STORE, quiet_on(disk))?.checkpoint(COPY)?;
        Ok(true)
    }),
    ("salvage", |disk| {
        let outcome = store::tools::salvage(STORE, COPY, &quiet_on(disk), &[], |_| {})?;
        Ok(outcome == SalvageOutcome::Whole)
    }),
];

/// Two files, one of them damaged if wanted, and rows in two log segments.
fn filled(is_damaged: bool) -> Disk {
    let disk = disk_with_data();
    let store = Store::open(STORE, quiet_on(&disk).wal_segment_bytes(300)).unwrap();
    store.create_family("f", FamilyOptions::default().block_size(200)).unwrap();
    for (number, row) in (0..40).map(|number| (number, format!("row{number:02}"))) {
        let put = Put::new(&row).column("f", "q", "value ".repeat(10));
        store.write(put, Durability::Synced).unwrap();
        if number % 15 == 14 {
            store.flush().unwrap();
        }
    }
    drop(store);
    if is_damaged {
        let has_first_row = |path: &&PathBuf| {
            path.parent().unwrap().ends_with("f")
                && disk.bytes(path).windows(5).any(|bytes| bytes == b"row00")
        };
        let path = disk.paths().iter().find(has_first_row).unwrap().clone();
        let mut bytes = disk.bytes(&path);
        bytes[400] ^= 1;
        disk.overwrite(&path, &bytes);
    }
    disk
}

fn rows(disk: &Disk, place: &str) -> Result<BTreeSet<String>> {
    let store = Store::open(place, quiet_on(disk).create(false))?;
    let cells = store.scan(Scan::family("f"))?;
    cells.map(|cell| Ok(String::from_utf8(cell?.row().to_vec()).unwrap())).collect()
}

#[test]
fn a_copy_of_which_any_call_fails_is_whole_or_does_not_open() {
    for ((name, copy), is_damaged) in
        COPIES.into_iter().flat_map(|copy| [(copy, false), (copy, true)])
    {
        if is_damaged && name == "checkpoint" {
            continue;
        }
        let disk = filled(is_damaged);
        copy(&disk).unwrap();
        let expected = rows(&disk, COPY).unwrap();
        let written: BTreeSet<_> = (0..40).map(|number| format!("row{number:02}")).collect();
        assert_eq!(expected == written, !is_damaged, "{name}: {}", expected.len());
        for fault in [Fault::Device, Fault::ShortWrite, Fault::NoDescriptor] {
            for number in 1.. {
                let disk = filled(is_damaged);
                disk.set_faults(Faults::once(number, fault));
                let made = copy(&disk);
                let is_past = disk.calls() < number;
                disk.set_faults(Faults::default());
                if is_past {
                    made.unwrap();
                    break;
                }
                let disk = disk.after_kill();
                let copied = rows(&disk, COPY);
                match (&made, copied) {
                    // What cannot be read is lost, and the salvage says so.
                    (Ok(false), Ok(copied)) => {
                        assert!(copied.is_subset(&written), "{name}: {number}");
                    }
                    (_, Ok(copied)) => {
                        assert_eq!(copied, expected, "{name}: {fault:?} {number}, {made:?}");
                    }
                    // Nothing is in the way of the next attempt.
                    (Err(_), Err(_)) => {
                        let again = copy(&disk);
                        assert!(again.is_ok(), "{name}: {fault:?} {number}: {again:?}");
                    }
                    (Ok(_), Err(error)) => panic!("{name}: {fault:?} {number}: {error}"),
                }
                if !is_damaged {
                    assert_eq!(rows(&disk, STORE).unwrap(), expected, "{name}: {fault:?} {number}");
                }
            }
        }
    }
}

/// Also after the last call: a copy that was made stays.
#[test]
fn a_copy_is_whole_or_no_store_wherever_the_power_is_cut() {
    for (name, copy) in COPIES {
        let disk = filled(false);
        let expected = rows(&disk.after_kill(), STORE).unwrap();
        let moments = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&moments);
        disk.watch(move |now| seen.lock().unwrap().push(now.clone()));
        assert!(copy(&disk).unwrap());
        disk.unwatch();
        moments.lock().unwrap().push(disk.after_kill());
        let moments = moments.lock().unwrap();
        let mut random = Random::new(1);
        for (number, moment) in moments.iter().enumerate() {
            for kept in [0.0, 0.5, 0.5, 1.0] {
                let left = moment.after_power_cut(kept, &mut random);
                match rows(&left, COPY) {
                    Ok(copied) => assert_eq!(copied, expected, "{name}: {number}, {kept}"),
                    Err(error) => assert!(number + 1 < moments.len(), "{name}: {kept}: {error}"),
                }
                assert_eq!(rows(&left, STORE).unwrap(), expected, "{name}: {number}, {kept}");
            }
        }
    }
}
