//! `hfile cat`: prints the cells of files.

mod backward;
mod verb;

pub(crate) use self::verb::Cat;
