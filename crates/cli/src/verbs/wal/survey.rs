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
    /// All damage, in the order of the file.
    pub(super) damages: Vec<Damage>,
    /// How the file ends; `None` if nothing can be read after the last damage.
    pub(super) end: Option<End>,
}

/// A part of a log that cannot be read, and why.
#[derive(Clone, Serialize)]
pub(super) struct Damage {
    pub(super) offset: u64,
    pub(super) what: String,
    /// How many bytes are left out; `None` if the header of the log is damaged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bytes: Option<u64>,
    /// What is left out and what follows, for the report that people read.
    #[serde(skip)]
    pub(super) skipped: Option<String>,
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
        let LogEntry { sequence, write_time, .. } = *entry;
        self.first_sequence = Some(self.first_sequence.unwrap_or(sequence).min(sequence));
        self.last_sequence = Some(self.last_sequence.unwrap_or(sequence).max(sequence));
        self.first_write_time = Some(self.first_write_time.unwrap_or(write_time).min(write_time));
        self.last_write_time = Some(self.last_write_time.unwrap_or(write_time).max(write_time));
    }
}

impl Survey {
    /// Reads a log to its end, or to damage after which no entries can be found.
    ///
    /// # Errors
    ///
    /// If the file is not a log, cannot be read, or uses an unsupported feature. Damage is no
    /// error: see [`Survey::damages`].
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let mut survey = Self {
            header: None,
            regions: BTreeMap::new(),
            all: Counts::default(),
            damages: Vec::new(),
            end: None,
        };
        let mut reader = match open(path) {
            Ok(reader) => reader,
            Err(error) => {
                survey.damages.push(damage(error)?);
                return Ok(survey);
            }
        };
        survey.header = reader.header().cloned();
        while let Some(entry) = reader.next() {
            match entry {
                Ok(entry) => survey.add(&entry),
                Err(error) => {
                    let found = damage(error.into())?;
                    let skipped = reader.skip_damage()?;
                    survey.damages.push(Damage {
                        bytes: skipped.map(|skipped| skipped.bytes),
                        skipped: skipped.map(|skipped| skipped.to_string()),
                        ..found
                    });
                }
            }
        }
        survey.end = reader.end().cloned();
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
            Ok(Damage { offset: *offset, what: what.clone(), bytes: None, skipped: None })
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
    /// Returns the torn part of a log; `None` if the log is open or closed, or has none of these ends.
    pub(super) fn of(end: Option<&End>) -> Option<Self> {
        match end {
            Some(End::Torn { offset, bytes, part }) => {
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
    let codec = header.value_compression.map(ValueCompression::name);
    let values = codec.map(|name| format!("; values {name}")).unwrap_or_default();
    format!("dictionaries{tags}{values}")
}
