//! Access to the files of a directory, and the kind of a file by its bytes.
//!
//! All access goes through [`FileTree`]. `root_tree` refuses symbolic links that lead out of the root.

pub(crate) mod contents;
mod file_tree;
pub(crate) mod root_tree;

pub use self::file_tree::{FileTree, Item, ItemKind, LocalTree};
