//! `split_points`: rows that divide a source into equal parts.

use hbase_files::{Region, StoreFileReader, split_rows};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use sstable::{FileName, ReaderOptions};

use crate::contents::Contents;
use crate::detached::detached;
use crate::failure::Failure;
use crate::source::Source;

/// Return rows that divide a source into ``n`` parts of about the same size.
///
/// They are ``splits`` for :func:`pyhfile.write_hfiles` and for a new table of HBase, or the bounds of parts that are
/// scanned in parallel: the first part ends before the first row. Only the indexes of the files are read. There are
/// fewer than n - 1 rows if the source has too few data blocks. The regions that a table has now are ``table.region_splits``.
///
/// >>> import pyhfile
/// >>> table = pyhfile.open_snapshot("rootdir", "s4")
/// >>> len(pyhfile.split_points(table, 4))
/// 3
///
/// :param source: an HFile, a table or a snapshot.
/// :param n: the number of parts, at least 1.
/// :raises pyhfile.Error: if a file cannot be read.
#[pyfunction]
pub(crate) fn split_points<'py>(
    py: Python<'py>,
    source: &Bound<'py, Source>,
    n: usize,
) -> PyResult<Bound<'py, PyList>> {
    let contents = &source.get().contents;
    let rows = detached(py, || {
        if n == 0 {
            return Err(Failure::invalid("n must be at least 1"));
        }
        match &**contents {
            Contents::HFile(file) => Ok(split_rows([Ok(file.reader()?)], n)?),
            Contents::Table(table) => {
                let files = table.regions.iter().flat_map(Region::files).map(|file| {
                    let location = file.locate(&**table.tree())?;
                    let name = FileName::new(location.path.display().to_string());
                    let options = ReaderOptions::default();
                    StoreFileReader::open(&**table.tree(), &location, name, options)
                });
                Ok(split_rows(files, n)?)
            }
            Contents::Store { .. } | Contents::Split(_) => Err(Failure::invalid(
                "split_points is for HFiles, tables and snapshots, not a store",
            )),
        }
    })?;
    PyList::new(py, rows.iter().map(|row| PyBytes::new(py, row)))
}
