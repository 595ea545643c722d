//! HBase's cells: keys and their order, values as text, and the rules by which a read shows a cell.
//!
//! A cell is a value with a key: row, family, qualifier, timestamp and type. Store files, logs and memstores
//! hold cells in the order of their keys. A read merges these sources and applies HBase's [rules] to each cell:
//!
//! ```text
//! source ─┐
//! source ─┼─ MergeCursor ─ Rules ─ the cells that HBase returns
//! source ─┘
//! ```
//!
//! ```
//! use cells::{CellRef, Timestamp, ValueType};
//!
//! let mut born = Vec::new();
//! ValueType::from_name("int64")?.encode(b"1815", &mut born)?;
//! let put = CellRef::put(b"ada", b"f", b"born", Timestamp::new(5), &born);
//! let later = CellRef { timestamp: Timestamp::new(7), ..put };
//! assert!(later.compare(&put).is_lt(), "of two versions the newer one comes first");
//! # Ok::<(), String>(())
//! ```

// What parses bytes or texts from outside warns of an index, a conversion or a sum that could go wrong.
pub mod backward;
mod cell;
pub mod cell_filter;
mod clock;
mod counts;
#[cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]
mod decimal;
mod delete_tracker;
#[cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]
mod family_name;
#[cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]
mod file_name;
#[cfg_attr(not(test), warn(clippy::indexing_slicing))]
mod key;
pub mod merge;
#[cfg(feature = "ndjson")]
pub mod ndjson;
mod order;
mod retention;
mod row_head;
mod rows_between;
pub mod rules;
mod seeks;
pub mod shown;
#[cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]
mod text;
mod time_text;
mod units;
#[cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]
mod value_type;
pub mod view;

pub use cell::{Cell, CellRef};
pub use clock::Clock;
pub use counts::{show_count, show_number};
pub use decimal::DecimalType;
pub use family_name::{InvalidFamilyName, check_family_name};
pub use file_name::FileName;
pub use key::{CellType, KeyRef};
pub use order::Comparator;
pub use retention::{KeepDeletedCells, Retention};
pub use row_head::{RowHead, row_head};
pub use rows_between::{RowsBetween, prefix_end};
pub use text::{error_line, escape, parse_hex, quoted, shorten, unescape};
pub use time_text::{date_text, parse_time, time_text};
pub use units::{BlockOffset, SequenceId, Timestamp};
pub use value_type::{TypedValue, ValueType};
