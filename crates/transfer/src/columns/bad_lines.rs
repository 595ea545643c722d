//! Handling of lines that cannot be read: they end the run, or are counted and skipped.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

use sstable::{Error, FileName};

use super::options::BadLinePolicy;
use crate::error::{Doing, Error as TransferError, Result};
use crate::record_problem::RecordProblem;
use crate::temporary::TemporaryPath;

/// Collects lines that cannot be read.
pub(crate) struct BadLines {
    stops: bool,
    file: Option<BadLinesFile>,
    /// The number of bad lines.
    pub(crate) count: u64,
    /// The first ones.
    pub(crate) first: Vec<BadRecord>,
}

/// The file for bad lines, created with the first one.
struct BadLinesFile {
    path: PathBuf,
    name: FileName,
    writer: Option<csv::Writer<File>>,
    is_kept: bool,
    /// Lets `remove_unfinished` remove the file.
    temporary_path: Option<TemporaryPath>,
}

impl BadLinesFile {
    fn write(&mut self, line: u64, what: &str, bytes: &[u8]) -> io::Result<()> {
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => {
                let file = if self.is_kept {
                    File::create_new(&self.path)?
                } else {
                    let (temporary_path, file) = TemporaryPath::register(|| {
                        Ok((self.path.clone(), File::create_new(&self.path)?))
                    })?;
                    self.temporary_path = Some(temporary_path);
                    file
                };
                let mut writer = csv::Writer::from_writer(file);
                writer.write_record(["line", "reason", "text"])?;
                none.insert(writer)
            }
        };
        writer.write_record([line.to_string().as_bytes(), what.as_bytes(), bytes])?;
        writer.flush()
    }
}

impl Drop for BadLinesFile {
    fn drop(&mut self) {
        if self.writer.take().is_some() && !self.is_kept {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A problem of a line.
#[derive(Clone, Debug)]
pub struct BadRecord {
    /// The line of the input, or the record of batches, from 1.
    pub line: u64,
    /// The problem, which names the column.
    pub problem: RecordProblem,
}

impl BadLines {
    /// The number of problems to keep; further ones are only counted.
    const KEPT_MAX: usize = 10;

    /// Refuses a file that exists. A dry run accepts all lines and creates no file.
    pub(crate) fn new(policy: Option<&BadLinePolicy>, is_dry_run: bool) -> Result<Self> {
        let stops = !is_dry_run && matches!(policy, None | Some(BadLinePolicy::Stop));
        let file = match policy {
            Some(BadLinePolicy::Copy(path)) if !is_dry_run => {
                let shown = path.display().to_string();
                if path.try_exists().doing("check whether it exists", path)? {
                    return Err(TransferError::Refused(format!(
                        "{shown}: the file for bad lines already exists; name a new one"
                    )));
                }
                let name = FileName::new(shown);
                Some(BadLinesFile {
                    path: path.clone(),
                    name,
                    writer: None,
                    is_kept: false,
                    temporary_path: None,
                })
            }
            _ => None,
        };
        Ok(Self { stops, file, count: 0, first: Vec::new() })
    }

    /// Whether a bad line ends the run.
    #[cfg(feature = "arrow")]
    pub(crate) const fn ends_run(&self) -> bool {
        self.stops
    }

    /// Handles a bad line of `input`; returns an error if it ends the run.
    pub(crate) fn take(
        &mut self,
        input: &FileName,
        line: u64,
        problem: RecordProblem,
        bytes: &[u8],
    ) -> Result<()> {
        if self.stops {
            return Err(TransferError::Record {
                input: input.clone(),
                line: Some(line),
                problem,
                is_skippable: true,
            });
        }
        self.count += 1;
        if let Some(file) = &mut self.file {
            file.write(line, &problem.to_string(), bytes).map_err(|source| Error::Io {
                file: file.name.clone(),
                action: "write a bad line".into(),
                source,
            })?;
        }
        if self.first.len() < Self::KEPT_MAX {
            self.first.push(BadRecord { line, problem });
        }
        Ok(())
    }

    /// Keeps the file, which is otherwise removed when this is dropped, as after a failed run.
    pub(crate) fn keep(&mut self) {
        if let Some(file) = &mut self.file {
            file.is_kept = true;
            file.temporary_path = None;
        }
    }

    /// Returns the name of the file for bad lines.
    pub(crate) fn file_name(&self) -> Option<&FileName> {
        self.file.as_ref().map(|file| &file.name)
    }
}
