//! Pictures of a page by headless Chromium.

use std::path::Path;
use std::process::Command;

use support::say;

/// Takes a picture of the page in a wide and in a narrow window, where there is a Chromium.
///
/// `REPORT_SCREENSHOTS` names a directory that keeps the pictures.
pub(crate) fn take_pictures(page: &Path, directory: &Path) {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let is_there = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    let Some(chromium) = names.into_iter().find(is_there) else {
        say("the pictures of the report: skipped, because there is no Chromium");
        return;
    };
    let kept = std::env::var_os("REPORT_SCREENSHOTS");
    let pictures = kept.as_ref().map_or(directory, Path::new);
    std::fs::create_dir_all(pictures).expect("the directory can be made");
    let name = page.file_stem().expect("a name").to_string_lossy();
    // The narrowest window of headless Chromium has 500 pixels.
    for (width, height) in [(1200_u32, 5000_u32), (500, 7000)] {
        let picture = pictures.join(format!("report-{name}-{width}.png"));
        let output = Command::new(chromium)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .args(["--hide-scrollbars", &format!("--window-size={width},{height}")])
            .arg(format!("--user-data-dir={}", directory.join("profile").display()))
            .arg(format!("--screenshot={}", picture.display()))
            .arg(format!("file://{}", page.display()))
            .output()
            .expect("Chromium starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        let picture = std::fs::read(&picture).unwrap_or_else(|error| panic!("{error}: {errors}"));
        // The header of a PNG, which begins with the width and the height.
        let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
        assert_eq!(picture.get(16..24), Some(&size[..]), "{name}: a picture of the window");
    }
}
