//! Access to the files of a directory, and the kind of a file by its bytes.
//!
//! All access goes through the trait of `file_tree.rs`. `root_tree.rs` refuses symbolic links that lead out of the root.
//! `contents.rs` tells the kind of a file.

pub(crate) mod contents;
mod file_tree;
pub(crate) mod root_tree;

pub use self::file_tree::{FileTree, Item, ItemKind, LocalTree};
