//! `hfile verify`: every check of a file that there is.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use serde::Serialize;
use sstable::{BlockType, Damage, FileName, FileSource};

use crate::failure::{Answer, whole};
use crate::output::{Audience, Report};
use crate::progress::Progress;
use crate::reading_options::limits;
use crate::size_text::show_number;
use crate::stderr::say;

/// Check HFiles wholly: checksums, block chains, order, index, totals, and that filters pass each key.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile verify 4f1c.hfile
  hfile verify --json backup/*/cf/* | jq -r 'select(.ok | not) | .file'

A file that cannot be read does not keep the others from being checked.
Exit status: 0 all sound, 1 some damaged, 2 wrong usage, 3 could not read.")]
pub(crate) struct Verify {
    /// The files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    audience: Audience,
}

impl Verify {
    /// Checks and reports file by file.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        check_all(&self.files, self.audience)
    }
}

/// Checks files one after the other, and reports each when it is done. Those that could not be read
/// are said on stderr.
fn check_all(files: &[PathBuf], audience: Audience) -> anyhow::Result<Answer> {
    let mut sound = true;
    let mut unread = 0;
    for file in files {
        match check(file) {
            Ok(report) => {
                sound &= report.ok;
                audience.print(&report)?;
            }
            Err(error) => {
                say(format_args!("hfile: {}", whole(&error)));
                unread += 1;
            }
        }
    }
    if unread > 0 {
        bail!("{unread} of {} could not be read", show_number(files.len() as u64, "file"));
    }
    Ok(Answer::from_bool(sound))
}

fn check(path: &Path) -> anyhow::Result<FileReport> {
    let name = path.display().to_string();
    let open = || File::open(path).and_then(FileSource::new);
    let source = Arc::new(open().with_context(|| format!("{name}: cannot open"))?);
    let progress = Progress::new(name.clone(), sstable::ReadAt::len(&*source));
    let limits = limits();
    let found =
        sstable::verify(source, FileName::new(name.as_str()), limits, |done| progress.set(done))?;
    Ok(FileReport {
        schema: 1,
        file: name,
        ok: found.is_sound(),
        blocks: found.blocks,
        cells: found.cells,
        totals_checked: found.totals_checked,
        errors: found.problems.into_iter().map(Finding::from).collect(),
    })
}

#[derive(Serialize)]
struct FileReport {
    schema: u32,
    file: String,
    ok: bool,
    blocks: u64,
    cells: u64,
    totals_checked: bool,
    errors: Vec<Finding>,
}

/// One thing that is wrong.
#[derive(Serialize)]
struct Finding {
    offset: u64,
    block: Option<&'static str>,
    what: String,
}

impl From<Damage> for Finding {
    fn from(damage: Damage) -> Self {
        Self {
            offset: damage.at.get(),
            block: damage.block.map(BlockType::name),
            what: damage.what.into_owned(),
        }
    }
}

impl Report for FileReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let verdict = if self.ok { "sound" } else { "DAMAGED" };
        let (blocks, cells) = (show_number(self.blocks, "block"), show_number(self.cells, "cell"));
        writeln!(out, "{}: {verdict}, {blocks}, {cells}", self.file)?;
        for Finding { offset, block, what } in &self.errors {
            let block = block.map(|name| format!("{name} block ")).unwrap_or_default();
            writeln!(out, "  {block}at {offset:#x}: {what}")?;
        }
        if !self.totals_checked {
            let why = "where a part cannot be read nobody knows what they should be";
            writeln!(out, "  totals not checked: {why}")?;
        }
        Ok(())
    }
}
