//! Prints the cells of one row of an HFile, or of all rows.
//!
//! ```text
//! cargo run -p hfile-sstable --example read -- FILE [ROW]
//! ```

use std::env;
use std::error::Error;
use std::io::{self, BufWriter, Write};

use filter::Seed;
use sstable::{ReadTrace, Reader, ReaderOptions, RowProbe};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let path = arguments.next().ok_or("usage: read FILE [ROW]")?;
    let row = arguments.next();

    let reader = Reader::open_file(path, ReaderOptions::default())?;
    let mut trace = ReadTrace::default();
    let mut scanner = if let Some(row) = &row {
        let probe = RowProbe::new(row.as_bytes(), Seed::default());
        let Some(scanner) = reader.get_row(&probe, &mut trace)? else {
            eprintln!("no such row; {} data blocks were read", trace.data_blocks());
            return Ok(());
        };
        scanner
    } else {
        let mut scanner = reader.bulk_scanner();
        scanner.seek_to_first()?;
        scanner
    };

    let mut output = BufWriter::new(io::stdout().lock());
    while let Some(cell) = scanner.cell()
        && row.as_ref().is_none_or(|row| cell.row == row.as_bytes())
    {
        writeln!(output, "{cell:?} {}", cell.value.escape_ascii())?;
        scanner.advance()?;
    }
    output.flush()?;
    trace.add(scanner.trace());
    eprintln!("{} data blocks were read", trace.data_blocks());
    Ok(())
}
