//! Which regions count where their key ranges meet, and where rows are in none.

use hbase_files::LeftOutReason;

use super::made::Made;

/// Returns the regions that count and those that newer ones replace, as `ID:START`, and the problems.
fn found(regions: &[(usize, &str, &str)]) -> (Vec<String>, Vec<String>, usize) {
    let made = Made::new(&[]);
    for (id, start, end) in regions {
        made.region(*id, start, end);
    }
    let table = made.table();
    let name = |info: &hbase_files::RegionInfo| {
        format!("{}:{}", info.id, String::from_utf8_lossy(&info.start_key))
    };
    let left_out = table.left_out.iter().map(|left_out| {
        assert_eq!(left_out.reason, LeftOutReason::Replaced);
        name(&left_out.region.info)
    });
    let left_out = left_out.collect();
    let regions = table.regions.iter().map(|region| name(&region.info)).collect();
    (regions, left_out, table.problems.len())
}

#[track_caller]
fn check(regions: &[(usize, &str, &str)], count: &[&str], replaced: &[&str], problems: usize) {
    let found = found(regions);
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    assert_eq!(found, (texts(count), texts(replaced), problems), "{regions:?}");
}

#[test]
fn newer_regions_replace_an_older_one_if_they_cover_all_of_it() {
    check(&[(1, "", ""), (2, "", "m"), (2, "m", "")], &["2:", "2:m"], &["1:"], 0);
    check(&[(1, "", "m"), (1, "m", ""), (2, "", "")], &["2:"], &["1:", "1:m"], 0);
    let middle = [(1, "", "c"), (1, "c", "p"), (1, "p", ""), (2, "c", "g"), (2, "g", "p")];
    check(&middle, &["1:", "2:c", "2:g", "1:p"], &["1:c"], 0);
    // The end is missing, the start, a row between: both count, and overlap.
    check(&[(1, "", ""), (2, "", "m")], &["1:", "2:"], &[], 1);
    check(&[(1, "", ""), (2, "m", "")], &["1:", "2:m"], &[], 1);
    check(&[(1, "", ""), (2, "", "m"), (2, "m\0", "")], &["1:", "2:", "2:m\0"], &[], 2);
    // A chain of splits.
    let chain = [(1, "", ""), (2, "", "m"), (2, "m", ""), (3, "m", "t"), (3, "t", "")];
    check(&chain, &["2:", "3:m", "3:t"], &["1:", "2:m"], 0);
    // A region that is older than what it would replace.
    check(&[(2, "", ""), (1, "", "m"), (1, "m", "")], &["2:"], &["1:", "1:m"], 0);
}

#[test]
fn rows_in_no_region_and_in_two_are_problems() {
    check(&[(1, "", "")], &["1:"], &[], 0);
    check(&[(1, "", "m")], &["1:"], &[], 1);
    check(&[(1, "m", "")], &["1:m"], &[], 1);
    check(&[(1, "", "c"), (1, "d", "")], &["1:", "1:d"], &[], 1);
    check(&[(1, "", "d"), (1, "d", "")], &["1:", "1:d"], &[], 0);
    check(&[(1, "", "d\0"), (1, "d", "")], &["1:", "1:d"], &[], 1);
}
