//! The report of `compare` in a browser: every chart has its markers, none hides another, no label
//! is cut off, and the page is readable at 1,200 and 420 pixels, in the light and the dark scheme.
//!
//! Without Chromium the test prints so and checks only the bytes of the page. `REPORT_SCREENSHOTS`
//! names a directory for screenshots.

#[path = "browser/chromium.rs"]
mod chromium;
#[path = "browser/full_run.rs"]
mod full_run;
#[path = "names.rs"]
mod names;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use support::say;

use crate::chromium::Browser;
use crate::full_run::full_run;
use crate::names::CONTENDERS;

const CHARTS: [&str; 7] = [
    "gets",
    "amplification",
    "files-absent",
    "files-present",
    "rows-absent",
    "rows-present",
    "filters",
];

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
fn the_report_shows_every_figure_in_the_light_and_the_dark_scheme() {
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

    let (full, full_page) = render(&full_run(600.0), "full", directory.path());
    let (slow, _) = render(&full_run(61_234_567.0), "slow", directory.path());
    for page in [&page, &full_page] {
        assert!(!page.contains("<script"), "the page has no scripts");
        let is_external = page.contains("http://") || page.contains("https://");
        assert!(!is_external, "the page has no external resources");
    }

    let Some(mut browser) = Browser::start(&directory.path().join("profile")) else {
        say(
            "the report: not tested in a browser, because there is no Chromium; its bytes were checked",
        );
        return;
    };
    for (html, run) in [(&html, &run), (&full, &full_run(600.0)), (&slow, &full_run(61_234_567.0))]
    {
        check(&mut browser, html, run);
    }
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// Checks a page at both widths and in both schemes.
fn check(browser: &mut Browser, html: &Path, run: &Value) {
    let name = html.file_stem().expect("a name").to_string_lossy();
    browser.open(html);
    assert_eq!(browser.evaluate(UNNAMED), 0, "{name}: drawings without title or description");
    for (width, class) in [(1200, "wide"), (420, "narrow")] {
        browser.resize(width);
        for chart in CHARTS {
            let markers =
                format!("document.querySelectorAll('#{chart} svg.{class} .point').length");
            let markers = browser.evaluate(&markers).as_u64();
            assert_eq!(markers, Some(expected_points(run, chart)), "{name}: markers of {chart}");
            let rows = format!("document.querySelectorAll('#{chart} tbody tr').length");
            assert_eq!(browser.evaluate(&rows).as_u64(), markers, "{name}: numbers of {chart}");
        }
        for (what, count) in [
            ("elements outside of their drawing", OUTSIDE),
            ("labels that touch", TOUCHING),
            ("markers that cover each other", COVERED),
            ("labels that are too small", SMALL),
            ("colours outside of the palette", OTHER_COLOURS),
        ] {
            let found = browser.evaluate(count);
            assert_eq!(found, Value::from(Vec::<Value>::new()), "{name}, {width} pixels: {what}");
        }
        let wider = browser.evaluate(WIDER_THAN_WINDOW).as_f64().expect("a number");
        assert!(wider <= 0.0, "{name}: the page is {wider} pixels wider than {width}");
        let mut grounds = Vec::new();
        for scheme in ["light", "dark"] {
            browser.prefer(scheme);
            let contrast = browser.evaluate(LEAST_CONTRAST).as_f64().expect("a number");
            assert!(contrast >= 3.0, "{name}, {scheme}: a marker has a contrast of {contrast:.2}");
            grounds.push(browser.evaluate("getComputedStyle(document.body).backgroundColor"));
            if let Some(kept) = std::env::var_os("REPORT_SCREENSHOTS") {
                let name = format!("report-{name}-{width}-{scheme}.png");
                browser.screenshot(&Path::new(&kept).join(name));
            }
        }
        browser.prefer("light");
        assert_ne!(grounds[0], grounds[1], "the dark scheme has another background");
    }
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

/// Returns the number of points that a chart must have for the figures of the run.
fn expected_points(run: &Value, chart: &str) -> u64 {
    let figures = run["figures"].as_array().expect("figures");
    let count =
        |is_shown: &dyn Fn(&Value) -> bool| figures.iter().filter(|it| is_shown(it)).count();
    let is_asked = |it: &Value, asked: &str| it["asked"] == asked && it["threads"] == 1;
    let points = match chart {
        "amplification" => count(&|it| {
            it["work"] == "get as files grow"
                && is_asked(it, "absent")
                && it["reads"]["data_blocks"].as_f64() > Some(0.0)
        }),
        "gets" => count(&|it| it["work"] == "get" && it["threads"] == 1),
        "filters" => {
            let filters = run["filters"].as_array().expect("filters");
            filters.iter().filter(|it| it["error_rate"].as_f64() > Some(0.0)).count()
        }
        growth => {
            let (of, asked) = growth.split_once('-').expect("two words");
            let is_main = |it: &Value| {
                of == "rows"
                    && it["work"] == "get"
                    && it["shape"] == "many files"
                    && it["cache"] == "all"
                    && it["engine"] != "HBase"
            };
            let work = format!("get as {of} grow");
            count(&|it| is_asked(it, asked) && (it["work"] == *work || is_main(it)))
        }
    };
    assert!(points > 0, "{chart} has figures");
    points as u64
}

/// Drawings whose title or description is missing.
const UNNAMED: &str = "[...document.querySelectorAll('svg.chart')].filter(svg => {
    const ids = svg.getAttribute('aria-labelledby').split(' ');
    return ids.length !== 2 || ids.some(id => !document.getElementById(id).textContent.trim());
}).length";

