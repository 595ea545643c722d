//! An unwritable stderr does not change the exit status: full disk, closed pipe, closed descriptor.
#![cfg(unix)]

use std::fs;
use std::process::{Command, Stdio};

use crate::command_line::{data, directory, path};

/// Runs a command with stderr redirected by a shell; returns its status and stdout length.
fn status(args: &[&str], redirect: &str) -> (Option<i32>, usize) {
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!("exec \"$0\" \"$@\" {redirect}"))
        .arg(env!("CARGO_BIN_EXE_hfile"))
        .args(args)
        .current_dir(data())
        .stdin(Stdio::null())
        .output()
        .expect("there is a shell");
    (output.status.code(), output.stdout.len())
}

/// Runs a command whose stderr is a closed pipe; returns its status.
fn status_with_closed_pipe(args: &[&str]) -> Option<i32> {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_hfile"));
    command.args(args).current_dir(data()).stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(writer).status().expect("the binary runs").code()
}

#[test]
fn an_unwritable_stderr_keeps_the_exit_status() {
    let directory = directory();
    let (damaged, broken) = (path(&directory, "damaged.hfile"), path(&directory, "broken.csv"));
    let mut bytes = fs::read(data().join("s01-default.hfile")).expect("committed");
    bytes[1000] ^= 1;
    fs::write(&damaged, &bytes).expect("disk takes it");
    fs::write(&broken, "row,family,ts,value\n,f,1,v\n").expect("disk takes it");
    let output = path(&directory, "out.hfile");
    let store = path(&directory, "store");
    for (expected, args) in [
        (0, &["cat", "s01-default.hfile"][..]),
        (1, &["cat", &damaged]),
        (1, &["cat", &damaged, "s01-default.hfile"]),
        (1, &["verify", &damaged]),
        (3, &["verify", "nowhere.hfile", "s01-default.hfile"]),
        (3, &["cat", "nowhere.hfile"]),
        (2, &["cat", "--format", "xml", "s01-default.hfile"]),
        (2, &["frobnicate"]),
        (3, &["build", "--from", "csv", &broken, "--output", &output]),
        (3, &["store", "get", &store, "row1"]),
    ] {
        let (plain, printed) = status(args, "");
        assert_eq!(plain, Some(expected), "{args:?}");
        for redirect in ["2>/dev/full", "2>&-", "2</dev/null"] {
            assert_eq!(status(args, redirect), (plain, printed), "{args:?} {redirect}");
        }
        assert_eq!(status_with_closed_pipe(args), plain, "{args:?} into a closed pipe");
    }
}
