//! Verdicts at the edges of the rules: times, versions, markers, tags.
//!
//! The cells of a case are words such as `q:D30`: the qualifier, the type (none for a put) and the
//! timestamp. The verdicts are a letter each: `I` include, `s` skip, `.` skip the column.

use std::time::Duration;

use super::*;
use crate::units::SequenceId;
use crate::view::{short, shows_only_put};

/// Returns the tag of a TTL.
fn ttl_tag(millis: i64) -> Vec<u8> {
    [&[0, 9, TTL_TAG][..], &millis.to_be_bytes()].concat()
}

/// Judges cells, which may end with `~N`, a tag with a TTL of N, after another tag.
#[track_caller]
fn check(mut rules: Rules<'_>, cells: &str, expected: &str) {
    let (mut verdicts, mut last) = (String::new(), None::<crate::cell::Cell>);
    for word in cells.split_whitespace() {
        let (row, column_and_version) = word.split_once('|').unwrap_or(("r", word));
        let (qualifier, version_and_ttl) = column_and_version.split_once(':').unwrap();
        let (version, ttl) = version_and_ttl.split_once('~').unwrap_or((version_and_ttl, ""));
        let (cell_type, time) = match version.split_at(1) {
            ("D", time) => (CellType::Delete, time),
            ("C", time) => (CellType::DeleteColumn, time),
            ("F", time) => (CellType::DeleteFamily, time),
            ("V", time) => (CellType::DeleteFamilyVersion, time),
            _ => (CellType::Put, version),
        };
        let tags = match ttl.parse() {
            Ok(ttl) => [vec![0, 3, 1, 2, 3], ttl_tag(ttl)].concat(),
            Err(_) => Vec::new(),
        };
        let cell = CellRef {
            row: row.as_bytes(),
            family: b"f",
            qualifier: qualifier.as_bytes(),
            timestamp: Timestamp::new(time.parse().unwrap()),
            cell_type,
            value: b"",
            tags: &tags,
            sequence_id: SequenceId::new(0),
        };
        let is_ordered = last.is_none_or(|last| last.as_ref().compare(&cell).is_le());
        assert!(is_ordered, "{word} in {cells}");
        last = Some(cell.to_cell());
        verdicts.push(match rules.judge(&cell) {
            Verdict::Include => 'I',
            Verdict::Skip => 's',
            Verdict::SkipColumn => '.',
        });
    }
    assert_eq!(verdicts, expected, "{cells}");
}

const NOW: Timestamp = Timestamp::new(100);

fn family() -> Retention {
    Retention::default().versions(9)
}

fn all() -> View {
    View::default().versions(9)
}

fn range(min: i64, max: i64) -> View {
    all().time_range(Timestamp::new(min), Timestamp::new(max))
}

fn ttl(millis: u64) -> Retention {
    family().ttl(Some(Duration::from_millis(millis)))
}

fn read(family: &Retention, view: &View) -> Rules<'static> {
    Rules::new(family, view, NOW)
}

#[test]
fn a_cell_expires_after_the_ttl_of_its_family() {
    check(read(&ttl(10), &all()), "q:91 q:90 q:89 q:88 z:90", "II..I");
    check(read(&ttl(10), &all()).column("q"), "q:91 q:90 q:89", "II.");
    check(read(&ttl(10), &all().raw(true)), "q:91 q:90 q:89", "III");
    check(read(&family(), &all()), "q:1 q:0 q:-1", "III");
    check(Rules::for_rewrite(&ttl(10), NOW), "q:91 q:90 q:89", "II.");
    assert_eq!(ttl(10).oldest_unexpired(|| NOW), Timestamp::new(90));
    assert_eq!(family().oldest_unexpired(|| NOW), Timestamp::OLDEST);
}

