use super::*;

#[test]
fn numbers_are_grouped_and_have_three_digits() {
    let texts = [0.0, 0.00012, 0.0123, 1.5, 12.34, 1234.5, 2_000_000.0].map(number);
    let grouped = ["1\u{202f}234", "2\u{202f}000\u{202f}000"];
    assert_eq!(texts, ["0", "1e-4", "0.012", "1.5", "12.3", grouped[0], grouped[1]]);
}

#[test]
fn cells_of_tables_are_escaped() {
    let html = table("a\"b", &["<x>".to_owned()], &[vec!["&".to_owned(), "1".to_owned()]]);
    assert!(html.contains("aria-label=\"a&quot;b\"") && html.contains("&lt;x&gt;"), "{html}");
    assert!(html.contains("<th scope=\"row\">&amp;</th><td>1</td>"), "{html}");
}

#[test]
fn ticks_are_round_and_every_number_is_on_the_scale() {
    let numbers = [230.0, 4100.0];
    let scale = Scale::new(numbers.into_iter());
    assert_eq!(scale.ticks(), [500.0, 1000.0, 2000.0]);
    assert_eq!(Scale::new([0.003, 900.0].into_iter()).ticks().len(), 5, "powers of ten only");
    assert!(numbers.iter().all(|number| (0.0..=100.0).contains(&scale.place(*number))));
    assert!(scale.place(0.0).abs() < 1e-9, "zero is at the left end");
}

#[test]
fn a_row_has_its_marks_its_numbers_and_its_goal() {
    let value = Spread { low: 0.4, median: 0.5, high: 0.6 };
    let row = Row { label: "a <get>".to_owned(), value, limit: Some((0.25, "missed".to_owned())) };
    let group = Group { title: "over a peer".to_owned(), rows: vec![row] };
    let [title, note, scale] = ["Ratios", "Less is better.", "ratio"].map(str::to_owned);
    let chart = Chart { id: "ratios", title, note, scale, groups: vec![group], is_ratio: true };
    let html = chart.html();
    for text in [
        "<figure id=\"ratios\">",
        "a &lt;get&gt;",
        "<td>0.5</td><td>0.4 – 0.6</td><td>0.25</td><td>missed</td>",
        "<i class=\"point\" style=\"left:",
        "<i class=\"limit\" style=\"left:",
        "<i class=\"equal\" style=\"left:",
    ] {
        assert!(html.contains(text), "{text}: {html}");
    }
}
