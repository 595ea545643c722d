//! Runs SQL over a snapshot in a root directory of HBase.
//!
//! ```sh
//! cargo run --example snapshot -- ROOT SNAPSHOT "SELECT count(*) FROM cells" [FAMILY:QUALIFIER=TYPE ...]
//! ```
//!
//! The table `cells` has a row for each cell. With columns, the table `rows` has a row for each row with
//! a value in one of them.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use cells::ValueType;
use datafusion::prelude::SessionContext;
use hbase_files::{LocalTree, RootDirectory, TableScan};
use hfile_arrow::PivotColumn;
use hfile_datafusion::TableOptions;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [root, snapshot, sql, columns @ ..] = &arguments[..] else {
        return Err("usage: snapshot ROOT SNAPSHOT SQL [FAMILY:QUALIFIER=TYPE ...]".into());
    };
    let root = RootDirectory::open(Arc::new(LocalTree), Path::new(root))?;
    let table = root.snapshot(snapshot)?.table;
    let reading = TableScan::default();

    let context = SessionContext::new();
    let cells = TableOptions::cells().row_type(ValueType::String).table(&table, &reading)?;
    context.register_table("cells", Arc::new(cells))?;
    if !columns.is_empty() {
        let columns = columns.iter().map(|column| column.parse::<PivotColumn>());
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let rows = TableOptions::pivot(columns).row_type(ValueType::String);
        context.register_table("rows", Arc::new(rows.table(&table, &reading)?))?;
    }
    context.sql(sql).await?.show().await?;
    Ok(())
}
