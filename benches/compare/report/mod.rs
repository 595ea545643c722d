//! The report of a run: one HTML page with charts.
//!
//! ```text
//! page.rs         text and tables
//! charts.rs       which figures make which chart
//! contenders.rs   a marker for each contender
//! ```

mod charts;
mod contenders;
mod page;

pub(crate) use page::page;
