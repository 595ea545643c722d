//! The committed help texts of all verbs, in `data/help`.
//!
//! `UPDATE_HELP=1 cargo test -p hfile-cli --test cli help` updates the files.

use std::fs;

use crate::command_line::{data, stdout};

/// Returns the names of the verbs that a help text lists, under whichever headings.
fn subcommands(help: &str) -> Vec<&str> {
    let usage = help.split("\nUsage:").nth(1).unwrap_or_default();
    let lists = usage.split("\nOptions:\n").next().unwrap_or_default();
    // Arguments begin with `<` or `[`; a description may continue on further lines, with a larger indent.
    let names = lists.lines().filter_map(|line| line.strip_prefix("  "));
    let names = names.filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()));
    names.filter_map(|line| line.split(' ').next()).collect()
}

/// Returns all verbs, groups of verbs included, each as its words.
fn verbs() -> Vec<Vec<String>> {
    let mut open = vec![Vec::<String>::new()];
    let mut verbs = Vec::new();
    while let Some(verb) = open.pop() {
        for name in subcommands(&help(&verb, "--help")) {
            open.push(verb.iter().cloned().chain([name.to_owned()]).collect());
        }
        verbs.push(verb);
    }
    verbs
}

fn help(verb: &[String], option: &str) -> String {
    let args: Vec<&str> = verb.iter().map(String::as_str).chain([option]).collect();
    stdout(&args)
}

#[test]
fn help_equals_the_committed_text() {
    let directory = data().join("../help");
    let verbs = verbs();
    for verb in &verbs {
        let help = help(verb, "--help");
        let name = if verb.is_empty() { "hfile".to_owned() } else { verb.join("-") };
        let file = directory.join(format!("{name}.txt"));
        if std::env::var_os("UPDATE_HELP").is_some() {
            fs::create_dir_all(&directory).expect("ours");
            fs::write(&file, &help).expect("ours");
        }
        let committed = fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(help, committed, "{name}: UPDATE_HELP=1 writes {}", file.display());
    }
    let files = fs::read_dir(&directory).expect("the directory is committed").count();
    assert_eq!(
        files,
        verbs.len(),
        "{} has a file of a verb that does not exist",
        directory.display()
    );
}

/// Verbs without `--json`, and why.
const WITHOUT_JSON: [(&str, &str); 2] = [
    ("completions", "prints a script for a shell"),
    ("man", "writes man pages, and prints nothing on stdout"),
];

#[test]
fn every_verb_prints_json() {
    for verb in verbs() {
        let help = help(&verb, "--help");
        let name = verb.join(" ");
        let is_group = !subcommands(&help).is_empty();
        let is_exempt = WITHOUT_JSON.iter().any(|(exempt, _)| *exempt == name);
        let has_json = help.contains("\n      --json");
        if !is_group {
            assert_ne!(has_json, is_exempt, "hfile {name}: add --json, or a reason to the list");
        }
    }
}

/// Verbs whose examples are in the help of their group.
const WITHOUT_EXAMPLES: [&str; 3] =
    ["filter foreign ask", "filter foreign info", "filter foreign make"];

#[test]
fn the_help_of_every_verb_ends_in_examples() {
    for verb in verbs() {
        let help = help(&verb, "--help");
        let examples = help.split_once("Examples:\n").map_or("", |(_, examples)| examples);
        let name = verb.join(" ");
        let is_exempt = WITHOUT_EXAMPLES.contains(&&*name);
        assert_ne!(examples.contains(&format!("hfile {name}")), is_exempt, "{name}: {examples}");
    }
    assert!(help(&[], "--help").contains("Exit status: 0 success"));
}

/// The short help shows only common options, on about one screen.
#[test]
fn the_short_help_fits_a_screen() {
    for verb in verbs() {
        let lines = help(&verb, "-h").lines().count();
        assert!(lines <= 60, "hfile {} -h: {lines} lines", verb.join(" "));
    }
}
