//! An interrupted comparison removes its stores and keeps its figures.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Starts a run that takes far longer than this test.
fn start(directory: &Path) -> Child {
    let output = |name: &str| directory.join(name);
    Command::new(env!("CARGO_BIN_EXE_compare"))
        .args(["--quick", "--shapes", "many-files", "--directory"])
        .arg(directory)
        .args([
            Path::new("--json"),
            &output("run.json"),
            Path::new("--report"),
            &output("run.html"),
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts")
}

/// Whether the directory contains a file of any store.
fn has_stores(directory: &Path) -> bool {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let directories = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
    let is_store = |path: &Path| path.join("MANIFEST").exists();
    directories.into_iter().any(|path| is_store(&path) || has_stores(&path))
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(120), "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_signal_removes_the_stores_and_keeps_the_figures() {
    for signal in ["-TERM", "-INT"] {
        let directory = tempfile::tempdir().expect("there is a place for files");
        let mut compare = start(directory.path());
        let json = directory.path().join("run.json");
        wait_until("the first stage ends", || json.exists());
        wait_until("stores are filled", || has_stores(directory.path()));
        let sent = Command::new("kill").args([signal, &compare.id().to_string()]).status();
        assert!(sent.expect("the process exists").success());
        let status = compare.wait().expect("compare ends");
        assert_eq!(status.code(), Some(130), "{signal}");

        let left = std::fs::read_dir(directory.path()).expect("ours").flatten();
        let mut left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        left.sort_unstable();
        assert_eq!(left, ["run.html", "run.json"], "{signal}");
        let run = std::fs::read(&json).expect("the file exists");
        let run: Value = serde_json::from_slice(&run).expect("JSON");
        assert_eq!(run["is_finished"], false);
        assert_eq!(run["stages"][0]["name"], "equal bits: many files, filled");
        let page = std::fs::read_to_string(directory.path().join("run.html"));
        assert!(page.expect("the file exists").contains("id=\"unfinished\""));
    }
}
