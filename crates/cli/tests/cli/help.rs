//! The help texts of all verbs. The pages of the reference show them, and the test `docs` compares them.

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
fn every_verb_has_a_page_that_begins_with_its_help() {
    let reference = data().join("../../../docs/src/reference");
    let verbs = verbs();
    for verb in verbs.iter().filter(|verb| !verb.is_empty()) {
        let (name, words) = (verb.join("-"), verb.join(" "));
        let page = reference.join("command-line").join(format!("{name}.md"));
        let text = fs::read_to_string(&page).unwrap_or_default();
        let start = format!("# hfile {words}\n\n```console\n$ hfile {words} --help\n");
        assert!(text.starts_with(&start), "{} must begin with\n{start}", page.display());
    }
    let pages = fs::read_dir(reference.join("command-line")).expect("the directory is committed");
    assert_eq!(pages.count() + 1, verbs.len(), "a page is of a verb that does not exist");
    let overview = fs::read_to_string(reference.join("command-line.md")).expect("committed");
    assert!(overview.contains("\n$ hfile --help\n"), "the overview has the help of all verbs");
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
