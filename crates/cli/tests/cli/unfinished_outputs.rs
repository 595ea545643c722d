//! Commands whose files reach a limit of size, or that get no further descriptor: no half of a file is left under the
//! name of an output, the message says where and why, and the next attempt succeeds.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use support::files_below;

use crate::command_line::{data, hfile_in, text};

/// The commands; each one writes `out`.
const COMMANDS: [&str; 17] = [
    "recompress in.hfile --output out --compression NONE",
    "filter rebuild in.hfile --output out --kind ribbon",
    "filter rebuild in.hfile --output out --bloom-type ROWCOL",
    "filter make --kind ribbon --input cells --output out",
    "salvage in.hfile --output out",
    "build --from cells cells --output out",
    "build --from cells cells --output out --sort --sort-memory 20000",
    "build --from cells cells --output out --bulk-load --splits m",
    "build --from csv rows.csv --row id --column v=f:v --output out",
    "export in.hfile --output out --to csv",
    "export in.hfile --output out --to cells",
    "export in.hfile --output out --to cells --max-file-size 20000",
    "export in.hfile --output out --to hfiles",
    "store export s out",
    "store export s out --to csv",
    "store salvage s out",
    "store checkpoint s out",
];

fn run(place: &Path, args: &[&str]) -> Vec<u8> {
    let output = hfile_in(place, args);
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    output.stdout
}

/// Makes what the commands read.
fn prepare(place: &Path) {
    fs::copy(data().join("s01-default.hfile"), place.join("in.hfile")).expect("there");
    fs::write(place.join("cells"), run(place, &["cat", "in.hfile", "--format", "cells"]))
        .expect("space");
    let rows: Vec<_> = (0..2000).map(|number| format!("row{number:05},{number:050}\n")).collect();
    fs::write(place.join("rows.csv"), format!("id,v\n{}", rows.concat())).expect("space");
    fs::create_dir(place.join("tmp")).expect("space");
    run(place, &["store", "create", "s", "f"]);
    run(
        place,
        &[
            "build", "--from", "csv", "rows.csv", "--row", "id", "--column", "v=f:v", "--output",
            "f.hfile",
        ],
    );
    run(place, &["store", "import", "s", "f", "f.hfile"]);
    run(place, &["store", "put", "s", "row1", "f:v=in the log"]);
}

fn limited(place: &Path, limit: &str, command: &str) -> Output {
    Command::new("sh")
        .args(["-c", &format!("trap '' XFSZ; ulimit {limit}; exec \"$0\" \"$@\"")])
        .arg(env!("CARGO_BIN_EXE_hfile"))
        .args(command.split(' '))
        .current_dir(place)
        .env("TMPDIR", place.join("tmp"))
        .output()
        .expect("there is a shell")
}

/// Returns the lengths of the files below `out`, by their names; names of HFiles are random.
fn outputs(place: &Path) -> BTreeMap<PathBuf, Vec<u64>> {
    let out = place.join("out");
    let files = if out.is_dir() { files_below(&out) } else { vec![out] };
    let mut lengths = BTreeMap::<PathBuf, Vec<u64>>::new();
    for path in files.into_iter().filter(|path| path.exists()) {
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let is_random = name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let key = if is_random { path.with_file_name("hfile") } else { path.clone() };
        lengths.entry(key).or_default().push(path.metadata().expect("there").len());
    }
    for lengths in lengths.values_mut() {
        lengths.sort_unstable();
    }
    lengths
}

/// Returns what is wrong with a command that failed.
fn problems(place: &Path, told: &Output, whole: &BTreeMap<PathBuf, Vec<u64>>) -> Vec<String> {
    let mut found = Vec::new();
    let message = text(&told.stderr);
    if told.status.code().is_none_or(|code| code == 101 || code == 0) {
        found.push(format!("status {:?}", told.status));
    }
    if !["File too large", "Too many open files"].iter().any(|why| message.contains(why)) {
        found.push("no cause".to_owned());
    }
    for (path, lengths) in outputs(place) {
        let name = path.file_name().expect("a file");
        // An export that stopped can be continued.
        let goes_on = name == "manifest.json" || name == ".lock";
        let expected = whole.get(&path);
        let is_whole = |length| expected.is_some_and(|expected| expected.contains(length));
        if !goes_on && !lengths.iter().all(is_whole) {
            found.push(format!("{} has {lengths:?} bytes, not {expected:?}", path.display()));
        }
    }
    let temporary = fs::read_dir(place.join("tmp")).expect("there").count();
    let beside = fs::read_dir(place).expect("there").filter(|entry| {
        entry.as_ref().expect("there").file_name().to_string_lossy().starts_with('.')
    });
    if temporary + beside.count() > 0 {
        found.push("temporary files are left".to_owned());
    }
    found
}

fn remove_output(place: &Path) {
    let _ = fs::remove_file(place.join("out"));
    let _ = fs::remove_dir_all(place.join("out"));
}

#[test]
fn a_command_that_cannot_write_its_output_leaves_no_half_of_a_file_and_can_be_repeated() {
    let mut wrong = Vec::new();
    for command in COMMANDS {
        let directory = tempfile::tempdir().expect("a place for the test");
        let place = directory.path();
        prepare(place);
        let done = limited(place, "-n 1000", command);
        assert!(done.status.success(), "{command}: {}", text(&done.stderr));
        let whole = outputs(place);
        assert!(!whole.is_empty(), "{command}");
        let mut failed = 0;
        let sizes = [0, 1, 3, 9, 27, 81, 243].map(|size| format!("-f {size}"));
        for limit in sizes.into_iter().chain((6..18).map(|count| format!("-n {count}"))) {
            remove_output(place);
            if command.starts_with("store checkpoint") {
                // It flushes.
                run(place, &["store", "put", "s", "row1", "f:v=in the log"]);
            }
            let told = limited(place, &limit, command);
            if told.status.success() {
                continue;
            }
            failed += 1;
            let message = text(&told.stderr);
            let what = |problem: &str| format!("{command}, {limit}: {problem}: {message}");
            wrong.extend(problems(place, &told, &whole).iter().map(|problem| what(problem)));
            let second = limited(place, "-n 1000", command);
            if !second.status.success() {
                wrong.push(what(&format!("the second attempt fails: {}", text(&second.stderr))));
            }
            let now = outputs(place);
            if second.status.success() && now.keys().ne(whole.keys()) {
                wrong.push(what(&format!("the second attempt writes {now:?}, not {whole:?}")));
            }
        }
        assert!(failed > 1, "{command}: {failed} attempts failed");
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
