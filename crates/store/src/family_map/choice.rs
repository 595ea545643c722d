//! The choice of the form of a family map.

use crate::family_map::mode::MapMode;

use super::form::MapForm;
use super::map::MapSize;

/// What the choice of a map's form depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MapNeeds {
    /// The number of files of the family.
    pub(crate) files: usize,
    /// The rows of the files, each row counted once for each file.
    pub(crate) rows: u64,
    /// The budget of the block cache.
    pub(crate) cache_bytes: u64,
    /// The form of the present map; `None` if the family has no map.
    pub(crate) present: Option<MapForm>,
}

/// The number of files from which [`MapMode::Auto`] makes a map, and below which it drops the map.
///
/// With a single file, a map saves no filter lookups.
const FILES_MIN: usize = 2;

/// The share of the cache's budget that a map of [`MapMode::Auto`] may take: one fourth.
///
/// Filters and maps together may take half of the budget, and a sweep or a rebuild has two maps in
/// memory for a while. With this share, a map of files is made if the cache has about 13 bytes for
/// each row, and kept down to about 11. With a smaller cache, filters of 10 bits leave more memory
/// for data blocks, which serves reads better.
const CACHE_SHARE: u64 = 4;

impl MapNeeds {
    /// Returns the form of map that the family would get if it had none.
    pub(crate) fn form_of_first_map(self, mode: MapMode) -> Option<MapForm> {
        MapForm::choose(mode, &Self { present: None, ..self })
    }
}

impl MapForm {
    /// Returns the form of map that a family needs; `None` if filters serve its reads better.
    pub(crate) fn choose(mode: MapMode, needs: &MapNeeds) -> Option<Self> {
        match mode {
            _ if !Self::may_be_chosen(mode, needs.files) => None,
            MapMode::Off => None,
            MapMode::Files => Some(Self::Narrow),
            MapMode::Wide => Some(Self::Wide),
            MapMode::Auto => Self::choose_by_size(needs),
        }
    }

    /// Returns whether [`choose`](Self::choose) may return a form, whatever the number of rows.
    pub(crate) const fn may_be_chosen(mode: MapMode, files: usize) -> bool {
        match mode {
            MapMode::Off => false,
            MapMode::Files | MapMode::Wide => true,
            MapMode::Auto => files >= FILES_MIN,
        }
    }

    fn choose_by_size(needs: &MapNeeds) -> Option<Self> {
        let fits = |rows: u64, form: Self| {
            MapSize::of_rows(rows, form).bytes() <= needs.cache_bytes / CACHE_SHARE
        };
        // The present form is kept while a map for just these rows fits. A new form must fit with
        // its room for growth, so that a family near the limit does not change form at each flush.
        let kept = needs.present.filter(|form| fits(needs.rows, *form));
        let forms = [Self::Wide, Self::Narrow];
        kept.or_else(|| forms.into_iter().find(|form| fits(rows_of_new_map(needs.rows), *form)))
    }
}

/// The number of rows for which the smallest map is made: 11.4 KiB, or 21.8 KiB if it is wide.
///
/// In a model of threads it is one line: a model takes long to create each atomic word.
const ROWS_MIN: u64 = if cfg!(any(loom, shuttle)) { 1 } else { 4096 };

/// Returns the number of rows to make a map for, if there are `rows` rows now.
///
/// Together with the margin of [`MapSize`], the map has room for about 40 % more rows, so that not
/// each flush needs a new map.
pub(crate) fn rows_of_new_map(rows: u64) -> u64 {
    (rows.saturating_mul(6) / 5).max(ROWS_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auto(
        files: usize,
        rows: u64,
        cache_bytes: u64,
        present: Option<MapForm>,
    ) -> Option<MapForm> {
        MapForm::choose(MapMode::Auto, &MapNeeds { files, rows, cache_bytes, present })
    }

    #[test]
    fn a_single_file_gets_no_map_and_loses_its_map() {
        let large = 1 << 30;
        for present in [None, Some(MapForm::Narrow), Some(MapForm::Wide)] {
            assert_eq!(auto(0, 1000, large, present), None);
            assert_eq!(auto(1, 1000, large, present), None);
            for files in [2, 100] {
                assert!(auto(files, 1000, large, present).is_some());
            }
        }
    }

    #[test]
    fn the_budget_decides_how_wide_the_entries_are() {
        const ROWS: u64 = 2_000_000;
        assert_eq!(auto(16, ROWS, ROWS * 40, None), Some(MapForm::Wide));
        assert_eq!(auto(16, ROWS, ROWS * 16, None), Some(MapForm::Narrow));
        assert_eq!(
            auto(16, ROWS, ROWS * 10, None),
            None,
            "filters of 10 bits take an eighth of this budget"
        );
        assert_eq!(auto(16, u64::MAX, u64::MAX, None), None);
    }

    /// Otherwise each flush near a limit would make a map or drop it.
    #[test]
    fn a_map_is_kept_beyond_the_size_at_which_it_is_made() {
        let budget = |made: MapForm| {
            (1..10_000_u64)
                .map(|step| step << 16)
                .find(|bytes| auto(16, 1_000_000, *bytes, None) == Some(made))
        };
        for form in [MapForm::Narrow, MapForm::Wide] {
            let budget = budget(form).unwrap();
            assert_eq!(auto(16, 1_150_000, budget, Some(form)), Some(form));
            assert_ne!(auto(16, 1_150_000, budget, None), Some(form));
            assert_ne!(auto(16, 2_000_000, budget, Some(form)), Some(form));
        }
        let files = budget(MapForm::Wide).unwrap();
        assert_eq!(auto(16, 1_000_000, files, Some(MapForm::Narrow)), Some(MapForm::Narrow));
    }

    #[test]
    fn an_explicit_mode_is_obeyed() {
        let needs = MapNeeds { files: 1, rows: 1 << 40, cache_bytes: 0, present: None };
        assert_eq!(MapForm::choose(MapMode::Off, &needs), None);
        assert_eq!(MapForm::choose(MapMode::Files, &needs), Some(MapForm::Narrow));
        assert_eq!(MapForm::choose(MapMode::Wide, &needs), Some(MapForm::Wide));
    }
}
