//! The report of `compare` in a browser: every chart has its points, nothing fails, and the page is
//! readable in the light and the dark scheme.
//!
//! The browser is headless Chromium, controlled with its debugging protocol over two pipes (JSON
//! messages that end with a zero byte). Without Chromium the test prints so and checks only the
//! bytes of the page. `REPORT_SCREENSHOTS` names a directory for screenshots.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use support::say;

const CHARTS: [&str; 7] = [
    "amplification",
    "gets",
    "filters",
    "rows-present",
    "rows-absent",
    "files-present",
    "files-absent",
];

/// Runs the smallest comparison, of this project's store alone.
fn compare(directory: &Path) -> (PathBuf, Value) {
    let [json, html] = ["run.json", "run.html"].map(|name| directory.join(name));
    let output = Command::new(env!("CARGO_BIN_EXE_compare"))
        .args(["--quick", "--rows", "4000", "--rounds", "5", "--directory"])
        .arg(directory)
        .arg("--json")
        .arg(&json)
        .arg("--report")
        .arg(&html)
        .output()
        .expect("compare starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let run = serde_json::from_slice(&std::fs::read(json).expect("the file exists"));
    (html, run.expect("JSON"))
}

#[test]
fn the_report_shows_every_figure_in_the_light_and_the_dark_scheme() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (html, run) = compare(directory.path());
    let left: Vec<_> = std::fs::read_dir(directory.path()).expect("ours").flatten().collect();
    assert_eq!(left.len(), 2, "stores were left: {left:?}");
    let page = std::fs::read_to_string(&html).expect("the file exists");
    assert_eq!(run["is_finished"], true);
    assert!(!page.contains("id=\"unfinished\""), "the run completed");
    assert!(!page.contains("<script"), "the page has no scripts");
    assert!(
        !page.contains("http://") && !page.contains("https://"),
        "the page has no external resources"
    );

    let Some(mut browser) = Browser::start(&directory.path().join("profile")) else {
        say(
            "the report: not tested in a browser, because there is no Chromium; its bytes were checked",
        );
        return;
    };
    browser.open(&html);
    for chart in CHARTS {
        let points =
            browser.evaluate(&format!("document.querySelectorAll('#{chart} .point').length"));
        assert_eq!(points.as_u64(), Some(expected_points(&run, chart)), "points of {chart}");
    }
    let outside = browser.evaluate(POINTS_OUTSIDE);
    assert_eq!(outside, 0, "points outside of their charts");
    let mut grounds = Vec::new();
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        let contrast = browser.evaluate(LEAST_CONTRAST).as_f64().expect("a number");
        assert!(contrast >= 3.0, "{scheme}: the faintest series has a contrast of {contrast:.2}");
        grounds.push(browser.evaluate("getComputedStyle(document.body).backgroundColor"));
        if let Some(kept) = std::env::var_os("REPORT_SCREENSHOTS") {
            browser.screenshot(&Path::new(&kept).join(format!("report-{scheme}.png")));
        }
    }
    assert_ne!(grounds[0], grounds[1], "the dark scheme has another background");
    assert_eq!(browser.complaints, Vec::<String>::new());
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
                of == "rows" && it["work"] == "get" && it["shape"] == "many" && it["cache"] == "all"
            };
            let work = format!("get as {of} grow");
            count(&|it| is_asked(it, asked) && (it["work"] == *work || is_main(it)))
        }
    };
    assert!(points > 0, "{chart} has figures");
    points as u64
}

const POINTS_OUTSIDE: &str = "[...document.querySelectorAll('.point')].filter(point => {
    const box = point.getBoundingClientRect(), svg = point.closest('svg').getBoundingClientRect();
    return box.left < svg.left || box.right > svg.right || box.top < svg.top
        || box.bottom > svg.bottom || box.width === 0;
}).length";

