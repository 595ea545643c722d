//! `hfile bench --report`: the page, checked as text, and as a picture where there is a Chromium.

use std::fs;
use std::path::Path;
use std::process::Command;

use support::say;

use crate::command_line::{directory, path, run, shows, tells};

/// Measures the HFiles of a directory, and returns the page.
fn page_of_files(directory: &tempfile::TempDir) -> (String, String) {
    let html = path(directory, "report.html");
    let filters = "none,hbase-bloom,ribbon,split-block";
    let bench =
        ["bench", "--hfiles", "s01-default.hfile", "p25-none-none-row.hfile", "--gets", "500"];
    let args = [&bench[..], &["--filters", filters, "--report", &html]].concat();
    let (printed, _) = run(0, &args);
    tells(3, &args).has("--force");
    (printed, fs::read_to_string(html).expect("written"))
}

#[test]
fn the_page_has_all_charts_and_needs_no_other_file() {
    let directory = directory();
    let (printed, page) = page_of_files(&directory);
    assert!(
        printed.contains("\nRecommended: ribbon, the smallest with an error rate of "),
        "{printed}"
    );
    for id in ["error-rates", "skip-rates", "blocks", "sizes", "file-sizes", "times", "key-ranges"]
    {
        assert!(page.contains(&format!("<figure id=\"{id}\">")), "{id}");
    }
    for text in [
        "id=\"headline\"",
        "prefers-color-scheme: dark",
        "<meta name=\"viewport\"",
        "Recommended: ribbon",
        "ribbon, built from the rows",
        "s01-default.hfile",
        "<table class=\"chart\">",
        "<i class=\"point\" style=\"left:",
        "<i class=\"bar\" style=\"left:",
        "<title>Filters of s01-default.hfile and 1 more</title>",
        "<th scope=\"col\">figure</th>",
    ] {
        assert!(page.contains(text), "{text}");
    }
    for outside in ["http://", "https://", "<script", "<link rel=\"stylesheet\"", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(!page.contains("quartiles"), "each figure was taken once");
    assert!(!page.contains("NaN") && !page.contains("inf"), "a figure is no number");
    take_pictures(Path::new(&path(&directory, "report.html")), directory.path());
}

#[test]
fn a_loaded_store_has_a_page_without_files() {
    let directory = directory();
    let html = path(&directory, "report.html");
    let small = ["bench", "--rows", "2000", "--files", "4", "--gets", "200"];
    let filters = ["--filters", "none,ribbon,family-map", "--report", &html];
    shows(0, &[&small[..], &filters].concat()).has("absent rows: 200 gets");
    let page = fs::read_to_string(html).expect("written");
    assert!(page.contains("<h1>Filters of a store of generated rows</h1>"), "{page}");
    assert!(page.contains("<figure id=\"blocks\">") && !page.contains("id=\"key-ranges\""));
    tells(2, &["bench", "--hfiles", "s01-default.hfile", "--filters", "family-map"])
        .has("a family map is of a store, and not of files");
}

/// Takes pictures in both schemes and two widths, where there is a Chromium.
fn take_pictures(page: &Path, directory: &Path) {
    let given = std::env::var("CHROMIUM").ok();
    let known = ["chromium", "chromium-browser", "google-chrome"].map(str::to_owned);
    let is_there = |name: &String| Command::new(name).arg("--version").output().is_ok();
    let Some(chromium) = given.into_iter().chain(known).find(is_there) else {
        say("the pictures of the bench report: skipped, because there is no Chromium");
        return;
    };
    let kept = std::env::var_os("REPORT_SCREENSHOTS");
    let pictures = kept.as_ref().map_or(directory, Path::new);
    for scheme in ["light", "dark"] {
        for width in [1280, 400] {
            let picture = pictures.join(format!("bench-{scheme}-{width}.png"));
            let dark =
                format!("--blink-settings=preferredColorScheme={}", usize::from(scheme == "light"));
            let output = Command::new(&chromium)
                .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", &dark])
                .arg(format!("--window-size={width},4000"))
                .arg(format!("--user-data-dir={}", directory.join("profile").display()))
                .arg(format!("--screenshot={}", picture.display()))
                .arg(format!("file://{}", page.display()))
                .output()
                .expect("Chromium starts");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert!(picture.exists(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}
