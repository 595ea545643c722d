//! Checks the commands that the tests do not run: what they name exists.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The packages of the workspace, with their tests, benches and examples.
pub(crate) struct Names {
    root: PathBuf,
    packages: BTreeMap<String, Targets>,
}

/// The targets of a package, each with its kind.
type Targets = Vec<(&'static str, String)>;

const KINDS: [&str; 3] = ["test", "bench", "example"];

impl Names {
    pub(crate) fn read(root: &Path) -> Self {
        let mut folders = vec![root.join("tests"), root.join("benches")];
        let crates = fs::read_dir(root.join("crates")).expect("the folder exists");
        folders.extend(crates.map(|entry| entry.expect("readable").path()));
        let mut packages = BTreeMap::new();
        for folder in folders {
            let Ok(manifest) = fs::read_to_string(folder.join("Cargo.toml")) else { continue };
            let (name, mut targets) = targets(&manifest);
            for (kind, below) in KINDS.into_iter().zip(["tests", "benches", "examples"]) {
                for entry in fs::read_dir(folder.join(below)).into_iter().flatten() {
                    let path = entry.expect("readable").path();
                    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                    targets.push((kind, stem.into_owned()));
                }
            }
            packages.insert(name, targets);
        }
        Self { root: root.to_owned(), packages }
    }

    /// Returns what a command names that does not exist.
    pub(crate) fn problem(&self, command: &str) -> Option<String> {
        let command = command.split(" # ").next().unwrap_or_default().replace("\\\n", " ");
        command.split("&&").find_map(|part| {
            let words: Vec<&str> =
                part.split_whitespace().skip_while(|word| is_setting(word)).collect();
            match words.split_first()? {
                (&"cargo", rest) => self.cargo_problem(rest),
                (script, _) if script.contains('/') => {
                    let is_there = self.root.join(script).is_file();
                    (!is_there).then(|| format!("there is no {script}"))
                }
                _ => None,
            }
        })
    }

    fn cargo_problem(&self, words: &[&str]) -> Option<String> {
        let words: Vec<&str> = words.iter().copied().take_while(|word| *word != "--").collect();
        let values = |flag: &'static str| {
            let pairs = words.windows(2).filter(move |pair| pair[0] == flag);
            pairs.map(|pair| pair[1]).collect::<Vec<_>>()
        };
        let packages = values("-p");
        if let Some(unknown) = packages.iter().find(|name| !self.packages.contains_key(**name)) {
            return Some(format!("there is no package {unknown}"));
        }
        let searched: Vec<&Targets> = match packages[..] {
            [] => self.packages.values().collect(),
            _ => packages.iter().map(|name| &self.packages[*name]).collect(),
        };
        for kind in KINDS {
            for name in values(
                ["--test", "--bench", "--example"]
                    [KINDS.iter().position(|known| *known == kind)?],
            ) {
                let wanted = (kind, name.to_owned());
                if !searched.iter().any(|targets| targets.contains(&wanted)) {
                    return Some(format!("there is no {kind} {name}"));
                }
            }
        }
        None
    }

    /// Returns what is wrong with the lines of a manifest that depends on the packages.
    pub(crate) fn manifest_problems(&self, lines: &[String]) -> Vec<String> {
        let problem = |line: &String| {
            let line = line.trim();
            let is_table = line.starts_with('[') && line.ends_with(']');
            if line.is_empty() || line.starts_with('#') || is_table {
                return None;
            }
            let Some((_, value)) = line.split_once(" = ") else {
                return Some(format!("neither a table nor a key: {line}"));
            };
            let text = |key: &str| {
                let (_, after) = value.split_once(&format!("{key} = \""))?;
                after.split_once('"').map(|(text, _)| text)
            };
            let unknown = text("package").filter(|name| !self.packages.contains_key(*name));
            if let Some(name) = unknown {
                return Some(format!("there is no package {name}"));
            }
            // The first part of the path is the user's clone.
            let folder = text("path").and_then(|path| path.split_once('/'));
            let (_, folder) = folder.filter(|(_, folder)| !self.root.join(folder).is_dir())?;
            Some(format!("there is no folder {folder}"))
        };
        lines.iter().filter_map(problem).collect()
    }
}

/// Whether the word sets a variable of the environment, as in `EVERY_BIT=1`.
fn is_setting(word: &str) -> bool {
    word.split_once('=')
        .is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
}

/// Returns the name of a package and the targets that its manifest lists.
fn targets(manifest: &str) -> (String, Targets) {
    let mut table = "";
    let (mut package, mut targets) = (String::new(), Vec::new());
    for line in manifest.lines() {
        if line.starts_with('[') {
            table = line.trim_matches(['[', ']']);
        } else if let Some(name) = line.strip_prefix("name = ") {
            let name = name.trim_matches('"').to_owned();
            match KINDS.into_iter().find(|kind| *kind == table) {
                Some(kind) => targets.push((kind, name)),
                None if table == "package" => package = name,
                None => {}
            }
        }
    }
    (package, targets)
}

#[test]
fn an_unknown_package_test_script_or_folder_is_found() {
    let names = Names::read(&crate::page::workspace());
    let problem = |command| names.problem(command);
    assert_eq!(
        problem("EVERY_BIT=1 cargo test --release -p tests --test damage hfiles::a_flipped"),
        None
    );
    assert_eq!(problem("cd fuzz && cargo +nightly fuzz run diff"), None);
    assert_eq!(problem("cargo run -p hfile-store --example guard"), None);
    assert_eq!(problem("cargo test -p test"), Some("there is no package test".into()));
    assert_eq!(problem("cargo test -p tests --test damag"), Some("there is no test damag".into()));
    assert_eq!(problem("benches/remak gets"), Some("there is no benches/remak".into()));
    let problems = |line: &str| names.manifest_problems(&[line.to_owned()]).len();
    assert_eq!(problems("store = { path = \"hfile/crates/store\", package = \"hfile-store\" }"), 0);
    assert_eq!(problems("store = { path = \"hfile/crates/store\", package = \"hfile\" }"), 1);
    assert_eq!(problems("store = { path = \"hfile/crate/store\" }"), 1);
    assert_eq!(problems("store"), 1);
}
