//! A run as one page of HTML, with its charts in it: no scripts, nothing from elsewhere, readable by
//! day and by night.
//!
//! ```text
//! page.rs     text and tables
//! charts.rs   which figures make which chart
//! svg.rs      a chart as SVG
//! ```

mod charts;
mod page;
mod svg;

pub(crate) use page::page;
