//! Sorting in memory, and sorted runs in a temporary directory.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::iter;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use sstable::{BloomType, Cell, Comparator, Compression, Error, FileName, Writer, WriterOptions};

use super::buffer::Buffer;
use super::merge::{Merge, MergedFamilies};
use super::order::check_cancelled;
use super::sorted_cells::Sorted;
use crate::error::{Doing, Result};
use crate::progress::{Extent, Observer, Phase};
use crate::temporary::ScratchDirectory;

/// The maximum number of runs in one merge. Each needs an open file and memory for a block.
const MERGE_FAN_IN_MAX: usize = 64;

/// The maximum size of the cells in memory, in bytes, and the directory of the runs.
#[derive(Clone, Copy)]
pub(super) struct Limits<'d> {
    pub(super) memory: u64,
    /// The directory of temporary files; the system's if `None`.
    pub(super) directory: Option<&'d Path>,
}

/// Sorts cells of any order; of equal ones, the later one of the input comes first.
///
/// `reading` is the progress of reading the input: "sorting" while a run is sorted; it ends before the merge. Errors
/// about invalid cells name the file `name`, the input.
pub(super) fn sort<'c>(
    cells: impl Iterator<Item = Result<Cell>>,
    limits: Limits<'_>,
    order: Comparator,
    name: &FileName,
    reading: Rc<dyn Phase>,
    observer: &dyn Observer,
) -> Result<Sorted<'c>> {
    let mut count = 0;
    let mut buffered = Buffer::default();
    let mut bytes = 0;
    let mut on_disk: Option<Runs> = None;
    for read in cells {
        check_cancelled(observer)?;
        let cell = read?;
        bytes += cell_bytes(&cell);
        buffered.push(cell);
        count += 1;
        if bytes > limits.memory {
            let runs = match &mut on_disk {
                Some(runs) => runs,
                None => on_disk.insert(Runs::create(limits.directory, order, name)?),
            };
            reading.rename("sorting");
            runs.add(std::mem::take(&mut buffered), observer)?;
            reading.rename("reading");
            bytes = 0;
        }
    }
    reading.rename("sorting");
    let Some(mut runs) = on_disk else {
        let sorted = buffered.into_sorted(order, observer)?;
        drop(reading);
        return Ok(Sorted::all(sorted.map(Ok), count, observer));
    };
    runs.add(buffered, observer)?;
    drop(reading);
    let merged = runs.merge(count, observer)?;
    Ok(Sorted::all(merged.map(|cell| Ok(cell?)), count, observer))
}

/// Estimates the memory of a buffered cell in bytes, without the overhead of the allocator.
pub fn cell_bytes(cell: &Cell) -> u64 {
    let parts = cell.as_ref();
    let bytes = parts.key().flat_len() + parts.value.len() + parts.tags.len();
    (bytes + size_of::<Cell>()) as u64
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
    fn create(parent: Option<&Path>, order: Comparator, name: &FileName) -> Result<Self> {
        let directory = ScratchDirectory::create(parent)?;
        let families = BTreeMap::new();
        Ok(Self { directory, families, written_count: 0, order, name: name.clone() })
    }

    /// Sorts the buffered cells, and writes a run of each of their families.
    fn add(&mut self, buffered: Buffer, observer: &dyn Observer) -> Result<()> {
        let mut cells = buffered.into_sorted(self.order, observer)?.peekable();
        while let Some(first) = cells.peek() {
            let family = first.family().to_vec();
            let of_family = iter::from_fn(|| cells.next_if(|cell| cell.family() == family).map(Ok));
            let run = self.write(of_family, None, observer)?;
            self.families.entry(family).or_default().push(run);
        }
        Ok(())
    }

    /// Writes sorted cells of one family as a run.
    fn write(
        &mut self,
        cells: impl Iterator<Item = sstable::Result<Cell>>,
        progress: Option<&dyn Phase>,
        observer: &dyn Observer,
    ) -> Result<PathBuf> {
        let path = self.directory.path().join(self.written_count.to_string());
        self.written_count += 1;
        let path_text = path.display().to_string();
        let file = File::create(&path).doing("create", &path)?;
        let options = WriterOptions::default()
            .comparator(self.order)
            .compression(Compression::Lz4)
            .includes_tags(true)
            .bloom_type(BloomType::None)
            .delete_family_bloom(false);
        let mut writer = Writer::new(file, FileName::new(path_text), options)?;
        for cell in cells {
            check_cancelled(observer)?;
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
    fn merge(mut self, count: u64, observer: &dyn Observer) -> Result<MergedFamilies> {
        let mut families = std::mem::take(&mut self.families);
        let run_count_max = families.values().map(Vec::len).max().unwrap_or(0);
        let is_in_passes = run_count_max > MERGE_FAN_IN_MAX;
        // Each pass divides the number of runs by the fan-in; the last merge is part of the writing.
        let passes =
            iter::successors(Some(run_count_max), |runs| Some(runs.div_ceil(MERGE_FAN_IN_MAX)))
                .take_while(|runs| *runs > MERGE_FAN_IN_MAX);
        let steps = count.saturating_mul(passes.count() as u64);
        let progress = is_in_passes.then(|| observer.begin("merging", Extent::Steps(steps)));
        for runs in families.values_mut() {
            while runs.len() > MERGE_FAN_IN_MAX {
                *runs = self.merge_groups(runs, progress.as_deref(), observer)?;
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
        progress: Option<&dyn Phase>,
        observer: &dyn Observer,
    ) -> Result<Vec<PathBuf>> {
        let mut merged = Vec::new();
        for runs in runs.chunks(MERGE_FAN_IN_MAX) {
            merged.push(self.write(Merge::open(runs, self.order)?, progress, observer)?);
            for run in runs {
                fs::remove_file(run).doing("remove", run)?;
            }
        }
        Ok(merged)
    }
}

#[cfg(test)]
mod tests {
    use sstable::{CellRef, Timestamp};

    use super::*;

    /// With any memory limit. A caller that writes one file per family relies on this order: it has
    /// one file open at a time.
    #[test]
    fn the_cells_of_a_family_are_adjacent() {
        for memory in [1 << 20, 200] {
            let cells: Vec<_> = (0..100_u8)
                .rev()
                .flat_map(|row| [[row, b'g'], [row, b'f']])
                .map(|[row, family]| {
                    CellRef::put(&[row], &[family], b"q", Timestamp::new(1), b"").to_cell()
                })
                .collect();
            let limits = Limits { memory, directory: None };
            let input = cells.into_iter().map(Ok);
            let name = FileName::new("cells");
            let sorted = sort(input, limits, Comparator::Bytes, &name, Rc::new(()), &())
                .expect("there is room");
            let keys = sorted.cells.map(|read| {
                let cell = read.expect("it was written");
                [cell.family()[0], cell.row()[0]]
            });
            let expected = [b'f', b'g'].into_iter().flat_map(|f| (0..100).map(move |row| [f, row]));
            assert!(keys.eq(expected), "in {memory}");
        }
    }
}