#[test]
fn a_ttl_tag_counts_wherever_it_is_among_the_tags() {
    for view in [all(), all().raw(true)] {
        check(read(&family(), &view), "q:91~10 q:90~10 q:89~10 q:88~12 q:87", "IIsII");
    }
    check(Rules::for_rewrite(&family(), NOW), "q:90~10 q:89~10 q:88", "IsI");
    let is_shown = |tags: &[&[u8]]| {
        let put = CellRef::put(b"r", b"f", b"q", Timestamp::new(80), b"");
        let cell = CellRef { tags: &tags.concat(), ..put };
        read(&family(), &all()).judge(&cell) == Verdict::Include
    };
    let (expired, alive, label) = (ttl_tag(19), ttl_tag(20), vec![0, 2, 1, 7]);
    assert!(!is_shown(&[&expired]) && is_shown(&[&alive]) && is_shown(&[&label]));
    assert!(!is_shown(&[&label, &expired]) && is_shown(&[&label, &alive]));
    assert!(!is_shown(&[&label, &label, &expired, &label]));
    // Of several TTLs the first counts; one of another length is none.
    assert!(!is_shown(&[&expired, &alive]) && is_shown(&[&alive, &expired]));
    assert!(is_shown(&[&[0, 2, TTL_TAG, 0]]));
    // The end of the life of a cell at 80 is a sum that wraps, as in HBase.
    let longest = i64::MAX - 80;
    assert!(is_shown(&[&ttl_tag(longest)]));
    assert!(!is_shown(&[&ttl_tag(longest + 1)]) && !is_shown(&[&ttl_tag(i64::MAX)]));
}

#[test]
fn a_time_range_has_its_first_time_and_not_its_end() {
    check(read(&family(), &range(3, 6)), "q:7 q:6 q:5 q:3 q:2 q:1 z:3", "ssII..I");
    check(read(&family(), &range(3, 6)).column("q"), "q:6 q:5 q:3 q:2 z:3", "sII..");
    check(read(&family(), &range(3, 6).raw(true)), "q:6 q:D5 q:5 q:3 q:2", "sIII.");
    // Versions outside of the range do not count.
    check(read(&family(), &range(3, 6).versions(1)), "q:6 q:5 q:4", "sI.");
    let latest = Timestamp::LATEST.get();
    check(read(&family(), &all()), &format!("q:{latest} q:0"), "II");
}

#[test]
fn a_file_can_contribute_up_to_the_edges_of_the_range_and_the_ttl() {
    let can = |rules: Rules<'_>, oldest, newest| {
        rules.can_contribute(Timestamp::new(oldest), Timestamp::new(newest))
    };
    for (oldest, newest, expected) in
        [(0, 2, false), (0, 3, true), (4, 4, true), (5, 9, true), (6, 9, false)]
    {
        let rules = read(&family(), &range(3, 6));
        assert_eq!(can(rules, oldest, newest), expected, "{oldest} {newest}");
    }
    assert!(can(read(&ttl(10), &all()), 0, 90) && !can(read(&ttl(10), &all()), 0, 89));
    assert!(can(read(&ttl(10).min_versions(1), &all()), 0, 89));
    assert!(can(read(&ttl(10), &all().raw(true)), 0, 89));
    assert!(can(read(&family(), &all()), 0, 0));
}

#[test]
fn as_many_versions_are_shown_as_the_read_and_the_family_allow() {
    for (kept, asked, expected) in [(1, 1, "I.."), (2, 9, "II."), (9, 2, "II."), (9, 9, "III")] {
        let family = Retention::default().versions(kept);
        check(read(&family, &View::default().versions(asked)), "q:3 q:2 q:1", expected);
    }
    check(read(&Retention::default(), &all().raw(true)), "q:3 q:2 q:1", "III");
    check(read(&family(), &View::default().versions(2).raw(true)), "q:3 q:2 q:1", "II.");
    check(read(&family(), &View::default().versions(0)), "q:3", ".");
    // Each column and each row counts its own versions.
    let one = View::default();
    check(read(&family(), &one), "a:3 a:2 b:3 s|b:3 s|b:2 s|c:1", "I.II.I");
    let columns = read(&family(), &one).column("b").column("d");
    check(columns, "a:3 b:3 b:2 c:3 d:3 d:2 e:1 s|b:3", ".I..I..I");
    check(read(&family(), &one).column("d").column("b"), "a:3 b:3 d:3", ".II");
    // Cells with equal keys are one version, whose last write comes first.
    check(read(&family(), &View::default().versions(2)), "q:3 q:3 q:2 q:1", "IsI.");
    check(read(&family(), &View::default().versions(2)).column("q"), "q:3 q:3 q:2 q:1", "IsI.");
    check(read(&family(), &all().raw(true)), "q:D3 q:D3 q:3 q:3 q:2", "IsIsI");
    // In a raw read, markers are no versions.
    check(read(&family(), &one.raw(true)), "q:C9 q:D3 q:3 q:D2 q:2", "IIII.");
}

