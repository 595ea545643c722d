//! `hfile recompress`: measures a file under other encodings and codecs, or rewrites it.

mod measure;
mod meta_blocks;
mod read_back;
mod report;
mod rewrite;
mod verb;

pub(crate) use self::read_back::check_sound;
pub(crate) use self::rewrite::Rewrite;
pub(crate) use self::verb::Recompress;
