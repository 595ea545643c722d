//! The report of `compare`, checked as text: every chart has its title, axis labels, markers and numbers, no marker
//! hides another, no label is cut off, and colours come from the style sheet. Where there is a Chromium, it takes
//! pictures of the pages.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::chromium::take_pictures;
use crate::drawing::{Area, Drawing, attribute, between};
use crate::full_run::full_run;
use crate::names::CONTENDERS;

/// The chart of gets and the label of its axis.
const GETS: (&str, &str) = ("gets", "ns per get; less is better");

/// The widest and the narrowest width of the text of a page: that of `main`, and of a window of 420 pixels.
const WIDTHS: [(&str, f64); 2] = [("wide", 928.0), ("narrow", 388.0)];

fn compare(arguments: &[&str], directory: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_compare"));
    let output = command.args(arguments).current_dir(directory).output().expect("compare starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Runs the smallest comparison, of this project's store alone, while this process is busy.
fn measure(directory: &Path) -> (PathBuf, Value, String) {
    let is_over = AtomicBool::new(false);
    let output = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let small = ["--quick", "--rows", "4000", "--rounds", "5", "--directory", "."];
        let outputs = ["--json", "run.json", "--report", "run.html"];
        let output = compare(&[&small[..], &outputs].concat(), directory);
        is_over.store(true, Ordering::Relaxed);
        output
    });
    let [json, html] = ["run.json", "run.html"].map(|name| directory.join(name));
    let run = serde_json::from_slice(&std::fs::read(json).expect("the file exists"));
    (html, run.expect("JSON"), String::from_utf8(output.stdout).expect("text"))
}

/// Makes the page of a made-up run; returns its path and its bytes.
fn render(run: &Value, name: &str, directory: &Path) -> (PathBuf, String) {
    let [json, html] = ["json", "html"].map(|extension| format!("{name}.{extension}"));
    std::fs::write(directory.join(&json), run.to_string()).expect("the disk has room");
    compare(&["--from", &json, "--report", &html], directory);
    let html = directory.join(html);
    let page = std::fs::read_to_string(&html).expect("the file exists");
    (html, page)
}

#[test]
fn the_report_shows_every_figure() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (html, run, text) = measure(directory.path());
    let left: Vec<_> = std::fs::read_dir(directory.path()).expect("ours").flatten().collect();
    assert_eq!(left.len(), 2, "stores were left: {left:?}");
    let page = std::fs::read_to_string(&html).expect("the file exists");
    assert_eq!(run["is_finished"], true);
    assert!(!page.contains("id=\"unfinished\""), "the run completed");
    assert!(text.contains("\nwarning: The machine was busy in "), "{text}");
    assert!(page.contains("id=\"busy\""), "the page has the warning, too");
    let headline = "Not reliable, because the machine was busy. No other engine took part";
    assert!(text.contains(&format!("\n{headline}")) && page.contains(headline), "{text}");

    let (full, _) = render(&full_run(600.0), "full", directory.path());
    let (slow, _) = render(&full_run(61_234_567.0), "slow", directory.path());
    for (html, run) in [(&html, &run), (&full, &full_run(600.0)), (&slow, &full_run(61_234_567.0))]
    {
        check(&std::fs::read_to_string(html).expect("the file exists"), run);
        take_pictures(html, directory.path());
    }
}

/// Checks the charts and the tables of a page.
fn check(page: &str, run: &Value) {
    for address in ["http:", "https:", "//", "<script", "@import", "url("] {
        assert!(!page.contains(address), "the page has {address}");
    }
    assert_eq!(page.matches("<table").count(), page.matches("class=\"scroll\"").count());
    check_numbers(between(page, "aria-label=\"All figures\">", "</table>"), run);
    let (chart, axis) = GETS;
    let figure = between(page, &format!("<figure id=\"{chart}\">"), "</figure>");
    assert!(!between(figure, "<h3>", "</h3>").is_empty(), "the title of {chart}");
    let rows = between(figure, "<tbody>", "</tbody>").matches("<tr>").count();
    assert_eq!(rows, expected_gets(run), "numbers of {chart}");
    let drawings = Drawing::all(figure);
    assert_eq!(drawings.len(), WIDTHS.len(), "{chart}");
    for (drawing, (class, width)) in drawings.into_iter().zip(WIDTHS) {
        assert_eq!(drawing.class(), class, "{chart}");
        check_drawing(drawing, figure, width, &format!("{chart}, {class}"));
        assert_eq!(drawing.paths("point").count(), rows, "markers of {chart}, {class}");
        assert!(
            drawing.labels().iter().any(|label| label.text == axis),
            "{chart}, {class}: {axis}"
        );
    }
}

/// Checks where the elements of a drawing are, and that it has a title, a description and no colours of its own.
///
/// `width` is the number of pixels that it has at least.
fn check_drawing(drawing: Drawing<'_>, figure: &str, width: f64, name: &str) {
    let ids = attribute(drawing.text(), "aria-labelledby").split(' ');
    let texts = ids.map(|id| between(figure, &format!("id=\"{id}\">"), "<"));
    assert_eq!(texts.filter(|text| !text.trim().is_empty()).count(), 2, "{name}: its names");
    for colour in ["fill=", "stroke=", "style="] {
        assert!(!drawing.text().contains(colour), "{name}: {colour}");
    }
    let font_size: f64 = attribute(drawing.text(), "font-size").parse().expect("a number");
    let area = drawing.area();
    assert!(font_size * width / area.right >= 9.0, "{name}: labels are too small");
    let labels = drawing.labels();
    for (number, label) in labels.iter().enumerate() {
        assert!(label.area.is_inside(area), "{name}: {label:?}");
        for other in &labels[number + 1..] {
            assert!(!label.area.touches(other.area), "{name}: {label:?} and {other:?}");
        }
    }
    for path in drawing.paths("") {
        assert!(path.is_inside(area), "{name}: {path:?}");
    }
    let markers: Vec<_> = drawing.paths("point").map(Area::centre).collect();
    for (number, [x, y]) in markers.iter().enumerate() {
        for [other_x, other_y] in &markers[number + 1..] {
            let distance = (x - other_x).hypot(y - other_y);
            assert!(distance >= 8.0, "{name}: markers cover each other at {x}, {y}");
        }
    }
}

