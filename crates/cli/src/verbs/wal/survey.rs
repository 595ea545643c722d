//! Reads a whole log: its header, counts of its entries by region, and how it ends.

use std::collections::BTreeMap;
use std::path::Path;

use hbase_files::wal::{End, Error, LogEntry, LogHeader, ValueCompression};
use serde::Serialize;

use super::files::open;

/// A summary of a whole log.
pub(super) struct Survey {
    pub(super) header: Option<LogHeader>,
    /// The counts by table and region.
    pub(super) regions: BTreeMap<(String, String), Counts>,
    pub(super) all: Counts,
    /// How the file ends; `Err` if it is damaged.
    pub(super) end: Result<End, Damage>,
}

/// Where and why the rest of a log cannot be read.
#[derive(Clone, Serialize)]
pub(super) struct Damage {
    pub(super) offset: u64,
    pub(super) what: String,
}

/// Counts of the entries of one region or of the whole file, and the ranges of their ids and times.
#[derive(Clone, Copy, Default, Serialize)]
pub(super) struct Counts {
    pub(super) entries: u64,
    /// Cells that are data.
    pub(super) cells: u64,
    pub(super) markers: u64,
    pub(super) first_sequence: Option<u64>,
    pub(super) last_sequence: Option<u64>,
    /// Milliseconds since 1970.
    pub(super) first_write_time: Option<u64>,
    pub(super) last_write_time: Option<u64>,
}

impl Counts {
    fn add(&mut self, entry: &LogEntry) {
        let data = entry.data_cells().count() as u64;
        self.entries += 1;
        self.cells += data;
        self.markers += entry.cells.len() as u64 - data;
        let least = |known: Option<u64>, new| Some(known.map_or(new, |known| known.min(new)));
        self.first_sequence = least(self.first_sequence, entry.sequence);
        self.last_sequence = self.last_sequence.max(Some(entry.sequence));
        self.first_write_time = least(self.first_write_time, entry.write_time);
        self.last_write_time = self.last_write_time.max(Some(entry.write_time));
    }
}

impl Survey {
    /// Reads a log to its end or to the first damage.
    ///
    /// # Errors
    ///
    /// If the file is not a log, cannot be read, or uses an unsupported feature. Damage is no
    /// error: see [`Survey::end`].
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let mut survey = Self {
            header: None,
            regions: BTreeMap::new(),
            all: Counts::default(),
            end: Ok(End::Open),
        };
        let mut reader = match open(path) {
            Ok(reader) => reader,
            Err(error) => {
                survey.end = Err(damage(error)?);
                return Ok(survey);
            }
        };
        survey.header = reader.header().cloned();
        for entry in &mut reader {
            match entry {
                Ok(entry) => survey.add(&entry),
                Err(error) => {
                    survey.end = Err(damage(error.into())?);
                    return Ok(survey);
                }
            }
        }
        if let Some(end) = reader.end() {
            survey.end = Ok(end.clone());
        }
        Ok(survey)
    }

    fn add(&mut self, entry: &LogEntry) {
        self.all.add(entry);
        let region = (entry.table.clone(), entry.region.clone());
        self.regions.entry(region).or_default().add(entry);
    }
}

/// Returns the damage that an error reports; returns any other error unchanged.
fn damage(error: anyhow::Error) -> anyhow::Result<Damage> {
    match error.downcast_ref() {
        Some(Error::Damaged { offset, what, .. }) => {
            Ok(Damage { offset: *offset, what: what.clone() })
        }
        _ => Err(error),
    }
}

/// The unfinished part at the end of a log, in the form of the reports.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Torn {
    pub(super) offset: u64,
    /// The number of bytes from `offset` to the end of the file.
    pub(super) bytes: u64,
    pub(super) part: &'static str,
}

impl Torn {
    /// Returns the torn part of a log; `None` if the log is damaged, open or closed.
    pub(super) fn of(end: &Result<End, Damage>) -> Option<Self> {
        match end {
            Ok(End::Torn { offset, bytes, part }) => {
                Some(Self { offset: *offset, bytes: *bytes, part: part.name() })
            }
            _ => None,
        }
    }
}

/// Returns the compression of a log as text for people.
pub(super) fn compression_text(header: &LogHeader) -> String {
    if !header.dictionaries {
        return "none".to_owned();
    }
    let tags = if header.tag_dictionary { ", of tags too" } else { "" };
    let values = header.value_compression.map(ValueCompression::name);
    let values = values.map(|name| format!("; values {name}")).unwrap_or_default();
    format!("dictionaries{tags}{values}")
}
