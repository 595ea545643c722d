//! Runs the commands of a page in a directory of its own.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::compare::{difference, shortened};
use crate::console::{Example, examples};
use crate::page::{Block, Page, Part};
use crate::samples::write_samples;
use crate::shape::{self, Compared};
use crate::update::Update;

/// The working directory of the commands of a page, which run one after the other.
pub(crate) struct Scratch {
    directory: TempDir,
    temporary: TempDir,
}

impl Scratch {
    /// Makes a directory with the samples that a page names.
    pub(crate) fn new(page: &str) -> Self {
        let [directory, temporary] =
            [(); 2].map(|()| tempfile::tempdir().expect("a temporary directory"));
        write_samples(page, directory.path());
        Self { directory, temporary }
    }

    /// Runs a command in the shell; returns its exit status, and what it prints to stdout and stderr.
    pub(crate) fn run(&self, command: &str) -> (i32, String) {
        let file = self.temporary.path().join("output");
        let output = File::create(&file).expect("the disk has room");
        let errors = output.try_clone().expect("the same file");
        let mut shell = self.shell(command);
        let status = shell.stdout(output).stderr(errors).status().expect("bash runs");
        let output = fs::read(&file).expect("just written");
        (status.code().unwrap_or(-1), String::from_utf8_lossy(&output).into_owned())
    }

    fn shell(&self, command: &str) -> Command {
        let mut path = OsString::from(
            Path::new(env!("CARGO_BIN_EXE_hfile")).parent().expect("in a directory"),
        );
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        // A command that waits forever ends with status 124.
        let mut shell = Command::new("timeout");
        shell
            .args(["300", "bash", "-c", command])
            .current_dir(self.directory.path())
            .env("PATH", path)
            .env("TMPDIR", self.temporary.path())
            .env("LC_ALL", "C")
            .stdin(Stdio::null());
        shell
    }
}

/// Whether the block is one whose commands run.
pub(crate) fn runs(block: &Block) -> bool {
    block.language == "console" && block.attribute("needs-").is_none()
}

/// What the commands of a page did.
#[derive(Default)]
pub(crate) struct PageRun {
    /// How many commands ran.
    pub(crate) count: usize,
    /// What is not as the page says.
    pub(crate) wrong: Vec<String>,
    /// The outputs that differ.
    pub(crate) updates: Vec<Update>,
    /// The output of the last command, for the JSON block that may follow it.
    json: Option<String>,
}

/// Runs all commands of a page.
pub(crate) fn run_page(page: &Page) -> PageRun {
    let mut run = PageRun::default();
    if !page.blocks("console").any(runs) && page.blocks("json").next().is_none() {
        return run;
    }
    let scratch = Scratch::new(&page.text);
    for part in &page.parts {
        match part {
            Part::Hidden { line, command } => {
                let (status, output) = scratch.run(command);
                if status != 0 {
                    run.wrong.push(format!("{}:{line}: status {status}: {output}", page.name));
                }
            }
            Part::Block(block) if runs(block) => match examples(block) {
                Ok(examples) => {
                    for example in &examples {
                        run.check(page, &scratch, block, example);
                    }
                }
                Err(problem) => run.wrong.push(format!("{}: {problem}", page.name)),
            },
            Part::Block(block) if block.language == "json" && !block.has("input") => {
                let problem = match run.json.take() {
                    Some(output) => compare_json(&block.text(), &output, compared(block)),
                    None => Some("no command before the block prints JSON".to_owned()),
                };
                let place = format!("{}:{}", page.name, block.line);
                run.wrong.extend(problem.map(|problem| format!("{place}: {problem}")));
            }
            Part::Block(_) => {}
        }
    }
    run
}

impl PageRun {
    /// Runs a command, and notes what is not as the page says.
    fn check(&mut self, page: &Page, scratch: &Scratch, block: &Block, example: &Example) {
        let Example { line, command, .. } = example;
        let (status, output) = scratch.run(command);
        let has_json = command.contains("--json");
        let figures = block.has("figures");
        self.count += 1;
        let problem = if status != example.status {
            let stated = example.status;
            Some(format!("status {status}, not {stated}:\n{}", shortened(&output)))
        } else if example.output.is_empty() {
            None
        } else if example.output[0].starts_with('{') && has_json && !page.is_transcript() {
            compare_json(&example.output.join("\n"), &output, compared(block))
        } else {
            let problem = difference(&example.output, &output, figures);
            if problem.is_some() {
                let line = line + command.lines().count();
                self.updates.extend(Update::new(line, &example.output, &output, figures));
            }
            problem
        };
        let place = || format!("{}:{line}: {command}", page.name);
        self.wrong.extend(problem.map(|problem| format!("{}\n{problem}", place())));
        self.json = (example.output.is_empty() && prints_json(command)).then_some(output);
    }
}

/// Whether a command prints JSON, one object per line.
fn prints_json(command: &str) -> bool {
    let options = ["--json", "--format cells", "--format entries"];
    options.iter().any(|option| command.contains(option))
}

/// Returns what the objects of a block and of an output must have in common.
fn compared(block: &Block) -> Compared {
    if block.has("values") { Compared::Values } else { Compared::Fields }
}

/// Compares the objects of a page with the objects of an output, which can have other lines too.
fn compare_json(page: &str, output: &str, compared: Compared) -> Option<String> {
    let lines: Vec<&str> = output.lines().filter(|line| line.starts_with('{')).collect();
    let differences = shape::objects(page)
        .and_then(|page| Ok((page, shape::objects(&lines.join("\n"))?)))
        .map(|(page, real)| shape::compare(&page, &real, compared));
    match differences {
        Ok(differences) if differences.is_empty() => None,
        Ok(differences) => {
            Some(format!("{}\nthe output:\n{}", differences.join("\n"), shortened(output)))
        }
        Err(problem) => Some(problem),
    }
}
