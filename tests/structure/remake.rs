//! `docs/src/benchmarks.md` and `benches/remake` have the same steps with the same commands.

use std::collections::BTreeMap;
use std::fs;

use crate::workspace;

const PAGE: &str = "docs/src/benchmarks.md";
const SCRIPT: &str = "benches/remake";

/// A line of the script's table: `name | heading | command | quick form`.
struct Step {
    name: String,
    heading: String,
    command: String,
}

fn table_of_script(script: &str) -> Vec<Step> {
    let (_, after) = script.split_once("\nsteps='\n").expect("the table begins");
    let (table, _) = after.split_once("\n'\n").expect("the table ends");
    let step = |line: &str| {
        // As bash reads it: the table is one text in single quotes.
        let line = line.replace("'\"'\"'", "'");
        let cells: Vec<&str> = line.split(" | ").collect();
        let [name, heading, command, _] = cells[..] else { panic!("not four cells: {line}") };
        Step { name: name.into(), heading: heading.into(), command: command.into() }
    };
    table.lines().map(step).collect()
}

/// Returns the command of each step of the script.
fn steps_of_script(script: &str) -> BTreeMap<String, String> {
    let mut steps = BTreeMap::new();
    for Step { name, command, .. } in table_of_script(script) {
        assert!(steps.insert(name.clone(), command).is_none(), "{name} is there once");
    }
    steps
}

/// Reads the steps of the page: a line `$ benches/remake NAME` in a console block, and the command on
/// the next line.
fn steps_of_page(page: &str) -> BTreeMap<String, String> {
    let mut lines = page.lines();
    let mut steps = BTreeMap::new();
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix("$ benches/remake ") else { continue };
        let command = lines.next().and_then(|line| line.strip_prefix("$ "));
        let command = command.unwrap_or_else(|| panic!("no command after {line}"));
        let before = steps.insert(name.to_owned(), command.to_owned());
        assert_eq!(before, None, "{name} is there once");
    }
    steps
}

fn read(name: &str) -> String {
    fs::read_to_string(workspace().join(name)).expect("the file is there")
}

#[test]
fn the_benchmarks_page_and_the_script_have_the_same_steps() {
    let (page, script) = (steps_of_page(&read(PAGE)), steps_of_script(&read(SCRIPT)));
    assert!(!page.is_empty(), "{PAGE} names no step");
    assert_eq!(page, script, "{PAGE} and {SCRIPT}");
}

#[test]
fn the_script_has_the_headings_of_the_benchmarks_page() {
    let (page, script) = (read(PAGE), read(SCRIPT));
    let headings: Vec<&str> =
        page.lines().filter_map(|line| line.trim_start_matches('#').strip_prefix(' ')).collect();
    for Step { name, heading, .. } in table_of_script(&script) {
        assert!(headings.contains(&&heading[..]), "{PAGE} has no heading {heading} for {name}");
    }
}

#[test]
fn a_step_without_its_command_is_a_different_step() {
    let script =
        "x\nsteps='\na | A | run a | 1\nb | B | run b --c | = run d\n'\nrest | of | the | script\n";
    let page = |second: &str| format!("```console\n$ benches/remake a\n$ run a\n```\n\n{second}");
    let right = page("$ benches/remake b\n$ run b --c\n");
    assert_eq!(steps_of_page(&right), steps_of_script(script));
    assert_ne!(steps_of_page(&page("")), steps_of_script(script));
    assert_ne!(steps_of_page(&page("$ benches/remake b\n$ run b\n")), steps_of_script(script));
}
