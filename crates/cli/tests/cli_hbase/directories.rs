//! The verbs that read take directories of HBase: families, regions, tables, namespaces and roots.
//!
//! `data/rootdir/README.md` describes the directories, which HBase wrote.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use sstable::{CellRef, FileInfo, Timestamp, WriterOptions};
use support::cells::{hfile, put_line};
use support::{copy_directory, gunzip};

use crate::command_line::{data, directory, objects, path, run, shows, tells};

const TABLE: &str = "../rootdir/root/data/default/t1";
const LOWER: &str = "../rootdir/root/data/default/t1/40ab6300693e3f01d37da6c46414d9c8";
const CLONE: &str = "../rootdir/root/data/default/t8/a6117362735a719914cd4ec50dbf7d75";
const MERGED: &str = "../rootdir/root/data/default/t6/475ea0cde6a4298710607723607cb381";
const ARCHIVED: &str = "../rootdir/root/data/default/t7/5945bde6175a9acfce0280d65ebbf2a1";
const TRACKED: &str = "../rootdir/root/data/default/t5/1bc192e1c1ff9049e743103c3534b32c";
const LINK: &str = "ns1=t4=ea869e80a7caba94c6902edc38fe97ad-7870cbc258c3453e91d8ee4528e8f438";
/// A reference to the upper half of a file, from row-00200 on.
const REFERENCE: &str = "g/4844017402a04d9587a063dc65b1fcc9.54831f426c01e05355f378f3c645ed76";

/// Returns cells without sequence ids, sorted by their keys; of equal keys only the newest.
fn newest(cells: Vec<Value>) -> Vec<Value> {
    let mut by_key: BTreeMap<String, (u64, Value)> = BTreeMap::new();
    for mut cell in cells {
        let fields = cell.as_object_mut().expect("an object");
        let id = fields.remove("seq").and_then(|id| id.as_u64()).unwrap_or(0);
        let key = ["row", "family", "qualifier", "ts", "type"].map(|field| &cell[field]);
        let known = by_key.entry(format!("{key:?}")).or_insert((id, cell.clone()));
        if known.0 < id {
            *known = (id, cell);
        }
    }
    by_key.into_values().map(|(_, cell)| cell).collect()
}