#[test]
fn expired_versions_are_kept_up_to_the_minimum() {
    let (one, two, three) =
        (ttl(10).min_versions(1), ttl(10).min_versions(2), ttl(10).min_versions(3));
    check(read(&two, &all()), "q:95 q:80 q:70 q:60", "II..");
    check(read(&three, &all()), "q:95 q:80 q:70 q:60", "III.");
    check(read(&one, &all()), "q:95 q:90 q:89", "II.");
    check(read(&one, &all()), "q:80 q:70", "I.");
    // For a named column, the version that reaches the minimum ends it.
    check(read(&two, &all()).column("q"), "q:95 q:80 q:70", "II.");
    check(read(&one, &all()).column("q"), "q:95 q:80 q:70", "II.");
    check(read(&one, &all()).column("q"), "q:90 q:89 q:88", "II.");
    check(Rules::for_rewrite(&two, NOW), "q:95 q:80 q:70", "II.");
}

#[test]
fn a_marker_hides_what_it_deletes_and_nothing_newer() {
    for (cells, expected) in [
        (":6 :F5 :5 a:6 a:5 a:4 b:6 b:5", "I..I..I."),
        (":V5 a:6 a:5 a:4 b:5 b:4", "sIsIsI"),
        (":V7 :V5 a:7 a:6 a:5 a:4", "sssIsI"),
        ("a:6 a:C5 b:5", "I.I"),
        ("a:C5 a:5 a:4 b:5 b:4", "...II"),
        ("a:D5 a:5 a:4 b:5", "ssII"),
        ("a:D5 a:4 a:3", "sII"),
        ("a:D5 a:5 a:5 a:4", "sssI"),
        ("a:D5 a:5 a:D4 a:4 a:3", "ssssI"),
        ("a:C5 a:D5 a:5 a:4", "...."),
        ("a:C5 a:D4 a:4 a:3", "...."),
        ("a:D6 a:6 a:C5 a:5 a:4", "ss..."),
        // Under a family marker, and without one in the next row.
        (":F5 a:D5 a:5 a:4 s|a:5 s|a:4", "....II"),
        (":F5 a:C6 a:6 a:5", "...."),
        (":F5 :F3 a:6 a:4", "..I."),
        (":V6 :F5 a:6 a:5", "s.s."),
        (":F5 :V4 a:6 a:5", "..I."),
        (":V5 s|a:5", "sI"),
        ("a:C5 s|a:5", ".I"),
    ] {
        check(read(&family(), &all()), cells, expected);
    }
    // A hidden version does not count.
    check(read(&family(), &View::default()), "a:D5 a:5 a:4 a:3", "ssI.");
    check(read(&family(), &View::default().raw(true)), ":F5 a:C5 a:5 a:4", "III.");
}

#[test]
fn the_empty_qualifier_is_judged_to_its_end() {
    let one = View::default();
    // The column is complete, but a marker that deletes in all columns follows.
    check(read(&family(), &one), ":7 :6 :F5 :5 a:6 a:5", "I...I.");
    check(read(&family(), &one).column("a"), ":F5 :5 a:6 a:5 b:6", "..I..");
    check(read(&family(), &one).column(""), ":7 :6 a:7", "I..");
}

