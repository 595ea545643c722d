//! The Python package `pyhfile`: Apache HBase's files, snapshots, tables and stores, read from Python; HFiles, written.
//!
//! ```text
//! open_hfile, open_snapshot, open_table, open_store
//!     └ Source                 HFile, Table, Snapshot, Store: what they are, and what they hold
//!         ├ scan → Scan        Arrow's C stream: pyarrow, polars, DuckDB; each stream is a new scan
//!         ├ cells → CellIterator
//!         ├ get                the cells of one row
//!         └ splits → Split       a part of a scan, which another process reads
//!              └ scan → Scan
//! write_hfiles                 Arrow's C stream → cells → sorted → HFiles for HBase's bulk load
//! split_points                 rows that divide a source into equal parts
//! ```
//!
//! The module is `pyhfile._hfile`. The Python files of the package, in `python/pyhfile`, add the exceptions, the
//! named tuples and the types of everything. Functions read files without the lock of the interpreter
//! ([`detached`]).

mod arguments;
mod causes;
mod cell_iterator;
mod column_names;
mod contents;
mod detached;
mod failure;
mod file_options;
mod hfile;
mod interrupt;
mod losses;
mod pickling;
mod request;
mod root;
mod scan;
mod source;
mod split;
mod split_points;
mod store_object;
mod stream;
mod table;
mod writing;
mod writing_failures;

use pyo3::pymodule;

/// The compiled part of the package `pyhfile`.
#[pymodule]
mod _hfile {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::cell_iterator::CellIterator;
    #[pymodule_export]
    use crate::hfile::{HFile, open_hfile};
    #[pymodule_export]
    use crate::root::{list_snapshots, list_tables};
    #[pymodule_export]
    use crate::scan::{BatchIterator, Scan};
    #[pymodule_export]
    use crate::source::Source;
    #[pymodule_export]
    use crate::split::Split;
    #[pymodule_export]
    use crate::split_points::split_points;
    #[pymodule_export]
    use crate::store_object::{Store, open_store};
    #[pymodule_export]
    use crate::table::{Snapshot, Table, open_snapshot, open_table};
    #[pymodule_export]
    use crate::writing::write_hfiles;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
