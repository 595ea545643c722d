//! Writes an HFile of generated rows, which HBase can bulk-load.
//!
//! ```text
//! cargo run -p hfile-sstable --example write -- FILE [ROWS]
//! ```

use std::env;
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;

use sstable::{
    BloomType, CellRef, Compression, DataBlockEncoding, FileName, Timestamp, Writer, WriterOptions,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let path = arguments.next().ok_or("usage: write FILE [ROWS]")?;
    let rows: u32 = arguments.next().map_or(Ok(1_000), |rows| rows.parse())?;

    let time = Timestamp::new(1_700_000_000_000);
    let options = WriterOptions::default()
        .compression(Compression::Lz4)
        .data_block_encoding(DataBlockEncoding::FastDiff)
        .bloom_type(BloomType::Row)
        .bulk_load(time);
    let file = BufWriter::new(File::create_new(&path)?);
    let mut writer = Writer::new(file, FileName::new(&*path), options)?;
    for number in 0..rows {
        let (row, value) = (format!("row{number:09}"), format!("value {number}"));
        writer.append(CellRef::put(row.as_bytes(), b"f", b"name", time, value.as_bytes()))?;
    }
    let (file, summary) = writer.finish()?;
    file.into_inner()?.sync_all()?;
    eprintln!("{path}: {} cells, {} bytes", summary.cell_count, summary.len);
    Ok(())
}
