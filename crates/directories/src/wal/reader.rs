//! Reads the entries of a write-ahead log in order.

use std::sync::Arc;

use sstable::{FileName, ReadAt, SequenceId};

use super::compressed::Dictionaries;
use super::entry::{Entry, Key};
use super::error::{Error, Result, Stop};
use super::header::{Header, MAGIC};
use super::input::Input;
use super::limits::{ENTRY_LEN_MAX, KEY_LEN_MAX};
use super::{plain, resync, trailer};
use crate::contents::Contents;

/// How a log ends after its last whole entry.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum End {
    /// With a trailer: the server closed the file.
    Closed,
    /// After a whole entry, without a trailer: the server still writes the file, or died.
    Open,
    /// In the middle of an entry, the header or the trailer: the server did not finish writing it.
    Torn {
        /// The offset of the unfinished part in the file.
        offset: u64,
        /// The bytes from there to the end of the file.
        bytes: u64,
        /// The unfinished part, as in "an entry".
        part: &'static str,
    },
}

/// An iterator over the entries of a write-ahead log.
///
/// Holds one entry in memory, and the dictionaries of a compressed log. The iterator ends after the
/// last whole entry, or after an error. [`end`](Self::end) then tells how the file ends.
pub struct Reader {
    file: FileName,
    input: Input,
    header: Option<Header>,
    dictionaries: Option<Dictionaries>,
    has_trailer: bool,
    /// Whether the iterator has ended.
    is_done: bool,
    end: Option<End>,
}

impl Reader {
    /// Opens a log: reads its header, and looks for its trailer.
    ///
    /// A file that ends in the middle of its header is no error: it has no entries, and its end is
    /// torn. The same applies to an empty file.
    ///
    /// # Errors
    ///
    /// [`Error::NotALog`] if the file does not begin as a log; [`Error::Unsupported`] for an
    /// encrypted log, and for an unknown writer, cell codec or value codec; [`Error::Damaged`] for
    /// a damaged header; [`Error::Io`].
    pub fn open(source: Arc<dyn ReadAt>, file: FileName) -> Result<Self> {
        let fail = |stop| failure(&file, 0, stop);
        let len = source.len();
        let mut input = Input::new(source);
        let magic_len = MAGIC.len().min(usize::try_from(len).unwrap_or(usize::MAX));
        if !MAGIC.starts_with(input.take(magic_len).map_err(fail)?) {
            let contents = Contents::of(&**input.source());
            let contents = contents.map_err(|error| fail(Stop::Io(0, error)))?;
            return Err(Error::NotALog { file, is_hfile: contents == Contents::HFile });
        }
        let header = match Header::read(&mut input) {
            Ok(header) => header,
            Err(Stop::Ends) => {
                let end = Some(End::Torn { offset: 0, bytes: len, part: "the header" });
                let (header, dictionaries, has_trailer) = (None, None, false);
                let is_done = true;
                return Ok(Self { file, input, header, dictionaries, has_trailer, is_done, end });
            }
            Err(stop) => return Err(fail(stop)),
        };
        let trailer = trailer::find(&**input.source(), input.offset());
        let trailer = trailer.map_err(|error| fail(Stop::Io(len, error)))?;
        if let Some(offset) = trailer {
            input.set_end(offset);
        }
        let dictionaries = Dictionaries::new(&header);
        let (header, has_trailer) = (Some(header), trailer.is_some());
        let (is_done, end) = (false, None);
        Ok(Self { file, input, header, dictionaries, has_trailer, is_done, end })
    }

    /// Returns the header; `None` if the file ends before the header does.
    pub const fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// Returns whether the file has a trailer, that is, whether the server closed it.
    pub const fn is_closed(&self) -> bool {
        self.has_trailer
    }

