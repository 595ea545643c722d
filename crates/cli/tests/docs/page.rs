//! The code blocks of a page, and the hidden commands between them.
//!
//! A block opens with three backquotes and an info string: a language, then attributes, separated by
//! commas. A hidden command is a comment of one line, which readers of the page do not see:
//!
//! ```text
//! <!-- run: rm part-0.hfile -->
//! ```

use std::fs;
use std::path::{Path, PathBuf};

/// A page with its parts, in order.
pub(crate) struct Page {
    /// The path below the workspace, as in `docs/src/start.md`.
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) parts: Vec<Part>,
}

/// A part of a page that the tests use.
pub(crate) enum Part {
    /// A command that prepares the next examples, and the line on which it is.
    Hidden { line: usize, command: String },
    /// A code block.
    Block(Block),
}

/// A code block.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// The line of the info string.
    pub(crate) line: usize,
    pub(crate) language: String,
    pub(crate) attributes: Vec<String>,
    pub(crate) lines: Vec<String>,
}

impl Block {
    pub(crate) fn has(&self, attribute: &str) -> bool {
        self.attributes.iter().any(|known| known == attribute)
    }

    /// Returns the rest of the attribute with this prefix.
    pub(crate) fn attribute(&self, prefix: &str) -> Option<&str> {
        self.attributes.iter().find_map(|attribute| attribute.strip_prefix(prefix))
    }

    pub(crate) fn text(&self) -> String {
        self.lines.join("\n")
    }
}

/// The folder of the pages that have no readers: what each verb prints, word for word.
const TRANSCRIPTS: &str = "crates/cli/tests/transcripts";

impl Page {
    /// Whether the page is a transcript, whose JSON is compared as text and not by its fields.
    pub(crate) fn is_transcript(&self) -> bool {
        self.name.starts_with(TRANSCRIPTS)
    }

    pub(crate) fn blocks<'p>(&'p self, language: &'p str) -> impl Iterator<Item = &'p Block> {
        self.parts.iter().filter_map(move |part| match part {
            Part::Block(block) if block.language == language => Some(block),
            _ => None,
        })
    }

    /// Parses the text of a page.
    ///
    /// # Errors
    ///
    /// Names the line of a block that has no language or no end.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut open: Option<(usize, Block)> = None;
        for (line, text) in (1..).zip(text.lines()) {
            let trimmed = text.trim_start();
            let indent = text.len() - trimmed.len();
            match (&mut open, trimmed.strip_prefix("```")) {
                (Some(_), Some("")) => {
                    parts.extend(open.take().map(|(_, block)| Part::Block(block)));
                }
                (Some((indent, block)), _) => {
                    block.lines.push(text.get(*indent..).unwrap_or_default().to_owned());
                }
                (None, Some("")) => {
                    return Err(format!("{name}:{line}: a block without a language"));
                }
                (None, Some(info)) => {
                    let mut words = info.split(',').map(|word| word.trim().to_owned());
                    let language = words.next().unwrap_or_default();
                    let attributes = words.collect();
                    open = Some((indent, Block { line, language, attributes, lines: vec![] }));
                }
                (None, None) => {
                    let command = trimmed.strip_prefix("<!-- run: ");
                    if let Some(command) = command.and_then(|rest| rest.strip_suffix(" -->")) {
                        parts.push(Part::Hidden { line, command: command.to_owned() });
                    }
                }
            }
        }
        match open {
            Some((_, block)) => Err(format!("{name}:{}: the block has no end", block.line)),
            None => Ok(Self { name: name.to_owned(), text: text.to_owned(), parts }),
        }
    }
}

/// Returns the directory of the workspace.
pub(crate) fn workspace() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().and_then(Path::parent).expect("the package is in the workspace").to_owned()
}

/// Returns the pages whose examples are tested: the book, `README.md`, `CONTRIBUTING.md` and the transcripts.
pub(crate) fn pages() -> Vec<Page> {
    let root = workspace();
    let mut paths = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    let mut folders = vec![root.join("docs/src"), root.join(TRANSCRIPTS)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder exists") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    let page = |path: PathBuf| {
        let name = path.strip_prefix(&root).expect("below the root").display().to_string();
        let text = fs::read_to_string(&path).expect("the page can be read");
        Page::parse(&name, &text).unwrap_or_else(|problem| panic!("{problem}"))
    };
    paths.into_iter().map(page).collect()
}
