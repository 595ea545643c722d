//! Root directories made from a seed by changing copies of those that HBase wrote.
//!
//! A root consists of *elements*: regions, files, lists, logs, descriptions. One to three of them are
//! taken away, emptied, cut, damaged by a bit, doubled or aged. Root `n` of a seed is always changed in
//! the same way.

mod aged;
mod bases;
mod changes;
mod description;
mod doubled;
mod elements;
mod generated;
mod tracker_list;
mod tree;
mod ways;

pub(crate) use bases::{Bases, NOW};
pub(crate) use generated::Generated;
