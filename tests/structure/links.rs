//! The links of the pages: what they name exists, and every page of the book can be reached.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::workspace;

/// A link of a page.
#[derive(Debug, PartialEq)]
struct Link {
    line: usize,
    target: String,
}

/// A page without its code.
struct Prose(String);

impl Prose {
    /// Replaces code blocks, code in lines and comments by spaces, and keeps the lines.
    fn new(page: &str) -> Self {
        let mut prose = String::new();
        let mut is_code = false;
        for line in page.lines() {
            let is_fence = line.trim_start().starts_with("```");
            if !is_code && !is_fence {
                for (index, part) in line.split('`').enumerate() {
                    // Text in backquotes becomes a word, so that it stays part of a link's text.
                    prose.push_str(if index % 2 == 0 { part } else { "code" });
                }
            }
            is_code ^= is_fence;
            prose.push('\n');
        }
        Self(prose)
    }

    /// Returns the links to files and headings, not those to the web.
    fn links(&self) -> Vec<Link> {
        let mut links = Vec::new();
        for (at, _) in self.0.match_indices("](") {
            let target = self.0[at + 2..].split(')').next().unwrap_or_default();
            let line = self.0[..at].matches('\n').count() + 1;
            if !target.contains("://") && !target.starts_with("mailto:") {
                links.push(Link { line, target: target.to_owned() });
            }
        }
        links
    }
}

/// Returns the anchors of a page's headings, as mdBook and GitHub name them.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut is_code = false;
    for line in page.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let heading = line.trim_start_matches('#');
        if is_code || heading == line || !heading.starts_with(' ') {
            continue;
        }
        let kept = |c: char| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c.to_ascii_lowercase()),
            _ => None,
        };
        let anchor: String = heading.trim().chars().filter_map(kept).collect();
        let numbered = (1..).map(|number| format!("{anchor}-{number}"));
        let mut names = [anchor.clone()].into_iter().chain(numbered);
        anchors.extend(names.find(|name| !anchors.contains(name)));
    }
    anchors
}

/// The pages, by their path below the workspace.
pub(crate) type Pages = BTreeMap<PathBuf, String>;

