//! Reports directories of families that are gone from the regions of a table.
//!
//! HBase makes the directory of each family when it opens a region (`HStore`), so a directory that is
//! missing is damage, with two exceptions:
//!
//! * HBase has not opened the region since it made it, for example because the table was cloned or is
//!   disabled. Then `recovered.edits/N.seqid`, which each opening writes, is missing too.
//! * The family was added to a disabled table. Then no region has its directory, and the schema is
//!   not the first one of the table.
//!
//! In these cases the missing directory is a warning. Snapshots list families without files, or leave
//! them out; MOB files get a directory with the first of them. Both are not checked.

use std::collections::BTreeSet;
use std::path::Path;

use crate::table::{Family, Region};
use crate::{Error, FileTree};

/// Adds the missing directories of families to `problems`, or to `warnings` if HBase may not have
/// made them.
pub(crate) fn check_family_directories(
    tree: &dyn FileTree,
    table: &Path,
    is_altered: bool,
    regions: &[Region],
    problems: &mut Vec<Error>,
    warnings: &mut Vec<Error>,
) {
    let (mut gone, mut known) = (Vec::new(), BTreeSet::new());
    for region in regions {
        let directory = table.join(region.name().as_str());
        let mut gone_here = Vec::new();
        for family in &region.families {
            let path = directory.join(&*String::from_utf8_lossy(&family.name));
            match tree.find(&path) {
                _ if !family.files.is_empty() => _ = known.insert(&family.name[..]),
                Ok(Some(_)) => _ = known.insert(&family.name[..]),
                Ok(None) => gone_here.push((family, missing(&directory, &path, family))),
                Err(error) => problems.push(Error::io(&path, "find it")(error)),
            }
        }
        if !gone_here.is_empty() {
            gone.push((region, gone_here));
        }
    }
    for (region, families) in gone {
        let (was_opened, has_none) =
            (region.last_opened.is_some(), families.len() == region.families.len());
        for (family, error) in families {
            let is_of_no_region = !known.contains(&family.name[..]);
            let is_expected = if was_opened {
                is_altered && is_of_no_region && !has_none
            } else {
                is_of_no_region || has_none
            };
            if is_expected { warnings.push(error) } else { problems.push(error) }
        }
    }
}

fn missing(region: &Path, path: &Path, family: &Family) -> Error {
    let name = sstable::escape(&family.name);
    Error::Missing {
        path: region.to_owned(),
        what: format!("the directory of family {name}, which HBase makes when it opens a region,"),
        looked: vec![path.to_owned()],
    }
}
