//! What is printed: reports on stdout, messages and progress on stderr, and how numbers, names and times look.

pub(crate) mod bulk_load;
pub(crate) mod counters;
pub(crate) mod destination;
pub(crate) mod export_report;
pub(crate) mod fold;
pub(crate) mod help;
pub(crate) mod lost_rows;
pub(crate) mod output;
pub(crate) mod printable;
pub(crate) mod progress;
pub(crate) mod rounded;
pub(crate) mod row_not_found;
pub(crate) mod running;
pub(crate) mod size_text;
pub(crate) mod stderr;
pub(crate) mod times;
pub(crate) mod version;
pub(crate) mod warnings;
