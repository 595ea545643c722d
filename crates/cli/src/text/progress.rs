//! Progress on a terminal: the phase, the percentage and the time left, removed at the end.
//!
//! Nothing is drawn if stderr is not a terminal.

use std::borrow::Cow;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use transfer::{Extent, Observer, Phase, Warning};

use crate::text::warnings::{
    print_missing, print_missing_line, print_torn_logs, print_unseen_columns, print_warnings,
};

/// The progress of a phase of the work.
///
/// Without a terminal it has no bar, so that a step costs no reading of the clock.
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    /// Shows a phase with a known number of steps, such as cells.
    pub(crate) fn new(phase: impl Into<Cow<'static, str>>, steps: u64) -> Self {
        let style = "{msg}: {percent}% {wide_bar} {human_pos} of {human_len}, {eta} left";
        Self::with_style(phase.into(), Some(steps), style)
    }

    /// Shows a phase with a known number of bytes.
    pub(crate) fn bytes(phase: impl Into<Cow<'static, str>>, len: u64) -> Self {
        let style = "{msg}: {percent}% {wide_bar} {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}, {eta} left";
        Self::with_style(phase.into(), Some(len), style)
    }

    /// Shows a phase with an unknown number of bytes.
    pub(crate) fn unbounded_bytes(phase: impl Into<Cow<'static, str>>) -> Self {
        Self::with_style(phase.into(), None, "{spinner} {msg}: {binary_bytes}, {elapsed}")
    }

    /// Shows a phase that cannot be divided into steps.
    pub(crate) fn waiting(phase: impl Into<Cow<'static, str>>) -> Self {
        Self::with_style(phase.into(), None, "{spinner} {msg}, {elapsed}")
    }

    fn with_style(phase: Cow<'static, str>, steps: Option<u64>, style: &str) -> Self {
        let target = ProgressDrawTarget::stderr();
        if target.is_hidden() {
            return Self(None);
        }
        let bar = ProgressBar::with_draw_target(steps, target);
        bar.set_style(ProgressStyle::with_template(style).expect("the template is a constant"));
        bar.set_message(phase);
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(Some(bar))
    }

    /// Sets the name of the phase; the steps go on.
    pub(crate) fn set_phase(&self, phase: impl Into<Cow<'static, str>>) {
        if let Some(bar) = &self.0 {
            bar.set_message(phase);
        }
    }

    /// Sets the number of completed steps.
    pub(crate) fn set(&self, steps: u64) {
        if let Some(bar) = &self.0 {
            bar.set_position(steps);
        }
    }

    /// Sets the number of steps that an earlier run completed; they do not count for the rate.
    pub(crate) fn skip(&self, steps: u64) {
        if let Some(bar) = &self.0 {
            bar.set_position(steps);
            bar.reset_eta();
        }
    }

    /// Adds to the number of completed steps.
    pub(crate) fn advance(&self, steps: u64) {
        if let Some(bar) = &self.0 {
            bar.inc(steps);
        }
    }
}

/// Shows the phases of `transfer`'s work, and prints its warnings.
pub(crate) struct Shown;

impl Observer for Shown {
    fn begin(&self, phase: &'static str, extent: Extent) -> Box<dyn Phase> {
        Box::new(match extent {
            Extent::Steps(steps) => Progress::new(phase, steps),
            Extent::Bytes(len) => Progress::bytes(phase, len),
            Extent::UnknownBytes => Progress::unbounded_bytes(phase),
        })
    }

    fn warn(&self, warning: Warning<'_>) {
        match warning {
            Warning::Missing(missing) => print_missing(missing),
            Warning::MissingBefore { part: [unit, name], file, what, rows } => {
                let place = format!(" ({unit} {name}, of an earlier run)");
                print_missing_line(file, &place, what, rows);
            }
            Warning::TornLogs(torn) => print_torn_logs(torn),
            Warning::Logs(warnings) => print_warnings(warnings),
            Warning::UnseenColumns(names) => print_unseen_columns(names),
            _ => {}
        }
    }
}

impl Phase for Progress {
    fn rename(&self, phase: &'static str) {
        self.set_phase(phase);
    }

    fn set(&self, done: u64) {
        Self::set(self, done);
    }

    fn advance(&self, count: u64) {
        Self::advance(self, count);
    }

    fn skip(&self, done: u64) {
        Self::skip(self, done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
