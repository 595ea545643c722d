//! `hfile store`: the verbs that read, without write permission, on a read-only mount, on a full disk, and
//! while another process has the store open.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use support::{contents, say};

use crate::command_line::{stdout, text};

const HFILE: &str = env!("CARGO_BIN_EXE_hfile");

fn run(program: &str, args: &[&str]) -> Output {
    Command::new(program).args(args).stdin(Stdio::null()).output().expect("the program runs")
}

/// Runs a store verb, which must succeed, and returns its stdout.
fn store(args: &[&str]) -> String {
    stdout(&[&["store"], args].concat())
}

/// Creates a store with a row in a file and another in the log, below `directory`.
fn filled(directory: &Path) -> String {
    let place = directory.join("store").display().to_string();
    store(&["create", &place, "f"]);
    store(&["append", &place, "f", "a", "q", "in a file"]);
    store(&["flush", &place]);
    store(&["append", &place, "f", "b", "q", "in the log"]);
    place
}

/// Runs each verb that reads, and one that writes, through `run`.
fn assert_reads_and_no_more(place: &str, out: &str, run: impl Fn(&[&str]) -> Output) {
    let read = |args: &[&str]| {
        let output = run(args);
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    assert!(read(&["get", place, "a", "b"]).contains("V: in the log"));
    assert_eq!(read(&["scan", place]).lines().count(), 2);
    assert_eq!(read(&["scan", place, "--reverse"]).lines().count(), 2);
    assert!(read(&["stats", place]).contains("sequence id 2"));
    assert!(read(&["explain", place, "a"]).contains("found"));
    assert!(read(&["verify", place]).contains("sound"));
    assert!(read(&["export", place, out]).contains("out"));
    let refused = run(&["append", place, "f", "c", "q", "never"]);
    assert_eq!(refused.status.code(), Some(3), "{}", text(&refused.stderr));
}

fn is_root() -> bool {
    text(&run("id", &["-u"]).stdout).trim() == "0"
}

/// As another user, or without root, as the owner of directories without write permission.
#[test]
fn a_store_without_permission_to_write_can_be_read() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let place = filled(directory.path());
    fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).expect("ours");
    let before = contents(Path::new(&place));
    let free = directory.path().join("free");
    fs::create_dir(&free).expect("ours");
    fs::set_permissions(&free, Permissions::from_mode(0o777)).expect("ours");
    let out = free.join("out").display().to_string();
    let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let can_change_user = is_root()
        && run("setpriv", &[&nobody[..], &[HFILE, "--version"]].concat()).status.success();
    let lock = |mode: u32| {
        for place in [&place, &format!("{place}/wal"), &format!("{place}/f")] {
            fs::set_permissions(place, Permissions::from_mode(mode)).expect("ours");
        }
    };
    if can_change_user {
        assert_reads_and_no_more(&place, &out, |args| {
            run("setpriv", &[&nobody[..], &[HFILE, "store"], args].concat())
        });
        say("read-only: 7 reads as another user");
    } else if is_root() {
        return say("read-only: SKIPPED: root may write everywhere, and setpriv does not work");
    } else {
        lock(0o555);
        fs::set_permissions(format!("{place}/LOCK"), Permissions::from_mode(0o444)).expect("ours");
        assert_reads_and_no_more(&place, &out, |args| run(HFILE, &[&["store"], args].concat()));
        lock(0o755);
        say("read-only: 7 reads without the permission to write");
    }
    assert_eq!(contents(Path::new(&place)), before);
}

#[test]
fn a_file_that_cannot_be_read_is_not_called_damaged() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let place = filled(directory.path());
    let files = fs::read_dir(Path::new(&place).join("f")).expect("there");
    let file = files.map(|file| file.expect("listed").path()).next().expect("one was flushed");
    let free = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).expect("ours");
    fs::set_permissions(&file, Permissions::from_mode(0o000)).expect("ours");
    let verify = ["store", "verify", &place];
    let output = if is_root() {
        run("setpriv", &[&free[..], &[HFILE], &verify].concat())
    } else {
        run(HFILE, &verify)
    };
    let (out, told) = (text(&output.stdout), text(&output.stderr));
    if is_root() && out.is_empty() {
        return say("read-only: SKIPPED: setpriv does not work");
    }
    assert_eq!(output.status.code(), Some(3), "{out}{told}");
    assert!(out.contains(": NOT READ, ") && out.contains("Permission denied"), "{out}");
    assert!(!out.contains("DAMAGED") && !told.contains("restore"), "{out}{told}");
}

/// On a read-only mount, and on a full file system.
#[test]
fn a_store_on_a_read_only_mount_or_a_full_disk_can_be_read() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let place = filled(directory.path());
    let mounted = directory.path().join("mounted");
    fs::create_dir(&mounted).expect("ours");
    let mounted = mounted.display().to_string();
    // Mounts in a private namespace.
    let unshared = |script: &str| run("unshare", &["-m", "sh", "-ec", script]);
    let read_only = format!("mount --bind {place} {mounted}; mount -o remount,ro,bind {mounted}");
    let full = format!(
        "mount -t tmpfs -o size=1m tmpfs {mounted}; cp -r {place}/. {mounted}; \
         if cat /dev/zero > {mounted}/other 2> /dev/null; then exit 1; fi"
    );
    for (what, mount) in [("a read-only mount", read_only), ("a full disk", full)] {
        if !unshared(&mount).status.success() {
            say(&format!("read-only: SKIPPED: {what}, for nothing can be mounted here"));
            continue;
        }
        let out = directory.path().join(format!("out of {what}")).display().to_string();
        assert_reads_and_no_more(&mounted, &out, |args| {
            let args = args.iter().fold(String::new(), |line, arg| format!("{line} '{arg}'"));
            unshared(&format!("{mount}; {HFILE} store{args}"))
        });
        say(&format!("read-only: 7 reads on {what}"));
    }
}

#[test]
fn a_store_that_another_process_has_open_can_be_read() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let place = filled(directory.path());
    let mut writer = Command::new(HFILE)
        .args(["store", "put", &place, "f", "--from", "csv", "-", "--batch", "1", "--ack"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut input = writer.stdin.take().expect("piped");
    let mut acks = BufReader::new(writer.stdout.take().expect("piped")).lines();
    writeln!(input, "row,family,qualifier,ts,type,value,seq\nc,f,q,1,Put,later,0")
        .expect("it reads");
    // Input that was read ahead may stay buffered until the input ends.
    writeln!(input, "d,f,q,1,Put,{},0", "x".repeat(1 << 17)).expect("it reads");
    assert_eq!(acks.next().expect("a line").expect("text"), "ACK 1");
    let refused = run(HFILE, &["store", "flush", &place]);
    let said = text(&refused.stderr);
    let holder = format!("the store is open already, in process {}", writer.id());
    assert!(said.contains(&holder), "{said}");
    assert!(store(&["get", &place, "c"]).contains("V: later"));
    assert!(store(&["verify", &place]).contains("sound"));
    drop(input);
    assert!(writer.wait().expect("it ends").success());
}
