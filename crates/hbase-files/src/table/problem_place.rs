//! What a problem of a table concerns: a file, a region, a family, and the rows that may be lost.

use std::path::Path;

use cells::{RowsBetween, error_line};

use crate::error::Error;
use crate::names::RegionName;
use crate::table::root_paths::table_in;
use crate::table::{RegionInfo, Table};

/// A problem of a table, with the part that it concerns.
#[derive(Debug)]
pub(crate) struct ProblemPlace {
    /// The file or directory.
    pub(crate) file: Option<String>,
    pub(crate) region: Option<RegionName>,
    pub(crate) family: Option<Vec<u8>>,
    /// The error; without its path if `file` has it.
    pub(crate) what: String,
    /// The rows of the region, or of a gap or overlap of regions; all rows if no region is known.
    pub(crate) rows: RowsBetween,
}

impl Table {
    /// Returns what a problem of this table concerns.
    pub(crate) fn place_of(&self, problem: &Error) -> ProblemPlace {
        let mut place = ProblemPlace {
            file: None,
            region: None,
            family: None,
            what: error_line(problem),
            rows: RowsBetween::default(),
        };
        if let Error::KeyRanges { rows, what, .. } = problem {
            place.rows = (**rows).clone();
            place.what.clone_from(what);
            return place;
        }
        let Some(path) = problem.path() else { return place };
        let shown = path.display().to_string();
        if let Some(what) = place.what.strip_prefix(&format!("{shown}: ")) {
            place.what = what.to_owned();
        }
        place.file = Some(shown);
        // The path of a missing part may be just the directory that lacks it: the first path at which
        // the part was searched tells more.
        if let Error::Missing { searched, .. } = problem
            && let Some(first) = searched.first()
        {
            self.set_region(first, &mut place);
        }
        if place.region.is_none() {
            self.set_region(path, &mut place);
        }
        place
    }

    /// Sets region, family and rows from the directories in `path`.
    fn set_region(&self, path: &Path, place: &mut ProblemPlace) {
        let mob_files = table_in(&self.root, "mobdir/data", &self.name);
        let below = path.strip_prefix(&self.path).or_else(|_| path.strip_prefix(mob_files));
        let mut names = below.into_iter().flatten().filter_map(|name| name.to_str());
        let Some(name) = names.next().and_then(|name| name.parse::<RegionName>().ok()) else {
            return;
        };
        if let Some(info) = self.region_info(&name) {
            place.rows = info.rows();
        }
        let next = names.next().map(str::as_bytes);
        let family = next.filter(|name| self.schema.family(name).is_some());
        place.family = family.map(<[u8]>::to_vec);
        place.region = Some(name);
    }

    /// Returns the description of a region, also of one that is left out (such as a split parent) or
    /// that could not be read.
    fn region_info(&self, name: &RegionName) -> Option<&RegionInfo> {
        let left_out = self.left_out.iter().map(|left_out| &left_out.region);
        let regions = self.regions.iter().chain(left_out).map(|region| &region.info);
        regions.chain(&self.absent).find(|info| info.encoded_name == *name)
    }
}
