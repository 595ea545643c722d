//! The clock, for cells that are written without a timestamp and for TTLs.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use sstable::Timestamp;

/// A clock in milliseconds since 1970. Clones are cheap.
///
/// ```
/// use store::{Clock, Timestamp};
///
/// assert_eq!(Clock::fixed(Timestamp::new(7)).now(), Timestamp::new(7));
/// assert!(Clock::system().now() > Timestamp::new(1_700_000_000_000));
/// ```
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// Returns the system clock.
    pub fn system() -> Self {
        Self::new(|| {
            let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            Timestamp::new(i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX))
        })
    }

    /// Returns a clock that always returns `now`.
    pub fn fixed(now: Timestamp) -> Self {
        Self::new(move || now)
    }

    /// Returns a clock that calls `now`.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// Returns the current time.
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::system()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({})", self.now())
    }
}
