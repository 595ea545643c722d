//! Converts a spec for HBase's writer to options of our writer.

use filter::ErrorRate;
use filter::hbase::HashType;
use serde_json::Value;
use sstable::{
    BloomType, ChecksumType, Comparator, Compression, DataBlockEncoding, HBaseVersion, SequenceId,
    Timestamp, WriterOptions, ZstdFraming,
};

/// Returns the options with which our writer writes what the judge writes for `spec`.
///
/// Names and defaults are those of `tests/hbase-judge/src/main/java/hbasejudge/Write.java`.
///
/// # Panics
///
/// If the spec has an unknown name.
pub fn writer_options(spec: &Value) -> WriterOptions {
    let text = |name: &str, default| spec[name].as_str().unwrap_or(default);
    let number = |name: &str, default: u32| {
        let given = spec[name].as_u64().map(u32::try_from);
        given.unwrap_or(Ok(default)).expect(name)
    };
    let flag = |name: &str, default| spec[name].as_bool().unwrap_or(default);
    let prefix_len = u16::try_from(number("bloomPrefixLength", 4)).expect("a short prefix");
    let error_rate = spec["bloomErrorRate"].as_f64().unwrap_or(0.01);
    let encoding = DataBlockEncoding::from_name(text("encoding", "NONE"));
    let max_sequence_id = spec["maxSeqId"].as_u64().unwrap_or(0);
    let create_time = spec["createTime"].as_i64().unwrap_or(1_700_000_000_000);
    let framing = text("zstdFraming", "frame");
    let framing = ZstdFraming::ALL.into_iter().find(|known| known.name() == framing);
    let version = text("hbaseVersion", "2.5");
    let version = HBaseVersion::ALL.into_iter().find(|known| known.name() == version);
    let mut options = WriterOptions::default()
        .hbase_version(version.expect("a known version"))
        .block_size(number("blockSize", 65_536))
        .data_block_encoding(encoding.expect("a known encoding"))
        .compression(Compression::from_name(text("compression", "NONE")).expect("a known codec"))
        .zstd_framing(framing.expect("a known framing"))
        .comparator(match text("comparator", "BYTES") {
            "META" => Comparator::Meta,
            _ => Comparator::Bytes,
        })
        .checksum(ChecksumType::from_name(text("checksum", "CRC32C")).expect("a known checksum"))
        .bytes_per_checksum(number("bytesPerChecksum", 16_384))
        .includes_mvcc(flag("includesMvcc", true))
        .includes_tags(flag("includesTags", spec.get("tags").is_some()))
        .compress_tags(flag("compressTags", false))
        .bloom_type(BloomType::from_name(text("bloom", "NONE"), prefix_len).expect("a known Bloom"))
        .bloom_hash(HashType::from_name(text("bloomHash", "murmur")).expect("a known hash"))
        .bloom_error_rate(ErrorRate::new(error_rate).expect("an error rate"))
        .bloom_block_size(number("bloomBlockSize", 128 * 1024))
        .bloom_max_fold(number("bloomMaxFold", 7))
        .delete_family_bloom(flag("deleteFamilyBloom", true))
        .index_block_size(number("indexBlockSize", 128 * 1024))
        .index_min_entries(number("indexMinEntries", 16))
        .max_sequence_id(SequenceId::new(max_sequence_id))
        .major_compaction(flag("majorCompaction", false))
        .create_time(Timestamp::new(create_time));
    if let Some(file_info) = spec["fileInfo"].as_object() {
        for (key, value) in file_info {
            options = options.file_info(key.as_bytes(), unhex(value.as_str().expect("hex")));
        }
    }
    options
}

fn unhex(text: &str) -> Vec<u8> {
    let digit = |digit: u8| char::from(digit).to_digit(16).expect("a hex digit") as u8;
    text.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}
