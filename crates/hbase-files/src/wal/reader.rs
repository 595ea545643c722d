//! Reads the entries of a write-ahead log in order.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use sstable::{FileName, ReadAt};

use super::entry::{Key, LogEntry};
use super::entry_decoder::Codec;
use super::error::{Error, Result, Stop};
use super::header::{LogHeader, MAGIC};
use super::input::Input;
use super::limits::KEY_LEN_MAX;
use super::resync::{ENTRIES_TO_READ_ON, Found, Search};
use super::skipped::{GIVEN_UP, SkipEnd, SkippedBytes};
use super::trailer;
use crate::tree::contents::Contents;

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
        /// The unfinished part.
        part: LogPart,
    },
}

/// A part of a write-ahead log.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum LogPart {
    /// The header, with the magic number.
    Header,
    /// An entry.
    Entry,
    /// The trailer, after the last entry.
    Trailer,
}

impl LogPart {
    /// Returns the name, as in "an entry".
    pub const fn name(self) -> &'static str {
        match self {
            Self::Header => "the header",
            Self::Entry => "an entry",
            Self::Trailer => "the trailer",
        }
    }
}

impl fmt::Display for LogPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An iterator over the entries of a write-ahead log.
///
/// Holds one entry in memory, and the dictionaries of a compressed log. The iterator ends after the
/// last whole entry, or after an error. [`end`](Self::end) then tells how the file ends. After an error,
/// [`skip_damage`](Self::skip_damage) can make it go on.
pub struct Reader {
    file: FileName,
    input: Input,
    header: Option<LogHeader>,
    codec: Codec,
    has_trailer: bool,
    /// Whether the iterator has ended.
    is_done: bool,
    end: Option<End>,
    /// Where the entry begins that could not be read.
    damaged_at: Option<u64>,
    /// The last sequence ids by region, once entries were searched for.
    last: Option<HashMap<String, u64>>,
    search: Option<Search>,
}

/// What the key of a torn entry says.
pub(super) struct TornEntry {
    pub(super) table: String,
    pub(super) region: String,
    pub(super) sequence: u64,
}

