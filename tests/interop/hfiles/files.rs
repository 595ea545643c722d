//! Files that we write, and the verdict of HBase on each.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use cells::ndjson;
use serde_json::Value;
use sstable::{Cell, FileName, Writer, WriterOptions};
use support::{judge, say, spec};
use tempfile::TempDir;

/// Files with their cells, and the counts of what HBase accepts.
pub(crate) struct Files {
    dir: TempDir,
    faults: Vec<String>,
    sound: usize,
    pub(crate) count: usize,
}

impl Files {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        Self { dir, faults: Vec::new(), sound: 0, count: 0 }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file and its cells.
    pub(crate) fn write(
        &self,
        name: &str,
        options: WriterOptions,
        cells: &[Cell],
    ) -> (String, String) {
        let path = self.path(&format!("{name}.hfile"));
        let file = File::create(&path).expect("writable");
        let mut writer = Writer::new(file, FileName::new(name), options).expect("sound options");
        for cell in cells {
            writer.append(cell.as_ref()).expect("sound cells");
        }
        writer.finish().expect("the disk has room");
        (text(&path), self.write_cells(name, cells))
    }

    pub(crate) fn write_cells(&self, name: &str, cells: &[Cell]) -> String {
        let path = self.path(&format!("{name}.cells.ndjson"));
        let mut out = BufWriter::new(File::create(&path).expect("writable"));
        for cell in cells {
            ndjson::write_cell(&mut out, &cell.as_ref()).expect("the disk has room");
        }
        out.flush().expect("the disk has room");
        text(&path)
    }

    /// Writes a file with the options of `spec` and asks HBase every question about it.
    pub(crate) fn show(&mut self, name: &str, spec: &Value, cells: &[Cell]) -> Value {
        self.show_with(name, spec, spec::writer_options(spec), cells)
    }

    pub(crate) fn show_with(
        &mut self,
        name: &str,
        spec: &Value,
        options: WriterOptions,
        cells: &[Cell],
    ) -> Value {
        let (file, expected) = self.write(name, options, cells);
        self.ask(name, spec, &file, &expected)
    }

    /// Asks HBase whether a file has exactly the cells `expected`.
    pub(crate) fn ask(&mut self, name: &str, spec: &Value, file: &str, expected: &str) -> Value {
        let codec = [&spec["zstdJudge"], &spec["zstdFraming"]].map(Value::as_str);
        let framing = ["--zstd", codec.into_iter().flatten().next().unwrap_or("frame")];
        let ask = |question: &[&str]| judge::ask(&[question, &framing].concat());
        let mut question = vec!["read", file, "--expect", expected];
        if !reads_backwards(spec) {
            question.extend(["--reverse-limit", "0"]);
        }
        let read = ask(&question);
        let bloom = ask(&["bloom", file, "--cells", expected]);
        let get = ask(&["get", file, "--expect", expected, "--sample", "60"]);
        let faults: Vec<_> = [("read", &read), ("bloom", &bloom), ("get", &get)]
            .into_iter()
            .filter(|(_, answer)| answer["ok"] != true || has_warnings(answer))
            .map(|(question, answer)| {
                format!("{name}: {question}: {} {}", answer["errors"], answer["warnings"])
            })
            .collect();
        self.note(faults);
        read
    }

    /// Counts a file, and its faults.
    pub(crate) fn note(&mut self, faults: Vec<String>) {
        self.count += 1;
        self.sound += usize::from(faults.is_empty());
        self.faults.extend(faults);
    }

    pub(crate) fn report(&self, what: &str) {
        say(&format!("interop: {} of {} {what}", self.sound, self.count));
        assert!(self.faults.is_empty(), "{:#?}", self.faults);
    }
}

fn has_warnings(answer: &Value) -> bool {
    answer["warnings"].as_array().is_some_and(|warnings| !warnings.is_empty())
}

/// Whether HBase can read such a file backwards, even its own.
///
/// `BufferedDataBlockEncoder` does not restore the tag dictionary when it moves back in the block,
/// and then returns wrong tags (HBase 2.5.13, also with files that it wrote).
fn reads_backwards(spec: &Value) -> bool {
    let has_dictionary = !["NONE", "ROW_INDEX_V1"].contains(&setting(spec, "encoding"));
    !(has_dictionary && spec["compressTags"] == true)
}

fn setting<'a>(spec: &'a Value, name: &str) -> &'a str {
    spec[name].as_str().unwrap_or("NONE")
}

pub(crate) fn text(path: &Path) -> String {
    path.to_str().expect("the name is text").to_owned()
}
