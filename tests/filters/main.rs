//! Filters added to files, and filters compared with their originals in other languages.

mod hbase_ribbon;
mod read_again;
mod rebuild;
mod reference_impls;
