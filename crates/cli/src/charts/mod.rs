//! Charts of figures as parts of an HTML page: a light and a dark scheme, without scripts and external resources,
//! readable in windows of at least 400 pixels.
//!
//! The charts are our own, because no plotting crate draws them: `poloto` and `splot` take colours from CSS, but have
//! only linear scales and no bars for quartiles; `plotters-svg` and `charts-rs` write a colour into each element, which
//! no dark scheme can change; `charming` needs scripts.
//!
//! ```text
//! style.css     colours and layout
//! chart.rs      a chart as HTML: title, legend, two drawings, the numbers
//! rows.rs       the drawings of a chart, with a row for each figure
//! axis.rs       the scale and its ticks
//! marks.rs      markers: forms, colours and fills
//! text.rs       numbers, escapes and tables
//! ```

mod axis;
mod chart;
mod marks;
mod rows;
mod text;

pub use self::chart::{Chart, LegendEntry};
pub use self::marks::Mark;
pub use self::rows::{Group, Row, Rows};
pub use self::text::{escape, number, show_ratio, table};

const STYLE: &str = include_str!("style.css");

/// Returns a whole page: its head with the style, and `body`, which is HTML.
pub fn page(title: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <link rel=\"icon\" href=\"data:,\"><title>{title}</title>\
         <style>\n{STYLE}</style></head><body><main>\n<h1>{title}</h1>\n{body}</main></body></html>\n"
    )
}
