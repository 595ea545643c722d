//! `hfile stats` beside an independent count of the cells that HBase wrote.

use std::collections::BTreeMap;

use cells::escape;
use serde_json::{Value, json};
use sstable::Cell;
use support::fixtures::Fixture;

use crate::command_line::{field, json, manifest};

/// The bytes of a cell as HBase serializes it.
fn serialized_len(cell: &Cell) -> u64 {
    let cell = cell.as_ref();
    let key = 12 + cell.row.len() + cell.family.len() + cell.qualifier.len();
    let tags = if cell.tags.is_empty() { 0 } else { 2 + cell.tags.len() };
    (8 + key + cell.value.len() + tags) as u64
}

/// Returns the cells of each row, in file order.
fn rows(cells: &[Cell]) -> Vec<&[Cell]> {
    cells.chunk_by(|left, right| left.row() == right.row()).collect()
}

/// Compares a histogram with the numbers that it must have counted.
fn compare_histogram(what: &str, histogram: &Value, mut numbers: Vec<u64>) {
    numbers.sort_unstable();
    assert_eq!(histogram["count"], numbers.len(), "{what}");
    assert_eq!(histogram["min"], json!(numbers.first()), "{what}");
    assert_eq!(histogram["max"], json!(numbers.last()), "{what}");
    let sum: u64 = numbers.iter().sum();
    assert_eq!(histogram["sum"], sum, "{what}");
    let mean = if numbers.is_empty() { 0.0 } else { sum as f64 / numbers.len() as f64 };
    let found = histogram["mean"].as_f64().expect("a number");
    assert!((found - mean).abs() < 1e-9, "{what}: {found}, {mean}");
    for (name, permille) in [("p50", 500), ("p75", 750), ("p95", 950), ("p99", 990), ("p99_9", 999)]
    {
        let rank = (numbers.len() * permille).div_ceil(1000);
        let Some(exact) = rank.checked_sub(1).map(|index| numbers[index]) else {
            assert!(histogram["percentiles"].is_null(), "{what}");
            continue;
        };
        let found = histogram["percentiles"][name].as_u64().expect("a number");
        let above = if exact < 2048 { 0 } else { exact / 1000 };
        assert!((exact..=exact + above).contains(&found), "{what} {name}: {found}, {exact}");
    }
    let buckets = histogram["buckets"].as_array().expect("buckets");
    for bucket in buckets {
        let (from, to) = (bucket["from"].as_u64(), bucket["to"].as_u64());
        let range = from.expect("a number")..=to.expect("a number");
        // A bucket above 2,048 begins and ends where powers of two do, so it is exact too.
        let count = numbers.iter().filter(|number| range.contains(number)).count();
        assert_eq!(bucket["count"], count, "{what}: {bucket}");
    }
    let counted: u64 = buckets.iter().filter_map(|bucket| bucket["count"].as_u64()).sum();
    assert_eq!(counted, numbers.len() as u64, "{what}");
}

fn compare(fixture: &Fixture, stats: &Value) {
    let (name, cells) = (&fixture.name, fixture.cells());
    let rows = rows(&cells);
    assert_eq!(stats["cells"], cells.len(), "{name}");
    assert_eq!(stats["rows"], rows.len(), "{name}");
    let len = |of: fn(&Cell) -> usize| cells.iter().map(|cell| of(cell) as u64).collect();
    let of_rows = |of: fn(&[Cell]) -> u64| rows.iter().map(|row| of(row)).collect();
    for (field, numbers) in [
        ("row_key_bytes", of_rows(|row| row[0].row().len() as u64)),
        ("key_bytes", len(|cell| cell.as_ref().key().flat_len())),
        ("value_bytes", len(|cell| cell.value().len())),
        ("cell_bytes", cells.iter().map(serialized_len).collect()),
        ("row_bytes", of_rows(|row| row.iter().map(serialized_len).sum())),
        ("cells_per_row", of_rows(|row| row.len() as u64)),
        ("columns_per_row", of_rows(columns_of_row)),
    ] {
        compare_histogram(&format!("{name}: {field}"), &stats[field], numbers);
    }
    compare_types_and_tags(name, &cells, stats);
    let columns = columns(&cells);
    let total: u64 = columns.values().map(|(_, bytes)| bytes).sum();
    let listed = stats["columns"].as_array().expect("columns");
    let bytes: Vec<_> = listed.iter().map(|column| column["bytes"].as_u64()).collect();
    assert!(bytes.is_sorted_by(|left, right| left >= right), "{name}: {bytes:?}");
    let others = &stats["other_columns"]["bytes"];
    assert_eq!(bytes.iter().flatten().sum::<u64>() + others.as_u64().expect("bytes"), total);
    assert_eq!(stats["columns_complete"], columns.len() <= 10_000, "{name}");
    for column in listed {
        let (cells, bytes) = columns[field(column, "column")];
        assert_eq!((&column["cells"], &column["bytes"]), (&json!(cells), &json!(bytes)), "{name}");
    }
    let time = |cell: &Cell| cell.as_ref().timestamp.get();
    let times = (cells.iter().map(time).min(), cells.iter().map(time).max());
    assert_eq!(stats["timestamps"]["min"], json!(times.0), "{name}");
    assert_eq!(stats["timestamps"]["max"], json!(times.1), "{name}");
    compare_largest(name, &cells, stats);
}

fn columns_of_row(row: &[Cell]) -> u64 {
    let columns = row.iter().filter(|cell| !cell.cell_type().deletes_family());
    let names: std::collections::BTreeSet<_> =
        columns.map(|cell| (cell.family(), cell.qualifier())).collect();
    names.len() as u64
}

