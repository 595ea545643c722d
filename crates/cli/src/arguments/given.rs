//! Settings that are applied only if they are given.

/// Options with setters that take and return them.
pub(crate) trait Given: Sized {
    /// Returns these options, with the setting of `set` if a value is given.
    fn given<T>(self, value: Option<T>, set: impl FnOnce(Self, T) -> Self) -> Self {
        match value {
            Some(value) => set(self, value),
            None => self,
        }
    }
}

impl Given for hbase_files::TableScan {}
impl Given for sstable::WriterOptions {}
impl Given for store::FamilyOptions {}
impl Given for store::Scan {}
impl Given for store::StoreOptions {}
