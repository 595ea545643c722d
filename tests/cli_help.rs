//! The committed help texts of all verbs, in `data/help`.
//!
//! `UPDATE_HELP=1 cargo test -p hfile-cli --test cli_help` updates the files.

#[path = "support/command_line.rs"]
mod command_line;

use std::fs;

use command_line::{data, stdout};

/// Returns the names under `Commands:` in a help text.
fn subcommands(help: &str) -> Vec<&str> {
    let commands = help.split("\nCommands:\n").nth(1).unwrap_or_default();
    let lines = commands.lines().take_while(|line| !line.is_empty());
    // The description of a command may continue on further lines, with a larger indent.
    let names = lines.filter_map(|line| line.strip_prefix("  ").filter(|it| !it.starts_with(' ')));
    names.filter_map(|line| line.split(' ').next()).collect()
}

#[test]
fn help_equals_the_committed_text() {
    let directory = data().join("../help");
    let mut verbs = vec![Vec::<String>::new()];
    let mut compared = 0;
    while let Some(verb) = verbs.pop() {
        let args: Vec<&str> = verb.iter().map(String::as_str).chain(["--help"]).collect();
        let help = stdout(&args);
        for name in subcommands(&help) {
            verbs.push(verb.iter().cloned().chain([name.to_owned()]).collect());
        }
        let name = if verb.is_empty() { "hfile".to_owned() } else { verb.join("-") };
        let file = directory.join(format!("{name}.txt"));
        if std::env::var_os("UPDATE_HELP").is_some() {
            fs::create_dir_all(&directory).expect("ours");
            fs::write(&file, &help).expect("ours");
        }
        let committed = fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(help, committed, "{name}: UPDATE_HELP=1 writes {}", file.display());
        compared += 1;
    }
    let files = fs::read_dir(&directory).expect("the directory is committed").count();
    assert_eq!(files, compared, "{} has a file of a verb that does not exist", directory.display());
}