pub(crate) fn pages(root: &Path) -> Pages {
    let mut paths: Vec<_> =
        ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "crates/python/README.md"]
            .map(PathBuf::from)
            .into();
    let mut folders = vec![PathBuf::from("docs/src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).expect("the folder exists") {
            let path = folder.join(entry.expect("the folder can be read").file_name());
            if root.join(&path).is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                paths.push(path);
            }
        }
    }
    let read = |path: PathBuf| {
        let text = fs::read_to_string(root.join(&path)).expect("the page can be read");
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

/// Resolves a path relative to a page.
fn resolve(page: &Path, target: &str) -> PathBuf {
    let mut resolved = page.parent().unwrap_or(Path::new("")).to_owned();
    for component in Path::new(target).components() {
        match component {
            Component::ParentDir => {
                resolved.pop();
            }
            other => resolved.push(other),
        }
    }
    resolved
}

/// Returns the links of the pages that lead nowhere.
fn broken_links(pages: &Pages, root: &Path) -> Vec<String> {
    let mut broken = Vec::new();
    for (page, text) in pages {
        for Link { line, target } in Prose::new(text).links() {
            let mut problem = |what: &str| {
                broken.push(format!("{}:{line}: {target}: {what}", page.display()));
            };
            let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let named = if path.is_empty() { page.clone() } else { resolve(page, path) };
            if !root.join(&named).exists() {
                problem("there is no such file");
                continue;
            }
            if page.starts_with("docs/src") && !named.starts_with("docs/src") {
                problem("the file is not in the book");
            }
            let is_known = |text: &String| anchors(text).contains(anchor);
            if !anchor.is_empty() && !pages.get(&named).is_some_and(is_known) {
                problem("there is no such heading");
            }
        }
    }
    broken
}

/// Returns the pages of the book that the summary lacks, lists twice, or that no other page links to.
fn unreachable_pages(pages: &Pages) -> Vec<String> {
    let summary = Path::new("docs/src/SUMMARY.md");
    let targets = |page: &Path, text: &str| -> Vec<PathBuf> {
        let links = Prose::new(text).links().into_iter();
        links
            .filter_map(|link| {
                let path = link.target.split('#').next().unwrap_or_default();
                (!path.is_empty()).then(|| resolve(page, path))
            })
            .collect()
    };
    let listed = targets(summary, pages.get(summary).map_or("", |text| text));
    let others = pages.iter().filter(|(page, _)| *page != summary);
    let linked: BTreeSet<(PathBuf, &PathBuf)> = others
        .flat_map(|(page, text)| targets(page, text).into_iter().map(move |target| (target, page)))
        .filter(|(target, page)| target != *page)
        .collect();
    let linked: BTreeSet<&PathBuf> = linked.iter().map(|(target, _)| target).collect();
    let mut problems = Vec::new();
    for page in pages.keys().filter(|page| page.starts_with("docs/src") && *page != summary) {
        let count = listed.iter().filter(|listed| *listed == page).count();
        if count != 1 {
            problems.push(format!("{} is in SUMMARY.md {count} times", page.display()));
        }
        if !linked.contains(page) {
            problems.push(format!("no page has a link to {}", page.display()));
        }
    }
    problems
}

/// Returns the lines that install `hfile` from the package index of Python. That package is somebody else's and has the
/// same module name; ours is `pyhfile`.
fn foreign_installs(pages: &Pages) -> Vec<String> {
    let installs_hfile = |line: &str| {
        let Some((_, packages)) = line.split_once("pip install") else { return false };
        let names = packages.split(|c: char| c.is_whitespace() || "\"'`;".contains(c));
        names
            .map(|name| name.split(['[', '=', '<', '>', '~']).next())
            .any(|name| name == Some("hfile"))
    };
    let lines = pages.iter().flat_map(|(path, text)| text.lines().map(move |line| (path, line)));
    lines
        .filter(|(_, line)| installs_hfile(line))
        .map(|(path, line)| format!("{}: {line}", path.display()))
        .collect()
}

#[test]
fn no_page_installs_the_python_package_of_somebody_else() {
    let found = foreign_installs(&pages(&workspace()));
    assert!(found.is_empty(), "\n{}", found.join("\n"));

    let page = "pip install hfile\n`pip install hfile[spark]`\npip install pyhfile wheels/pyhfile-0.1.whl\n";
    let pages = Pages::from([(PathBuf::from("a.md"), page.to_owned())]);
    assert_eq!(
        foreign_installs(&pages),
        ["a.md: pip install hfile", "a.md: `pip install hfile[spark]`"]
    );
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let pages = pages(&workspace());
    assert!(pages.len() > 40, "only {} pages were found", pages.len());
    let count: usize = pages.values().map(|text| Prose::new(text).links().len()).sum();
    assert!(count > 150, "only {count} links were found");
    let broken = broken_links(&pages, &workspace());
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn every_page_of_the_book_is_in_the_summary_and_linked() {
    let problems = unreachable_pages(&pages(&workspace()));
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn links_are_found_over_line_ends_and_not_in_code() {
    let page = "[a](b.md) `[c](d.md)` [`e`\nf](g.md#h)\n```text\n[i](j.md)\n```\n[k](https://l)\n";
    let links: Vec<_> =
        Prose::new(page).links().into_iter().map(|link| (link.line, link.target)).collect();
    assert_eq!(links, [(1, "b.md".to_owned()), (2, "g.md#h".to_owned())]);
}

#[test]
fn headings_have_anchors_as_mdbook_names_them() {
    let page =
        "# HBase's Bloom filter\n## `store verify`\n## A, b: c\n## A, b: c\n```text\n# no\n```\n";
    let expected = ["a-b-c", "a-b-c-1", "hbases-bloom-filter", "store-verify"];
    assert_eq!(anchors(page).into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn a_broken_link_and_an_unreachable_page_are_found() {
    let root = tempfile::tempdir().expect("a temporary directory");
    fs::create_dir_all(root.path().join("docs/src/sub")).expect("writable");
    let write = |name: &str, text: &str| {
        fs::write(root.path().join(name), text).expect("writable");
    };
    write("README.md", "[a](docs/src/a.md#a)");
    write("CONTRIBUTING.md", "");
    write("CHANGELOG.md", "");
    fs::create_dir_all(root.path().join("crates/python")).expect("writable");
    write("crates/python/README.md", "");
    write("docs/src/SUMMARY.md", "[a](a.md) [b](sub/b.md)");
    write("docs/src/a.md", "# A\n[b](sub/b.md#c) [none](c.md) [out](../../README.md)");
    write("docs/src/sub/b.md", "# B\n[a](../a.md) [self](#b)");
    write("docs/src/orphan.md", "# Orphan\n[self](orphan.md)");
    let pages = pages(root.path());
    assert_eq!(
        broken_links(&pages, root.path()),
        [
            "docs/src/a.md:2: sub/b.md#c: there is no such heading",
            "docs/src/a.md:2: c.md: there is no such file",
            "docs/src/a.md:2: ../../README.md: the file is not in the book",
        ]
    );
    assert_eq!(
        unreachable_pages(&pages),
        ["docs/src/orphan.md is in SUMMARY.md 0 times", "no page has a link to docs/src/orphan.md",]
    );
}
