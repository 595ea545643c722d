//! `hfile export`: writes the cells of HFiles to files of other formats.

mod cells;
mod source;
mod verb;

pub(crate) use self::verb::ExportFiles;
