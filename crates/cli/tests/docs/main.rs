//! The examples of `README.md`, `CONTRIBUTING.md` and the book run, and print what the pages say; so do the transcripts.
//!
//! | block | what is tested |
//! |---|---|
//! | `console` | each command runs in bash, in a directory with sample files; exit status and output |
//! | `console,needs-…` | not run; its cargo commands name existing packages, tests and scripts |
//! | `json` | its objects have the fields of the objects that the command before the block prints |
//! | `json,values` | the same, and the values, except for numbers of seconds |
//! | `json,input` | it parses |
//! | `rust` | a doctest of the package `tests` (`tests/support/pages.rs`) |
//! | `toml` | its paths and packages exist |
//! | `python` | `crates/python/tests` runs it, on `PYTHON_PAGES` only |
//! | `text,message` | each line is in the source |
//! | `text` | nothing |
//!
//! `CONTRIBUTING.md` describes the attributes of the blocks.

mod compare;
mod console;
mod fields;
mod messages;
mod page;
mod runner;
mod samples;
mod shape;
mod update;
mod workspace_commands;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::{fs, thread};

use support::say;

use console::examples;
use page::{Block, Page, pages, workspace};
use runner::{run_page, runs};
use update::updated;

/// Why a block is not run, and how many blocks of the pages may state it.
const NEEDS: [(&str, usize, &str); 4] = [
    ("cargo", 33, "compiles the workspace"),
    ("hbase", 2, "asks a cluster"),
    (
        "parquet",
        5,
        "needs a build with --features parquet, and Python; crates/cli/tests/export_parquet/main.rs has it",
    ),
    ("minutes", 3, "takes minutes in a debug build"),
];

/// The pages whose Python blocks are run, with the package: by `crates/python/check`, and the blocks of Spark's
/// guide by `.ci/nightly`.
const PYTHON_PAGES: [&str; 3] =
    ["README.md", "docs/src/guides/python.md", "docs/src/guides/spark.md"];

fn assert_right(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}\n\n{} problems", wrong.join("\n\n"), wrong.len());
}

/// `PAGE=start` runs the pages with that text in their names; `UPDATE_PAGES=1` writes the outputs that
/// differ into the pages.
#[test]
fn every_command_runs_and_prints_what_the_page_says() {
    let only = std::env::var("PAGE").unwrap_or_default();
    let updates = std::env::var_os("UPDATE_PAGES").is_some();
    let pages: Vec<Page> = pages().into_iter().filter(|page| page.name.contains(&only)).collect();
    let left = Mutex::new(pages.iter().collect::<Vec<_>>());
    let results = Mutex::new((0, Vec::new()));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let Some(page) = left.lock().expect("no panic").pop() else { return };
                    let mut run = run_page(page);
                    if updates && !run.updates.is_empty() {
                        let text = updated(&page.text, &mut run.updates);
                        fs::write(workspace().join(&page.name), text).expect("ours");
                    }
                    let mut results = results.lock().expect("no panic");
                    results.0 += run.count;
                    results.1.extend(run.wrong);
                }
            });
        }
    });
    let (count, mut wrong) = results.into_inner().expect("no panic");
    wrong.sort();
    say(&format!("docs: {count} commands of {} pages ran", pages.len()));
    assert_right(&wrong);
    assert!(count > 80 || !only.is_empty(), "only {count} commands were found");
}

#[test]
fn every_block_has_a_known_language_and_known_attributes() {
    let mut wrong = Vec::new();
    for page in pages() {
        for part in &page.parts {
            let page::Part::Block(block) = part else { continue };
            let is_known = |attribute: &String| match &block.language[..] {
                "console" => {
                    attribute == "figures"
                        || attribute.starts_with("status-")
                        || attribute.starts_with("needs-")
                }
                "text" => attribute == "message",
                "json" => attribute == "input" || attribute == "values",
                "rust" => attribute == "no_run" || attribute == "should_panic",
                _ => false,
            };
            let languages = ["console", "json", "rust", "toml", "text"];
            let is_language = languages.contains(&&block.language[..])
                || (block.language == "python" && PYTHON_PAGES.contains(&&page.name[..]));
            if !is_language || !block.attributes.iter().all(is_known) {
                let attributes = block.attributes.join(",");
                wrong
                    .push(format!("{}:{}: {} {attributes}", page.name, block.line, block.language));
            }
            if block.language == "json" {
                let problem = shape::objects(&block.text()).err();
                let place = format!("{}:{}", page.name, block.line);
                wrong.extend(problem.map(|problem| format!("{place}: {problem}")));
            }
        }
    }
    assert_right(&wrong);
}

