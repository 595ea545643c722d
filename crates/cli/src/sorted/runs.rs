//! The sort options of the command line, and the sorted runs in a temporary directory.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::iter;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::Context;
use sstable::{
    BloomType, Cell, CellRef, Comparator, Compression, Error, FileName, Writer, WriterOptions,
};
use transfer::ScratchDirectory;

use super::merge::{Merge, MergedFamilies};
use crate::help::ADVANCED;
use crate::progress::Progress;
use crate::size_text::SizeText;
use transfer::Phase;

/// The maximum number of runs in one merge. Each needs an open file and memory for a block.
const MERGE_FAN_IN_MAX: usize = 64;

/// The sort options of the command line.
#[derive(clap::Args)]
pub(crate) struct SortOptions {
    /// Sort the cells before writing; without it, the input must be sorted
    #[arg(long, display_order = 2)]
    sort: bool,
    /// Keep at most this many bytes of cells in memory; temporary files take the rest
    #[arg(long, value_name = "SIZE", default_value = "256MiB", requires = "sort")]
    #[arg(help_heading = ADVANCED, hide_short_help = true)]
    sort_memory: SizeText,
    /// Write temporary files to this directory; they need one to two times the bytes of the cells
    /// [default: $TMPDIR, or /tmp]
    #[arg(long, value_name = "DIR", requires = "sort", value_hint = clap::ValueHint::DirPath)]
    #[arg(help_heading = ADVANCED, hide_short_help = true)]
    sort_directory: Option<PathBuf>,
}

/// An iterator over cells.
type Cells<'c> = Box<dyn Iterator<Item = sstable::Result<Cell>> + 'c>;

/// The cells in the order of the output, and the progress of the last phase.
pub(crate) struct Sorted<'c> {
    pub(crate) cells: Cells<'c>,
    /// The progress of reading the input, which goes on without `--sort`.
    pub(crate) reading: Option<Rc<dyn Phase>>,
    /// The progress of writing sorted cells; the caller advances it.
    pub(crate) writing: Option<Progress>,
}

impl<'c> Sorted<'c> {
    fn new(cells: impl Iterator<Item = sstable::Result<Cell>> + 'c, count: u64) -> Self {
        let writing = Some(Progress::new("writing", count));
        Self { cells: Box::new(cells), reading: None, writing }
    }
}

impl SortOptions {
    /// Returns whether `--sort` is given.
    pub(crate) const fn is_enabled(&self) -> bool {
        self.sort
    }

    /// Returns the cells sorted if `--sort` is given, else unchanged. Of equal cells, the later one of
    /// the input comes first.
    ///
    /// `progress` is that of reading the input. It shows when cells are
    /// sorted, and ends then.
    ///
    /// Errors about invalid cells name the file `name`, the input.
    pub(crate) fn sort<'c>(
        &self,
        cells: impl Iterator<Item = sstable::Result<Cell>> + 'c,
        order: Comparator,
        name: &FileName,
        progress: Rc<dyn Phase>,
    ) -> anyhow::Result<Sorted<'c>> {
        if !self.sort {
            let reading = Some(progress);
            return Ok(Sorted { cells: Box::new(cells), reading, writing: None });
        }
        let mut count = 0;
        let mut buffered: Vec<Cell> = Vec::new();
        let mut bytes = 0;
        let mut runs: Option<Runs> = None;
        for cell in cells {
            let cell = cell?;
            bytes += cell_bytes(&cell);
            buffered.push(cell);
            count += 1;
            if bytes > self.sort_memory.bytes() {
                let runs = match &mut runs {
                    Some(runs) => runs,
                    None => runs.insert(Runs::create(self.sort_directory.as_deref(), order, name)?),
                };
                progress.rename("sorting");
                runs.add(&mut buffered)?;
                progress.rename("reading");
                bytes = 0;
            }
        }
        progress.rename("sorting");
        let Some(mut runs) = runs else {
            sort(&mut buffered, order);
            drop(progress);
            return Ok(Sorted::new(buffered.into_iter().map(Ok), count));
        };
        runs.add(&mut buffered)?;
        drop((buffered, progress));
        Ok(Sorted::new(runs.merge(count)?, count))
    }
}

/// Estimates the memory of a buffered cell in bytes, without the overhead of the allocator.
pub(crate) fn cell_bytes(cell: &Cell) -> u64 {
    let parts = cell.as_ref();
    let bytes = parts.key().flat_len() + parts.value.len() + parts.tags.len();
    (bytes + size_of::<Cell>()) as u64
}

/// Compares by family, then in HBase's order by key, then by descending sequence id.
///
/// HBase's order begins with the row. Here the family comes first, because each family has its own
/// runs.
pub(super) fn compare(order: Comparator, a: &CellRef<'_>, b: &CellRef<'_>) -> Ordering {
    a.family
        .cmp(b.family)
        .then_with(|| order.compare(&a.key(), &b.key()))
        .then_with(|| b.sequence_id.cmp(&a.sequence_id))
}

/// Sorts cells; of equal ones, the later one comes first.
///
/// The input is a history: HBase's memstore keeps the cell that was written last, and a reader of a
/// file the first one. HBase: `CellSet.add`.
fn sort(cells: &mut [Cell], order: Comparator) {
    cells.reverse();
    cells.sort_by(|one, other| compare(order, &one.as_ref(), &other.as_ref()));
}

