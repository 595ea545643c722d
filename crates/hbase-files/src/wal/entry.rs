//! An entry of a write-ahead log: the cells that one write put into one region, or markers.
//!
//! | bytes  | field    | meaning                                                                      |
//! |-------:|----------|------------------------------------------------------------------------------|
//! | varint | length   | of the message                                                               |
//! |        | `WALKey` | region (1), table (2), sequence id (3), write time (4), number of cells (7)  |
//! |        | cells    | encoded by the cell codec that the header names                              |
//!
//! The numbers in parentheses are the numbers of the protobuf fields. In a file with dictionaries, region
//! and table are dictionary strings.

use prost::Message;
use sstable::{Cell, SequenceId};

use super::error::Stop;

/// The start of the qualifiers of markers for the opening and closing of a region.
const REGION_EVENT: &[u8] = b"HBASE::REGION_EVENT";

/// The cells that one write put into one region, or markers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LogEntry {
    /// The encoded name of the region: 32 hex digits, and `1588230740` for `hbase:meta`.
    pub region: String,
    /// The table, as in `ns:t` or `t`.
    pub table: String,
    /// The sequence id of the write, which all of its cells have.
    pub sequence: u64,
    /// When the entry was written, in milliseconds since 1970.
    pub write_time: u64,
    /// The cells in the order of the file, with markers: see [`is_marker`].
    pub cells: Vec<Cell>,
    /// Where the entry begins in the file.
    pub offset: u64,
    /// The length of the entry in the file, in bytes.
    pub len: u64,
}

impl LogEntry {
    /// Iterates over the cells that are data, without markers.
    pub fn data_cells(&self) -> impl Iterator<Item = &Cell> {
        self.cells.iter().filter(|cell| !is_marker(cell))
    }

    /// Returns whether the entry says that the region was opened or closed.
    ///
    /// At that moment all earlier writes of the region are in store files.
    pub(crate) fn is_region_event(&self) -> bool {
        self.cells.iter().any(|cell| is_marker(cell) && cell.qualifier().starts_with(REGION_EVENT))
    }
}

/// Returns whether a cell is a marker: a record of an event of the region, not data of the table.
///
/// Events are flushes, compactions, bulk loads, and the opening and closing of a region. Markers
/// have the family `METAFAMILY`. The qualifier names the event, as in
/// `HBASE::REGION_EVENT::REGION_OPEN`.
pub fn is_marker(cell: &Cell) -> bool {
    cell.family() == b"METAFAMILY"
}

/// The message `WALKey` of HBase's `WAL.proto`, without scopes, cluster ids, nonces and attributes.
#[derive(Clone, PartialEq, Message)]
pub(super) struct KeyMessage {
    #[prost(bytes = "vec", optional, tag = "1")]
    region: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "2")]
    table: Option<Vec<u8>>,
    #[prost(uint64, optional, tag = "3")]
    sequence: Option<u64>,
    #[prost(uint64, optional, tag = "4")]
    write_time: Option<u64>,
    #[prost(uint32, optional, tag = "7")]
    cells: Option<u32>,
}

/// The key of an entry.
pub(super) struct Key {
    pub(super) region: Vec<u8>,
    pub(super) table: Vec<u8>,
    pub(super) sequence: u64,
    pub(super) write_time: u64,
    /// The number of cells that follow the key.
    pub(super) cells: u32,
}

impl Key {
    /// Parses the message `WALKey`.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Stop> {
        let decoded = KeyMessage::decode(bytes);
        let message = decoded.map_err(|_| Stop::wrong("the key of an entry cannot be parsed"))?;
        let missing = |field| Stop::wrong(format!("the key of an entry has no {field}"));
        let cells = message.cells.unwrap_or_default();
        if i32::try_from(cells).is_err() {
            return Err(Stop::wrong("the number of cells of an entry is negative"));
        }
        let sequence = message.sequence.ok_or_else(|| missing("sequence id"))?;
        if sequence > SequenceId::MAX.get() {
            return Err(Stop::wrong("the sequence id of an entry is negative"));
        }
        Ok(Self {
            region: message.region.ok_or_else(|| missing("region"))?,
            table: message.table.ok_or_else(|| missing("table"))?,
            sequence,
            write_time: message.write_time.ok_or_else(|| missing("write time"))?,
            cells,
        })
    }
}