/// Checks the medians in the table of all figures.
fn check_numbers(table: &str, run: &Value) {
    let figures = run["figures"].as_array().expect("figures");
    let samples =
        figures.iter().map(|figure| (figure, figure["wall"].as_array().expect("samples")));
    let samples: Vec<_> = samples.filter(|(_, samples)| !samples.is_empty()).collect();
    let rows: Vec<_> = table.split("<tr>").skip(2).collect();
    assert_eq!(rows.len(), samples.len(), "each figure has a row");
    for ((figure, samples), row) in samples.into_iter().zip(rows) {
        let cells: Vec<_> = row.split("<td>").map(|cell| cell.split('<').next()).collect();
        assert_eq!(cells[4], figure["contender"].as_str(), "{row}");
        let shown = cells[7].and_then(|cell| cell.split(' ').next()).expect("a median");
        let shown: f64 = shown.replace('\u{202f}', "").parse().expect("a number");
        let mut samples: Vec<_> = samples.iter().filter_map(Value::as_f64).collect();
        samples.sort_unstable_by(f64::total_cmp);
        let half = samples.len() / 2;
        let median = f64::midpoint(samples[half], samples[samples.len() - 1 - half]);
        assert!((shown - median).abs() <= 0.005_f64.max(median * 0.006), "{median}: {row}");
    }
}

/// The colours of Okabe and Ito, which people with colour blindness can distinguish.
const PALETTE: [&str; 8] =
    ["#000", "#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7"];

#[test]
fn markers_have_colours_of_the_palette_and_contrast_in_both_schemes() {
    let style = include_str!("../../../crates/cli/src/charts/style.css");
    let (light, dark) = style.split_once("prefers-color-scheme: dark").expect("two schemes");
    let ground = |scheme| between(scheme, "--ground: ", ";");
    assert_ne!(ground(light), ground(dark), "the dark scheme has another background");
    for scheme in [light, dark] {
        let ground = luminance(ground(scheme));
        for number in 0..5 {
            let colour = between(scheme, &format!("--k{number}: "), ";");
            assert!(PALETTE.contains(&colour), "{colour}");
            let ink = luminance(colour);
            let contrast = (ink.max(ground) + 0.05) / (ink.min(ground) + 0.05);
            assert!(contrast >= 3.0, "{colour} has a contrast of {contrast:.2}");
            assert!(style.contains(&format!(".k{number} {{ --c: var(--k{number}); }}")));
        }
    }
}

/// The relative luminance of a colour by the WCAG.
fn luminance(colour: &str) -> f64 {
    let digits = colour.strip_prefix('#').expect("a colour");
    let len = digits.len() / 3;
    let part = |number: usize| {
        let digits = digits[number * len..(number + 1) * len].repeat(2 / len);
        let value = f64::from(u8::from_str_radix(&digits, 16).expect("a colour")) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(0) + 0.7152 * part(1) + 0.0722 * part(2)
}

#[test]
fn the_conclusion_names_where_ours_is_ahead_and_where_behind() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (_, page) = render(&full_run(600.0), "full", directory.path());
    let (_, after) = page.split_once("id=\"headline\" class=\"headline\">").expect("a headline");
    let (headline, _) = after.split_once("</p>").expect("it ends");
    assert_eq!(
        headline,
        "Ours is ahead in 3 of 5 comparisons with RocksDB, fjall, redb and HBase, behind in 1; 1 is \
         too close to call. An absent get over many files takes 0.24 of RocksDB's time \
         (quartiles 0.23 to 0.26) and 0.36 of fjall's time (quartiles 0.20 to \
         0.50). Ours is behind at: bytes on disk, one run (1.09 times RocksDB's bytes)."
    );
    assert!(!page.contains("id=\"busy\""), "others took less than the limit");
    for name in CONTENDERS {
        assert!(page.contains(name), "{name}");
    }
    for name in ["many files", "levelled", "one run"] {
        assert!(page.contains(&format!("absent get, {name}")), "{name}");
    }
    assert!(!page.contains("compacted"), "a shape has one name");
}

#[test]
fn an_older_run_is_rendered_with_the_names_of_today() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut run = full_run(600.0);
    for figure in run["figures"].as_array_mut().expect("figures") {
        match figure["shape"].as_str() {
            Some("many files") => figure["shape"] = "many".into(),
            Some("one run") => figure["shape"] = "compacted".into(),
            _ => {}
        }
    }
    run["stages"][0].as_object_mut().expect("a stage").remove("other_load");
    let (_, page) = render(&run, "older", directory.path());
    assert!(page.contains("absent get, one run") && !page.contains("compacted"));
    assert!(page.contains("It is unknown whether the machine was busy"), "its load is unknown");
}

/// Returns the number of gets of the run that the chart must show.
fn expected_gets(run: &Value) -> usize {
    let figures = run["figures"].as_array().expect("figures");
    let gets =
        figures.iter().filter(|figure| figure["work"] == "get" && figure["threads"] == 1).count();
    assert!(gets > 0, "there are gets");
    gets
}
