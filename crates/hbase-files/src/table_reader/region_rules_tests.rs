//! Key ranges that meet, and the marks of regions.

use prost::Message;

use super::*;
use crate::message::types::{FamilySchemaMessage, TableNameMessage, TableSchemaMessage};

/// Keys in order. The last stands for the end of the table.
const KEYS: [&[u8]; 5] = [b"", b"a", b"b", b"c", b""];

#[test]
fn what_ranges_cover_together_is_covered() {
    let ranges: Vec<(usize, usize)> =
        (0..4).flat_map(|start| (start + 1..5).map(move |end| (start, end))).collect();
    let keys = |(start, end): (usize, usize)| (KEYS[start], KEYS[end]);
    for first in &ranges {
        for second in &ranges {
            for third in &ranges {
                let inserted = [*first, *second, *third];
                let mut covered = Covered::default();
                for range in inserted {
                    let (start, end) = keys(range);
                    covered.insert(start, end);
                }
                // The rows between a key and the next one are covered together.
                let is_covered =
                    |at: usize| inserted.iter().any(|(start, end)| (*start..*end).contains(&at));
                for range in &ranges {
                    let (start, end) = keys(*range);
                    let expected = (range.0..range.1).all(is_covered);
                    assert_eq!(covered.covers(start, end), expected, "{inserted:?} {range:?}");
                }
                let ends = (0..4).filter(|at| is_covered(*at) && (*at == 3 || !is_covered(at + 1)));
                assert_eq!(covered.ranges.len(), ends.count(), "{inserted:?}");
            }
        }
    }
}

#[test]
fn regions_that_overlap_a_range_are_found_in_order() {
    let info = |start: &[u8], end: &[u8]| RegionInfo {
        table: "t".parse().expect("a name"),
        id: 1,
        start_key: start.to_vec(),
        end_key: end.to_vec(),
        offline: false,
        split: false,
        replica_id: 0,
        encoded_name: "1".parse().expect("a name"),
    };
    let infos = [info(b"", b"b"), info(b"b", b"d"), info(b"d", b"")];
    let live: Vec<&RegionInfo> = infos.iter().collect();
    for (start, end, expected) in [
        (&b""[..], &b""[..], vec![&b""[..], b"b", b"d"]),
        (b"", b"b", vec![b""]),
        (b"", b"b\0", vec![b"", b"b"]),
        (b"b", b"d", vec![b"b"]),
        (b"c", b"d\0", vec![b"b", b"d"]),
        (b"a", b"b", vec![b""]),
        (b"d", b"", vec![b"d"]),
        (b"x", b"", vec![b"d"]),
    ] {
        let wanted = info(start, end);
        let found: Vec<_> = overlapping(&live, &wanted).map(|info| &info.start_key[..]).collect();
        assert_eq!(found, expected, "{start:?} {end:?}");
    }
}

/// Returns a schema with these families.
fn schema(names: &[&str]) -> TableSchema {
    let table = TableNameMessage { namespace: None, qualifier: Some(b"t".to_vec()) };
    let families = names
        .iter()
        .map(|name| FamilySchemaMessage {
            name: Some(name.as_bytes().to_vec()),
            ..FamilySchemaMessage::default()
        })
        .collect();
    let message = TableSchemaMessage { table: Some(table), families, ..Default::default() };
    TableSchema::parse(&message.encode_to_vec()).expect("sound")
}

fn region(name: &str, change: impl FnOnce(&mut RegionInfo)) -> Region {
    let mut info = RegionInfo {
        table: "t".parse().expect("a name"),
        id: 1,
        start_key: name.as_bytes().to_vec(),
        end_key: Vec::new(),
        offline: false,
        split: false,
        replica_id: 0,
        encoded_name: name.parse().expect("a name"),
    };
    change(&mut info);
    Region { info, families: Vec::new(), recovered_edits: Vec::new(), last_opened: None }
}

#[test]
fn regions_are_divided_by_their_marks() {
    let regions = vec![
        region("1", |_| {}),
        region("2", |info| (info.offline, info.split) = (true, true)),
        region("3", |info| info.offline = true),
        region("4", |info| info.split = true),
        region("5", |info| info.replica_id = 1),
        region("6", |info| info.replica_id = -1),
        region("0", |info| (info.start_key, info.id) = (b".mob".to_vec(), 0)),
        // A region and its replica have one name.
        region("1", |info| info.replica_id = 2),
        region("1", |_| {}),
    ];
    let mut found = Found::default();
    let parts = TableRegions::by_marks(Path::new("t"), &schema(&["f", "g"]), regions, &mut found);
    let names: Vec<_> = parts.regions.iter().map(|region| region.name().to_string()).collect();
    assert_eq!(names, ["1", "3", "4"]);
    let reasons: Vec<_> = parts
        .left_out
        .iter()
        .map(|left_out| (left_out.region.name().to_string(), left_out.reason))
        .collect();
    let [parent, replica] = [LeftOutReason::SplitParent, LeftOutReason::Replica];
    let expected = [("1", replica), ("2", parent), ("5", replica), ("6", replica)];
    assert_eq!(reasons, expected.map(|(name, reason)| (name.to_owned(), reason)));
    assert!(parts.mob.is_some_and(|mob| mob.name().as_str() == "0"));
    let problems: Vec<_> = found.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems, ["t: the region 1 is listed twice"]);
    let families: Vec<_> =
        parts.regions[0].families.iter().map(|family| family.name.clone()).collect();
    assert_eq!(families, [b"f".to_vec(), b"g".to_vec()]);
}

#[test]
fn a_family_that_the_schema_lacks_is_left_out_with_a_warning() {
    let mut with_family = region("1", |_| {});
    let family = |name: &[u8]| Family {
        name: name.to_vec(),
        files: Vec::new(),
        recovered_hfiles: Vec::new(),
    };
    with_family.families = vec![family(b"g"), family(b"x")];
    let mut found = Found::default();
    let parts =
        TableRegions::by_marks(Path::new("t"), &schema(&["f", "g"]), vec![with_family], &mut found);
    assert_eq!(parts.regions[0].families.len(), 2);
    let [warning] = &found.warnings[..] else { panic!("{found:?}") };
    assert!(found.problems.is_empty() && warning.what.contains("has a family x"), "{warning}");
}
