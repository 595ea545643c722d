//! Prints the cells of one row of an HFile, or of all rows.
//!
//! ```text
//! cargo run -p hfile-sstable --example read -- FILE [ROW]
//! ```

use std::env;
use std::error::Error;
use std::io::{self, BufWriter, Write};

use sstable::{Reader, ReaderOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let path = arguments.next().ok_or("usage: read FILE [ROW]")?;
    let reader = Reader::open_file(path, ReaderOptions::default())?;
    let mut output = BufWriter::new(io::stdout().lock());

    let trace = if let Some(row) = arguments.next() {
        let mut cells = reader.row(row.as_bytes())?;
        while let Some(cell) = cells.cell() {
            writeln!(output, "{cell:?} {}", cell.value.escape_ascii())?;
            cells.advance()?;
        }
        cells.trace()
    } else {
        let mut scanner = reader.bulk_scanner();
        scanner.seek_to_first()?;
        while let Some(cell) = scanner.cell() {
            writeln!(output, "{cell:?} {}", cell.value.escape_ascii())?;
            scanner.advance()?;
        }
        scanner.take_trace()
    };
    output.flush()?;
    eprintln!("{} data blocks were read", trace.data_blocks());
    Ok(())
}
