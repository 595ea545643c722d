//! The files of a root directory: how they are opened and listed, where they are, and what their bytes begin with.
//!
//! All access goes through the trait of `file_tree.rs`. `root_tree.rs` refuses symbolic links that lead out of the root.
//! `root_paths.rs` has the places of tables, and `contents.rs` tells the kind of a file.

pub(crate) mod contents;
mod file_tree;
pub(crate) mod root_paths;
pub(crate) mod root_tree;

pub use self::file_tree::{FileTree, Item, ItemKind, LocalTree};
