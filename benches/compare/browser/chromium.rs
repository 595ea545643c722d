//! Headless Chromium, controlled with its debugging protocol over two pipes.
//!
//! Messages are JSON and end with a zero byte.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// Chromium with one page.
pub(crate) struct Browser {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    session: String,
    sent: u64,
    /// Errors that it reported.
    pub(crate) complaints: Vec<String>,
}

impl Browser {
    /// Starts Chromium; `None` if there is none.
    pub(crate) fn start(profile: &Path) -> Option<Self> {
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

    pub(crate) fn open(&mut self, page: &Path) {
        let url = format!("file://{}", page.display());
        self.call("Page.navigate", &json!({"url": url}));
        while self.evaluate("document.readyState + document.title.length") == "loading0"
            || self.evaluate("location.protocol") != "file:"
            || self.evaluate("document.readyState") != "complete"
        {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    pub(crate) fn prefer(&mut self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// Sets the size of the window, which headless Chromium limits to 500 pixels otherwise.
    pub(crate) fn resize(&mut self, width: u32) {
        let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let question = json!({"expression": expression, "returnByValue": true});
        let answer = self.call("Runtime.evaluate", &question);
        assert_eq!(answer["exceptionDetails"], Value::Null, "{expression}");
        answer["result"]["value"].clone()
    }

    pub(crate) fn screenshot(&mut self, path: &Path) {
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
