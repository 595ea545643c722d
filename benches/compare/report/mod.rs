//! A run as one HTML page with charts: no scripts, no external resources, a light and a dark
//! scheme.
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
