//! The counters of a store as `metrics`, for the recorder of the program.

use metrics::{counter, gauge};
use sstable::{BlockKind, BlockSource};

use crate::stats::{FamilyStats, Stats};

impl Stats {
    /// Sets the metrics of a store, labelled `store`.
    ///
    /// A program calls it at intervals, or before its recorder is read; the example `prometheus` of this crate
    /// serves them. The sums begin at zero when the store is opened, and a counter of a recorder never decreases: give
    /// each opening in a process a label of its own. The gauges of a dropped family keep their last values.
    ///
    /// | metric                            | kind    | labels beside `store` and `family`       |
    /// |-----------------------------------|---------|------------------------------------------|
    /// | `store_gets`                      | counter |                                          |
    /// | `store_blocks`, `store_block_bytes` | counter | `kind`: data, index, bloom, meta; `source`: cache, file |
    /// | `store_files_considered`          | counter |                                          |
    /// | `store_files_skipped`             | counter | `by`: range, time, filter, map           |
    /// | `store_filter_checks`, `store_filter_false_positives` | counter |                      |
    /// | `store_files`, `store_file_bytes` | gauge   |                                          |
    /// | `store_memstore_bytes`, `store_memstore_cells` | gauge |                               |
    /// | `store_map_bytes`                 | gauge   |                                          |
    ///
    /// Without `family`:
    ///
    /// | metric                            | kind    | labels beside `store`                    |
    /// |-----------------------------------|---------|------------------------------------------|
    /// | `store_flushes`, `store_compactions`, `store_compactions_failed` | counter |           |
    /// | `store_compaction_bytes`          | counter | `direction`: read, written               |
    /// | `store_log_bytes`                 | counter |                                          |
    /// | `store_write_stalls`              | counter |                                          |
    /// | `store_write_stall_seconds`       | gauge   | the sum since the store was opened       |
    /// | `store_cache_bytes`               | gauge   | `part`: capacity, blocks, filters        |
    /// | `store_snapshots`, `store_oldest_snapshot_seconds` | gauge |                           |
    /// | `store_kept_bytes`                | gauge   | `part`: files, memstores; only reads still use them |
    ///
    /// ```
    /// use store::{FamilyOptions, Store, StoreOptions};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// let store = Store::open(directory.path(), StoreOptions::default())?;
    /// store.create_family("f", FamilyOptions::default())?;
    /// store.stats().record_metrics("users"); // For the recorder that `metrics::set_global_recorder` set.
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn record_metrics(&self, store: &str) {
        let store = store.to_owned();
        for family in &self.families {
            family.record_metrics(&store);
        }
        let sums = [
            ("store_flushes", self.flushes),
            ("store_compactions", self.compactions),
            ("store_compactions_failed", self.compactions_failed),
            ("store_log_bytes", self.log_bytes),
            ("store_write_stalls", self.write_stalls),
        ];
        for (name, sum) in sums {
            counter!(name, "store" => store.clone()).absolute(sum);
        }
        let compacted =
            [("read", self.compaction_read_bytes), ("written", self.compaction_written_bytes)];
        for (direction, bytes) in compacted {
            counter!("store_compaction_bytes", "store" => store.clone(), "direction" => direction)
                .absolute(bytes);
        }
        gauge!("store_write_stall_seconds", "store" => store.clone())
            .set(self.write_stall_time.as_secs_f64());
        let cache = [
            ("capacity", self.cache.capacity_bytes),
            ("blocks", self.cache.block_bytes),
            ("filters", self.cache.reserved_bytes),
        ];
        let snapshots = &self.snapshots;
        gauge!("store_snapshots", "store" => store.clone()).set(snapshots.open as f64);
        gauge!("store_oldest_snapshot_seconds", "store" => store.clone())
            .set(snapshots.oldest.unwrap_or_default().as_secs_f64());
        let kept = [("files", snapshots.file_bytes), ("memstores", snapshots.memstore_bytes)];
        for (part, bytes) in kept {
            gauge!("store_kept_bytes", "store" => store.clone(), "part" => part).set(bytes as f64);
        }
        for (part, bytes) in cache {
            gauge!("store_cache_bytes", "store" => store.clone(), "part" => part).set(bytes as f64);
        }
    }
}

impl FamilyStats {
    fn record_metrics(&self, store: &str) {
        let labels = || [("store", store.to_owned()), ("family", self.name.clone())];
        let reads = &self.reads;
        let sums = [
            ("store_gets", self.gets),
            ("store_files_considered", reads.files_considered),
            ("store_filter_checks", reads.filter_checks),
            ("store_filter_false_positives", reads.filter_false_positives),
        ];
        for (name, sum) in sums {
            counter!(name, &labels()).absolute(sum);
        }
        let skipped = [
            ("range", reads.files_skipped_by_range),
            ("time", reads.files_skipped_by_time),
            ("filter", reads.files_skipped_by_filter),
            ("map", reads.files_skipped_by_map),
        ];
        for (by, files) in skipped {
            let [store, family] = labels();
            counter!("store_files_skipped", &[store, family, ("by", by.to_owned())])
                .absolute(files);
        }
        for kind in BlockKind::ALL {
            for source in BlockSource::ALL {
                let [store, family] = labels();
                let (kind_name, source_name) = (kind.name().to_owned(), source.name().to_owned());
                let labels = [store, family, ("kind", kind_name), ("source", source_name)];
                counter!("store_blocks", &labels).absolute(reads.blocks(kind, source));
                counter!("store_block_bytes", &labels).absolute(reads.bytes(kind, source));
            }
        }
        let sizes = [
            ("store_files", self.files),
            ("store_file_bytes", self.file_bytes),
            ("store_memstore_bytes", self.memstore_bytes),
            ("store_memstore_cells", self.memstore_cells),
            ("store_map_bytes", self.map.map_or(0, |map| map.bytes)),
        ];
        for (name, size) in sizes {
            gauge!(name, &labels()).set(size as f64);
        }
    }
}
