//! The settings of a family under HBase's names, and the check of new settings.

use std::time::Duration;

use filter::{Seed, Sizing};
use sstable::{BloomType, InvalidOptions, WriterOptions};

use crate::error::{Error, Result};
use crate::options::{FamilyOptions, RowFilter};

impl FamilyOptions {
    /// Returns all settings as names and values, as the HBase shell's `describe` prints them.
    ///
    /// `TTL` is in seconds, or `FOREVER`. `ROW_FILTER`, `ROW_FILTER_SIZING`, `FAMILY_MAP` and
    /// `KEY_VALUE` exist only in this store, not in HBase.
    ///
    /// ```
    /// use store::FamilyOptions;
    ///
    /// let settings = FamilyOptions::default().versions(3).hbase_settings();
    /// assert!(settings.contains(&("VERSIONS", "3".to_owned())));
    /// assert!(settings.contains(&("BLOOMFILTER", "ROW".to_owned())));
    /// ```
    pub fn hbase_settings(&self) -> Vec<(&'static str, String)> {
        let flag = |set: bool| if set { "true" } else { "false" }.to_owned();
        let mut settings = vec![
            ("BLOOMFILTER", self.bloom_type.name().to_owned()),
            ("IN_MEMORY", flag(self.in_memory)),
            ("VERSIONS", self.versions.to_string()),
            ("KEEP_DELETED_CELLS", self.keep_deleted_cells.name().to_owned()),
            ("DATA_BLOCK_ENCODING", self.data_block_encoding.name().to_owned()),
            ("COMPRESSION", self.compression.name().to_owned()),
            ("TTL", ttl_text(self.ttl)),
            ("MIN_VERSIONS", self.min_versions.to_string()),
            ("BLOCKSIZE", self.block_size.to_string()),
        ];
        if let BloomType::RowPrefixFixedLength(len) = self.bloom_type {
            settings.push(("RowPrefixBloomFilter.prefix_length", len.to_string()));
        }
        if let Some(RowFilter { kind, sizing }) = self.filter {
            let sizing = match sizing {
                Sizing::ErrorRate(rate) => format!("error rate {}", rate.get()),
                Sizing::BitsPerKey(bits) => format!("{bits} bits per key"),
                Sizing::Bytes(bytes) => format!("{bytes} bytes for all files"),
            };
            settings.push(("ROW_FILTER", kind.name().to_owned()));
            settings.push(("ROW_FILTER_SIZING", sizing));
        }
        settings.push(("FAMILY_MAP", self.family_map.name().to_owned()));
        if self.key_value {
            settings.push(("KEY_VALUE", flag(true)));
        }
        settings
    }

    /// Returns the options of a file of the family, without its row filter.
    pub(crate) fn writer_options(&self) -> WriterOptions {
        WriterOptions::default()
            .block_size(self.block_size)
            .data_block_encoding(self.data_block_encoding)
            .compression(self.compression)
            .bloom_type(self.bloom_type)
    }

    /// Checks that this build can write files with the options, and that they keep what is written.
    ///
    /// Creating and altering a family check this, too.
    ///
    /// ```
    /// use filter::{FilterKind, Sizing};
    /// use store::FamilyOptions;
    ///
    /// let fuse = |bits| {
    ///     FamilyOptions::default().filter(FilterKind::BinaryFuse, Sizing::BitsPerKey(bits))
    /// };
    /// assert!(fuse(9.0).check().is_ok());
    /// let refused = fuse(8.0).check().expect_err("too few");
    /// assert_eq!(
    ///     refused.to_string(),
    ///     "no binary-fuse filter has 8 bits per key; 8.7 to 1024 are possible"
    /// );
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], which names the setting and its range.
    pub fn check(&self) -> Result<()> {
        if !self.compression.is_supported() {
            let name = self.compression.name();
            return Err(Error::invalid(format!("this build cannot compress with {name}")));
        }
        if self.versions == 0 {
            return Err(Error::invalid("a family keeps at least one version of a column, not 0"));
        }
        if let Some(ttl) = self.ttl.filter(|ttl| *ttl < Duration::from_millis(1)) {
            let what = format!("a TTL of {ttl:?} expires every cell at once; the least is 1 ms");
            return Err(Error::invalid(what));
        }
        if self.key_value && self.ttl.is_some() {
            let what = "a key-value family cannot have a TTL: its timestamps are sequence ids";
            return Err(Error::invalid(what));
        }
        let invalid = |error: InvalidOptions| Error::invalid(error.to_string());
        self.check_filter().map_err(invalid)?;
        self.writer_options().check().map_err(invalid)
    }

    /// Checks that files can have the row filter, whatever their number of rows.
    fn check_filter(&self) -> Result<(), InvalidOptions> {
        self.filter.map_or(Ok(()), |filter| filter.with_seed(Seed::new(0)).check())
    }
}

fn ttl_text(ttl: Option<Duration>) -> String {
    match ttl {
        None => "FOREVER".to_owned(),
        Some(ttl) if ttl.subsec_nanos() == 0 => ttl.as_secs().to_string(),
        Some(ttl) => ttl.as_secs_f64().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use cells::KeepDeletedCells;
    use filter::FilterKind;
    use sstable::Compression;

    use super::*;
    use crate::family_map::mode::MapMode;

    /// Returns the settings as the command line prints them.
    fn text_of(options: &FamilyOptions) -> String {
        let settings = options.hbase_settings().into_iter();
        let texts: Vec<_> = settings.map(|(name, value)| format!("{name} => '{value}'")).collect();
        texts.join(", ")
    }

    #[test]
    fn settings_have_hbases_names_and_values() {
        let text = text_of(&FamilyOptions::default());
        assert_eq!(
            text,
            "BLOOMFILTER => 'ROW', IN_MEMORY => 'false', VERSIONS => '1', KEEP_DELETED_CELLS => \
             'FALSE', DATA_BLOCK_ENCODING => 'NONE', COMPRESSION => 'NONE', TTL => 'FOREVER', \
             MIN_VERSIONS => '0', BLOCKSIZE => '65536', FAMILY_MAP => 'AUTO'"
        );
        let options = FamilyOptions::default()
            .ttl(Some(Duration::from_secs(86_400)))
            .keep_deleted_cells(KeepDeletedCells::Ttl)
            .compression(Compression::Lz4)
            .bloom_type(BloomType::RowPrefixFixedLength(4))
            .filter(FilterKind::ALL[0], Sizing::Bytes(4096))
            .family_map(MapMode::Wide);
        let text = text_of(&options);
        let prefix = "RowPrefixBloomFilter.prefix_length => '4'";
        for wanted in [
            "TTL => '86400'",
            "KEEP_DELETED_CELLS => 'TTL'",
            "'LZ4'",
            prefix,
            "4096 bytes",
            "FAMILY_MAP => 'WIDE'",
        ] {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
        let fraction = FamilyOptions::default().ttl(Some(Duration::from_millis(1500)));
        assert!(text_of(&fraction).contains("TTL => '1.5'"));
    }
}
