//! Progress bars, shown only if stderr is a terminal, and removed at the end of the work.

use std::borrow::Cow;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A progress bar.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Creates a bar for a known number of steps.
    pub(crate) fn new(what: impl Into<Cow<'static, str>>, steps: u64) -> Self {
        let style = "{msg:<32} {wide_bar} {human_pos}/{human_len} {per_sec} {eta}";
        Self::with_style(what.into(), Some(steps), style)
    }

    /// Creates a bar for an unknown number of steps, such as reading a pipe.
    pub(crate) fn unbounded(what: impl Into<Cow<'static, str>>) -> Self {
        Self::with_style(what.into(), None, "{spinner} {msg} {human_pos} {per_sec} {elapsed}")
    }

    fn with_style(what: Cow<'static, str>, steps: Option<u64>, style: &str) -> Self {
        // Draws nothing if stderr is not a terminal.
        let bar = ProgressBar::with_draw_target(steps, ProgressDrawTarget::stderr());
        bar.set_style(ProgressStyle::with_template(style).expect("the template is a constant"));
        bar.set_message(what);
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    /// Sets the number of completed steps.
    pub(crate) fn set(&self, steps: u64) {
        self.0.set_position(steps);
    }

    /// Adds to the number of completed steps.
    pub(crate) fn advance(&self, steps: u64) {
        self.0.inc(steps);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
