//! Writes the cells of an HFile to a Parquet file, and prints how long it took.
//!
//! `cargo run --release -p hfile-arrow --example hfile_to_parquet -- IN.hfile OUT.parquet`

use std::fs::File;
use std::io::BufWriter;
use std::time::Instant;

use hfile_arrow::{BatchScan, ParquetCompression, ParquetFile};
use sstable::{FileName, Reader, ReaderOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(input), Some(output)) = (arguments.next(), arguments.next()) else {
        return Err("usage: hfile_to_parquet IN.hfile OUT.parquet".into());
    };
    let began = Instant::now();
    let reader = Reader::open_file(input, ReaderOptions::default())?;
    let batches = BatchScan::cells().raw(true).hfile(&reader)?;
    let (sink, name) = (BufWriter::new(File::create(&output)?), FileName::new(output));
    let mut file = ParquetFile::new(sink, name, batches.schema(), ParquetCompression::Snappy)?;
    let mut cells = 0;
    for read in batches {
        let batch = read?;
        cells += batch.num_rows();
        file.write(&batch)?;
    }
    file.finish()?;
    let seconds = began.elapsed().as_secs_f64();
    eprintln!("{cells} cells in {seconds:.2} s: {:.0} cells/s", cells as f64 / seconds);
    Ok(())
}