/// What a log has next.
enum LogItem {
    Entry(LogEntry),
    End(End),
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
            let found = Contents::of(&**input.source());
            let contents = found.map_err(|error| fail(Stop::Io(0, error)))?;
            return Err(Error::NotALog { file, is_hfile: contents == Contents::HFile });
        }
        let header = match LogHeader::read(&mut input) {
            Ok(header) => header,
            Err(Stop::Ends) => {
                let end = End::Torn { offset: 0, bytes: len, part: LogPart::Header };
                let reader = Self::new(file, input, None, Codec::Plain);
                return Ok(Self { is_done: true, end: Some(end), ..reader });
            }
            Err(stop) => return Err(fail(stop)),
        };
        let found = trailer::find(&**input.source(), input.offset());
        let trailer = found.map_err(|error| fail(Stop::Io(len, error)))?;
        if let Some(offset) = trailer {
            input.set_end(offset);
        }
        let codec = Codec::of(&header);
        let reader = Self::new(file, input, Some(header), codec);
        Ok(Self { has_trailer: trailer.is_some(), ..reader })
    }

    const fn new(file: FileName, input: Input, header: Option<LogHeader>, codec: Codec) -> Self {
        Self {
            file,
            input,
            header,
            codec,
            has_trailer: false,
            is_done: false,
            end: None,
            damaged_at: None,
            last: None,
            search: None,
        }
    }

    /// Returns the header; `None` if the file ends before the header does.
    pub const fn header(&self) -> Option<&LogHeader> {
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

    /// Returns the torn entry at the end, if its key is whole and the log has no dictionaries.
    pub(super) fn torn_entry(&mut self) -> Option<TornEntry> {
        let Some(End::Torn { offset, .. }) = self.end else { return None };
        if self.header.is_none() || matches!(self.codec, Codec::Dictionaries(_)) {
            return None;
        }
        self.input.seek(offset);
        let len = self.input.varint_len().ok()?;
        let key = self.input.take_part("the key of an entry", len, KEY_LEN_MAX).ok()?;
        let Key { region, table, sequence, .. } = Key::parse(key).ok()?;
        Some(TornEntry {
            table: String::from_utf8(table).ok()?,
            region: String::from_utf8(region).ok()?,
            sequence,
        })
    }

    /// Reads the next entry, or finds out how the file ends.
    fn read(&mut self) -> Result<LogItem> {
        let offset = self.input.offset();
        if self.input.left() == 0 {
            return Ok(LogItem::End(if self.has_trailer { End::Closed } else { End::Open }));
        }
        let bytes = self.input.left();
        let torn = |part| Ok(LogItem::End(End::Torn { offset, bytes, part }));
        match self.read_entry() {
            Ok(Some(entry)) => Ok(LogItem::Entry(entry)),
            Ok(None) => torn(LogPart::Trailer),
            Err(Stop::Ends) if self.has_trailer => {
                let stop = Stop::wrong("an entry reaches into the trailer");
                Err(failure(&self.file, offset, stop))
            }
            Err(Stop::Ends) => {
                self.check_is_torn(offset)?;
                torn(LogPart::Entry)
            }
            Err(stop) => Err(failure(&self.file, offset, stop)),
        }
    }

    /// Checks that no sound entry follows the one at `offset`, which reaches beyond the end of the file.
    fn check_is_torn(&mut self, offset: u64) -> Result<()> {
        if matches!(self.codec, Codec::Dictionaries(_)) {
            return Ok(());
        }
        // To learn the sequence ids, the log is read once more. Few torn logs need that.
        let mut found = self.search(offset, 1, &HashMap::new())?;
        if matches!(found, Found::Entries(_)) {
            found = self.find_entries(offset, 1)?;
        }
        let what = "an entry reaches beyond the end of the file";
        let stop = match found {
            Found::Nothing => return Ok(()),
            Found::Entries(next) => Stop::wrong(format!("{what}, but a sound one is at {next}")),
            Found::GivenUp => Stop::Unsupported(format!("{what}, and {GIVEN_UP}")),
        };
        Err(failure(&self.file, offset, stop))
    }

    /// Goes on after an error of the iterator about damage or an unsupported part: with the next entries
    /// that are sound.
    ///
    /// Returns what it skips; `None` if there was no such error. In a log without dictionaries, the
    /// entries are sound if the next three, or all up to the end of a file that is not torn, can be read
    /// and have the names of regions and tables, and the sequence ids of each region rise, from the
    /// entries before the damage on. In a log with dictionaries the reader cannot go on, because the
    /// entries need the dictionary entries of those before.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn skip_damage(&mut self) -> Result<Option<SkippedBytes>> {
        let Some(offset) = self.damaged_at.take() else { return Ok(None) };
        let rest = self.input.end().saturating_sub(offset);
        if matches!(self.codec, Codec::Dictionaries(_)) {
            return Ok(Some(SkippedBytes { offset, bytes: rest, end: SkipEnd::Dictionaries }));
        }
        Ok(Some(match self.find_entries(offset, ENTRIES_TO_READ_ON)? {
            Found::Nothing => SkippedBytes { offset, bytes: rest, end: SkipEnd::NoEntries },
            Found::GivenUp => SkippedBytes { offset, bytes: rest, end: SkipEnd::GivenUp },
            Found::Entries(next) => {
                self.input.seek(next);
                self.is_done = false;
                let bytes = next.saturating_sub(offset);
                SkippedBytes { offset, bytes, end: SkipEnd::Entries }
            }
        }))
    }

    /// Finds the first of `count` sound entries whose sequence ids follow those before `offset`.
    fn find_entries(&mut self, offset: u64, count: usize) -> Result<Found> {
        let last = match self.last.take() {
            Some(last) => last,
            None => self.sequences_before(offset)?,
        };
        let found = self.search(offset, count, &last);
        self.last = Some(last);
        found
    }

    /// Returns the last sequence id of each region before an offset.
    fn sequences_before(&self, offset: u64) -> Result<HashMap<String, u64>> {
        let mut last = HashMap::new();
        let mut before = Self::open(Arc::clone(self.input.source()), self.file.clone())?;
        before.input.set_end(offset);
        for entry in before.map_while(Result::ok) {
            add_sequence(&mut last, &entry);
        }
        Ok(last)
    }

    fn search(&mut self, offset: u64, count: usize, last: &HashMap<String, u64>) -> Result<Found> {
        let (source, end) = (self.input.source(), self.input.end());
        let search = self.search.get_or_insert_with(|| Search::new(source, end));
        let found = search.find_entries(offset, count, last);
        found.map_err(|stop| failure(&self.file, offset, stop))
    }

    /// Reads the next entry; `None` if the rest of the file is an unfinished trailer.
    fn read_entry(&mut self) -> Result<Option<LogEntry>, Stop> {
        let entry = self.codec.read_entry(&mut self.input)?;
        if entry.is_none() {
            self.check_begun_trailer()?;
        }
        Ok(entry)
    }

    /// Checks that the rest of the file is the beginning of a trailer.
    ///
    /// The first byte, a zero, was read as the length of a key.
    fn check_begun_trailer(&mut self) -> Result<(), Stop> {
        let wrong = || Stop::wrong("the key of an entry has no bytes");
        let bytes = Some(self.input.left()).filter(|left| *left < trailer::FIXED_LEN);
        let left = bytes.and_then(|bytes| usize::try_from(bytes).ok());
        let mut rest = vec![0];
        rest.extend_from_slice(self.input.take(left.ok_or_else(wrong)?)?);
        if self.has_trailer || !trailer::is_begun_by(&rest) {
            return Err(wrong());
        }
        Ok(())
    }
}

impl Iterator for Reader {
    type Item = Result<LogEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let offset = self.input.offset();
        let next = self.read();
        self.is_done = !matches!(next, Ok(LogItem::Entry(_)));
        match next {
            Ok(LogItem::Entry(entry)) => {
                if let Some(last) = &mut self.last {
                    add_sequence(last, &entry);
                }
                Some(Ok(entry))
            }
            Ok(LogItem::End(end)) => {
                self.end = Some(end);
                None
            }
            Err(error) => {
                let is_damage = matches!(error, Error::Damaged { .. } | Error::Unsupported { .. });
                self.damaged_at = is_damage.then_some(offset);
                Some(Err(error))
            }
        }
    }
}

fn add_sequence(last: &mut HashMap<String, u64>, entry: &LogEntry) {
    match last.get_mut(&entry.region) {
        Some(sequence) => *sequence = entry.sequence,
        None => {
            last.insert(entry.region.clone(), entry.sequence);
        }
    }
}

/// Creates the error for a part that begins at `offset`.
fn failure(file: &FileName, offset: u64, stop: Stop) -> Error {
    let name = file.clone();
    match stop {
        Stop::Ends => Error::Damaged { file: name, offset, what: "the file ends".to_owned() },
        Stop::Wrong(what) => Error::Damaged { file: name, offset, what },
        Stop::Unsupported(what) => {
            Error::Unsupported { file: name, what: format!("{what}, at offset {offset}") }
        }
        Stop::Io(offset, source) => Error::Io { file: name, offset, source },
    }
}
