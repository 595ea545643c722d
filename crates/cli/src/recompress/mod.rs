//! `hfile recompress`: what a file would take under other encodings and codecs, or the file so written.

mod measure;
mod read_back;
mod report;
mod verb;

pub(crate) use self::read_back::check_sound;
pub(crate) use self::verb::Recompress;
