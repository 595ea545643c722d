//! `hfile stats`: what kinds of cells HFiles hold, and which parts of the files their bytes are in.
//!
//! ```text
//! verb      opens files in parallel ─→ FileStats of each, merged into one or reported each
//! cells     one pass over the cells: rows, columns, types, tags, times
//! columns   cells and bytes of each column, of a limited number of columns
//! parts     bytes by block type, from the block headers
//! report    JSON; `text` is the form for people
//! ```

mod cells;
mod columns;
mod file;
mod histogram;
mod histograms;
mod largest;
mod parts;
mod report;
mod tags;
mod text;
mod verb;

pub(crate) use verb::Stats;
