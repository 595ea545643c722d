//! The store compared with a real `HRegion`: random histories of one family, run in both.
//!
//! A history has puts, the four kinds of delete, cells with a TTL, increments, appends, checks,
//! flushes, major compactions, bulk loads and an advancing clock, and reads in between. HBase's
//! answers are the reference, cell for cell. All histories go to HBase in one batch.
//!
//! Run with `HBASE_JUDGE=1`; see `tests/hbase-judge/README.md`.
#![expect(clippy::unwrap_used, reason = "this is a test, also outside of its test functions")]

mod history;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::LazyLock;

use serde_json::{Value, json};
use sstable::{Reader, ReaderOptions};
use store::vfs::Vfs;
use store::{Age, FamilyOptions, Get, Scan, Store, StoreOptions, Timestamp};
use support::cells::read_all;
use support::disk::Disk;
use support::{judge, say};

use history::{History, line};

const HISTORIES: usize = 500;
/// The answer of the judge where HBase seeks the same cell endlessly.
static ENDLESS: LazyLock<Value> = LazyLock::new(|| json!(["endless"]));

fn write_lines(path: &Path, lines: impl Iterator<Item = Value>) {
    let mut out = BufWriter::new(File::create(path).unwrap());
    for line in lines {
        writeln!(out, "{line}").unwrap();
    }
    out.flush().unwrap();
}

