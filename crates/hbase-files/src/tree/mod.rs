//! Access to directories and files, whatever they mean: nothing here knows tables.
//!
//! | to find                                              | file           |
//! |------------------------------------------------------|----------------|
//! | the interface through which all access goes          | `file_tree.rs` |
//! | the same, without links that lead out of the root    | `root_tree.rs` |
//! | what a file is, by its first and last bytes          | `contents.rs`  |

pub(crate) mod contents;
mod file_tree;
pub(crate) mod root_tree;

pub use self::file_tree::{FileTree, Item, ItemKind, LocalTree};
