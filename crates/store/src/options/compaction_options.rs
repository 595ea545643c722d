//! The options of compactions.

/// Which files a store compacts, and how fast. The defaults are HBase's.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct CompactionOptions {
    /// The minimum number of files of a compaction; less than 2 counts as 2.
    pub(crate) files_min: usize,
    /// The maximum number of files of a compaction.
    pub(crate) files_max: usize,
    /// The total size below which the ratio does not apply; `None` for the flush size.
    pub(crate) size_min: Option<u64>,
    /// The maximum total size of a minor compaction's files.
    pub(crate) size_max: u64,
    /// The maximum ratio of a file's size to the sum of the other files.
    pub(crate) ratio: f64,
    /// The hours when another ratio applies.
    pub(crate) off_peak: Option<OffPeak>,
    /// The maximum bytes that all compactions of the store write per second.
    pub(crate) bytes_per_second: Option<u64>,
}

/// Hours of the day, in UTC, when another ratio applies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OffPeak {
    /// The first hour, 0 to 23.
    pub(crate) from_hour: u8,
    /// The end, exclusive; may be less than the first hour.
    pub(crate) to_hour: u8,
    /// The ratio in these hours.
    pub(crate) ratio: f64,
}

impl Default for CompactionOptions {
    fn default() -> Self {
        Self {
            files_min: 3,
            files_max: 10,
            size_min: None,
            size_max: u64::MAX,
            ratio: 1.2,
            off_peak: None,
            bytes_per_second: None,
        }
    }
}

impl CompactionOptions {
    /// Sets the minimum number of files of a compaction (`hbase.hstore.compaction.min`); at least
    /// 2. Default: 3.
    pub const fn files_min(mut self, files: usize) -> Self {
        self.files_min = files;
        self
    }

    /// Sets the maximum number of files of a compaction (`hbase.hstore.compaction.max`). Default:
    /// 10.
    pub const fn files_max(mut self, files: usize) -> Self {
        self.files_max = files;
        self
    }

    /// Sets the total size below which files are compacted regardless of the ratio.
    ///
    /// HBase: `hbase.hstore.compaction.min.size`. Default: `None`, which means
    /// [`StoreOptions::memstore_flush_bytes`](crate::StoreOptions::memstore_flush_bytes).
    pub const fn size_min(mut self, bytes: Option<u64>) -> Self {
        self.size_min = bytes;
        self
    }

    /// Sets the maximum total size of a minor compaction's files
    /// (`hbase.hstore.compaction.max.size`). Default: no limit.
    pub const fn size_max(mut self, bytes: u64) -> Self {
        self.size_max = bytes;
        self
    }

    /// Sets the maximum ratio of a file's size to the sum of the other files of its compaction.
    ///
    /// HBase: `hbase.hstore.compaction.ratio`. Default: 1.2.
    pub const fn ratio(mut self, ratio: f64) -> Self {
        self.ratio = ratio;
        self
    }

    /// Sets another ratio for the hours `from_hour..to_hour` in UTC, which may pass midnight.
    ///
    /// HBase: `hbase.offpeak.start.hour`, `hbase.offpeak.end.hour` and
    /// `hbase.hstore.compaction.ratio.offpeak`, whose default is 5. Default: no off-peak hours.
    pub const fn off_peak(mut self, from_hour: u8, to_hour: u8, ratio: f64) -> Self {
        self.off_peak = Some(OffPeak { from_hour, to_hour, ratio });
        self
    }

    /// Limits the bytes that all compactions of the store write per second. Default: `None`, no limit.
    pub const fn bytes_per_second(mut self, bytes: Option<u64>) -> Self {
        self.bytes_per_second = bytes;
        self
    }
}
