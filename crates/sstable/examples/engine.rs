//! HFiles in an engine of your own: files with filters, and rows looked up newest first.
//!
//! ```text
//! cargo run -p hfile-sstable --example engine -- DIRECTORY
//! ```

use std::env;
use std::error::Error;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;

use filter::{ErrorRate, FilterKind, Seed, Sizing};
use sstable::lookup::{LookupFiles, LookupLimits, RowLookup};
use sstable::{
    BlockCache, BloomType, CellRef, FileName, FilterOptions, ReadTrace, Reader, ReaderOptions,
    RowProbe, Timestamp, Writer, WriterOptions,
};

/// An engine with one column, of which a read shows the newest value.
struct Engine {
    directory: PathBuf,
    /// Shared by the filters of all files, so that a lookup hashes its row once.
    seed: Seed,
    cache: Arc<BlockCache>,
    files: LookupFiles,
}

impl Engine {
    /// Writes a file of sorted rows, whose values are newer than those of all files before.
    fn add_file(
        &mut self,
        name: &str,
        time: Timestamp,
        rows: &[(&str, &str)],
    ) -> Result<(), Box<dyn Error>> {
        let sizing = Sizing::ErrorRate(ErrorRate::new(0.01)?);
        let filter = FilterOptions::new(FilterKind::BlockedBloom, sizing).seed(self.seed);
        // HBase's own filter is only needed if HBase is to read the file.
        let options = WriterOptions::default().filter(filter).bloom_type(BloomType::None);
        let path = self.directory.join(name);
        let file = BufWriter::new(File::create_new(&path)?);
        let mut writer = Writer::new(file, FileName::new(name), options)?;
        for (row, value) in rows {
            let cell = CellRef::put(row.as_bytes(), b"f", b"born", time, value.as_bytes());
            writer.append(cell)?;
        }
        let (file, _) = writer.finish()?;
        file.into_inner()?.sync_all()?;

        let options = ReaderOptions::default().cache(Arc::clone(&self.cache));
        let reader = Reader::open_file(&path, options)?;
        let mut newest_first = vec![reader.lookup_file().times(time, time)];
        newest_first.extend_from_slice(&self.files);
        self.files = LookupFiles::new(newest_first)?;
        Ok(())
    }

    /// Returns the newest value of a row, and what the lookup read.
    fn get(&self, row: &str) -> sstable::Result<(Option<Vec<u8>>, ReadTrace)> {
        let probe = RowProbe::new(row.as_bytes(), self.seed);
        let mut lookup = RowLookup::new(&self.files, &probe, LookupLimits::default());
        // The first file that has the row has its newest value: older files are not searched.
        let value = lookup.next_file()?.map(|found| found.cell().value.to_vec());
        Ok((value, *lookup.trace()))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = PathBuf::from(env::args().nth(1).ok_or("usage: engine DIRECTORY")?);
    fs::create_dir_all(&directory)?;
    let (cache, files) = (Arc::new(BlockCache::new(64 << 20)), LookupFiles::default());
    let mut engine = Engine { directory, seed: Seed::random(), cache, files };
    engine.add_file("1.hfile", Timestamp::new(1), &[("ada", "1815"), ("grace", "1905")])?;
    engine.add_file("2.hfile", Timestamp::new(2), &[("alan", "1912"), ("grace", "1906")])?;

    let mut output = io::stdout().lock();
    for row in ["ada", "alan", "grace", "nobody"] {
        let (value, trace) = engine.get(row)?;
        let value = value.map_or("absent".into(), |value| value.escape_ascii().to_string());
        let (asked, blocks) = (trace.filter_checks, trace.data_blocks());
        writeln!(output, "{row}: {value}; {asked} filters asked, {blocks} data blocks read")?;
    }
    Ok(())
}