    /// Returns how the file ends; `None` until the iterator has ended, and after an error.
    pub const fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// Reads the next entry; returns how the file ends if there is none.
    fn read(&mut self) -> Result<Result<Entry, End>> {
        let offset = self.input.offset();
        if self.input.left() == 0 {
            return Ok(Err(if self.has_trailer { End::Closed } else { End::Open }));
        }
        let bytes = self.input.left();
        let torn = |part| Ok(Err(End::Torn { offset, bytes, part }));
        match self.read_entry() {
            Ok(Some(entry)) => Ok(Ok(entry)),
            Ok(None) => torn("the trailer"),
            Err(Stop::Ends) if self.has_trailer => {
                let stop = Stop::wrong("an entry reaches into the trailer");
                Err(failure(&self.file, offset, stop))
            }
            Err(Stop::Ends) if self.dictionaries.is_none() => {
                let found = resync::find_entry(self.input.source(), offset);
                match found.map_err(|stop| failure(&self.file, offset, stop))? {
                    None => torn("an entry"),
                    Some(next) => {
                        let what = "an entry reaches beyond the end of the file";
                        let stop = Stop::wrong(format!("{what}, but a sound one is at {next}"));
                        Err(failure(&self.file, offset, stop))
                    }
                }
            }
            Err(Stop::Ends) => torn("an entry"),
            Err(stop) => Err(failure(&self.file, offset, stop)),
        }
    }

    /// Reads the next entry; `None` if the rest of the file is an unfinished trailer.
    fn read_entry(&mut self) -> Result<Option<Entry>, Stop> {
        let offset = self.input.offset();
        let len = self.input.varint_len()?;
        if len == 0 {
            return self.read_begun_trailer();
        }
        let key = Key::parse(self.input.take_part("the key of an entry", len, KEY_LEN_MAX)?)?;
        let (region, table) = match &mut self.dictionaries {
            Some(dictionaries) => dictionaries.names(key.region, key.table)?,
            None => (key.region, key.table),
        };
        let text = |name, what| {
            String::from_utf8(name).map_err(|_| Stop::wrong(format!("the {what} is not UTF-8")))
        };
        let (region, table) = (text(region, "region")?, text(table, "table")?);
        let sequence_id = SequenceId::new(key.sequence);
        let mut cells = Vec::new();
        let mut memory: usize = 0;
        for _ in 0..key.cells {
            let cell = match &mut self.dictionaries {
                Some(dictionaries) => dictionaries.read_cell(&mut self.input, sequence_id)?,
                None => plain::read_cell(&mut self.input, sequence_id)?,
            };
            let view = cell.as_ref();
            let parts = [view.row, view.family, view.qualifier, view.value, view.tags];
            let len: usize = parts.iter().map(|part| part.len()).sum();
            memory = memory.saturating_add(len).saturating_add(size_of_val(&cell));
            Stop::check_limit("an entry", memory, ENTRY_LEN_MAX)?;
            cells.push(cell);
        }
        let len = self.input.offset().saturating_sub(offset);
        let (sequence, write_time) = (key.sequence, key.write_time);
        Ok(Some(Entry { region, table, sequence, write_time, cells, offset, len }))
    }

    /// Checks that the rest of the file is the beginning of a trailer.
    ///
    /// The first byte, a zero, was read as the length of a key. Always returns `None` or an error.
    fn read_begun_trailer(&mut self) -> Result<Option<Entry>, Stop> {
        let wrong = || Stop::wrong("the key of an entry has no bytes");
        let left = usize::try_from(self.input.left()).ok().filter(|left| *left < 8);
        let mut rest = vec![0];
        rest.extend_from_slice(self.input.take(left.ok_or_else(wrong)?)?);
        if self.has_trailer || !trailer::is_begun_by(&rest) {
            return Err(wrong());
        }
        Ok(None)
    }
}

impl Iterator for Reader {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let next = self.read();
        self.is_done = !matches!(next, Ok(Ok(_)));
        match next {
            Ok(Ok(entry)) => Some(Ok(entry)),
            Ok(Err(end)) => {
                self.end = Some(end);
                None
            }
            Err(error) => Some(Err(error)),
        }
    }
}

/// Creates the error for a part that begins at `offset`.
fn failure(file: &FileName, offset: u64, stop: Stop) -> Error {
    let file = file.clone();
    match stop {
        Stop::Ends => Error::Damaged { file, offset, what: "the file ends".to_owned() },
        Stop::Wrong(what) => Error::Damaged { file, offset, what },
        Stop::Unsupported(what) => {
            Error::Unsupported { file, what: format!("{what}, at offset {offset}") }
        }
        Stop::Io(offset, source) => Error::Io { file, offset, source },
    }
}
