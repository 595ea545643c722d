//! Snapshots and tables of a root directory that HBase wrote: the regions and files that HBase lists.

use std::collections::BTreeMap;

use hbase_files::{
    Family, LeftOutReason, LocalTree, Region, RegionInfo, RegionsBy, RootDirectory, StoreFile,
    StoreFileName, Table, TableName,
};
use serde_json::Value;
use sstable::Half;
use support::hex;
use support::root_directory::{RootCopy, manifest};

fn table_name(text: &str) -> TableName {
    text.parse().expect("the name of a table")
}

/// Returns all regions of a table, those that do not count as well.
fn all_regions(table: &Table) -> impl Iterator<Item = &Region> {
    let left_out = table.left_out.iter().map(|left_out| &left_out.region);
    table.regions.iter().chain(left_out).chain(&table.mob)
}

fn check_region(region: &Region, expected: &Value) {
    let RegionInfo { id, start_key, end_key, offline, split, encoded_name, .. } = &region.info;
    assert_eq!(expected["encoded"], encoded_name.as_str());
    assert_eq!(expected["start"], hex(start_key));
    assert_eq!(expected["end"], hex(end_key));
    assert_eq!(expected["regionId"], *id);
    assert_eq!(
        (&expected["offline"], &expected["split"]),
        (&Value::from(*offline), &Value::from(*split))
    );
    let empty = serde_json::Map::new();
    let families = expected["families"].as_object().unwrap_or(&empty);
    for Family { name, files, .. } in &region.families {
        let name = String::from_utf8(name.clone()).expect("UTF-8");
        let none = Vec::new();
        let expected = families.get(&name).and_then(Value::as_array).unwrap_or(&none);
        let key = |file: &StoreFile| {
            let half = file.half.as_ref().map(|half| match half.half() {
                Half::Top => "TOP",
                Half::Bottom => "BOTTOM",
            });
            (file.name.to_string(), file.len.unwrap_or_default(), half)
        };
        let found: BTreeMap<_, _> =
            files.iter().map(|file| (file.name.to_string(), key(file))).collect();
        assert_eq!(found.len(), files.len());
        let expected: BTreeMap<_, _> = expected
            .iter()
            .map(|file| {
                let name = file["name"].as_str().expect("text").to_owned();
                let half = file["half"].as_str();
                (name.clone(), (name, file["size"].as_u64().expect("a number"), half))
            })
            .collect();
        assert_eq!(found, expected, "{encoded_name} {name}");
    }
    assert!(families.keys().all(|name| region.family(name.as_bytes()).is_some()));
}

#[test]
fn each_snapshot_has_the_regions_and_files_that_hbase_decodes() {
    let (copy, manifest) = (RootCopy::new(), manifest());
    let root = copy.open();
    let expected = manifest["snapshots"].as_object().expect("an object");
    let mut names: Vec<&String> = expected.keys().collect();
    names.sort();
    assert_eq!(
        root.snapshot_names().expect("listed"),
        names.into_iter().cloned().collect::<Vec<_>>()
    );
    for (name, expected) in expected {
        let snapshot = root.snapshot(name).expect("sound");
        let description = &snapshot.description;
        assert_eq!(expected["table"], description.table.to_string());
        assert_eq!(expected["type"], description.kind.name());
        assert_eq!(expected["version"], description.version);
        assert_eq!(expected["creationTime"], description.creation_time.get());
        let table = &snapshot.table;
        assert!(table.problems.is_empty(), "{:?}", table.problems);
        assert_eq!(table.regions_by, RegionsBy::Snapshot);
        let regions: BTreeMap<&str, &Value> = expected["regions"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|region| (region["encoded"].as_str().expect("text"), region))
            .collect();
        assert_eq!(all_regions(table).count(), regions.len(), "{name}");
        for region in all_regions(table) {
            check_region(region, regions[region.name().as_str()]);
        }
        let parents = table.left_out.len() as u64;
        assert_eq!(expected["splitParents"], parents, "{name}");
        assert!(table.left_out.iter().all(|region| region.reason == LeftOutReason::SplitParent));
        let files = || all_regions(table).flat_map(Region::files);
        let links = files().filter(|file| matches!(file.name, StoreFileName::Link(_))).count();
        let references = files().filter(|file| matches!(file.name, StoreFileName::Reference(_)));
        assert_eq!(expected["links"], links as u64, "{name}");
        assert_eq!(expected["references"], references.count() as u64, "{name}");
        // The regions that count are next to each other, from the first row to the last.
        let edges: Vec<(&[u8], &[u8])> = table
            .regions
            .iter()
            .map(|region| (&region.info.start_key[..], &region.info.end_key[..]))
            .collect();
        assert!(edges.windows(2).all(|pair| pair[0].1 == pair[1].0), "{name}");
        assert_eq!((edges[0].0, edges[edges.len() - 1].1), (&b""[..], &b""[..]));
    }
}

