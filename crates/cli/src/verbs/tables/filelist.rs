//! `hfile table filelist`: makes new lists for store file trackers from the files that are there.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hbase_files::tracker_lists::{
    DecidedFile, FileDecision, FileKind, ListRebuild, RebuiltList, RebuiltLists,
};
use hbase_files::{TableName, Warning};
use serde::Serialize;
use store::Clock;
use transfer::OutputDirectory;

use super::export::directory_name;
use super::place::Root;
use crate::failure::{Answer, refuse};
use crate::text::output::{Report, ReportFormat};
use crate::text::printable::as_line;
use crate::text::size_text::{show_count, show_number};
use crate::text::stderr::print_message_lines;
use crate::text::warnings::print_warnings;

// The doc comment and the examples stand with the noun, in `table.rs`.
#[derive(clap::Args)]
pub(crate) struct FileList {
    #[command(flatten)]
    root: Root,
    /// Names of the tables, with their namespaces unless that is default: NAMESPACE:TABLE
    #[arg(value_name = "TABLE", required = true)]
    names: Vec<String>,
    /// Write the lists to --output
    #[arg(long, requires = "output")]
    rebuild: bool,
    /// New or empty directory for the lists, outside of the root directory
    #[arg(long, value_name = "DIR", requires = "rebuild", value_hint = clap::ValueHint::DirPath)]
    output: Option<PathBuf>,
    /// Leave out a file, such as a damaged one: its cells are lost; repeatable
    #[arg(long, value_name = "REGION/FAMILY/FILE")]
    leave_out: Vec<PathBuf>,
    /// List a file that would be left out or is undecided; it must be readable; repeatable
    #[arg(long, value_name = "REGION/FAMILY/FILE")]
    take: Vec<PathBuf>,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl FileList {
    /// Prints what was decided, and writes the lists if all is. The answer is negative if a file is undecided.
    pub(super) fn run(self) -> anyhow::Result<Answer> {
        if self.names.len() > 1 && !(self.leave_out.is_empty() && self.take.is_empty()) {
            refuse!("--leave-out and --take name files of one table: give one TABLE");
        }
        if let Some(file) = self.take.iter().find(|file| self.leave_out.contains(file)) {
            refuse!("--leave-out and --take both name {}", file.display());
        }
        let root = self.root.open()?;
        if let Some(output) = &self.output {
            check_is_outside(output, root.path())?;
        }
        let mut tables = Vec::new();
        for name in &self.names {
            let Ok(table) = name.parse::<TableName>() else {
                refuse!("{name} is not the name of a table; write NAMESPACE:TABLE");
            };
            if tables.iter().any(|(other, _)| *other == table) {
                refuse!("{name} is given twice");
            }
            let lists = self.options().lists(&root, &table)?;
            print_warnings(&lists.warnings);
            tables.push((table, lists));
        }
        let is_decided =
            tables.iter().flat_map(|(_, lists)| &lists.lists).all(RebuiltList::is_decided);
        let output = if is_decided { self.output.as_deref() } else { None };
        if let Some(output) = output {
            self.write(&tables, output)?;
        }
        let mut answer = Answer::Positive;
        for (table, lists) in &tables {
            let written = output.map(|output| self.directory(table, output));
            let report = ListsReport::new(table, lists, written.as_deref());
            answer = answer.and(self.report_format.print(&report)?);
        }
        if self.rebuild && !is_decided {
            print_message_lines(
                "hfile: no list was written, because files are undecided\n\
                 next: restore them, or give each as --leave-out REGION/FAMILY/FILE, which loses its cells; --take \
                 REGION/FAMILY/FILE lists one that can be read",
            );
        }
        Ok(answer)
    }

    fn options(&self) -> ListRebuild {
        let now = u64::try_from(Clock::system().now().get()).unwrap_or_default();
        let options = self.leave_out.iter().fold(ListRebuild::new(now), ListRebuild::leave_out);
        self.take.iter().fold(options, ListRebuild::take)
    }

    /// Returns the directory of the lists of a table.
    fn directory(&self, table: &TableName, output: &Path) -> PathBuf {
        match &self.names[..] {
            [_] => output.to_owned(),
            _ => output.join(directory_name(&table.to_string())),
        }
    }

    fn write(&self, tables: &[(TableName, RebuiltLists)], output: &Path) -> anyhow::Result<()> {
        let directory = OutputDirectory::new(output)?;
        for (table, lists) in tables {
            let below = self.directory(table, Path::new(""));
            for list in &lists.lists {
                directory.write_file(&below.join(list.path()), &list.to_bytes()?)?;
            }
        }
        Ok(directory.finish()?)
    }
}

/// Refuses an output in the root directory, where nothing is to change.
fn check_is_outside(output: &Path, root: &Path) -> anyhow::Result<()> {
    // The output need not exist, nor its parents.
    let real = output.ancestors().find_map(|above| {
        let is_here = above.as_os_str().is_empty();
        if is_here { Path::new(".") } else { above }.canonicalize().ok()
    });
    if real.is_some_and(|real| real.starts_with(root)) {
        refuse!(
            "--output {} is in the root directory {}, in which this verb changes nothing; give another directory",
            output.display(),
            root.display()
        );
    }
    Ok(())
}

#[derive(Serialize)]
struct ListsReport<'l> {
    schema: u32,
    table: String,
    ok: bool,
    /// The directory of the written lists.
    output: Option<String>,
    lists: Vec<ListLine<'l>>,
}

