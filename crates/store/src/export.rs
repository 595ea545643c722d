//! A family laid out as HBase's bulk load takes it.
//!
//! ```text
//! OUT/FAMILY/…    HFiles, each with the rows of one region; 32 hex digits each
//! ```
//!
//! All cells of one bulk load get one age, so that of equal keys in two files neither would win.
//! Memstores and files are therefore merged, and cut only where a region ends: what is hidden by a
//! newer version goes as in a compaction, and delete markers stay, for the table may hold older
//! cells. Where the store has sequence ids the files have none: HBase gives them its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sstable::{Caching, CellRef, FileName, KeyRef, SequenceId, Writer};

use crate::error::{Error, Result};
use crate::filters::filter_of_leaving;
use crate::identity::random_name;
use crate::merge::{MemoryCursor, Merge, Source};
use crate::new_file::{FilePurpose, Sink, writer_options};
use crate::read::ReadView;
use crate::rules::{Rules, Verdict};
use crate::store::Inner;
use crate::store_file::FileCursor;
use crate::version::FamilyVersion;

/// Marks a file for HBase as one for bulk load; the value is a time.
const BULK_LOAD_TIME: &str = "BULKLOAD_TIMESTAMP";

/// What an export wrote.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Export {
    /// The files, family by family in the order of their rows.
    pub files: Vec<PathBuf>,
    /// Cells in them, delete markers too.
    pub cells: u64,
}

/// An HFile of an export that is being written.
struct Part {
    path: PathBuf,
    writer: Writer<Sink>,
}

impl Inner {
    /// Writes all families into `out`, cut before each row of `splits`.
    pub(crate) fn export(&self, out: &Path, splits: &[Vec<u8>]) -> Result<Export> {
        if !splits.is_sorted_by(|left, right| left < right) {
            return Err(Error::invalid("rows to split at ascend, and each is given once"));
        }
        let view = self.view();
        let mut export = Export::default();
        for family in &view.version.families {
            self.export_family(&view, family, out, splits, &mut export)?;
        }
        Ok(export)
    }

    fn export_family(
        &self,
        view: &ReadView,
        family: &FamilyVersion,
        out: &Path,
        splits: &[Vec<u8>],
        export: &mut Export,
    ) -> Result<()> {
        let directory = out.join(&family.family.name);
        self.vfs.create_directory(&directory).map_err(Error::io(&directory, "create"))?;
        if !self.vfs.list(&directory).map_err(Error::io(&directory, "list"))?.is_empty() {
            let shown = directory.display();
            return Err(Error::invalid(format!("{shown}: has files already; export elsewhere")));
        }
        let memstores = family.memstores();
        let mut sources: Vec<_> = memstores
            .map(|memstore| Source::Memory(MemoryCursor::new(Arc::clone(memstore), view.visible)))
            .collect();
        let files = family.files.by_sequence();
        sources.extend(
            files.map(|file| Source::File(Box::new(FileCursor::new(file, Caching::Bypass)))),
        );
        let mut cells = Merge::new(sources, KeyRef::before_row(b""))?;
        let mut rules = Rules::for_rewrite(&family.family.options, view.now());
        let (mut part, mut last) = (None::<Part>, None::<sstable::Cell>);
        let mut splits = splits.iter().peekable();
        while let Some(cell) = cells.cell() {
            // The same marker in two files, or twice in one: without sequence ids they are equal.
            let is_known = last.as_ref().is_some_and(|last| last.as_ref().key() == cell.key());
            if rules.judge(&cell) == Verdict::Include && !is_known {
                if splits.next_if(|split| &split[..] <= cell.row).is_some() {
                    while splits.next_if(|split| &split[..] <= cell.row).is_some() {}
                    Self::finish_part(part.take(), export)?;
                }
                let part = match &mut part {
                    Some(part) => part,
                    none => none.insert(self.new_part(family, &directory)?),
                };
                part.writer.append(CellRef { sequence_id: SequenceId::default(), ..cell })?;
                export.cells += 1;
                last = Some(cell.to_cell());
            }
            cells.advance()?;
        }
        Self::finish_part(part, export)?;
        self.vfs.sync_directory(&directory).map_err(Error::io(&directory, "sync"))
    }

    fn new_part(&self, family: &FamilyVersion, directory: &Path) -> Result<Part> {
        let path = directory.join(random_name()?);
        let file = self.vfs.create(&path).map_err(Error::io(&path, "create"))?;
        let has_tags = family.memstores().any(|memstore| memstore.has_tags())
            || family.files.by_sequence().any(|file| file.reader.file_info().includes_tags());
        let purpose = FilePurpose {
            sequence_max: SequenceId::default(),
            has_tags,
            is_major_compaction: false,
            filter: filter_of_leaving(&family.family),
        };
        let now = self.options.clock.now().get().to_be_bytes();
        let options = writer_options(self, &family.family, purpose)
            .includes_mvcc(false)
            .file_info(BULK_LOAD_TIME, now);
        let shown = FileName::new(path.display().to_string());
        let writer = Writer::new(Sink { file, checksum: 0 }, shown, options)?;
        Ok(Part { path, writer })
    }

    fn finish_part(part: Option<Part>, export: &mut Export) -> Result<()> {
        let Some(Part { path, writer }) = part else { return Ok(()) };
        let (mut sink, _) = writer.finish()?;
        sink.file.sync().map_err(Error::io(&path, "sync"))?;
        export.files.push(path);
        Ok(())
    }
}
