//! Filters added to files, and filters compared with their originals in other languages.

mod rebuild;
mod reference_impls;