#[test]
fn random_histories_give_the_answers_of_an_hregion() {
    if !judge::is_enabled("store: histories") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let seed = std::env::var("HISTORY_SEED").map_or(0, |seed| seed.parse().unwrap());
    let histories: Vec<_> = (0..HISTORIES as u64)
        .map(|number| {
            let mut history = History::new(seed + number, directory.path());
            history.play(40);
            history
        })
        .collect();
    let [asked, answered] =
        ["histories", "answers"].map(|name| directory.path().join(name).display().to_string());
    write_lines(Path::new(&asked), histories.iter().map(History::to_json));
    judge::confirm(&["history", &asked, "--out", &answered]);
    let answered = fs::read_to_string(&answered).unwrap();
    let (mut faults, mut endless) = (Vec::new(), 0);
    for (number, (history, answers)) in histories.iter().zip(answered.lines()).enumerate() {
        let theirs: Vec<Value> = serde_json::from_str(answers).unwrap();
        assert_eq!(theirs.len(), history.answers.len(), "history {number}");
        let differs = |at: &usize| theirs[*at] != history.answers[*at] && theirs[*at] != *ENDLESS;
        endless += theirs.iter().filter(|answer| **answer == *ENDLESS).count();
        if let Some(at) = (0..theirs.len()).find(differs) {
            let asks = |step: &&Value| {
                let verb = step.as_object().unwrap().keys().next().unwrap();
                !["write", "load", "flush", "compact", "later"].contains(&&verb[..])
            };
            let question = history.steps.iter().filter(asks).nth(at).unwrap();
            let (ours, theirs) = (&history.answers[at], &theirs[at]);
            let family = &history.family;
            faults.push(format!("{number}: {family} {question}\nours   {ours}\ntheirs {theirs}"));
        }
    }
    let asked: usize = histories.iter().map(|history| history.answers.len()).sum();
    let sound = histories.len() - faults.len();
    say(&format!(
        "store: {sound} of {} random histories are answered as by an HRegion: {asked} answers, \
         and {endless} where HBase's reads never end",
        histories.len()
    ));
    faults.truncate(5);
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

/// HBase and the store compact the same files.
#[test]
fn a_major_compaction_keeps_the_cells_that_hbase_keeps() {
    const STORES: u64 = 20;
    if !judge::is_enabled("store: compactions") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let (mut faults, mut count) = (Vec::new(), 0);
    for seed in 0..STORES {
        let mut history = History::new(10_000 + seed, directory.path());
        if history.family["keepDeletedCells"] == "TTL" {
            continue; // The judge's `store` supports only the other two.
        }
        for _ in 0..6 {
            history.write();
            history.write();
            history.flush();
            history.later();
        }
        let place = directory.path().join(format!("files-{seed}"));
        fs::create_dir(&place).unwrap();
        copy_files(&history.files, &place);
        let compacted = directory.path().join(format!("compacted-{seed}"));
        let (now, family) = (history.clock.now().to_string(), history.family.clone());
        let number = |name: &str| family[name].to_string();
        let [place, output] = [&place, &compacted].map(|path| path.display().to_string());
        let [versions, min_versions, ttl] = ["versions", "minVersions", "ttl"].map(number);
        let mut question = vec![
            "store",
            &place,
            "--family",
            "f",
            "--max-versions",
            &versions,
            "--min-versions",
            &min_versions,
            "--now",
            &now,
            "--compact",
            "--compacted-out",
            &output,
            "--sample",
            "0",
        ];
        if family["ttl"].is_number() {
            question.extend(["--ttl", &ttl]);
        }
        if family["keepDeletedCells"] != "FALSE" {
            question.push("--keep-deleted");
        }
        judge::confirm(&question);
        history.compact();
        let ours = directory.path().join(format!("ours-{seed}"));
        fs::create_dir(&ours).unwrap();
        copy_files(&history.files, &ours);
        let ours: Vec<_> =
            fs::read_dir(&ours).unwrap().map(|entry| entry.unwrap().path()).collect();
        let (ours, theirs) = (ours.first().map(|path| stored(path)), stored(&compacted));
        count += 1;
        if ours.unwrap_or_default() != theirs {
            faults.push(format!("{seed}: {family}"));
        }
    }
    let sound = count - faults.len();
    say(&format!("store: {sound} of {count} compactions leave what HBase's leave"));
    assert!(faults.is_empty(), "{faults:#?}");
}

/// HBase's own answer depends on where blocks end: `docs/src/reference/compatibility.md`.
#[test]
fn hbase_passes_over_markers_of_the_family_in_the_column_without_a_name() {
    if !judge::is_enabled("store: the empty qualifier") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let cell = |row: &str, qualifier: &str, ts: usize, kind: &str| {
        let [row, qualifier] = [row, qualifier].map(|text| support::hex(text.as_bytes()));
        json!({
            "row": row, "family": "66", "qualifier": qualifier, "ts": ts, "type": kind,
            "value": if kind == "Put" { "78".repeat(20) } else { String::new() },
        })
    };
    // A long column first: HBase then seeks by the index, and knows where the next block begins.
    let mut cells: Vec<Value> = (71..101).rev().map(|ts| cell("q", "a", ts, "Put")).collect();
    cells.extend([cell("r", "", 50, "Put"), cell("r", "", 40, "Put")]);
    cells.extend([cell("r", "", 30, "DeleteFamily"), cell("r", "a", 20, "Put")]);
    cells.extend((10..50).map(|number| cell(&format!("s{number}"), "a", 10, "Put")));
    let lines = directory.path().join("cells");
    write_lines(&lines, cells.into_iter());
    let mut deleted_cells = Vec::new();
    for block_size in [65_536, 300] {
        let place = directory.path().join(block_size.to_string());
        fs::create_dir(&place).unwrap();
        let spec = directory.path().join("spec");
        write_lines(&spec, [json!({ "family": "f", "blockSize": block_size })].into_iter());
        let [file, spec, lines, answer, place] =
            [&place.join("file.hfile"), &spec, &lines, &directory.path().join("answer"), &place]
                .map(|path| path.display().to_string());
        judge::confirm(&["write", &spec, &file, "--cells", &lines]);
        let read = ["store", &place, "--family", "f", "--versions", "9", "--max-versions", "1"];
        judge::confirm(&[&read[..], &["--sample", "0", "--out", &answer]].concat());
        let shown = fs::read_to_string(&answer).unwrap();
        deleted_cells.push(shown.lines().filter(|line| line.contains("\"ts\":20,")).count());
    }
    assert_eq!(deleted_cells, [0, 1], "HBase obeys its rules with one block, and not with several");
}

/// Copies the store files of the family under their names.
fn copy_files(files: &Disk, to: &Path) {
    for entry in files.list(Path::new("/store/f")).unwrap() {
        let source = files.open(&Path::new("/store/f").join(&entry.name)).unwrap();
        let mut bytes = vec![0; usize::try_from(source.len()).unwrap()];
        source.read_exact_at(&mut bytes, 0).unwrap();
        fs::write(to.join(&entry.name), bytes).unwrap();
    }
}

/// Returns all cells of a file; none if there is no file.
fn stored(path: &Path) -> Vec<Value> {
    if !path.exists() {
        return Vec::new();
    }
    let reader = Reader::open_file(path, ReaderOptions::default()).unwrap();
    read_all(&reader).iter().map(|cell| line(&cell.as_ref())).collect()
}

/// HBase's time range of a read without one has no end. Only loaded files have cells of the latest time.
#[test]
fn cells_of_the_latest_time_are_shown_unless_a_time_range_ends_before_them() {
    if !judge::is_enabled("store: the latest time") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let cell = |row: &str, ts: i64| {
        let row = support::hex(row.as_bytes());
        json!({ "row": row, "family": "66", "qualifier": "71", "ts": ts, "type": "Put", "value": "78" })
    };
    let cells = [cell("a", i64::MAX), cell("a", 7), cell("b", i64::MAX), cell("c", 7)];
    let place = directory.path().join("files");
    fs::create_dir(&place).unwrap();
    let [lines, spec, answer] = ["cells", "spec", "answer"].map(|name| directory.path().join(name));
    write_lines(&lines, cells.iter().cloned());
    write_lines(&spec, [json!({ "family": "f", "maxSeqId": 3 })].into_iter());
    let file = place.join("00000000000000000000000000000001");
    let [lines, spec, answer, place, written] =
        [&lines, &spec, &answer, &place, &file].map(|path| path.display().to_string());
    judge::confirm(&["write", &spec, &written, "--cells", &lines]);
    let read = ["store", &place, "--family", "f", "--versions", "9", "--max-versions", "9"];
    judge::confirm(&[&read[..], &["--sample", "0", "--out", &answer]].concat());
    let of_cell = |cell: &Value| (cell["row"].clone(), cell["ts"].clone());
    let shown = fs::read_to_string(&answer).unwrap();
    let shown: Vec<Value> = shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let shown: Vec<_> = shown.iter().map(of_cell).collect();
    assert_eq!(shown, cells.iter().map(of_cell).collect::<Vec<_>>());

    let store = Store::open(directory.path().join("store"), StoreOptions::default()).unwrap();
    store.create_family("f", FamilyOptions::default().versions(9)).unwrap();
    store.import("f", &[file], Age::Carried).unwrap();
    let of_ours =
        |cell: &sstable::Cell| (json!(support::hex(cell.row())), json!(cell.timestamp().get()));
    for raw in [false, true] {
        let scan = Scan::family("f").versions(9).raw(raw);
        let ours: Vec<_> = store.scan(scan).unwrap().map(|cell| of_ours(&cell.unwrap())).collect();
        assert_eq!(ours, shown, "raw: {raw}");
    }
    let get = |row: &str| Get::row(row).column("f", "q").versions(9);
    let times = |get: &Get| {
        let cells = store.get(get).unwrap();
        cells.iter().map(|cell| cell.timestamp().get()).collect::<Vec<_>>()
    };
    assert_eq!([times(&get("a")), times(&get("b"))], [vec![i64::MAX, 7], vec![i64::MAX]]);
    assert_eq!(times(&Get::row("b").column("f", "q")), [i64::MAX]);
    let ended = get("a").time_range(Timestamp::new(1), Timestamp::LATEST);
    assert_eq!(times(&ended), [7], "the end of a time range is exclusive");
}