#[test]
fn each_file_of_each_snapshot_is_found_with_its_recorded_length() {
    let copy = RootCopy::new();
    let root = copy.open();
    let mut found = 0;
    for name in root.snapshot_names().expect("listed") {
        let table = root.snapshot(&name).expect("sound").table;
        for file in all_regions(&table).flat_map(Region::files) {
            let location = file.locate(&LocalTree).expect("its HFile is there");
            let len = location.path.metadata().expect("there").len();
            assert!(file.len.is_none_or(|recorded| recorded == len), "{}", file.short_path());
            assert_eq!(location.half.is_some(), matches!(file.name, StoreFileName::Reference(_)));
            found += 1;
        }
    }
    let count = |snapshot: &Value| {
        let counts =
            ["files", "links", "references"].map(|name| snapshot[name].as_u64().expect("a number"));
        counts.iter().sum::<u64>()
    };
    let snapshots = manifest()["snapshots"].as_object().expect("an object").clone();
    assert_eq!(found, snapshots.values().map(count).sum::<u64>());
}

#[test]
fn a_live_table_has_the_regions_that_hbase_serves() {
    let (copy, manifest) = (RootCopy::new(), manifest());
    let root = copy.open();
    let mut names: Vec<String> =
        root.tables().expect("listed").iter().map(ToString::to_string).collect();
    names.retain(|name| !name.starts_with("hbase:"));
    let tables = manifest["liveTables"].as_object().expect("an object");
    assert_eq!(
        names,
        tables.keys().filter(|name| !name.starts_with("hbase:")).cloned().collect::<Vec<_>>()
    );
    for name in names {
        let table = root.table(&table_name(&name)).expect("sound");
        assert!(table.problems.is_empty(), "{:?}", table.problems);
        let found: Vec<&str> = table.regions.iter().map(|region| region.name().as_str()).collect();
        assert_eq!(tables[&name]["regions"], Value::from(found), "{name}");
        assert_eq!(table.logs.len(), 2, "{name}");
        assert_eq!(table.regions_by, RegionsBy::Meta, "{name}");
        for file in all_regions(&table).flat_map(Region::files) {
            file.locate(&LocalTree).expect("its HFile is there");
        }
    }
    // Without hbase:meta, the key ranges lead to the same regions.
    let by_meta = |root: &RootDirectory, name: &str| {
        let table = root.table(&table_name(name)).expect("sound");
        table.regions.iter().map(|region| region.name().clone()).collect::<Vec<_>>()
    };
    let expected: Vec<_> = tables.keys().map(|name| by_meta(&root, name)).collect();
    std::fs::remove_dir_all(copy.path().join("data/hbase/meta")).expect("ours");
    for (name, expected) in tables.keys().zip(expected).filter(|(name, _)| *name != "hbase:meta") {
        let table = root.table(&table_name(name)).expect("sound");
        assert_eq!(table.regions_by, RegionsBy::KeyRanges, "{name}");
        assert_eq!(by_meta(&root, name), expected, "{name}");
        // The description of a cloned split parent says so.
        let reason =
            if name == "t8" { LeftOutReason::SplitParent } else { LeftOutReason::Replaced };
        assert!(table.left_out.iter().all(|region| region.reason == reason), "{name}");
    }
}