/// The sorted runs of all families, in a temporary directory.
struct Runs {
    directory: ScratchDirectory,
    /// The runs of each family, in the order of the input.
    families: BTreeMap<Vec<u8>, Vec<PathBuf>>,
    written_count: u64,
    order: Comparator,
    /// The name of the input, for error messages.
    name: FileName,
}

impl Runs {
    fn create(parent: Option<&Path>, order: Comparator, name: &FileName) -> anyhow::Result<Self> {
        let directory = ScratchDirectory::create(parent)?;
        let families = BTreeMap::new();
        Ok(Self { directory, families, written_count: 0, order, name: name.clone() })
    }

    /// Sorts the buffered cells, writes a run of each of their families, and empties the buffer.
    fn add(&mut self, buffered: &mut Vec<Cell>) -> anyhow::Result<()> {
        sort(buffered, self.order);
        let mut cells = buffered.drain(..).peekable();
        while let Some(first) = cells.peek() {
            let family = first.family().to_vec();
            let next_of_family = || cells.next_if(|cell| cell.family() == family).map(Ok);
            let run = self.write(iter::from_fn(next_of_family), None)?;
            self.families.entry(family).or_default().push(run);
        }
        Ok(())
    }

    /// Writes sorted cells of one family as a run.
    fn write(
        &mut self,
        cells: impl Iterator<Item = sstable::Result<Cell>>,
        progress: Option<&Progress>,
    ) -> anyhow::Result<PathBuf> {
        let path = self.directory.path().join(self.written_count.to_string());
        self.written_count += 1;
        let path_text = path.display().to_string();
        let file = File::create(&path).with_context(|| format!("{path_text}: cannot create"))?;
        let options = WriterOptions::default()
            .comparator(self.order)
            .compression(Compression::Lz4)
            .includes_tags(true)
            .bloom_type(BloomType::None)
            .delete_family_bloom(false);
        let mut writer = Writer::new(file, FileName::new(path_text), options)?;
        for cell in cells {
            writer.append(cell?.as_ref()).map_err(|error| match error {
                // The cell is invalid, so the error must name the input, not the run.
                Error::Invalid { what, .. } => Error::Invalid { file: self.name.clone(), what },
                error => error,
            })?;
            if let Some(progress) = progress {
                progress.advance(1);
            }
        }
        writer.finish()?;
        Ok(path)
    }

    /// Returns the merged cells of all families.
    ///
    /// A family with more than [`MERGE_FAN_IN_MAX`] runs is first reduced to fewer, longer runs.
    /// `count` is the number of all cells.
    fn merge(mut self, count: u64) -> anyhow::Result<MergedFamilies> {
        let mut families = std::mem::take(&mut self.families);
        let run_count_max = families.values().map(Vec::len).max().unwrap_or(0);
        let is_in_passes = run_count_max > MERGE_FAN_IN_MAX;
        // Each pass divides the number of runs by the fan-in; the last merge is part of the writing.
        let passes =
            iter::successors(Some(run_count_max), |runs| Some(runs.div_ceil(MERGE_FAN_IN_MAX)))
                .take_while(|runs| *runs > MERGE_FAN_IN_MAX);
        let steps = count.saturating_mul(passes.count() as u64);
        let progress = is_in_passes.then(|| Progress::new("merging", steps));
        for runs in families.values_mut() {
            while runs.len() > MERGE_FAN_IN_MAX {
                *runs = self.merge_groups(runs, progress.as_ref())?;
            }
        }
        Ok(MergedFamilies::new(families.into_values().collect(), self.order, self.directory))
    }

    /// Merges each group of [`MERGE_FAN_IN_MAX`] runs into one run, and removes the merged files.
    ///
    /// A group consists of adjacent runs, so that later ones stay later.
    fn merge_groups(
        &mut self,
        runs: &[PathBuf],
        progress: Option<&Progress>,
    ) -> anyhow::Result<Vec<PathBuf>> {
        let mut merged = Vec::new();
        for runs in runs.chunks(MERGE_FAN_IN_MAX) {
            merged.push(self.write(Merge::open(runs, self.order)?, progress)?);
            for run in runs {
                fs::remove_file(run)
                    .with_context(|| format!("{}: cannot remove", run.display()))?;
            }
        }
        Ok(merged)
    }
}

#[cfg(test)]
mod tests {
    use sstable::Timestamp;

    use super::*;

    /// With any memory limit. A caller that writes one file per family relies on this order: it has
    /// one file open at a time.
    #[test]
    fn the_cells_of_a_family_are_adjacent() {
        for memory in ["1MiB", "200"] {
            let cells: Vec<_> = (0..100_u8)
                .rev()
                .flat_map(|row| [[row, b'g'], [row, b'f']])
                .map(|[row, family]| {
                    CellRef::put(&[row], &[family], b"q", Timestamp::new(1), b"").to_cell()
                })
                .collect();
            let options = SortOptions {
                sort: true,
                sort_memory: memory.parse().expect("a size"),
                sort_directory: None,
            };
            let cells = Box::new(cells.into_iter().map(Ok));
            let progress = Rc::new(Progress::new("reading", 0));
            let name = FileName::new("cells");
            let sorted = options.sort(cells, Comparator::Bytes, &name, progress);
            let sorted = sorted.expect("there is room");
            let keys = sorted.cells.map(|cell| {
                let cell = cell.expect("it was written");
                [cell.family()[0], cell.row()[0]]
            });
            let expected = [b'f', b'g'].into_iter().flat_map(|f| (0..100).map(move |row| [f, row]));
            assert!(keys.eq(expected), "in {memory}");
        }
    }
}