#[derive(Serialize)]
struct ListLine<'l> {
    region: &'l str,
    family: &'l str,
    /// The path of the list below the directory of the table.
    list: String,
    timestamp: u64,
    unreadable: Vec<UnreadableList<'l>>,
    files: Vec<FileLine<'l>>,
}

/// An old list that cannot be read.
#[derive(Serialize)]
struct UnreadableList<'l> {
    file: String,
    what: &'l str,
}

#[derive(Serialize)]
struct FileLine<'l> {
    file: &'l str,
    bytes: u64,
    decision: &'static str,
    why: Option<&'l str>,
}

impl<'l> ListsReport<'l> {
    fn new(table: &TableName, lists: &'l RebuiltLists, output: Option<&Path>) -> Self {
        Self {
            schema: 1,
            table: table.to_string(),
            ok: lists.lists.iter().all(RebuiltList::is_decided),
            output: output.map(|output| output.display().to_string()),
            lists: lists.lists.iter().map(ListLine::new).collect(),
        }
    }
}

impl<'l> ListLine<'l> {
    fn new(list: &'l RebuiltList) -> Self {
        let unreadable = list.unreadable.iter().map(|Warning { path, what }| UnreadableList {
            file: path.display().to_string(),
            what,
        });
        Self {
            region: list.region.as_str(),
            family: &list.family,
            list: list.path().display().to_string(),
            timestamp: list.timestamp,
            unreadable: unreadable.collect(),
            files: list.files.iter().map(FileLine::new).collect(),
        }
    }
}

const LEFT_OUT: &str = "left-out";
const UNDECIDED: &str = "undecided";

impl<'l> FileLine<'l> {
    fn new(DecidedFile { name, len, decision }: &'l DecidedFile) -> Self {
        let (decision, why) = match decision {
            FileDecision::Taken(FileKind::HFile) => ("hfile", None),
            FileDecision::Taken(FileKind::Reference) => ("reference", None),
            FileDecision::Taken(FileKind::Link) => ("link", None),
            FileDecision::LeftOut(why) => (LEFT_OUT, Some(&**why)),
            FileDecision::Undecided(why) => (UNDECIDED, Some(&**why)),
        };
        Self { file: name, bytes: *len, decision, why }
    }
}

impl Report for ListsReport<'_> {
    fn answer(&self) -> Answer {
        Answer::from_bool(self.ok)
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let (mut taken, mut left_out, mut undecided) = (0, 0, 0);
        for list in &self.lists {
            writeln!(out, "{}", as_line(&list.list))?;
            for unread in &list.unreadable {
                writeln!(out, "  old list   {}: {}", as_line(&unread.file), as_line(unread.what))?;
            }
            for FileLine { file, bytes, decision, why } in &list.files {
                let (decision, count) = match *decision {
                    UNDECIDED => ("UNDECIDED", &mut undecided),
                    LEFT_OUT => ("left out", &mut left_out),
                    "hfile" => ("HFile", &mut taken),
                    link_or_reference => (link_or_reference, &mut taken),
                };
                *count += 1;
                let size = show_number(*bytes, "byte");
                writeln!(out, "  {decision:<9}  {}, {size}", as_line(file))?;
                if let Some(why) = why {
                    writeln!(out, "             {}", as_line(why))?;
                }
            }
        }
        let (list_count, files) = (self.lists.len() as u64, show_number(taken, "file"));
        let (lists, unlisted) = (show_number(list_count, "list"), show_count(left_out));
        write!(out, "table {}: {lists}, {files}, {unlisted} left out", as_line(&self.table))?;
        if undecided > 0 {
            write!(out, ", {} UNDECIDED", show_count(undecided))?;
        }
        match &self.output {
            Some(output) => writeln!(out, "; written to {}", as_line(output)),
            None => writeln!(out),
        }
    }
}
