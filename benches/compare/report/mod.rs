//! The report of a run: one HTML page with charts, a light and a dark scheme, without scripts and
//! external resources, readable in windows of at least 420 pixels.
//!
//! The charts are our own, because no plotting crate draws them: `poloto` and `splot` take colours from CSS, but have
//! only linear scales and no bars for quartiles; `plotters-svg` and `charts-rs` write a colour into each element, which
//! no dark scheme can change; `charming` needs scripts.
//!
//! ```text
//! page.rs       text and tables
//! style.css     colours and layout
//! charts.rs     which figures make which chart
//! chart.rs      a chart as HTML: title, legend, two drawings, the numbers
//! rows.rs       the drawings of a chart, with a row for each figure
//! axis.rs       the scale and its ticks
//! marks.rs      a marker and a colour for each contender
//! text.rs       numbers and escapes
//! ```

mod axis;
mod chart;
mod charts;
mod marks;
mod page;
mod rows;
mod text;

pub(crate) use page::page;
