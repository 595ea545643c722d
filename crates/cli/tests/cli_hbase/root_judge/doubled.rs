//! Copies of elements at other plausible places.

use std::fs;
use std::path::{Path, PathBuf};

use support::{Random, copy_directory};

use super::changes::Change;
use super::elements::{Element, Kind};
use super::{description, tracker_list, tree};

pub(crate) fn double(change: &Change<'_>, random: &mut Random) -> Option<String> {
    let path = &change.element.path;
    match change.element.kind {
        Kind::StoreFile | Kind::Link | Kind::Reference => store_file(change, random),
        Kind::RecoveredHFile if random.below(2) == 0 => {
            let family = path.parent().and_then(Path::parent).expect("in a family");
            change.copy_to(&family.join(tree::name(path)))
        }
        Kind::RecoveredHFile | Kind::MetaFile | Kind::MobFile | Kind::Region | Kind::MetaRegion => {
            change.copy_to(&renamed(path, random))
        }
        Kind::Family if random.below(2) == 0 => change.copy_to(&path.with_file_name("x")),
        Kind::Family => files_of_another_region(change, random),
        Kind::RegionInfo => {
            let other = change.other(Kind::RegionInfo, random)?;
            fs::write(change.root.join(&other.path), change.bytes()).expect("ours");
            Some(format!("also as {}", other.path.display()))
        }
        Kind::TrackerList => tracker_list::double(change, random),
        Kind::Description => Some(description::double(change, random)),
        Kind::SequenceFile => {
            let number: u64 = tree::name(path).strip_suffix(".seqid")?.parse().ok()?;
            let add = [1, 10, 1000][random.below(3)];
            change.copy_to(&path.with_file_name(format!("{}.seqid", number + add)))
        }
        Kind::RecoveredEdits => {
            let number: u64 = tree::name(path).parse().ok()?;
            let name = match random.below(3) {
                0 => format!("{:019}", number + 1000),
                1 => format!("{number:019}.temp"),
                _ => format!("-{number:018}"),
            };
            change.copy_to(&path.with_file_name(name))
        }
        Kind::Log | Kind::MetaLog => log(change, random),
        Kind::LogDirectory => {
            let to = [OTHER_SERVER.to_owned(), format!("{}-splitting", tree::name(path))];
            change.copy_to(&path.with_file_name(&to[random.below(2)]))
        }
        Kind::ArchiveFile | Kind::LinkedFile => {
            let other = match path.strip_prefix("archive") {
                Ok(path) => path.to_owned(),
                Err(_) => Path::new("archive").join(path),
            };
            change.copy_to(&other)
        }
        Kind::SnapshotPart => {
            let other = change.other(Kind::SnapshotPart, random)?;
            fs::write(change.root.join(&other.path), change.bytes()).expect("ours");
            Some(format!("also as {}", other.path.display()))
        }
        Kind::Id | Kind::Version => None,
    }
}

/// A server that the roots do not have.
const OTHER_SERVER: &str = "localhost,36350,1795621999999";

/// Returns the path with a name that differs in one hexadecimal digit.
fn renamed(path: &Path, random: &mut Random) -> PathBuf {
    let name = tree::name(path);
    let digit = char::from(b"0123456789abcdef"[random.below(16)]);
    let at = random.below(name.len().min(32));
    path.with_file_name(format!("{}{digit}{}", &name[..at], &name[at + 1..]))
}

fn store_file(change: &Change<'_>, random: &mut Random) -> Option<String> {
    let path = &change.element.path;
    let name = tree::name(path);
    let family = path.parent().expect("in a family");
    let is_family = |element: &&Element| element.kind == Kind::Family && element.path != family;
    let others: Vec<&Element> = change.elements.iter().filter(is_family).collect();
    match random.below(3) {
        0 if change.element.kind == Kind::StoreFile => change.copy_to(&renamed(path, random)),
        1 => {
            let mut same_region =
                others.iter().filter(|other| other.path.parent() == family.parent());
            change.copy_to(&same_region.next()?.path.join(name))
        }
        _ => {
            let family = tree::name(family);
            let same_family: Vec<_> =
                others.iter().filter(|other| tree::name(&other.path) == family).collect();
            if same_family.is_empty() {
                return None;
            }
            change.copy_to(&same_family[random.below(same_family.len())].path.join(name))
        }
    }
}

/// Adds the family's files to the same family of another region.
fn files_of_another_region(change: &Change<'_>, random: &mut Random) -> Option<String> {
    let other = change.other(Kind::Family, random)?;
    if tree::name(&other.path) != tree::name(&change.element.path) {
        return None;
    }
    copy_directory(&change.path(), &change.root.join(&other.path));
    Some(format!("its files also in {}", other.path.display()))
}

fn log(change: &Change<'_>, random: &mut Random) -> Option<String> {
    let path = &change.element.path;
    let name = tree::name(path);
    let (server, start) = name.split_once('.')?;
    let suffix = if change.element.kind == Kind::MetaLog { ".meta" } else { "" };
    let place = Path::new("WALs");
    match random.below(4) {
        0 => change.copy_to(&place.join(OTHER_SERVER).join(name)),
        1 => {
            let server = OTHER_SERVER.replace(',', "%2C");
            change.copy_to(&place.join(OTHER_SERVER).join(format!("{server}.{start}")))
        }
        2 => change.copy_to(&Path::new("oldWALs").join(name)),
        _ => {
            let later = format!("{server}{suffix}.1795622000000{suffix}");
            change.copy_to(&path.with_file_name(later))
        }
    }
}