/// Returns cells and bytes of each column.
fn columns(cells: &[Cell]) -> BTreeMap<String, (u64, u64)> {
    let mut columns: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| !cell.cell_type().deletes_family()) {
        let name = format!("{}:{}", escape(cell.family()), escape(cell.qualifier()));
        let column = columns.entry(name).or_default();
        column.0 += 1;
        column.1 += serialized_len(cell);
    }
    columns
}

fn compare_types_and_tags(name: &str, cells: &[Cell], stats: &Value) {
    let mut types: BTreeMap<&str, u64> = BTreeMap::new();
    let mut tags: BTreeMap<u8, (u64, u64)> = BTreeMap::new();
    for cell in cells {
        *types.entry(cell.cell_type().name()).or_default() += 1;
        for (tag_type, data) in cell.as_ref().tags() {
            let of_type = tags.entry(tag_type).or_default();
            of_type.0 += 1;
            of_type.1 += data.len() as u64;
        }
    }
    for (cell_type, count) in stats["types"].as_object().expect("types") {
        assert_eq!(count, types.get(&cell_type[..]).unwrap_or(&0), "{name}: {cell_type}");
    }
    let report = &stats["tags"];
    let tagged = || cells.iter().filter(|cell| !cell.as_ref().tags.is_empty());
    assert_eq!(report["cells"], tagged().count(), "{name}");
    let bytes: usize = tagged().map(|cell| cell.as_ref().tags.len()).sum();
    assert_eq!(report["bytes"], bytes, "{name}");
    assert_eq!(report["tags"], tags.values().map(|(count, _)| count).sum::<u64>(), "{name}");
    let listed = report["types"].as_array().expect("types");
    assert_eq!(listed.len(), tags.len(), "{name}");
    for (of_type, (tag_type, (count, bytes))) in listed.iter().zip(tags) {
        assert_eq!(of_type["type"], tag_type, "{name}");
        assert_eq!((&of_type["tags"], &of_type["bytes"]), (&json!(count), &json!(bytes)));
    }
}

fn compare_largest(name: &str, cells: &[Cell], stats: &Value) {
    let bytes = |row: &[Cell]| row.iter().map(serialized_len).sum::<u64>();
    let first_of_largest = |size: &dyn Fn(&[Cell]) -> u64| {
        let rows = rows(cells);
        let most = rows.iter().map(|row| size(row)).max();
        let row = rows.into_iter().find(|row| Some(size(row)) == most);
        row.map(|row| (escape(row[0].row()).to_string(), bytes(row), row.len()))
    };
    for (field, expected) in [
        ("largest_row_by_bytes", first_of_largest(&bytes)),
        ("largest_row_by_cells", first_of_largest(&|row| row.len() as u64)),
    ] {
        let expected = expected.map(|(row, bytes, cells)| json!([row, bytes, cells]));
        let found = &stats[field];
        let found =
            (!found.is_null()).then(|| json!([found["row"], found["bytes"], found["cells"]]));
        assert_eq!(found, expected, "{name}: {field}");
    }
    let most = cells.iter().map(serialized_len).max();
    let largest = cells.iter().find(|cell| Some(serialized_len(cell)) == most);
    let key = largest.map(|cell| cell.as_ref().key().to_string());
    assert_eq!(stats["largest_cell"]["key"], json!(key), "{name}");
    assert_eq!(stats["largest_cell"]["bytes"], json!(most), "{name}");
}

#[test]
fn the_cells_of_each_golden_file_are_counted_exactly() {
    for fixture in Fixture::all() {
        let place = fixture.path.to_str().expect("text");
        let stats = json(&["stats", "--json", place]);
        assert_eq!((&stats["schema"], &stats["files"]), (&json!(1), &json!([place])));
        assert_eq!((&stats["complete"], &stats["problems"]), (&json!(true), &json!([])));
        compare(&fixture, &stats);
    }
}

#[test]
fn the_parts_of_a_file_add_up_to_its_size() {
    const PARTS: [(&str, &[&str]); 9] = [
        ("data", &["DATA", "ENCODED_DATA"]),
        ("leaf-index", &["LEAF_INDEX"]),
        ("bloom-chunks", &["BLOOM_CHUNK"]),
        ("meta", &["META"]),
        ("intermediate-index", &["INTERMEDIATE_INDEX"]),
        ("root-index", &["ROOT_INDEX"]),
        ("file-info", &["FILE_INFO"]),
        ("bloom-meta", &["GENERAL_BLOOM_META"]),
        ("delete-family-bloom-meta", &["DELETE_FAMILY_BLOOM_META"]),
    ];
    for file in manifest() {
        let name = field(&file, "file");
        let (stats, layout) = (json(&["stats", "--json", name]), json(&["layout", "--json", name]));
        let parts = stats["parts"].as_array().expect("parts");
        let sum = |field: &str| parts.iter().filter_map(|part| part[field].as_u64()).sum::<u64>();
        assert_eq!(sum("bytes"), file["expect"]["size"].as_u64().expect("a size"), "{name}");
        assert_eq!(stats["size"], file["expect"]["size"], "{name}");
        for (part, (expected, types)) in parts.iter().zip(PARTS) {
            assert_eq!(part["part"], expected);
            let blocks = layout["blocks"].as_array().expect("blocks").iter();
            let blocks: Vec<_> =
                blocks.filter(|block| types.contains(&field(block, "type"))).collect();
            let sum =
                |field: &str| blocks.iter().filter_map(|block| block[field].as_u64()).sum::<u64>();
            assert_eq!(part["blocks"], blocks.len(), "{name}: {expected}");
            assert_eq!(part["bytes"], sum("size"), "{name}: {expected}");
            let uncompressed = sum("uncompressed_size") + 33 * blocks.len() as u64;
            assert_eq!(part["uncompressed_bytes"], uncompressed, "{name}: {expected}");
        }
    }
}
