//! Elements as they were before, or at the place where old ones go.

use std::fs;
use std::path::Path;

use support::{Random, copy_directory};

use super::bases::META;
use super::changes::Change;
use super::elements::Kind;
use super::{description, tracker_list, tree};

pub(crate) fn age(change: &Change<'_>, random: &mut Random) -> Option<String> {
    let path = &change.element.path;
    match change.element.kind {
        Kind::StoreFile | Kind::Reference | Kind::RecoveredEdits => {
            let other = change.other(change.element.kind, random)?;
            fs::copy(change.root.join(&other.path), change.path()).expect("ours");
            Some(format!("with the bytes of {}", other.path.display()))
        }
        Kind::TrackerList => tracker_list::age(change, random),
        Kind::Description => Some(description::age(change, random)),
        Kind::SequenceFile => change.move_to(&path.with_file_name("1.seqid")),
        // What was archived is outside of the directories that HBase reads, though not flushed.
        Kind::Log | Kind::MetaLog => change.move_to(&Path::new("oldWALs").join(tree::name(path))),
        Kind::Region => change.move_to(&Path::new("archive").join(path)),
        Kind::MobFile => {
            let place = path.strip_prefix("mobdir").expect("in mobdir");
            change.move_to(&Path::new("archive").join(place))
        }
        Kind::LinkedFile | Kind::ArchiveFile => match path.strip_prefix("archive") {
            Ok(place) => change.move_to(place),
            Err(_) => change.move_to(&Path::new("archive").join(path)),
        },
        Kind::MetaRegion | Kind::MetaFile => old_meta(change, random),
        _ => None,
    }
}

/// Puts back the files of an older hbase:meta, mostly without its logs, which would bring it up to date.
fn old_meta(change: &Change<'_>, random: &mut Random) -> Option<String> {
    let place = change.root.join(META);
    if !place.exists() {
        return None;
    }
    fs::remove_dir_all(&place).expect("ours");
    copy_directory(&change.old_meta.join(META), &place);
    if random.below(4) == 0 {
        return Some("an older one".to_owned());
    }
    for log in change.elements.iter().filter(|element| element.kind == Kind::MetaLog) {
        // An earlier change may have taken it away.
        let _ = fs::remove_file(change.root.join(&log.path));
    }
    Some("an older one, without logs".to_owned())
}
