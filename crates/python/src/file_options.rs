//! The settings of written HFiles, by the names that HBase and the command line have for them.

use filter::{ErrorRate, FilterKind, Seed, Sizing};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sstable::{
    BloomType, Compression, DataBlockEncoding, FilterOptions, HBaseVersion, Timestamp,
    WriterOptions,
};

/// The settings that a caller chose; the defaults are the defaults of `hfile build`.
pub(crate) struct FileOptions {
    pub(crate) compression: Option<String>,
    pub(crate) encoding: Option<String>,
    pub(crate) bloom: Option<String>,
    pub(crate) filter: Option<String>,
    pub(crate) block_size: Option<u32>,
    pub(crate) tags: bool,
    pub(crate) hbase_version: Option<String>,
}

impl FileOptions {
    /// Returns the settings of files that are made at `time`.
    ///
    /// # Errors
    ///
    /// `ValueError` for an unknown name; it lists the known ones.
    pub(crate) fn writer_options(&self, time: Timestamp) -> PyResult<WriterOptions> {
        let mut options =
            WriterOptions::default().bulk_load(time).create_time(time).includes_tags(self.tags);
        if let Some(name) = &self.compression {
            let known = Compression::ALL.into_iter().filter(|codec| codec.is_supported());
            let known = known.map(|codec| (codec.name(), codec));
            options = options.compression(named("compression", name, known)?);
        }
        if let Some(name) = &self.encoding {
            let known = DataBlockEncoding::ALL.map(|encoding| (encoding.name(), encoding));
            options = options.data_block_encoding(named("encoding", name, known)?);
        }
        if let Some(name) = &self.bloom {
            let known = [BloomType::None, BloomType::Row, BloomType::RowCol];
            let known = known.map(|bloom| (bloom.name(), bloom));
            options = options.bloom_type(named("bloom", name, known)?);
        }
        if let Some(name) = &self.filter {
            let known = FilterKind::IN_FILES.iter().map(|kind| (kind.name(), *kind));
            let kind = named("filter", name, known)?;
            let rate =
                ErrorRate::new(0.01).map_err(|error| PyValueError::new_err(error.to_string()))?;
            // The seed of `hfile build`, so that the same cells give the same bytes.
            let (sizing, seed) = (Sizing::ErrorRate(rate), Seed::new(0));
            options = options.filter(FilterOptions::new(kind, sizing).seed(seed));
        }
        if let Some(size) = self.block_size {
            options = options.block_size(size);
        }
        if let Some(name) = &self.hbase_version {
            let known = HBaseVersion::ALL.map(|version| (version.name(), version));
            options = options.hbase_version(named("hbase_version", name, known)?);
        }
        options.check().map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(options)
    }
}

/// Finds the value of a name, in any case.
fn named<T>(
    what: &str,
    name: &str,
    known: impl IntoIterator<Item = (&'static str, T)>,
) -> PyResult<T> {
    let mut names = Vec::new();
    for (known, value) in known {
        if known.eq_ignore_ascii_case(name) {
            return Ok(value);
        }
        names.push(known);
    }
    let names = names.join(", ");
    Err(PyValueError::new_err(format!("unknown {what} {name:?}; known are {names}")))
}
