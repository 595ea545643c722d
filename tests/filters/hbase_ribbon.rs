//! The ribbon filter of HBase's trunk, whose algorithm was run with HBase's hashes; see `data/ribbon/README.md`.

use std::path::Path;

use filter::engine::RibbonChunk;
use filter::hbase::{HashPair, HashType};
use serde_json::Value;
use sha2::{Digest, Sha256};
use support::{gunzip, hex, say};

/// Returns how the chunk of a vector differs from its expected shape and bytes.
fn difference(vector: &Value) -> Option<String> {
    let number = |name: &str| vector[name].as_u64().unwrap_or_else(|| panic!("{name}: {vector}"));
    let hash = HashType::ALL.iter().find(|hash| u64::try_from(hash.code()) == Ok(number("hash")));
    let hash = *hash.expect("a known hash");
    let key = |number| HashPair::new(hash, format!("row{number}").as_bytes());
    let pairs: Vec<_> = (0..number("keys")).map(key).collect();
    let rate = f64::from_bits(number("rate_bits"));
    let (chunk, segments) = RibbonChunk::build(rate, &pairs).expect("a possible size");
    let shape = [chunk.slots(), chunk.upper_columns(), chunk.upper_start_block()].map(u64::from);
    let ours = (shape, segments.len() as u64, hex(&Sha256::digest(&segments)));
    let shape = ["slots", "columns", "start"].map(number);
    let digest = vector["sha256"].as_str().expect("a digest");
    let expected = (shape, number("bytes"), digest.to_owned());
    let denied = pairs.iter().filter(|pair| !chunk.may_contain(&segments, **pair)).count();
    (ours != expected || denied > 0)
        .then(|| format!("{vector}: {ours:?}, and {denied} keys are denied"))
}

#[test]
fn every_vector_of_hbases_trunk_has_the_same_shape_and_bytes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/ribbon/vectors.json.gz");
    let vectors: Vec<Value> = serde_json::from_str(&gunzip(&path)).expect("JSON");
    let different: Vec<_> = vectors.iter().filter_map(difference).collect();
    say(&format!(
        "ribbon of HBase's trunk: {} of {} vectors",
        vectors.len() - different.len(),
        vectors.len()
    ));
    assert_eq!((different, vectors.len()), (Vec::new(), 612));
}
