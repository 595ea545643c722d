//! The figures of a made-up run in which all engines took part, for the report.

use serde_json::{Value, json};

use crate::names::{CONTENDERS, FJALL, HBASE, OURS_BLOOM, OURS_RIBBON, REDB, ROCKSDB_RIBBON_CLOCK};

/// Returns the run; `nanos` is the time of the fastest get.
///
/// Many times are equal, so that markers would cover each other.
pub(crate) fn full_run(nanos: f64) -> Value {
    let mut figures = Vec::new();
    for (number, contender) in CONTENDERS.iter().enumerate() {
        for (shape, cache) in [
            ("many files", "all"),
            ("many files", "32.0 MiB"),
            ("one run", "all"),
            ("levelled", "all"),
        ] {
            for asked in ["present", "absent"] {
                let time = nanos * [1.0, 1.02, 7.0][number % 3];
                figures.push(figure(contender, "get", asked, (shape, cache), 2_000_000, 16, time));
            }
        }
    }
    let load = json!({"processes": 0.02, "host": 0.01});
    json!({
        "command": "compare --quick --hbase --directory /a/long/path/without/any/space/in/it/at/all",
        "machine": {
            "processor": "A processor", "processors": 2, "memory_gib": 24.0, "kernel": "6.1.0",
            "load_before": 0.1, "load_after": 1.0, "transparent_huge_pages": "madvise"
        },
        "is_finished": true,
        "seconds": 300.0,
        "stages": [{"name": "equal bits: many files, read", "seconds": 300.0, "other_load": load}],
        "settings": ["many files: 16 overlapping files, never merged"],
        "figures": figures,
        "claims": claims(),
    })
}

fn figure(
    contender: &str,
    work: &str,
    asked: &str,
    (shape, cache): (&str, &str),
    rows: u64,
    files: u64,
    time: f64,
) -> Value {
    json!({
        "contender": contender, "engine": contender.split(',').next(), "work": work,
        "asked": asked, "shape": shape, "rows": rows, "files": files,
        "filter_bits_per_key": 10.0, "cache": cache, "threads": 1, "unit": "ns",
        "wall": [time * 0.9, time, time, time, time * 1.4], "cpu": [time, time, time, time, time],
        "reads": {
            "filter_checks": 16.0, "filter_negatives": 15.9, "false_positives": 0.1,
            "data_blocks": 0.01 * files as f64, "file_reads": 0.0, "file_bytes": 0.0,
            "file_reads_uncached": []
        }
    })
}

/// The ratios: ahead, behind and too close to call; goals held, missed and unresolved.
fn claims() -> Vec<Value> {
    let claim =
        |what: &str, theirs: &str, [low, median, high]: [f64; 3], limit: f64, verdict: &str| {
            let ours = [OURS_RIBBON, OURS_BLOOM];
            ours.map(|ours| {
                json!({
                    "what": what, "cache": "all", "ours": ours, "theirs": theirs,
                    "ratio": {"low": low, "median": median, "high": high},
                    "limit": limit, "verdict": verdict
                })
            })
        };
    let rocksdb = ROCKSDB_RIBBON_CLOCK;
    [
        claim("absent get, many files", rocksdb, [0.23, 0.24, 0.26], 0.2, "missed"),
        claim("bytes on disk, one run", rocksdb, [1.08, 1.09, 1.09], 1.1, "held"),
        claim("absent get, many files", FJALL, [0.2, 0.36, 0.5], 0.25, "unresolved"),
        claim("present get, levelled", REDB, [0.9, 1.1, 1.2], 0.9, "unresolved"),
        claim(
            "present get, many files, in HBase's JVM",
            HBASE,
            [0.004, 0.0042, 0.005],
            0.15,
            "held",
        ),
    ]
    .concat()
}