/// `roots::hbase_root` of the library compares the cells of each region with HBase's.
#[test]
fn cat_of_a_region_prints_its_cells_and_what_it_skips() {
    let (out, _) = run(0, &["cat", "--format", "cells", TRACKED]);
    let (reversed, told) = run(0, &["cat", "--reverse", "--format", "cells", TRACKED]);
    let truth = gunzip(&data().join("../rootdir/t5.cells.ndjson.gz"));
    assert!(newest(objects(&out)) == newest(objects(&truth)));
    assert!(newest(objects(&reversed)) == newest(objects(&truth)));
    let all = "5 entries skipped: 1 .regioninfo, 2 in .filelist, 1 in recovered.edits, 1 not in the tracker's list";
    assert!(told.ends_with(&format!("{TRACKED}: {all}\n")), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
}

#[test]
fn info_and_layout_say_which_half_or_file_an_entry_stands_for() {
    let (out, _) = run(0, &["info", LOWER]);
    assert_eq!(out.matches("\nwhich is      lower half of ").count(), 8, "{out}");
    assert_eq!(out.matches(", before row row-01500\n").count(), 8);
    assert_eq!(out.matches("file          ").count(), 14);
    shows(0, &["info", &format!("{MERGED}/{REFERENCE}")])
        .has("/g/4844017402a04d9587a063dc65b1fcc9, from row row-00200\n");
    let (out, _) = run(0, &["info", "--json", CLONE]);
    let reports = objects(&out);
    let link =
        reports.iter().find(|report| report["half"].is_null()).expect("the region has links");
    assert!(link["target"].as_str().expect("text").contains("/t1/40ab6300693e3f01d37da6c4"));
    let half = reports.iter().find(|report| !report["half"].is_null()).expect("it has references");
    assert_eq!((&half["half"], &half["split_row"]), (&"bottom".into(), &"row-01500".into()));
    assert!(half["file"].as_str().expect("text").starts_with(CLONE));
    let (out, _) = run(0, &["info", "--json", "s01-default.hfile"]);
    assert!(!out.contains("target") && !out.contains("half"), "{out}");
    shows(0, &["layout", &format!("{ARCHIVED}/g/{LINK}")])
        .has("7870cbc258c3453e91d8ee4528e8f438; these are the blocks of the whole file");
}

#[test]
fn info_list_prints_one_line_for_each_file() {
    let (out, _) = run(0, &["info", "--list", LOWER]);
    let (files, total) = out.split_once("\n\n").expect("a total follows the table");
    assert_eq!(files.lines().count(), 15, "{out}");
    assert!(files.starts_with("    size  cells  first row  last row   file"), "{out}");
    assert_eq!(files.matches("  lower half of ").count(), 8, "{out}");
    let part = "8 references counted as the whole file\n";
    assert!(total.starts_with("14 files, ") && total.ends_with(part), "{out}");
    let (out, _) = run(0, &["info", "--list", "s01-default.hfile"]);
    let row = "66.8 KiB  1,200  row0000000738  row0000593946  s01-default.hfile\n";
    assert!(out.contains(row) && out.ends_with("1 file, 66.8 KiB, 1,200 cells\n"), "{out}");
    let (out, told) = run(1, &["info", "--list", "s01-default.hfile", "manifest.json"]);
    assert!(out.contains(row) && told.contains("manifest.json: "), "{out}{told}");
    run(2, &["info", "--list", "--json", LOWER]);
}

#[test]
fn get_explain_and_find_end_with_a_summary() {
    let (out, _) = run(0, &["get", "--explain", TABLE, "row-01293"]);
    let summary = out.lines().last().expect("a line");
    let files = "28 files: 3 with the row, 14 skipped by key range, 7 skipped by filter, 4 searched without a match";
    let blocks = "; 7 filter, 0 index and 7 data blocks, 7.5 KiB";
    assert_eq!(summary, format!("{files}{blocks}"));
    let (out, _) = run(0, &["find", TABLE, "row-01293"]);
    assert!(out.ends_with("\n\n7 of 28 files can hold the row\n"), "{out}");
    let (out, _) = run(0, &["find", "s01-default.hfile", "row0000000738"]);
    assert_eq!(out.lines().count(), 2, "{out}");
}

#[test]
fn get_and_find_search_only_the_half_of_a_reference() {
    shows(0, &["get", LOWER, "row-01002"]).has("row-01002/f1:");
    // The parent's files have the row, but it is in the other half.
    run(0, &["get", &format!("{TABLE}/c65bc83cc9888373de3595d40b882f08"), "row-01600"]);
    run(1, &["get", LOWER, "row-01600"]);
    tells(2, &["get", LOWER, CLONE])
        .has_all(&["is a directory;", "give a row of that name as hex:"]);
    let (out, _) = run(1, &["find", LOWER, "row-01600"]);
    assert_eq!(out.matches("no: outside its key range").count(), 14, "{out}");
    shows(0, &["find", LOWER, "row-01002"]).has_all(&["which is\n", "lower half of "]);
    let (out, _) = run(0, &["get", "--explain", "--json", LOWER, "row-01002"]);
    let report = &objects(&out)[0];
    assert_eq!(report["files"].as_array().map(Vec::len), Some(14));
    assert!(report["files"][1]["half"] == "bottom" || report["files"][1]["target"].is_null());
}

#[test]
fn the_files_of_a_split_region_are_left_out_with_a_word() {
    let parent = format!("{TABLE}/c65bc83cc9888373de3595d40b882f08");
    let left_out = "left out 8 files of the split or merged region c65bc83cc9888373de3595d40b882f08, because \
                    of 16 references in other regions; hfile table reads the table as HBase does\n";
    // The row has a cell in each of five files; the split region has three of them as well.
    let (out, told) = run(0, &["get", "--format", "cells", TABLE, "row-01293"]);
    let cells = objects(&out);
    assert_eq!(newest(cells.clone()).len(), cells.len(), "no cell is printed twice");
    assert!(told.contains(&format!("hfile: {TABLE}: {left_out}")), "{told}");
    let regions = [LOWER, &format!("{TABLE}/77a347dcd3a699aadaaa702b08393620"), &parent];
    let (out, told) =
        run(0, &[&["get", "--format", "cells"], &regions[..], &["row-01293"]].concat());
    assert_eq!(objects(&out), cells);
    assert!(told.contains(&format!("hfile: {left_out}")), "{told}");

    let cat = ["cat", "--format", "cells"];
    let (out, told) = run(0, &[&cat[..], &[TABLE]].concat());
    let both: Vec<Value> = regions[..2]
        .iter()
        .flat_map(|region| objects(&run(0, &["cat", "--format", "cells", region]).0))
        .collect();
    assert_eq!(objects(&out), both);
    assert!(told.contains(left_out), "{told}");
    let (stats, told) = run(0, &["stats", "--json", TABLE]);
    assert_eq!(objects(&stats)[0]["cells"], both.len(), "{stats}");
    assert!(told.contains(left_out), "{told}");
    // The region by itself has its cells, and verify checks its files.
    let (_, told) = run(0, &["cat", &parent]);
    assert!(!told.contains("left out"), "{told}");
    let (_, told) = run(0, &["verify", TABLE]);
    assert!(!told.contains("left out"), "{told}");
}

#[test]
fn the_inputs_of_a_compaction_are_left_out_with_a_word() {
    let place = directory();
    let family = |above: &str| {
        let family = place.path().join(above).join("1bc192e1c1ff9049e743103c3534b32c/g");
        copy_directory(&data().join(TRACKED).join("g"), &family);
        // Without a list, as a family without a tracker.
        fs::remove_dir_all(family.join(".filelist")).expect("ours");
        family
    };
    // A compaction wrote fe9e… from 6dcf…, which HBase has removed since. Its cells may be deleted.
    let (input, other) = ("6dcf0bf6e7c04ce4ab2ba7ab84eb7bd5", "c626764a320e485e8be6703bdbe52706");
    let with_input = family("data/default/t");
    let (expected, told) = run(0, &["cat", with_input.to_str().expect("text")]);
    assert_eq!(told, "");
    fs::copy(with_input.join(other), with_input.join(input)).expect("ours");
    let line = format!(
        "hfile: left out 1 file that a compaction replaced, {input}: the file that it wrote is read instead\n"
    );
    let with_input = with_input.to_str().expect("text");
    let (out, told) = run(0, &["cat", with_input]);
    assert!(out == expected && told.contains(&line), "{told}");
    let cells = expected.lines().count();
    let (out, told) = run(0, &["stats", "--json", with_input]);
    assert_eq!(objects(&out)[0]["cells"], cells, "{told}");
    assert!(told.contains(&line), "{told}");
    // As an argument of its own, the file counts; verify checks all files; in the archive, all files are of the past.
    let (out, _) = run(0, &["cat", with_input, &format!("{with_input}/{input}")]);
    assert!(out.lines().count() > cells);
    let (_, told) = run(0, &["verify", with_input]);
    assert!(told.ends_with("hfile: 4 files: 4 sound, 0 damaged\n"), "{told}");
    let archived = family("archive/data/default/t");
    fs::copy(archived.join(other), archived.join(input)).expect("ours");
    let (_, told) = run(0, &["cat", archived.to_str().expect("text")]);
    assert_eq!(told, "");
}

#[test]
fn references_that_a_compaction_replaced_count_for_their_region() {
    let place = directory();
    let table = place.path().join("data/default/t1");
    copy_directory(&data().join(TABLE), &table);
    let daughters = ["40ab6300693e3f01d37da6c46414d9c8", "77a347dcd3a699aadaaa702b08393620"];
    // A compaction of all references of a family of a daughter, of whose cells one is left.
    for (daughter, row) in daughters.iter().zip(["a", "z"]) {
        let family = table.join(daughter).join("f1");
        let mut event = b"PBUF".to_vec();
        for entry in fs::read_dir(&family).expect("there") {
            let name = entry.expect("there").file_name().into_string().expect("text");
            if name.contains('.') && !name.starts_with('.') {
                event.extend([b"\n", &[u8::try_from(name.len()).expect("short")][..]].concat());
                event.extend(name.as_bytes());
            }
        }
        assert!(event.len() > 4 + 4 * 65, "HBase made references");
        let options = WriterOptions::default().file_info(FileInfo::COMPACTION_EVENT, event);
        let cell = CellRef::put(row.as_bytes(), b"f1", b"q", Timestamp::new(1), b"v");
        let compacted = family.join("00000000000000000000000000000050");
        fs::write(&compacted, hfile(&compacted, options, [cell])).expect("disk takes it");
    }
    let table = table.to_str().expect("text");
    let cat = ["cat", "--format", "cells"];
    let (expected, told) = run(0, &[&cat[..], &[table]].concat());
    assert!(told.contains("left out 8 files of the split or merged region c65b"), "{told}");
    assert!(told.contains("left out 8 files that a compaction replaced, "), "{told}");
    let regions = ["c65bc83cc9888373de3595d40b882f08", daughters[0], daughters[1]];
    let regions = regions.map(|region| format!("{table}/{region}"));
    let regions: Vec<&str> = regions.iter().map(String::as_str).collect();
    let (out, told) = run(0, &[&cat[..], &regions].concat());
    assert_eq!(out, expected, "{told}");
}

#[test]
fn verify_of_a_table_shows_the_damaged_file_and_a_summary() {
    let (out, told) = run(0, &["verify", TABLE]);
    assert_eq!(out, "");
    assert!(told.ends_with("hfile: 36 files: 36 sound, 0 damaged\n"), "{told}");
    let (out, _) = run(0, &["verify", "--verbose", TABLE]);
    assert_eq!(out.matches(": sound, ").count(), 36, "{out}");
    let (out, _) = run(0, &["verify", "--json", TABLE]);
    assert_eq!(objects(&out).len(), 36);
    let (out, _) = run(0, &["verify", &format!("{LOWER}/f1")]);
    assert_eq!(out.matches(": sound, ").count(), 7, "{out}");

    let place = directory();
    let table = place.path().join("data/default/t1");
    copy_directory(&data().join(TABLE), &table);
    let parent = table.join("c65bc83cc9888373de3595d40b882f08/f1/81b5fc619b754e26b0314f0daa183a00");
    let mut bytes = fs::read(&parent).expect("copied");
    bytes[1000] ^= 1;
    fs::write(&parent, bytes).expect("disk takes it");
    let (out, told) = run(1, &["verify", &path(&place, "data")]);
    // The file itself, and the reference of each daughter.
    assert_eq!(out.matches(": DAMAGED, ").count(), 3, "{out}");
    assert!(!out.contains(": sound, "), "{out}");
    assert!(out.contains("f1/81b5fc619b754e26b0314f0daa183a00: DAMAGED, "), "{out}");
    assert!(out.contains(" may be missing or incomplete"), "{out}");
    assert!(told.ends_with("hfile: 36 files: 33 sound, 3 damaged\n"), "{told}");

    let reference = table.join(
        "40ab6300693e3f01d37da6c46414d9c8/f1/81b5fc619b754e26b0314f0daa183a00.c65bc83cc9888373de3595d40b882f08",
    );
    fs::write(&reference, b"PBUF\x0a\x15").expect("disk takes it");
    let (out, _) = run(1, &["verify", "--json", reference.to_str().expect("text")]);
    let report = &objects(&out)[0];
    assert_eq!(report["ok"], false);
    assert_eq!(report["errors"][0]["what"], "no reference to a half of a file");
    fs::remove_file(&parent).expect("disk takes it");
    tells(3, &["verify", &path(&place, "data")]).has_all(&[
        "the file 81b5fc619b754e26b0314f0daa183a00 of family f1, region c65bc83cc9",
        "next: copy the missing file from HBase's root directory",
    ]);
}

#[test]
fn diff_compares_the_merged_cells_of_directories() {
    let (out, _) = run(0, &["diff", LOWER, CLONE]);
    assert_eq!(out, "the same 1,164 cells\n");
    shows(1, &["diff", "--limit", "0", TABLE, LOWER])
        .has("only in the first, 0 only in the second");
    let family = format!("{LOWER}/f1");
    let (out, _) = run(0, &["cat", "--format", "cells", &family]);
    let place = directory();
    let cells = path(&place, "cells");
    fs::write(&cells, out).expect("disk takes it");
    let merged = path(&place, "merged.hfile");
    run(
        0,
        &[
            "build",
            "--from",
            "cells",
            &cells,
            "--sort",
            "--output",
            &merged,
            "--includes-tags",
            "true",
        ],
    );
    run(0, &["diff", &family, &merged]);
}

#[test]
fn verbs_of_one_file_refuse_directories_and_references() {
    let place = directory();
    let output = path(&place, "out.hfile");
    let reference = format!("{MERGED}/{REFERENCE}");
    for verb in [&["salvage"][..], &["recompress"], &["filter", "rebuild", "--kind", "none"]] {
        for (input, what) in [(LOWER, "is a directory"), (&reference, "the upper half of ")] {
            if verb[0] != "filter" || input != LOWER {
                let told = tells(2, &[verb, &[input, "--output", &output]].concat());
                told.has_all(&[what, "next: "]);
            }
        }
        let link = format!("{ARCHIVED}/g/{LINK}");
        run(0, &[verb, &[&link, "--output", &output, "--force"]].concat());
        let target = "../rootdir/root/archive/data/ns1/t4/ea869e80a7caba94c6902edc38fe97ad/g/7870cbc258c3453e91d8ee4528e8f438";
        run(0, &["diff", &link, target]);
        run(0, &["diff", &output, target]);
    }
}

#[test]
fn recompress_and_bench_measure_the_files_of_a_directory() {
    let one = ["--compression", "NONE", "--data-block-encoding", "NONE", "--json"];
    let (out, told) = run(0, &[&["recompress", MERGED], &one[..]].concat());
    assert_eq!(objects(&out).len(), 1);
    assert_eq!(told.matches(": not measured: recompress takes whole HFiles").count(), 2, "{told}");
    let (out, _) = run(0, &["bench", "--json", "--gets", "300", "--hfiles", CLONE]);
    let report = &objects(&out)[0];
    assert_eq!(report["files"], 14);
    // Only rows of the lower half: 500 rows or fewer in each file.
    for file in report["each_file"].as_array().expect("a list") {
        assert!(file["rows"].as_u64().expect("a number") <= 500, "{file}");
    }
}

#[test]
fn arguments_that_are_no_hfiles_are_named_with_a_next_step() {
    let place = directory();
    let write = |name: &str, bytes: &[u8]| {
        let file = PathBuf::from(path(&place, name));
        fs::create_dir_all(file.parent().expect("it has one")).expect("ours");
        fs::write(&file, bytes).expect("disk takes it");
        file.to_str().expect("text").to_owned()
    };
    let edits = write("recovered.edits/0000000000000000017", b"PWAL....");
    let log = write("host.1795412744013", b"PWAL....");
    let part = write(".tmp/f/4844017402a04d9587a063dc65b1fcc9x", b"DATA");
    let empty = write("4844017402a04d9587a063dc65b1fcc9", b"");
    let link = write(LINK, b"");
    for (file, status, what) in [
        (&edits, 3, "is a file of recovered edits (a write-ahead log or its marker), not an HFile"),
        (&log, 3, "is a write-ahead log, not an HFile"),
        (&empty, 1, "is empty, and its name is not that of a link"),
        (&link, 3, "to which the link leads, cannot be found"),
        (&format!("{LOWER}/.regioninfo"), 3, "is a description of a region (.regioninfo)"),
        (&"../rootdir/root/hbase.id".to_owned(), 3, "it begins with PBUF"),
    ] {
        for verb in ["info", "layout", "cat"] {
            tells(status, &[verb, file]).has_all(&[what, "\nnext: "]);
        }
    }
    tells(1, &["info", &part]).has("\nnext: check that this is an HFile");
    tells(3, &["store", "get", &empty, "row"])
        .has("\nnext: check the path: a store is a directory");
    shows(1, &["verify", &empty]).has("at 0x0: the file is empty");
    // The directory has only the link, which cannot be resolved.
    tells(3, &["info", &path(&place, "")])
        .has(" entries skipped: 1 in .tmp, 1 in recovered.edits, 1 write-ahead log, 1 empty\n");
    fs::remove_file(&link).expect("ours");
    tells(3, &["verify", &path(&place, "")]).has_all(&[
        ": no HFiles in this directory (4 entries skipped: ",
        "\nnext: give the directory of a family",
    ]);
}

#[test]
fn a_root_directory_and_a_store_are_read_with_a_note() {
    let (out, told) = run(0, &["info", "--json", "../rootdir/root"]);
    assert_eq!(objects(&out).len(), 78);
    assert!(told.contains(" outside data\n"), "{told}");
    let (out, told) = run(0, &["verify", "../rootdir/root/mobdir"]);
    assert!(out.contains("_89d45b5950c66ab3099d4b571bc5f20a: sound, "), "{out}");
    assert_eq!(told, "");
    let (out, told) = run(0, &["info", "--json", "../rootdir/root/archive"]);
    assert_eq!(objects(&out).len(), 4);
    assert!(told.contains(" in .links-*"), "{told}");
    let place = directory();
    let store = path(&place, "store");
    run(0, &["store", "create", &store, "f"]);
    let cells = path(&place, "cells");
    fs::write(&cells, put_line("a", "q", 1, "")).expect("disk takes it");
    run(0, &["store", "put", &store, "f", "--from", "cells", &cells]);
    run(0, &["store", "flush", &store]);
    run(0, &["store", "put", &store, "row", "f:q=1"]);
    for file in ["MANIFEST", "wal/0000000000000002.wal"] {
        let (_, told) = run(3, &["info", &format!("{store}/{file}")]);
        let next = "is not an HFile\nnext: check and read a store with hfile store: ";
        assert!(told.contains(next), "{told}");
    }
    let (out, told) = run(0, &["info", "--json", &store]);
    assert_eq!(objects(&out).len(), 1);
    assert!(told.contains("this is a store of hfile"), "{told}");
}

#[test]
fn filters_of_a_directory_are_measured_and_replaced_file_by_file() {
    let place = directory();
    let output = path(&place, "out");
    let (measured, told) = run(0, &["filter", "measure", LOWER, "--probes", "2000"]);
    // Halves are of other regions.
    assert!(
        told.contains("hfile: 8 references not measured: a reference stands for a half"),
        "{told}"
    );
    assert!(measured.contains("error rate"), "{measured}{told}");
    assert!(told.lines().all(|line| line.chars().count() <= 200), "{told}");
    let args = ["filter", "rebuild", LOWER, "--output", &output, "--bloom-type", "ROW"];
    let (out, told) = run(1, &args);
    assert!(told.contains("hfile: 8 references not copied: each stands for a half "), "{told}");
    assert!(told.lines().all(|line| line.chars().count() <= 200), "{told}");
    assert!(out.lines().all(|line| line.contains("; HBase Bloom ROW over ")), "{out}");
    let copies = out.lines().count();
    assert!(copies > 0);
    let (info, _) = run(0, &["info", "--json", &output]);
    let reports = objects(&info);
    assert_eq!(reports.len(), copies);
    let (again, _) = run(0, &["filter", "measure", &output, "--probes", "2000", "--json"]);
    for report in objects(&again) {
        assert_eq!(
            (&report["filter"], &report["false_negatives"]),
            (&"hbase-bloom".into(), &0.into())
        );
    }
    assert_eq!(objects(&again).len(), copies);
    let file = path(&place, "file");
    std::fs::write(&file, "").expect("ours");
    tells(2, &["filter", "rebuild", LOWER, "--output", &file, "--kind", "none"])
        .has("is a directory, so that --output must be one, too");
    tells(2, &["filter", "rebuild", LOWER, "--output", &output]).has("--kind");
    let seed = ["--bloom-type", "ROW", "--seed", "1"];
    tells(2, &[&["filter", "rebuild", LOWER, "--output", &output], &seed[..]].concat())
        .has("--kind");
}

/// HBase takes a file for a link by its name.
#[test]
fn the_copy_of_a_linked_file_has_the_name_of_the_file() {
    let place = directory();
    let output = path(&place, "out");
    run(0, &["filter", "rebuild", ARCHIVED, "--output", &output, "--kind", "none"]);
    let (_, file) = LINK.rsplit_once('-').expect("a link");
    let (cells, _) = run(0, &["cat", "--format", "cells", &format!("{output}/g/{file}")]);
    let (expected, _) = run(0, &["cat", "--format", "cells", &format!("{ARCHIVED}/g/{LINK}")]);
    assert!(!cells.is_empty() && cells == expected);
    assert!(!PathBuf::from(format!("{output}/g/{LINK}")).exists());
}

/// HBase reads the copy, and its filter lets HBase skip the file for the same rows.
#[test]
fn hbase_skips_files_by_a_rebuilt_bloom() {
    if !support::judge::is_enabled("a rebuilt HBase Bloom") {
        return;
    }
    let place = directory();
    for (name, args) in [
        ("row", &["--bloom-type", "ROW", "--bloom-error-rate", "0.001"][..]),
        ("rowcol", &["--bloom-type", "ROWCOL"]),
        ("none", &["--bloom-type", "NONE"]),
    ] {
        let copy = path(&place, name);
        let rebuild = ["filter", "rebuild", "s01-default.hfile", "--output", &copy];
        run(0, &[&rebuild[..], args].concat());
        // The judge queries the filter for every key, and compares size and error rate with HBase's own.
        let answer = support::judge::confirm(&["read", &copy]);
        assert_eq!(answer["bloomType"], args[1], "{name}: {answer}");
        if name != "none" {
            assert!(answer["bloomKeysChecked"].as_u64() > Some(0), "{name}: {answer}");
        }
    }
}
