//! `hfile table filelist`: new lists for store file trackers, made from the files that are there.

use std::fs;
use std::path::{Path, PathBuf};

use support::root_directory::RootCopy;
use support::{contents, copy_directory};
use tempfile::TempDir;

use crate::command_line::{directory, json, json_with, path, run, shows, tells};

const REGION: &str = "1bc192e1c1ff9049e743103c3534b32c";
const OTHER_REGION: &str = "6aad9cb88e3b9cd870e5c5fc95b1a86a";
/// A file of family g that a major compaction replaced.
const REPLACED: &str = "26c13a46b2188ad7f01d83e2bfe25a77";
const FLUSHED: &str = "c626764a320e485e8be6703bdbe52706";

/// A root directory of HBase without the lists of table t5, which are lost.
struct Lost {
    /// The directory that has the root directory, and nothing else.
    directory: TempDir,
    root: PathBuf,
}

impl Lost {
    fn new() -> Self {
        let directory = directory();
        let root = directory.path().join("root");
        copy_directory(&RootCopy::new().path(), &root);
        for region in [REGION, OTHER_REGION] {
            for family in ["g", "h"] {
                let family = root.join("data/default/t5").join(region).join(family);
                fs::remove_dir_all(family.join(".filelist")).expect("HBase wrote it");
            }
        }
        Self { directory, root }
    }

    fn args<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let root = self.root.to_str().expect("text");
        [&["table", "filelist", "--root", root, "t5"], more].concat()
    }

    fn family(&self) -> PathBuf {
        self.root.join("data/default/t5").join(REGION).join("g")
    }

    fn output(&self) -> String {
        path(&self.directory, "out")
    }
}

#[test]
fn rebuilt_lists_let_a_table_be_read_as_before() {
    let lost = Lost::new();
    let (root, output) = (lost.root.to_str().expect("text"), lost.output());
    let scan = ["table", "scan", "--root", root, "t5", "--versions", "all", "--raw"];
    let before = contents(&lost.root);
    tells(1, &scan).has("the list of the family's store file tracker");
    let report = json(&lost.args(&["--json", "--rebuild", "--output", &output]));
    assert_eq!(contents(&lost.root), before, "the root directory changed");
    assert_eq!((&report["ok"], &report["output"]), (&true.into(), &output.clone().into()));
    let g = &report["lists"][0];
    assert_eq!(g["list"], format!("{REGION}/g/.filelist/f1"));
    let files = g["files"].as_array().expect("an array");
    let of = |name: &str| files.iter().find(|file| file["file"] == *name).expect("listed");
    assert_eq!(
        (&of(REPLACED)["decision"], &of(FLUSHED)["decision"]),
        (&"left-out".into(), &"hfile".into())
    );

    let table = lost.root.join("data/default/t5");
    copy_directory(Path::new(&output), &table);
    let (cells, _) = run(0, &scan);
    let original = RootCopy::new();
    let original = original.path();
    let original = original.to_str().expect("text");
    let (expected, _) =
        run(0, &["table", "scan", "--root", original, "t5", "--versions", "all", "--raw"]);
    assert_eq!(cells, expected);
    assert!(cells.lines().count() > 100);
}

#[test]
fn no_list_is_written_while_a_file_is_undecided() {
    let lost = Lost::new();
    let file = lost.family().join(FLUSHED);
    let whole = fs::read(&file).expect("there");
    fs::write(&file, &whole[..whole.len() / 2]).expect("ours");
    let output = lost.output();
    let args = ["--rebuild", "--output", &output];
    shows(1, &lost.args(&args))
        .has_all(&[&format!("UNDECIDED  {FLUSHED}, "), ", 1 left out, 1 UNDECIDED\n"]);
    tells(1, &lost.args(&args)).has("no list was written, because files are undecided");
    assert_eq!(json_with(1, &lost.args(&["--json"]))["ok"], false);
    assert_eq!(
        fs::read_dir(lost.directory.path()).expect("ours").count(),
        1,
        "nothing but the root"
    );

    let name = format!("{REGION}/g/{FLUSHED}");
    let report =
        json(&lost.args(&["--json", "--rebuild", "--output", &output, "--leave-out", &name]));
    assert_eq!(report["ok"], true);
    assert!(Path::new(&output).join(REGION).join("g/.filelist/f1").exists());
    let other = path(&lost.directory, "other");
    tells(3, &lost.args(&["--rebuild", "--output", &other, "--leave-out", "r/g/absent"]))
        .has("has no file r/g/absent");
    let take = format!("{REGION}/g/{REPLACED}");
    let report = json(&lost.args(&["--json", "--leave-out", &name, "--take", &take]));
    assert_eq!(report["lists"][0]["files"][0]["decision"], "hfile");
}

#[test]
fn lists_are_written_to_a_new_directory_outside_of_the_root() {
    let lost = Lost::new();
    let root = lost.root.to_str().expect("text");
    for inside in ["data/default/t5", "data/new", "new/deeper", ""] {
        let output = format!("{root}/{inside}");
        tells(2, &lost.args(&["--rebuild", "--output", &output])).has("is in the root directory");
    }
    #[cfg(unix)]
    {
        let link = path(&lost.directory, "link");
        std::os::unix::fs::symlink(lost.root.join("data"), &link).expect("ours");
        tells(2, &lost.args(&["--rebuild", "--output", &format!("{link}/new")]))
            .has("is in the root directory");
        fs::remove_file(link).expect("ours");
    }
    let output = lost.output();
    fs::create_dir(&output).expect("ours");
    let other = Path::new(&output).join("other");
    fs::write(&other, b"mine").expect("ours");
    tells(3, &lost.args(&["--rebuild", "--output", &output])).has("is not an empty directory");
    fs::remove_file(other).expect("ours");
    run(0, &lost.args(&["--rebuild", "--output", &output]));
    for wrong in [&["--rebuild"][..], &["--output", "out"]] {
        run(2, &lost.args(wrong));
    }
    let root = lost.root.to_str().expect("text");
    let several = ["table", "filelist", "--root", root, "t5", "t6", "--take", "r/f/x"];
    tells(2, &several).has("give one TABLE");
    tells(2, &lost.args(&["--take", "r/f/x", "--leave-out", "r/f/x"])).has("both name r/f/x");
    let t6 = ["table", "filelist", "--root", root, "t6"];
    tells(3, &t6).has("has no file-based store file tracker");
}