/// Prints the blocks that are not run; a page must not call a block unrunnable for comfort.
#[test]
fn blocks_that_are_not_run_say_why_and_are_few() {
    let mut blocks: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for page in pages() {
        for block in page.blocks("console") {
            if let Some(need) = block.attribute("needs-") {
                let place = format!("{}:{}", page.name, block.line);
                blocks.entry(need.to_owned()).or_default().push(place);
            }
        }
    }
    let mut wrong = Vec::new();
    for (need, places) in &blocks {
        say(&format!("docs: not run, needs {need}: {}", places.join(" ")));
        match NEEDS.iter().find(|(known, ..)| known == need) {
            Some((_, max, _)) if places.len() <= *max => {}
            Some((_, max, why)) => wrong.push(format!("{} {why}; at most {max}", places.len())),
            None => wrong.push(format!("needs-{need} is not in NEEDS: {}", places.join(" "))),
        }
    }
    assert_right(&wrong);
}

#[test]
fn the_commands_of_the_workspace_name_what_exists() {
    let sources = workspace_commands::Names::read(&workspace());
    let mut wrong = Vec::new();
    let mut count = 0;
    for page in pages() {
        for block in page.blocks("console").filter(|block| !runs(block)) {
            for example in examples(block).unwrap_or_default() {
                count += 1;
                let problem = sources.problem(&example.command);
                let place = || format!("{}:{}: {}", page.name, example.line, example.command);
                wrong.extend(problem.map(|problem| format!("{}\n{problem}", place())));
            }
        }
        for block in page.blocks("toml") {
            let problems = sources.manifest_problems(&block.lines);
            wrong.extend(
                problems.iter().map(|problem| format!("{}:{}: {problem}", page.name, block.line)),
            );
        }
    }
    assert_right(&wrong);
    assert!(count > 20, "only {count} commands were found");
}

#[test]
fn every_quoted_message_is_in_the_source() {
    let messages = messages::Source::read(&workspace());
    let mut wrong = Vec::new();
    for page in pages() {
        for block in page.blocks("text").filter(|block| block.has("message")) {
            let missing = block.lines.iter().filter(|line| !messages.has(line));
            wrong.extend(missing.map(|line| format!("{}:{}: {line}", page.name, block.line)));
        }
    }
    assert_right(&wrong);
}

#[test]
fn every_field_that_a_page_explains_exists() {
    let sources = messages::Source::read(&workspace());
    let mut count = 0;
    let mut wrong = Vec::new();
    for page in pages() {
        for field in fields::explained(&page.text) {
            count += 1;
            if !fields::is_shown(&page, &field.name) && !sources.has_field(&field.name) {
                wrong.push(format!(
                    "{}:{}: there is no field {}",
                    page.name, field.line, field.name
                ));
            }
        }
    }
    assert_right(&wrong);
    assert!(count > 60, "only {count} fields were found");
}

#[test]
fn every_page_with_rust_is_a_doctest() {
    let list = fs::read_to_string(workspace().join("tests/support/pages.rs")).expect("committed");
    let has_rust = |page: &&Page| page.blocks("rust").next().is_some();
    let is_missing =
        |page: &Page| !list.contains(&format!("include_str!(\"../../{}\")", page.name));
    let pages: Vec<Page> = pages();
    let missing = pages.iter().filter(has_rust).filter(|page| is_missing(page));
    assert_right(&missing.map(|page| format!("{} is not included", page.name)).collect::<Vec<_>>());
}

fn block(page: &str) -> Block {
    let page = Page::parse("x.md", page).expect("a page");
    page.blocks("console").next().expect("a block").clone()
}

#[test]
fn commands_have_lines_a_status_and_output() {
    let text = "# X\n\n```console,status-1\n$ hfile a \\\n      --b\nout\n\nmore\n\n$ hfile c # x; status 2\n```\n";
    let examples = examples(&block(text)).expect("examples");
    let found: Vec<_> = examples
        .iter()
        .map(|step| (step.line, &step.command[..], step.status, step.output.join("|")))
        .collect();
    let first = (4, "hfile a \\\n      --b", 1, "out||more".to_owned());
    assert_eq!(found, [first, (10, "hfile c # x; status 2", 2, String::new())]);
}

#[test]
fn a_page_that_is_wrong_is_reported() {
    let problems = |text: &str| {
        let page = format!("```console\n{text}\n```\n");
        run_page(&Page::parse("x.md", &page).expect("a page")).wrong.len()
    };
    assert_eq!(problems("$ hfile info small.hfile"), 0);
    assert_eq!(problems("$ hfile info none.hfile"), 1, "the status");
    assert_eq!(problems("$ hfile cat --limit 1 small.hfile\nK: row1"), 1, "the output");
    assert_eq!(problems("$ hfile info --json small.hfile\n{\"file\":\"a\"}"), 1, "the fields");
    let json = |info: &str| format!("```\n```{info}\n{{\"file\":\"a\"}}");
    assert_eq!(problems(&format!("$ hfile info small.hfile\n{}", json("json"))), 1, "no command");
    assert_eq!(problems(&format!("$ hfile info small.hfile\n{}", json("json,input"))), 0);
    let found = format!("$ hfile info --json small.hfile\n{}", json("json"));
    assert_eq!(problems(&found), 1, "the fields of the block");
    assert_eq!(problems("output without a command"), 1);
    assert!(Page::parse("x.md", "```\nno language\n```\n").is_err());
    assert!(Page::parse("x.md", "```text\nno end\n").is_err());
}
