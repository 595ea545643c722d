//! Ctrl-C in an export: what it prints, and what it leaves.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use std::{fs, thread};

use serde_json::{Value, json};
use support::contents;
use support::root_directory::RootCopy;
use tempfile::TempDir;

use crate::command_line::{command, directory, interrupt, objects, path, run, stdout, text};

/// The rows of the large files.
const ROWS: usize = 200_000;

/// A root directory; the last regions of its t1 and of its snapshot s12 take seconds to export.
struct LargeRegions {
    root: RootCopy,
    directory: TempDir,
}

impl LargeRegions {
    fn new() -> Self {
        let large = Self { root: RootCopy::new(), directory: directory() };
        let in_table =
            large.root.path().join("data/default/t1/4820f17f61e882630b301c9225eb7ae9/f1");
        // Of cells with equal keys, an export writes one: more files make it slower, not larger.
        for file in 0..10 {
            let path = in_table.join(format!("{file}123456789abcdef0123456789abcdef"));
            large.write("row-02000", "f1", &path);
        }
        // This snapshot has its files by name, without their lengths.
        let in_snapshot = "data/default/t7/5945bde6175a9acfce0280d65ebbf2a1/g";
        let name = "f088bf34eb0f4514a6ef6fb1a9efb33a";
        large.write("row-00200", "g", &large.root.path().join(in_snapshot).join(name));
        large
    }

    /// Links the large file of a family to `path`, in place of the file that is there.
    fn write(&self, start: &str, family: &str, path: &Path) {
        let file = self.directory.path().join(family);
        if !file.exists() {
            let mut cells = String::from("row,n\n");
            for row in 0..ROWS {
                writeln!(cells, "{start}-{row:06},{row}").expect("a text takes it");
            }
            let csv = file.with_extension("csv");
            fs::write(&csv, cells).expect("disk takes it");
            let (csv, file) = (csv.to_str().expect("UTF-8"), file.to_str().expect("UTF-8"));
            let build = ["build", "--from", "csv", csv, "--row", "row", "--family", family];
            stdout(&[&build[..], &["--output", file]].concat());
        }
        if path.exists() {
            fs::remove_file(path).expect("ours");
        }
        fs::hard_link(&file, path).expect("the same file system");
    }
}

/// Returns the arguments that export a table or a snapshot into the directory `out`.
fn export<'t>([noun, name]: [&'t str; 2], root: &'t str, out: &'t str) -> Vec<&'t str> {
    vec![noun, "export", "--root", root, name, "--to", "csv", "--output", out, "--threads", "1"]
}

/// Returns the names in a directory.
fn names(directory: &Path) -> Vec<String> {
    let Ok(items) = fs::read_dir(directory) else { return Vec::new() };
    items.map(|item| item.expect("readable").file_name().into_string().expect("UTF-8")).collect()
}

/// Returns the number of complete regions in the manifest of an export; `None` if there is none yet.
fn complete_regions(out: &Path) -> Option<usize> {
    let manifest = fs::read(out.join("manifest.json")).ok()?;
    let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
    manifest["regions"].as_array().map(Vec::len)
}

#[test]
fn ctrl_c_keeps_complete_files_and_says_how_to_go_on() {
    let large = LargeRegions::new();
    let root = large.root.argument();
    for (what, regions) in [(["table", "t1"], 4), (["snapshot", "s12"], 2)] {
        let (out, whole) = (path(&large.directory, what[1]), path(&large.directory, "whole"));
        let arguments = export(what, &root, &out);
        let mut child = command(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        // The manifest lists all regions but the last, and a file of the last has its temporary name.
        let is_in_last_region = || {
            let is_begun = names(Path::new(&out)).iter().any(|name| name.starts_with(".hfile-"));
            is_begun && complete_regions(Path::new(&out)) == Some(regions - 1)
        };
        while !is_in_last_region() {
            let ended = child.try_wait().expect("our child");
            assert!(ended.is_none(), "{what:?}: not stopped in time: {:?}", names(Path::new(&out)));
            thread::sleep(Duration::from_millis(1));
        }
        interrupt(&child);
        let output = child.wait_with_output().expect("it ends");
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{what:?}: {told}");
        let go_on =
            "hfile: stopped; the same command goes on after the last complete part of the output\n";
        assert!(told.ends_with(go_on), "{told}");
        assert_eq!(output.stdout, b"", "{what:?}");

        let left = names(Path::new(&out));
        assert!(left.iter().all(|name| !name.starts_with('.')), "{what:?}: {left:?}");
        let manifest = fs::read(Path::new(&out).join("manifest.json")).expect("written");
        let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
        assert_eq!(manifest["complete"], json!(false));
        assert_eq!(complete_regions(Path::new(&out)), Some(regions - 1), "{what:?}");

        let (report, _) = run(0, &[&arguments[..], &["--json"]].concat());
        assert_eq!(objects(&report)[0]["resumed"], regions - 1, "{report}");
        run(0, &export(what, &root, &whole));
        // The manifest has the time of the export.
        let files = |out: &str| -> BTreeMap<OsString, Vec<u8>> {
            let all = contents(Path::new(out)).into_iter();
            let named = all.filter_map(|(path, bytes)| Some((path.file_name()?.to_owned(), bytes)));
            named.filter(|(name, _)| name != "manifest.json").collect()
        };
        assert_eq!(files(&out).len(), regions, "{what:?}");
        assert!(files(&out) == files(&whole), "{what:?}");
        fs::remove_dir_all(&whole).expect("ours");
    }
}
