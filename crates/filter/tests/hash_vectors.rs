//! Compares hashes, Bloom filter bits, chunk sizes and folding with test vectors of HBase.
//!
//! HBase's classes wrote `tests/data/hash-vectors.json`.

use filter::hbase::{
    ChunkBuilder, ChunkSizing, HashPair, HashType, may_contain, row_column_error_rate,
};
use serde_json::Value;

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/hash-vectors.json");

/// Returns the vectors of a section, which must not be empty.
fn section(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(VECTORS).expect("the vectors are in the repository");
    let vectors: Value = serde_json::from_str(&text).expect("the vectors are JSON");
    let section = vectors[name].as_array().expect("the section is a list").clone();
    eprintln!("{name}: {} vectors", section.len());
    assert!(!section.is_empty());
    section
}

fn unhex(value: &Value) -> Vec<u8> {
    let text = value.as_str().expect("hexadecimal text");
    let digits = text.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("ASCII"));
    digits.map(|pair| u8::from_str_radix(pair, 16).expect("two digits")).collect()
}

fn number(value: &Value) -> i64 {
    value.as_i64().expect("a number")
}

#[test]
fn hashes_are_those_of_hbase() {
    for vector in section("hashes") {
        let key = unhex(&vector["key"]);
        let seed = i32::try_from(number(&vector["seed"])).expect("an int");
        for hash_type in HashType::ALL {
            let hash = hash_type.hash(&key, seed);
            assert_eq!(i64::from(hash), number(&vector[hash_type.name()]), "{hash_type} {vector}");
        }
    }
}

#[test]
fn bit_positions_are_those_of_hbase() {
    for vector in section("bloomPositions") {
        let key = unhex(&vector["key"]);
        let bits = u32::try_from(number(&vector["bloomBytes"]) * 8).expect("a size");
        let hash_count = u32::try_from(number(&vector["hashCount"])).expect("a count");
        for hash_type in HashType::ALL {
            let expected = &vector[hash_type.name()];
            let pair = HashPair::new(*hash_type, &key);
            assert_eq!(i64::from(pair.h1), number(&expected["h1"]), "{hash_type} {vector}");
            assert_eq!(i64::from(pair.h2), number(&expected["h2"]), "{hash_type} {vector}");
            let positions: Vec<_> = pair.bits(hash_count, bits).map(i64::from).collect();
            let expected: Vec<_> =
                expected["bits"].as_array().expect("a list").iter().map(number).collect();
            assert_eq!(positions, expected, "{hash_type} {vector}");
        }
    }
}

#[test]
fn hashes_of_row_column_keys_are_those_of_hbase() {
    for vector in section("rowColKeys") {
        let key = unhex(&vector["hashedBytes"]);
        for hash_type in HashType::ALL {
            let pair = HashPair::new(*hash_type, &key);
            let expected = |half| number(&vector[format!("{hash_type}{half}")]);
            assert_eq!(i64::from(pair.h1), expected("H1"), "{hash_type} {vector}");
            assert_eq!(i64::from(pair.h2), expected("H2"), "{hash_type} {vector}");
        }
    }
}

#[test]
fn chunks_are_sized_as_in_hbase() {
    for vector in section("bloomSizing") {
        let configured = vector["configErrorRate"].as_f64().expect("a rate") as f32;
        let error_rate = match vector["bloomType"].as_str().expect("a type") {
            "ROWCOL" => row_column_error_rate(configured),
            _ => configured,
        };
        let expected_rate = vector["errorRate"].as_f64().expect("a rate");
        assert!(
            f64::from(error_rate).to_bits() == expected_rate.to_bits(),
            "{error_rate} {vector}"
        );

        let integer = |name: &str| u32::try_from(number(&vector[name])).expect("an int");
        let sizing = ChunkSizing::new(error_rate, integer("blockSize"), integer("maxFold"))
            .expect("valid in HBase");
        let expected = ChunkSizing {
            bytes: integer("byteSize"),
            max_keys: integer("maxKeys"),
            hash_count: integer("hashCount"),
        };
        assert_eq!(sizing, expected, "{vector}");
    }
}

#[test]
fn chunks_are_folded_as_in_hbase() {
    let mut folded = 0;
    for vector in section("bloomChunks") {
        let hash_type =
            HashType::from_name(vector["hash"].as_str().expect("a name")).expect("a known hash");
        let integer = |name: &str| u32::try_from(number(&vector[name])).expect("an int");
        let error_rate = vector["errorRate"].as_f64().expect("a rate") as f32;
        let sizing = ChunkSizing::new(error_rate, integer("blockSize"), integer("maxFold"))
            .expect("valid in HBase");
        assert_eq!(sizing.hash_count, integer("hashCount"), "{vector}");
        assert_eq!(sizing.bytes, integer("byteSizeBefore"), "{vector}");
        assert_eq!(sizing.max_keys, integer("maxKeysBefore"), "{vector}");

        let mut chunk = ChunkBuilder::new(sizing);
        let pairs: Vec<_> = (0..integer("keys"))
            .map(|index| HashPair::new(hash_type, format!("key-{index}").as_bytes()))
            .collect();
        for pair in &pairs {
            chunk.insert(*pair);
        }
        let chunk = chunk.finish();
        folded += usize::from(chunk.max_keys < sizing.max_keys);
        assert_eq!(chunk.keys, integer("keys"), "{vector}");
        assert_eq!(chunk.max_keys, integer("maxKeys"), "{vector}");
        assert_eq!(chunk.bits.len(), integer("byteSize") as usize, "{vector}");
        assert_eq!(chunk.bits, unhex(&vector["bits"]), "{vector}");
        assert!(pairs.iter().all(|pair| may_contain(&chunk.bits, sizing.hash_count, *pair)));
    }
    eprintln!("{folded} chunks folded");
    assert!(folded > 0);
}
