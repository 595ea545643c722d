//! Progress: on a terminal, each long verb shows its phases; elsewhere nothing is drawn.

use std::fs;
use std::process::{Command, Stdio};

use crate::command_line::{data, directory, path, run, stdout, text};

/// Runs `hfile` with a pseudo terminal as stdout and stderr, and returns all that it wrote.
///
/// Returns `None`, and says so, if the program `script` is missing.
fn on_a_terminal(args: &[&str]) -> Option<String> {
    let words: Vec<String> =
        args.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
    let line = format!("stty cols 120 && exec {} {}", env!("CARGO_BIN_EXE_hfile"), words.join(" "));
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).current_dir(data()).stdin(Stdio::null());
    let Ok(output) = script.output() else {
        eprintln!("skipped: there is no script (util-linux), so progress was not looked at");
        return None;
    };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "hfile {args:?}: {said}");
    Some(said)
}

/// Checks that a verb shows these phases in this order.
fn shows(args: &[&str], phases: &[&str]) {
    let Some(said) = on_a_terminal(args) else { return };
    let mut rest = said.as_str();
    for phase in phases {
        let at = rest.find(phase).unwrap_or_else(|| panic!("{args:?}: no {phase:?} in {said:?}"));
        rest = &rest[at + phase.len()..];
    }
}

#[test]
fn a_bar_has_phase_percentage_and_time_left() {
    let Some(said) = on_a_terminal(&["verify", "s01-default.hfile", "s03-one-cell.hfile"]) else {
        return;
    };
    let bar = said.split("checking: ").nth(1).expect("a bar");
    assert!(bar.contains("% ") && bar.contains(" of ") && bar.contains(" left"), "{said:?}");
    assert!(said.contains("s01-default.hfile: sound"), "the bar is removed: {said:?}");
}

#[test]
fn builds_show_each_phase_of_sorting() {
    let directory = directory();
    let (cells, out) = (path(&directory, "cells.ndjson"), path(&directory, "out.hfile"));
    fs::write(&cells, stdout(&["cat", "--json", "s01-default.hfile"])).expect("ours");
    let build = ["build", "--from", "cells", &cells, "--output", &out, "--force"];
    shows(&build, &["reading: "]);
    shows(&[&build[..], &["--sort"]].concat(), &["reading: ", "sorting: ", "writing: "]);
    // More than 64 runs need a pass of merges.
    let runs = ["--sort", "--sort-memory", "1KiB"];
    shows(&[&build[..], &runs].concat(), &["reading: ", "sorting: ", "merging: ", "writing: "]);
    shows(&[&build[..], &["--dry-run"]].concat(), &["reading: "]);
}

#[test]
fn verbs_that_rewrite_files_show_their_phases() {
    let directory = directory();
    let out = path(&directory, "out.hfile");
    let file = "s01-default.hfile";
    let to_out = ["--output", &out, "--force"];
    let recompress = [&["recompress", file, "--compression", "LZ4"][..], &to_out].concat();
    shows(&recompress, &["writing: ", "checking: ", "comparing: "]);
    let measure = ["recompress", file, "--compression", "LZ4"];
    shows(&measure, &["sampling: ", "NONE, LZ4: ", "ROW_INDEX_V1, LZ4: "]);
    let salvage = [&["salvage", file][..], &to_out].concat();
    shows(&salvage, &["copying sound cells: ", "checking: "]);
    let rebuild = [&["filter", "rebuild", file, "--kind", "Ribbon"][..], &to_out].concat();
    shows(&rebuild, &["building and copying: "]);
    let keys = ["--keys", "1000", "--probes", "1000"];
    let measure = [&["filter", "measure", "--kind", "CUCKOO"][..], &keys].concat();
    shows(&measure, &["making keys", "inserting and querying"]);
    let bench = ["bench", "--rows", "2000", "--gets", "100", "--filters", "None,Ribbon"];
    let phases = ["loading, none (1 of 2): ", "measuring gets, none (1 of 2): ", "ribbon (2 of 2)"];
    shows(&bench, &phases);
}

#[test]
fn store_verbs_show_their_phases() {
    let directory = directory();
    let (store, cells) = (path(&directory, "store"), path(&directory, "cells.ndjson"));
    let out = path(&directory, "out");
    let file = "s01-default.hfile";
    let cells_text = stdout(&["cat", "--json", file]);
    let first: serde_json::Value =
        serde_json::from_str(cells_text.lines().next().expect("a cell")).expect("JSON");
    let family = first["family"].as_str().expect("hex");
    let bytes = (0..family.len()).step_by(2).map(|at| u8::from_str_radix(&family[at..at + 2], 16));
    let family = text(&bytes.collect::<Result<Vec<u8>, _>>().expect("hex"));
    fs::write(&cells, cells_text).expect("ours");
    stdout(&["store", "create", &store, &family]);
    shows(&["store", "put", &store, &family, "--from", "cells", &cells], &["storing: "]);
    stdout(&["store", "flush", &store]);
    shows(&["store", "import", &store, &family, file], &["checking and copying files"]);
    let merging = format!("merging files of {family}: ");
    let checking = format!("checking files of {family}: ");
    shows(&["store", "compact", &store, "--major"], &["flushing", &checking, &merging]);
    shows(&["store", "verify", &store], &[&format!("{store}/{family}/")]);
    shows(&["store", "export", &store, &out], &["writing files"]);
}

#[test]
fn scans_and_exports_show_the_bytes_of_the_files() {
    let (root, directory) = (support::root_directory::RootCopy::new(), directory());
    let root = root.path();
    let root = root.to_str().expect("text");
    let out = path(&directory, "out");
    let file = "s01-default.hfile";
    for (args, phase) in [
        (&["snapshot", "verify", "--root", root, "s4"][..], "checking: "),
        (&["snapshot", "scan", "--root", root, "s4", "--count"], "reading: "),
        (
            &["snapshot", "export", "--root", root, "s4", "--to", "csv", "--output", &out],
            "exporting: ",
        ),
        (&["export", file, "--to", "csv", "--output", &path(&directory, "files")], "exporting: "),
    ] {
        let Some(said) = on_a_terminal(args) else { return };
        let bar = said.split(phase).nth(1).unwrap_or_else(|| panic!("{args:?}: {said:?}"));
        let bar = bar.split('\r').next().unwrap_or_default();
        for part in ["% ", "B of ", "/s, ", " left"] {
            assert!(bar.contains(part), "{args:?}: no {part:?} in {bar:?}");
        }
    }
    let Some(said) = on_a_terminal(&["snapshot", "scan", "--root", root, "s6", "--limit", "1"])
    else {
        return;
    };
    assert!(!said.contains("reading: "), "cells are printed on the terminal: {said:?}");
}

#[test]
fn nothing_is_drawn_without_a_terminal() {
    for args in [
        &["verify", "s01-default.hfile"][..],
        &["recompress", "s01-default.hfile", "--compression", "LZ4"],
        &["bench", "--rows", "2000", "--gets", "100", "--filters", "none"],
    ] {
        let (_, told) = run(0, args);
        assert_eq!(told, "", "{args:?}");
    }
}
