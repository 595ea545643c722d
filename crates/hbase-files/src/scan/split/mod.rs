//! Splits: parts of a scan that other processes read.
//!
//! ```text
//! Table::splits ─ planning.rs ─→ ScanSplit ─ bytes.rs ─→ bytes ─→ another process ─→ ScanSplit::cells
//! ```
//!
//! `scan_split.rs` has the type. `table_message.rs` and `scan_message.rs` are its parts as protobuf messages.

mod bytes;
mod planning;
mod scan_message;
mod scan_split;
mod table_message;

pub use planning::SplitPlan;
pub use scan_split::{ScanSplit, SplitCells};
