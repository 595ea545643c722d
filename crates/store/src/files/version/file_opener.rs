//! Opens the files of a store.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sstable::tools::{FileInCache, OpenFilesLimit, PooledFile};
use sstable::{BlockCache, ReaderOptions};

use crate::error::{Error, Result};
use crate::files::manifest::{FamilyEntry, FileEntry};
use crate::files::names::WAL_DIRECTORY;
use crate::files::version::file_list::Files;
use crate::files::version::store_file::StoreFile;
use crate::files::version::store_version::{Family, FamilyVersion};
use crate::memstore::Memstore;
use crate::options::StoreOptions;
use crate::vfs::Vfs;

/// Opens the store files of one store. They share its block cache.
#[derive(Debug)]
pub(crate) struct FileOpener {
    vfs: Arc<dyn Vfs>,
    directory: PathBuf,
    cache: Arc<BlockCache>,
    reader: ReaderOptions,
    limit: Arc<OpenFilesLimit>,
}

impl FileOpener {
    pub(crate) fn new(directory: &Path, options: &StoreOptions) -> Self {
        let cache = Arc::new(BlockCache::new(options.cache_bytes));
        let reader =
            ReaderOptions::default().cache(Arc::clone(&cache)).pin_filters(options.pin_filters);
        let (vfs, directory) = (Arc::clone(&options.vfs), directory.to_path_buf());
        let limit = OpenFilesLimit::new(options.open_files_max);
        Self { vfs, directory, cache, reader, limit }
    }

    pub(crate) const fn vfs(&self) -> &Arc<dyn Vfs> {
        &self.vfs
    }

    /// The store's directory.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(crate) fn wal_directory(&self) -> PathBuf {
        self.directory.join(WAL_DIRECTORY)
    }

    pub(crate) fn family_directory(&self, family: &Family) -> PathBuf {
        self.directory.join(&family.name)
    }

    pub(crate) const fn cache(&self) -> &Arc<BlockCache> {
        &self.cache
    }

    /// Opens a file for reading, as one of the store's open files.
    pub(crate) fn open_source(&self, path: &Path) -> Result<Arc<PooledFile>> {
        let (vfs, opened) = (Arc::clone(&self.vfs), path.to_path_buf());
        PooledFile::open(move || vfs.open(&opened), &self.limit).map_err(Error::io(path, "open"))
    }

    /// Opens a file of a family.
    pub(crate) fn open_file(&self, family: &Family, entry: &FileEntry) -> Result<Arc<StoreFile>> {
        self.open_written(family, entry, None)
    }

    /// Opens a file of a family, of which the cache may already have blocks.
    pub(crate) fn open_written(
        &self,
        family: &Family,
        entry: &FileEntry,
        cached: Option<&FileInCache>,
    ) -> Result<Arc<StoreFile>> {
        let options = self.reader.clone().in_memory(family.options.in_memory);
        let options = match cached {
            Some(place) => options.written_to(place),
            None => options,
        };
        let path = self.family_directory(family).join(&entry.name);
        let source = self.open_source(&path)?;
        StoreFile::open(&self.vfs, &source, path, &family.name, entry, options)
    }

    /// Opens a family with its files. Its memstore is empty.
    pub(crate) fn open_family(&self, entry: &FamilyEntry) -> Result<Arc<FamilyVersion>> {
        let family = Family {
            id: entry.id,
            name: entry.name.clone(),
            options: entry.options.clone(),
            reads: Arc::default(),
            failures: Arc::default(),
        };
        let files = entry.files.iter();
        let files: Vec<_> =
            files.map(|file| self.open_file(&family, file)).collect::<Result<_>>()?;
        for file in &files {
            file.note_from_before();
        }
        Ok(Arc::new(FamilyVersion {
            family: Arc::new(family),
            active: Arc::new(Memstore::new()),
            flushing: Vec::new(),
            files: Files::new(files),
        }))
    }
}
