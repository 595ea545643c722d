//! `hfile cat`: prints the cells of files.

mod verb;

pub(crate) use self::verb::Cat;
