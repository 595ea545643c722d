//! An interrupted comparison removes its stores and keeps its figures.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Starts a run that takes far longer than this test.
fn start(directory: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_compare"))
        .args(["--quick", "--rows", "400000", "--shapes", "many-files", "--directory", "."])
        .args(["--json", "run.json", "--report", "run.html"])
        .current_dir(directory)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts")
}

#[test]
fn a_signal_removes_the_stores_and_keeps_the_figures() {
    for signal in ["-TERM", "-INT"] {
        let directory = tempfile::tempdir().expect("there is a place for files");
        let mut compare = start(directory.path());
        let json = directory.path().join("run.json");
        let begun = Instant::now();
        while !json.exists() {
            assert!(begun.elapsed() < Duration::from_secs(120), "the first stage ends");
            thread::sleep(Duration::from_millis(20));
        }
        let names = || {
            let entries = std::fs::read_dir(directory.path()).expect("ours").flatten();
            let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
            names.sort_unstable();
            names
        };
        assert!(names()[0].to_string_lossy().starts_with("compare-"), "stores: {:?}", names());
        let sent = Command::new("kill").args([signal, &compare.id().to_string()]).status();
        assert!(sent.expect("the process exists").success());
        let status = compare.wait().expect("compare ends");
        assert_eq!(status.code(), Some(130), "{signal}");

        assert_eq!(names(), ["run.html", "run.json"], "{signal}");
        let run = std::fs::read(&json).expect("the file exists");
        let run: Value = serde_json::from_slice(&run).expect("JSON");
        assert_eq!(run["is_finished"], false);
        assert_eq!(run["stages"][0]["name"], "equal bits: many files, filled");
        let page = std::fs::read_to_string(directory.path().join("run.html"));
        assert!(page.expect("the file exists").contains("id=\"unfinished\""));
    }
}
