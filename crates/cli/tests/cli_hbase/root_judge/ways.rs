//! The ways to change an element of a root.

use std::fs;
use std::path::Path;

use support::Random;

use super::changes::Change;
use super::elements::Kind;
use super::{aged, doubled, tree};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    TakenAway,
    Emptied,
    Cut,
    /// A bit of a file without checksums.
    Flipped,
    /// A copy is at another plausible place.
    Doubled,
    /// An older version of the element, or the place where old ones go.
    Aged,
}

impl Way {
    pub(crate) const ALL: [Self; 6] =
        [Self::TakenAway, Self::Emptied, Self::Cut, Self::Flipped, Self::Doubled, Self::Aged];

    /// Changes the element and says how; `None` if it cannot be changed in this way.
    pub(crate) fn change(self, change: &Change<'_>, random: &mut Random) -> Option<String> {
        let path = change.path();
        match self {
            Self::TakenAway => {
                tree::remove(&path);
                Some("removed".to_owned())
            }
            Self::Emptied => empty(&path),
            Self::Cut => cut(&path, random),
            Self::Flipped => flip(change, random),
            Self::Doubled => doubled::double(change, random),
            Self::Aged => aged::age(change, random),
        }
    }
}

fn flip(change: &Change<'_>, random: &mut Random) -> Option<String> {
    let has_no_checksum = matches!(
        change.element.kind,
        Kind::Description
            | Kind::RegionInfo
            | Kind::Reference
            | Kind::SnapshotPart
            | Kind::Log
            | Kind::MetaLog
            | Kind::RecoveredEdits
            | Kind::TrackerList
    );
    let mut bytes = if has_no_checksum { change.bytes() } else { Vec::new() };
    if bytes.is_empty() {
        return None;
    }
    let (at, bit) = (random.below(bytes.len()), random.below(8));
    bytes[at] ^= 1 << bit;
    fs::write(change.path(), &bytes).expect("ours");
    Some(format!("bit {bit} of byte {at} of {}", bytes.len()))
}

fn empty(path: &Path) -> Option<String> {
    if path.is_dir() {
        if tree::names(path).is_empty() {
            return None;
        }
        tree::remove(path);
        fs::create_dir(path).expect("ours");
    } else {
        if fs::metadata(path).expect("ours").len() == 0 {
            return None;
        }
        fs::write(path, "").expect("ours");
    }
    Some("has nothing".to_owned())
}

fn cut(path: &Path, random: &mut Random) -> Option<String> {
    if path.is_dir() {
        let names = tree::names(path);
        if names.is_empty() {
            return None;
        }
        let name = &names[random.below(names.len())];
        tree::remove(&path.join(name));
        return Some(format!("without {name}"));
    }
    let bytes = fs::read(path).expect("ours");
    if bytes.len() < 2 {
        return None;
    }
    let last = bytes.len() - 1;
    // Ends are where lengths and checksums are.
    let len = match random.below(4) {
        0 => 1 + random.below(last.min(16)),
        1 => last - random.below(last.min(16)),
        _ => 1 + random.below(last),
    };
    fs::write(path, &bytes[..len]).expect("ours");
    Some(format!("cut at {len} of {}", bytes.len()))
}
