//! Families that a map suits badly: rows in every file, and more files than a map covers.

use super::*;

const FILES: u64 = 70;
const ROWS: u64 = 40;

/// Each row is in each of 70 files; six files are not covered.
#[test]
fn every_version_of_a_row_in_70_files_is_found_newest_first() {
    for map in [MapMode::Files, MapMode::Wide] {
        let store = TestStore::new(options());
        let family = family().versions(1_000).family_map(map);
        store.create_family("f", family.clone()).unwrap();
        let mut snapshots = Vec::new();
        for file in 1..=FILES {
            let mut batch = WriteBatch::new();
            for row in 0..ROWS {
                let time = Timestamp::new(file as i64);
                batch.put(Put::new(key(row)).column_at("f", "q", time, file.to_string()));
            }
            store.write(batch, Durability::Skip).unwrap();
            store.flush().unwrap();
            if file % 16 == 0 {
                snapshots.push((file, store.snapshot()));
            }
        }
        assert_eq!(covered(&store), 64);
        let check = |cells: &[store::Cell], files: u64| {
            let found = cells.iter().map(|cell| String::from_utf8(cell.value().to_vec()).unwrap());
            let expected = (1..=files).rev().map(|file| file.to_string());
            assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        };
        // The snapshots keep their maps while the family gets others.
        for mode in [map, MapMode::Off, MapMode::Wide, MapMode::Files, MapMode::Auto] {
            store.alter_family("f", family.clone().family_map(mode)).unwrap();
            for row in 0..ROWS {
                let get = Get::row(key(row)).versions(1_000);
                check(&store.get(&get).unwrap(), FILES);
                for (files, snapshot) in &snapshots {
                    check(&snapshot.get(&get).unwrap(), *files);
                }
                let newest = store.get(&Get::row(key(row))).unwrap();
                assert_eq!(newest[0].value(), FILES.to_string().as_bytes());
            }
        }
        store.compact("f", CompactionKind::Major).unwrap();
        for (files, snapshot) in &snapshots {
            check(&snapshot.get(&Get::row(key(7)).versions(1_000)).unwrap(), *files);
        }
        check(&store.get(&Get::row(key(7)).versions(1_000)).unwrap(), FILES);
    }
}