/// The WCAG contrast of the faintest point against the background.
const LEAST_CONTRAST: &str = "(() => {
    const light = colour => {
        const parts = colour.match(/[0-9.]+/g).slice(0, 3).map(part => {
            const value = part / 255;
            return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
    };
    const ground = light(getComputedStyle(document.body).backgroundColor);
    return Math.min(...[...document.querySelectorAll('.point')].map(point => {
        const ink = light(getComputedStyle(point).fill);
        return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
    }));
})()";

/// Chromium with one page.
struct Browser {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    session: String,
    sent: u64,
    /// Errors that it reported.
    complaints: Vec<String>,
}

impl Browser {
    /// Starts Chromium; `None` if there is none.
    fn start(profile: &Path) -> Option<Self> {
        let name = ["chromium", "chromium-browser", "google-chrome"]
            .into_iter()
            .find(|name| Command::new(name).arg("--version").output().is_ok())?;
        // It reads from descriptor 3 and writes to 4; a shell redirects the pipes.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 0</dev/null 1>&2 2>/dev/null", "sh", name])
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .args(["--no-first-run", "--remote-debugging-pipe", "--window-size=1000,4000"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let to = process.stdin.take().expect("a pipe");
        let from = BufReader::new(process.stdout.take().expect("a pipe"));
        let (session, complaints) = (String::new(), Vec::new());
        let mut browser = Self { process, to, from, session, sent: 0, complaints };
        let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = browser.call("Target.attachToTarget", &attach);
        session["sessionId"].as_str().expect("a session").clone_into(&mut browser.session);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        Some(browser)
    }

    fn open(&mut self, page: &Path) {
        let url = format!("file://{}", page.display());
        self.call("Page.navigate", &json!({"url": url}));
        while self.evaluate("document.readyState + document.title.length") == "loading0"
            || self.evaluate("location.protocol") != "file:"
            || self.evaluate("document.readyState") != "complete"
        {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    fn prefer(&mut self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    fn evaluate(&mut self, expression: &str) -> Value {
        let question = json!({"expression": expression, "returnByValue": true});
        let answer = self.call("Runtime.evaluate", &question);
        assert_eq!(answer["exceptionDetails"], Value::Null, "{expression}");
        answer["result"]["value"].clone()
    }

    fn screenshot(&mut self, path: &Path) {
        let all = json!({"format": "png", "captureBeyondViewport": true});
        let answer = self.call("Page.captureScreenshot", &all);
        let image = base64(answer["data"].as_str().expect("an image"));
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("it can be made");
        std::fs::write(path, image).expect("the disk has room");
    }

    /// Sends a message and waits for its answer; messages in between are events.
    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.sent += 1;
        let mut message = json!({"id": self.sent, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).expect("Chromium reads");
        loop {
            let mut bytes = Vec::new();
            self.from.read_until(0, &mut bytes).expect("Chromium answers");
            bytes.pop();
            let message: Value = serde_json::from_slice(&bytes).expect("JSON");
            if message["id"] == self.sent {
                assert_eq!(message["error"], Value::Null, "{method}");
                return message["result"].clone();
            }
            self.record_error(&message);
        }
    }

    /// Records an error event.
    fn record_error(&mut self, event: &Value) {
        let is_bad = match event["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Network.loadingFailed") => true,
            Some("Runtime.consoleAPICalled") => event["params"]["type"] == "error",
            Some("Log.entryAdded") => event["params"]["entry"]["level"] == "error",
            _ => false,
        };
        if is_bad {
            self.complaints.push(event.to_string());
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Decodes base64.
fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let value = |byte| DIGITS.iter().position(|digit| *digit == byte).map(|value| value as u32);
    let digits: Vec<u32> = text.bytes().filter_map(value).collect();
    let bytes = digits.chunks(4).flat_map(|digits| {
        let number = digits.iter().fold(0, |number, digit| number << 6 | digit);
        let number = number << (6 * (4 - digits.len()));
        let [_, bytes @ ..] = number.to_be_bytes();
        bytes.into_iter().take(digits.len() * 6 / 8)
    });
    bytes.collect()
}