#[test]
fn markers_apply_by_the_time_range_and_keep_deleted_cells() {
    let keeps = |keep| family().keep_deleted_cells(keep);
    let (no, yes, by_ttl) =
        (KeepDeletedCells::False, KeepDeletedCells::True, KeepDeletedCells::Ttl);
    for (keep, end, expected) in [
        (no, 6, ".."),
        (no, 5, ".."),
        (yes, 6, ".."),
        (yes, 5, "sI"),
        (by_ttl, 6, ".."),
        (by_ttl, 5, "sI"),
    ] {
        check(read(&keeps(keep), &range(2, end)), "a:C5 a:4", expected);
        check(read(&keeps(keep), &range(4, end)), "a:C5 a:4", expected);
    }
    // A marker before the range hides nothing in it.
    check(read(&keeps(no), &range(5, 9)), "a:C5 a:5", "..");
    check(read(&keeps(no), &range(6, 9)), "a:6 a:C5 a:5", "Is.");
    check(read(&keeps(no), &range(6, 9)), ":F5 :V5 a:6", "ssI");
}

#[test]
fn a_rewrite_keeps_markers_and_drops_what_they_hide() {
    let rewrite = |family: &Retention| Rules::for_rewrite(family, NOW);
    check(rewrite(&family()), ":F5 a:7 a:C6 a:6 a:5 b:D6 b:6 b:5 c:6", "III..Is.I");
    check(rewrite(&family()), "b:D5 b:5 b:4", "IsI");
    // As in HBase, a marker after the last version is not judged.
    check(rewrite(&family().versions(1)), "a:8 a:7 a:C6 a:6", "I...");
    let keeps = |keep| ttl(10).keep_deleted_cells(keep);
    check(rewrite(&keeps(KeepDeletedCells::True)), "a:C95 a:95 a:94", "III");
    check(rewrite(&keeps(KeepDeletedCells::Ttl)), "a:C90 a:90", "II");
    let least = keeps(KeepDeletedCells::Ttl).min_versions(1);
    check(rewrite(&least), "a:C90 a:90", "II");
    check(rewrite(&least), "a:C89 a:89", "I.");
    check(rewrite(&keeps(KeepDeletedCells::True).min_versions(1)), "a:C89 a:89", "II");
    check(rewrite(&keeps(KeepDeletedCells::False)), "a:C95 a:95", "I.");
}

#[test]
fn a_major_compaction_drops_markers_that_hide_nothing_any_more() {
    let major = |family: &Retention, earliest| {
        Rules::for_major_compaction(family, Timestamp::new(earliest), NOW)
    };
    check(major(&family(), 1), ":F5 a:7 a:C6 a:6 b:6 b:D5", "sIs.Is");
    let keeps = family().keep_deleted_cells(KeepDeletedCells::True);
    check(major(&keeps, 5), "a:C6 a:6 b:C5 b:5 c:C4 c:D3", "IIII..");
    check(major(&keeps.versions(1), 5), "a:C7 a:6 a:5", "II.");
    let by_ttl = ttl(10).min_versions(1).keep_deleted_cells(KeepDeletedCells::Ttl);
    check(major(&by_ttl, 1), "a:C90 a:90 b:C89 b:89 b:88", "IIs..");
}

#[test]
fn the_fast_path_shows_a_plain_put_of_the_range() {
    let put = CellRef::put(b"r", b"f", b"q", Timestamp::new(5), b"");
    let columns = Columns::Only([short(b"q")].into());
    let shows = |family: &Retention, view: View| shows_only_put(family, &view, &columns, &put);
    let (one, within) = (View::default(), |min, max| range(min, max).versions(1));
    assert!(shows(&family(), one) && shows(&family(), within(5, 6)));
    assert!(!shows(&family(), within(6, 9)) && !shows(&family(), within(1, 5)));
    assert!(!shows(&family(), one.versions(0)) && !shows(&family(), one.versions(2)));
    assert!(!shows(&ttl(10), one) && !shows(&family().min_versions(1), one));
    let tags = ttl_tag(1);
    let marker = CellRef { cell_type: CellType::DeleteColumn, ..put };
    for other in [CellRef { tags: &tags, ..put }, marker, CellRef { qualifier: b"r", ..put }] {
        assert!(!shows_only_put(&family(), &one, &columns, &other), "{other:?}");
    }
    assert!(!shows_only_put(&family(), &one, &Columns::All, &put));
}
