//! `Source.splits` and `Split`: parts of a scan that other processes read.

use std::sync::Arc;

use hbase_files::{FileTree, LocalTree, MissingCells};
use hfile_arrow::BatchSplit;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arguments::Bytes;
use crate::contents::Contents;
use crate::detached::detached;
use crate::failure::Failure;
use crate::request::Request;
use crate::scan::{Origin, Scan};

/// A part of a scan that another process can read: the rows of a region, or some of them.
///
/// :meth:`Source.splits` makes splits. The splits of a scan together return each of its rows once. A split
/// holds the names of the region's files and all arguments of the scan, and no open file. It can be pickled;
/// the process that reads it must see the files at the same paths. Files that HBase moves to its archive
/// meanwhile are found there.
///
/// >>> import pyhfile, pickle
/// >>> table = pyhfile.open_snapshot("rootdir", "s4")
/// >>> splits = table.splits(types={"f1:a": "string"}, target_bytes=20_000)
/// >>> split = pickle.loads(pickle.dumps(splits[0]))
/// >>> split.start, split.stop == splits[1].start
/// (b'', True)
/// >>> sum(split.scan().read_all().num_rows for split in splits) == table.scan(types={"f1:a": "string"}).count()
/// True
///
/// :param data: the bytes of a split, ``bytes(split)``.
/// :raises ValueError: if they are damaged, or of another version of this package.
#[pyclass(frozen, module = "pyhfile")]
pub(crate) struct Split {
    split: BatchSplit,
}

/// The splits of a scan, and what none of them has because it is damaged.
pub(crate) struct Splits {
    pub(crate) splits: Vec<Split>,
    pub(crate) missing: Vec<MissingCells>,
}

impl Splits {
    /// Divides a scan.
    ///
    /// # Errors
    ///
    /// If the source has no splits, does not have what is asked for, or cannot be read.
    pub(crate) fn new(
        contents: &Contents,
        request: &Request,
        target_len: Option<u64>,
    ) -> Result<Self, Failure> {
        contents.check(request)?;
        let scan = &request.scan;
        let (splits, missing) = match contents {
            Contents::HFile(file) => {
                file.reader()?;
                let tree: Arc<dyn FileTree> = Arc::new(LocalTree);
                (scan.hfile_splits(&tree, &file.path, target_len)?, Vec::new())
            }
            Contents::Table(table) => {
                let plan = scan.table_splits(table, &request.reading, target_len)?;
                (plan.splits, plan.missing)
            }
            Contents::Store { .. } => {
                let what = "splits are of HFiles, tables and snapshots, not of a store";
                return Err(Failure::invalid(what));
            }
            Contents::Split(_) => unreachable!("a split is no source in Python"),
        };
        Ok(Self { splits: splits.into_iter().map(|split| Split { split }).collect(), missing })
    }
}

#[pymethods]
impl Split {
    /// Make a split of its bytes.
    #[new]
    fn new(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        let split = detached(py, || {
            BatchSplit::from_bytes(data, Arc::new(LocalTree))
                .map_err(|error| Failure::invalid(error.to_string()))
        })?;
        Ok(Self { split })
    }

    /// Prepare the scan of the split, with the arguments that :meth:`Source.splits` got.
    ///
    /// Its ``data_blocks`` counts the blocks that were read.
    fn scan(slf: &Bound<'_, Self>) -> PyResult<Scan> {
        let split = &slf.get().split;
        let contents = Arc::new(Contents::Split(Box::new(split.clone())));
        let origin = Origin::Split(slf.clone().into_any().unbind());
        Scan::new(&contents, Request::of_split(split), origin)
    }

    /// Return the parts of the split that have some ranges of rows, without a look at its files.
    ///
    /// For rows that are known after a source was divided, such as the rows of a list. Ranges without rows of
    /// the split have no part. ``estimated_bytes`` of a part is the estimate for the split.
    ///
    /// >>> import pyhfile
    /// >>> [split] = pyhfile.open_snapshot("rootdir", "s4").splits(stop="row-00700")
    /// >>> [(part.start, part.stop) for part in split.within([("row-00100", "row-00200"), (b"row-00800", None)])]
    /// [(b'row-00100', b'row-00200')]
    ///
    /// :param ranges: the first row of each, and the row before which it ends; None for the end of the split.
    fn within(&self, ranges: Vec<(Bytes, Option<Bytes>)>) -> Vec<Self> {
        let part = |(Bytes(start), stop): (Bytes, Option<Bytes>)| {
            let stop = stop.as_ref().map(|Bytes(stop)| &stop[..]);
            self.split.within(&start, stop).map(|split| Self { split })
        };
        ranges.into_iter().filter_map(part).collect()
    }

    /// The encoded name of the region; None for an HFile.
    #[getter]
    fn region(&self) -> Option<&str> {
        self.split.cells().region().map(|region| region.name().as_str())
    }

    /// The path of the HFile; None for a region.
    #[getter]
    fn path(&self) -> Option<String> {
        self.split.cells().file().map(|path| path.display().to_string())
    }

    /// The first row that the split can have; empty for the first of all.
    #[getter]
    fn start<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.split.cells().start())
    }

    /// The row before which the split ends; None if it ends with the source.
    #[getter]
    fn stop<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.split.cells().stop().map(|row| PyBytes::new(py, &row))
    }

    /// About how many bytes of files the split reads, if it reads all columns.
    #[getter]
    fn estimated_bytes(&self) -> u64 {
        self.split.cells().estimated_bytes()
    }

    /// Return the bytes of the split; ``Split`` makes it again from them.
    fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.split.to_bytes().map_err(|error| Failure::invalid(error.to_string()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Return what pickle stores.
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.get_type().into_any(), (slf.get().__bytes__(slf.py())?,)))
    }

    /// Return the region or file, and the rows.
    fn __repr__(&self) -> String {
        let cells = self.split.cells();
        let file = cells.file().map(|path| path.display().to_string());
        let region = cells.region().map(|region| format!("region {}", region.name()));
        let place = region.or(file).unwrap_or_default();
        let start = cells::escape(&cells.start()).to_string();
        let stop = cells.stop().map(|row| cells::escape(&row).to_string()).unwrap_or_default();
        format!(
            "<pyhfile.Split {place}, rows [{start}, {stop}), {} bytes>",
            cells.estimated_bytes()
        )
    }
}
