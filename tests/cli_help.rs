//! The committed help texts of verbs that read and write files, in `data/help`.
//!
//! `UPDATE_HELP=1 cargo test -p hfile-cli --test cli_help` updates the files.

#[path = "support/command_line.rs"]
mod command_line;

use std::fs;

use command_line::{data, stdout};

#[test]
fn help_equals_the_committed_text() {
    let directory = data().join("../help");
    for verb in [
        "build",
        "cat",
        "find",
        "get",
        "info",
        "layout",
        "recompress",
        "salvage",
        "store put",
        "verify",
    ] {
        let args: Vec<&str> = verb.split(' ').chain(["--help"]).collect();
        let help = stdout(&args);
        let file = directory.join(format!("{}.txt", verb.replace(' ', "-")));
        if std::env::var_os("UPDATE_HELP").is_some() {
            fs::create_dir_all(&directory).expect("ours");
            fs::write(&file, &help).expect("ours");
        }
        let committed = fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(help, committed, "{verb}: UPDATE_HELP=1 writes {}", file.display());
    }
}
