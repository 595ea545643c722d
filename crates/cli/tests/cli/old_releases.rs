//! Files of HBase before 2.0, which state some things in another way.

use crate::command_line::{directory, json, path, run, shows, tells};

/// Files without cells of HBase 0.98 and 1.7, with their versions.
const EMPTY: [(&str, &str); 2] =
    [("../reports/empty-0.98-v2.hfile", "2.3"), ("../reports/empty-1.7-v3.hfile", "3.0")];

#[test]
fn a_file_without_cells_is_read_by_every_verb() {
    let directory = directory();
    for (file, version) in EMPTY {
        let info = json(&["info", "--json", file]);
        assert_eq!((&info["version"], &info["cells"]), (&version.into(), &0.into()));
        assert_eq!(info["trailer"]["last_data_block_offset"], serde_json::Value::Null);
        let class = "org.apache.hadoop.hbase.KeyValue$KeyComparator";
        assert_eq!(info["trailer"]["comparator_class_name"], class);
        shows(0, &["verify", file]).has(": sound, ");
        run(0, &["layout", file]);
        run(0, &["stats", file]);
        assert_eq!(run(0, &["cat", "--format", "cells", file]).0, "");
        tells(1, &["get", file, "row"]).has("row not found: row");
        shows(1, &["find", file, "row"]).has("no: it has no cells");
        let out = |name: &str| path(&directory, &format!("{name}-{version}"));
        let (salvaged, written, filtered) = (out("salvaged"), out("written"), out("filtered"));
        run(0, &["salvage", file, "--output", &salvaged]);
        run(0, &["recompress", file, "--output", &written]);
        run(0, &["filter", "rebuild", "--kind", "blocked-bloom", file, "--output", &filtered]);
        run(0, &["export", "--to", "csv", "--output", &out("csv"), file]);
        for copy in [&salvaged, &written, &filtered] {
            shows(0, &["verify", copy]).has(": sound, ");
            shows(0, &["diff", file, copy]).has("the same 0 cells");
        }
    }
}
