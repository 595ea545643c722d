//! The settings of a scan as a protobuf message.

use prost::Message;
use sstable::Timestamp;

use crate::scan::{FamilyColumns, MobValues, TableScan};

/// The settings of a scan, without the options of readers and the cells of logs.
#[derive(Clone, PartialEq, Message)]
#[expect(clippy::struct_excessive_bools, reason = "settings that are on or off")]
pub(super) struct ScanMessage {
    #[prost(bytes = "vec", optional, tag = "1")]
    start: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "2")]
    stop: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "3")]
    row: Option<Vec<u8>>,
    #[prost(bytes = "vec", tag = "4")]
    prefix: Vec<u8>,
    #[prost(message, repeated, tag = "5")]
    families: Vec<ColumnsMessage>,
    #[prost(int64, tag = "6")]
    min_ts: i64,
    #[prost(int64, tag = "7")]
    max_ts: i64,
    #[prost(uint32, tag = "8")]
    versions: u32,
    #[prost(bool, tag = "9")]
    raw: bool,
    #[prost(int64, optional, tag = "10")]
    now: Option<i64>,
    #[prost(bool, tag = "11")]
    skip_damaged: bool,
    #[prost(bool, tag = "12")]
    mob_references: bool,
    #[prost(bool, tag = "13")]
    with_logs: bool,
    #[prost(uint64, tag = "14")]
    log_bytes_max: u64,
    #[prost(string, optional, tag = "15")]
    log_directory: Option<String>,
    #[prost(uint64, tag = "16")]
    threads: u64,
    #[prost(uint64, tag = "17")]
    part_len: u64,
}

/// A family, and its columns.
#[derive(Clone, PartialEq, Message)]
struct ColumnsMessage {
    #[prost(bytes = "vec", tag = "1")]
    family: Vec<u8>,
    #[prost(bytes = "vec", repeated, tag = "2")]
    qualifiers: Vec<Vec<u8>>,
}

/// The maximum number of threads of a split from outside.
const THREADS_MAX: usize = 1024;

impl ScanMessage {
    /// Returns the message; the error is the directory that is not UTF-8.
    pub(super) fn new(scan: &TableScan) -> Result<Self, String> {
        let log_directory = scan.log_directory.as_deref().map(super::table_message::text);
        Ok(Self {
            start: scan.start.clone(),
            stop: scan.stop.clone(),
            row: scan.row.clone(),
            prefix: scan.prefix.clone(),
            families: scan
                .families
                .iter()
                .map(|FamilyColumns { family, qualifiers }| ColumnsMessage {
                    family: family.clone(),
                    qualifiers: qualifiers.clone(),
                })
                .collect(),
            min_ts: scan.min_ts.get(),
            max_ts: scan.max_ts.get(),
            versions: scan.versions,
            raw: scan.raw,
            now: scan.now.map(Timestamp::get),
            skip_damaged: scan.skip_damaged,
            mob_references: scan.mob == MobValues::Reference,
            with_logs: scan.with_logs,
            log_bytes_max: u64::try_from(scan.log_bytes_max).unwrap_or(u64::MAX),
            log_directory: log_directory.transpose()?,
            threads: u64::try_from(scan.threads).unwrap_or(u64::MAX),
            part_len: scan.part_len,
        })
    }

    /// Returns the scan.
    pub(super) fn into_scan(self) -> Result<TableScan, String> {
        let threads = usize::try_from(self.threads).ok().filter(|threads| *threads <= THREADS_MAX);
        let defaults = TableScan::default();
        Ok(TableScan {
            start: self.start,
            stop: self.stop,
            row: self.row,
            prefix: self.prefix,
            families: self
                .families
                .into_iter()
                .map(|ColumnsMessage { family, qualifiers }| FamilyColumns { family, qualifiers })
                .collect(),
            min_ts: Timestamp::new(self.min_ts),
            max_ts: Timestamp::new(self.max_ts),
            versions: self.versions,
            raw: self.raw,
            now: self.now.map(Timestamp::new),
            skip_damaged: self.skip_damaged,
            mob: if self.mob_references { MobValues::Reference } else { MobValues::Resolve },
            with_logs: self.with_logs,
            unflushed: None,
            log_bytes_max: usize::try_from(self.log_bytes_max).unwrap_or(usize::MAX),
            log_directory: self.log_directory.map(Into::into),
            threads: threads.ok_or_else(|| format!("it has {} threads", self.threads))?,
            part_len: self.part_len,
            reader_options: defaults.reader_options,
        })
    }
}
