//! Reads one entry, by the cell codec of its log.

use sstable::SequenceId;

use super::compressed::Dictionaries;
use super::entry::{Key, LogEntry};
use super::error::Stop;
use super::header::LogHeader;
use super::input::Input;
use super::limits::{ENTRY_LEN_MAX, KEY_LEN_MAX};
use super::plain;

/// How the cells of a log are encoded.
pub(super) enum Codec {
    /// As key values.
    Plain,
    /// As key values, or as cells of an index that Phoenix adds.
    Phoenix,
    /// With dictionaries.
    Dictionaries(Box<Dictionaries>),
}

impl Codec {
    /// Returns the codec that a header names.
    pub(super) fn of(header: &LogHeader) -> Self {
        match Dictionaries::new(header) {
            Some(dictionaries) => Self::Dictionaries(Box::new(dictionaries)),
            None if header.is_phoenix() => Self::Phoenix,
            None => Self::Plain,
        }
    }

    /// Reads the next entry; `None` after a zero in place of its length.
    pub(super) fn read_entry(&mut self, input: &mut Input) -> Result<Option<LogEntry>, Stop> {
        let offset = input.offset();
        let key_len = input.varint_len()?;
        if key_len == 0 {
            return Ok(None);
        }
        let key = Key::parse(input.take_part("the key of an entry", key_len, KEY_LEN_MAX)?)?;
        let (region_bytes, table_bytes) = match self {
            Self::Dictionaries(dictionaries) => dictionaries.names(key.region, key.table)?,
            Self::Plain | Self::Phoenix => (key.region, key.table),
        };
        let region =
            String::from_utf8(region_bytes).map_err(|_| Stop::wrong("the region is not UTF-8"))?;
        let table =
            String::from_utf8(table_bytes).map_err(|_| Stop::wrong("the table is not UTF-8"))?;
        let sequence_id = SequenceId::new(key.sequence);
        let mut cells = Vec::new();
        let mut memory: usize = 0;
        for _ in 0..key.cells {
            let cell = match self {
                Self::Dictionaries(dictionaries) => dictionaries.read_cell(input, sequence_id)?,
                Self::Plain => plain::read_cell(input, sequence_id)?,
                Self::Phoenix => plain::read_phoenix_cell(input, sequence_id)?,
            };
            let view = cell.as_ref();
            let parts = [view.row, view.family, view.qualifier, view.value, view.tags];
            let bytes: usize = parts.iter().map(|part| part.len()).sum();
            memory = memory.saturating_add(bytes).saturating_add(size_of_val(&cell));
            Stop::check_limit("an entry", memory, ENTRY_LEN_MAX)?;
            cells.push(cell);
        }
        let len = input.offset().saturating_sub(offset);
        let (sequence, write_time) = (key.sequence, key.write_time);
        Ok(Some(LogEntry { region, table, sequence, write_time, cells, offset, len }))
    }
}
