//! Points in time, as people read them.

use cells::time_text;

/// Returns a time as people read it: the milliseconds, and the date.
pub(crate) fn millis_and_date(millis: i64) -> String {
    format!("{millis} ({})", time_text(millis))
}