/// Markers, lines and labels of the shown drawings that reach beyond them.
const OUTSIDE: &str =
    "[...document.querySelectorAll('svg.chart text, svg.chart path')].filter(it => {
    const box = it.getBoundingClientRect(), svg = it.closest('svg').getBoundingClientRect();
    return svg.width > 0 && (box.left < svg.left - 1 || box.right > svg.right + 1
        || box.top < svg.top - 1 || box.bottom > svg.bottom + 1);
}).map(it => it.textContent || it.getAttribute('class'))";

/// Pairs of labels in one drawing that touch.
const TOUCHING: &str = "[...document.querySelectorAll('svg.chart')].flatMap(svg => {
    const boxes = [...svg.querySelectorAll('text')].map(it => [it, it.getBoundingClientRect()]);
    return boxes.flatMap(([a, one], at) => boxes.slice(at + 1).filter(([, other]) =>
        one.width > 0 && one.left < other.right - 1 && other.left < one.right - 1
            && one.top < other.bottom - 3 && other.top < one.bottom - 3
    ).map(([b]) => svg.classList[1] + ': ' + a.textContent + ' / ' + b.textContent));
})";

/// Pairs of markers in one drawing whose centres are less than a marker apart.
const COVERED: &str = "[...document.querySelectorAll('svg.chart')].flatMap(svg => {
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    const marks = [...svg.querySelectorAll('.point')].map(it => {
        const box = it.getBoundingClientRect();
        return [it.textContent, box.left + box.width / 2, box.top + box.height / 2];
    });
    return marks.flatMap(([a, ax, ay], at) => marks.slice(at + 1)
        .filter(([, bx, by]) => Math.hypot(ax - bx, ay - by) < 8 * scale)
        .map(([b]) => a + ' / ' + b));
})";

/// Labels below 9 pixels.
const SMALL: &str = "[...document.querySelectorAll('svg.chart text')].filter(it => {
    const svg = it.closest('svg'), width = svg.getBoundingClientRect().width;
    const size = parseFloat(getComputedStyle(it).fontSize) * width / svg.viewBox.baseVal.width;
    return width > 0 && size < 9;
}).map(it => it.textContent)";

/// Colours of markers that are not among those of Okabe and Ito.
const OTHER_COLOURS: &str = "[...new Set([...document.querySelectorAll('.mark')].map(it =>
    getComputedStyle(it).stroke))].filter(colour => ![
        'rgb(0, 0, 0)', 'rgb(230, 159, 0)', 'rgb(86, 180, 233)', 'rgb(0, 158, 115)',
        'rgb(240, 228, 66)', 'rgb(0, 114, 178)', 'rgb(213, 94, 0)', 'rgb(204, 121, 167)',
    ].includes(colour))";

/// The pixels by which the page, with all tables open, exceeds the window.
const WIDER_THAN_WINDOW: &str = "(() => {
    const all = [...document.querySelectorAll('details')];
    all.forEach(it => it.open = true);
    const wider = document.documentElement.scrollWidth - innerWidth;
    all.forEach(it => it.open = false);
    return wider;
})()";

/// The WCAG contrast of the faintest marker against the background.
const LEAST_CONTRAST: &str = "(() => {
    const light = colour => {
        const parts = colour.match(/[0-9.]+/g).slice(0, 3).map(part => {
            const value = part / 255;
            return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
    };
    const ground = light(getComputedStyle(document.body).backgroundColor);
    return Math.min(...[...document.querySelectorAll('.mark')].map(mark => {
        const ink = light(getComputedStyle(mark).stroke);
        return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
    }));
})()";
