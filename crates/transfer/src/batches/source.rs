//! Where record batches come from: Parquet files, or a program.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;

use arrow_schema::Schema;
use hfile_arrow::{RecordBatch, RecordBatchReader};
use sstable::tools::OwnProcess;
use sstable::{Error, FileName, Result};

use crate::read_bytes::ReadBytes;

const FORKED: &str = "the process was forked while its parent writes; end the fork without a return to the writer, \
                      as os._exit does";

/// A source of record batches: a stream, or files that are opened one after the other.
pub(crate) struct BatchSource {
    /// The names of the columns, which all files have.
    names: Vec<String>,
    /// The columns to read of a file; the others are not decompressed.
    wanted: Vec<String>,
    current: Option<Stream>,
    files: VecDeque<PathBuf>,
    /// Whether there are several files, so that a record needs the name of its file.
    has_files: bool,
    bytes: ReadBytes,
    process: OwnProcess,
}

/// The batches of a file or of a program.
struct Stream {
    name: FileName,
    /// `None` after the last batch: what it holds is not needed while the cells are merged and written.
    reader: Option<Box<dyn RecordBatchReader>>,
    /// The bytes of the file, and its rows.
    extent: Option<FileExtent>,
    is_begun: bool,
}

/// The size of a file; as progress, each row counts the same part of the size.
#[derive(Clone, Copy)]
struct FileExtent {
    bytes: u64,
    rows: u64,
}

/// A batch, and whether it is the first one of its file.
pub(crate) struct NextBatch {
    pub(crate) batch: RecordBatch,
    pub(crate) begins_file: bool,
}

impl BatchSource {
    /// Returns the batches of a program.
    pub(crate) fn stream(
        name: FileName,
        reader: impl RecordBatchReader + 'static,
        bytes: ReadBytes,
    ) -> Self {
        Self {
            names: names_of(&reader.schema()),
            wanted: Vec::new(),
            current: Some(Stream {
                name,
                reader: Some(Box::new(reader)),
                extent: None,
                is_begun: false,
            }),
            files: VecDeque::new(),
            has_files: false,
            bytes,
            process: OwnProcess::current(),
        }
    }

    /// Returns the batches of Parquet files, which must have columns with the same names.
    #[cfg(feature = "parquet")]
    pub(crate) fn parquet(paths: &[PathBuf], bytes: ReadBytes) -> crate::error::Result<Self> {
        use crate::error::Error as TransferError;

        let mut names: Option<Vec<String>> = None;
        let mut len = 0;
        for path in paths {
            let found = names_of(hfile_arrow::ParquetInput::open(path)?.schema());
            len += file_len(path);
            let of_first = names.get_or_insert_with(|| found.clone());
            let (file, first) = (path.display(), paths[0].display());
            if let Some(name) = of_first.iter().find(|name| !found.contains(name)) {
                return Err(TransferError::Refused(format!(
                    "{file}: has no column {name:?}, which {first} has"
                )));
            }
            if let Some(name) = found.iter().find(|name| !of_first.contains(name)) {
                return Err(TransferError::Refused(format!(
                    "{file}: has a column {name:?}, which {first} does not have"
                )));
            }
        }
        bytes.set_len(len);
        Ok(Self {
            names: names.unwrap_or_default(),
            wanted: Vec::new(),
            current: None,
            files: paths.iter().cloned().collect(),
            has_files: paths.len() > 1,
            bytes,
            process: OwnProcess::current(),
        })
    }

    /// Returns the names of the columns.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Sets the columns to read of a file. A stream has all of its columns.
    pub(crate) fn set_wanted(&mut self, wanted: Vec<String>) {
        self.wanted = wanted;
    }

    /// Returns the name of the current file or of the stream; of a source of files, at first none.
    pub(crate) fn name(&self) -> Option<&FileName> {
        self.current.as_ref().map(|stream| &stream.name)
    }

    /// Returns an error if the work is cancelled.
    pub(crate) fn check_cancelled(&self) -> Result<()> {
        match self.name() {
            Some(name) if self.bytes.is_cancelled() => {
                Err(cannot_read(name, io::ErrorKind::Interrupted.into()))
            }
            _ => Ok(()),
        }
    }

    /// Whether there are several files.
    pub(crate) const fn has_files(&self) -> bool {
        self.has_files
    }

    /// Returns the next batch that is not empty.
    pub(crate) fn next_batch(&mut self) -> Result<Option<NextBatch>> {
        loop {
            let Some(stream) = &mut self.current else {
                match self.files.pop_front() {
                    None => return Ok(None),
                    Some(path) => self.current = Some(open(&path, &self.wanted)?),
                }
                continue;
            };
            let next = stream.reader.as_mut().and_then(Iterator::next);
            // The program that makes the batches may have forked, and the two share the open output.
            if !self.process.is_current() {
                return Err(cannot_read(&stream.name, io::Error::other(FORKED)));
            }
            let Some(read) = next else {
                stream.reader = None;
                if self.files.is_empty() {
                    return Ok(None);
                }
                self.current = None;
                continue;
            };
            let batch = read.map_err(|error| cannot_read(&stream.name, io::Error::other(error)))?;
            // The observer is asked for each cell, and records of null have none.
            if self.bytes.is_cancelled() {
                return Err(cannot_read(&stream.name, io::ErrorKind::Interrupted.into()));
            }
            self.bytes.add(match stream.extent {
                None => batch.get_array_memory_size() as u64,
                Some(FileExtent { bytes, rows }) => {
                    (bytes as f64 * batch.num_rows() as f64 / rows.max(1) as f64) as u64
                }
            });
            if batch.num_rows() > 0 {
                let begins_file = !std::mem::replace(&mut stream.is_begun, true);
                return Ok(Some(NextBatch { batch, begins_file }));
            }
        }
    }
}

fn cannot_read(file: &FileName, source: io::Error) -> Error {
    Error::Io { file: file.clone(), action: "read record batches".into(), source }
}

fn names_of(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

#[cfg(feature = "parquet")]
fn file_len(path: &std::path::Path) -> u64 {
    path.metadata().map_or(0, |metadata| metadata.len())
}

/// Opens a file for the wanted columns.
#[cfg(feature = "parquet")]
fn open(path: &std::path::Path, wanted: &[String]) -> Result<Stream> {
    let failed = |error| match error {
        hfile_arrow::Error::File(error) => error,
        other => Error::Invalid {
            file: FileName::new(path.display().to_string()),
            what: other.to_string(),
        },
    };
    let input = hfile_arrow::ParquetInput::open(path).map_err(failed)?;
    let extent = FileExtent { bytes: file_len(path), rows: input.row_count() };
    let reader =
        input.batches(|name| wanted.iter().any(|wanted| wanted == name)).map_err(failed)?;
    Ok(Stream {
        name: FileName::new(path.display().to_string()),
        reader: Some(reader as Box<dyn RecordBatchReader>),
        extent: Some(extent),
        is_begun: false,
    })
}

/// Without Parquet, no source has files.
#[cfg(not(feature = "parquet"))]
fn open(path: &std::path::Path, _wanted: &[String]) -> Result<Stream> {
    unreachable!("{}: only a source of Parquet has files", path.display())
}
