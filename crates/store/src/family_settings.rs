//! The settings of a family under HBase's names, and the check of new settings.

use std::fmt;
use std::time::Duration;

use filter::Sizing;
use sstable::BloomType;

use crate::error::{Error, Result};
use crate::options::{FamilyOptions, KeepDeletedCells};

impl FamilyOptions {
    /// Returns all settings as names and values, as the HBase shell's `describe` prints them.
    ///
    /// `TTL` is in seconds, or `FOREVER`. `ROW_FILTER`, `ROW_FILTER_SIZING` and `FAMILY_MAP` exist
    /// only in this store, not in HBase.
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
        if let Some((kind, sizing)) = self.filter {
            let sizing = match sizing {
                Sizing::ErrorRate(rate) => format!("error rate {}", rate.get()),
                Sizing::BitsPerKey(bits) => format!("{bits} bits per key"),
                Sizing::Bytes(bytes) => format!("{bytes} bytes for all files"),
            };
            settings.push(("ROW_FILTER", kind.name().to_owned()));
            settings.push(("ROW_FILTER_SIZING", sizing));
        }
        settings.push(("FAMILY_MAP", self.family_map.name().to_owned()));
        settings
    }

    /// Checks that this build can write files with the options.
    pub(crate) fn check(&self) -> Result<()> {
        if !self.compression.is_supported() {
            let name = self.compression.name();
            return Err(Error::invalid(format!("this build cannot compress with {name}")));
        }
        if self.bloom_type == BloomType::RowPrefixFixedLength(0) {
            return Err(Error::invalid("a Bloom filter over row prefixes needs a prefix length"));
        }
        Ok(())
    }
}

/// Prints the settings as the HBase shell does: `BLOOMFILTER => 'ROW', IN_MEMORY => 'false', …`.
impl fmt::Display for FamilyOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.hbase_settings().into_iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{name} => '{value}'")?;
        }
        Ok(())
    }
}

impl KeepDeletedCells {
    /// Returns HBase's name: `FALSE`, `TRUE` or `TTL`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::False => "FALSE",
            Self::True => "TRUE",
            Self::Ttl => "TTL",
        }
    }
}

impl fmt::Display for KeepDeletedCells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
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
    use filter::FilterKind;
    use sstable::Compression;

    use super::*;
    use crate::map_mode::MapMode;

    #[test]
    fn settings_have_hbases_names_and_values() {
        let text = FamilyOptions::default().to_string();
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
            .filter(Some((FilterKind::ALL[0], Sizing::Bytes(4096))))
            .family_map(MapMode::Blocks);
        let text = options.to_string();
        let prefix = "RowPrefixBloomFilter.prefix_length => '4'";
        for wanted in [
            "TTL => '86400'",
            "KEEP_DELETED_CELLS => 'TTL'",
            "'LZ4'",
            prefix,
            "4096 bytes",
            "FAMILY_MAP => 'BLOCKS'",
        ] {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
        let fraction = FamilyOptions::default().ttl(Some(Duration::from_millis(1500)));
        assert!(fraction.to_string().contains("TTL => '1.5'"));
    }
}
