//! The clock: for cells that are written without a timestamp, and for TTLs.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::units::Timestamp;

/// A clock in milliseconds since 1970. Clones are cheap, and are one clock.
///
/// Reads use the time as it is. Flushes, compactions and the removal of expired files, which drop expired
/// cells for good, doubt a jump of the system clock forward. A store notes the time that it last believed, and
/// knows how much time has passed since. While the clock is more than a minute ahead of the sum, the store
/// believes the sum. It follows the clock once it has seen it ahead for an hour; of the time between two looks
/// at most 15 minutes count. It follows a clock that goes back at once, and believes the time at which it is
/// opened. Time does not count as passed while the system is suspended.
///
/// ```
/// use cells::{Clock, Timestamp};
///
/// assert_eq!(Clock::fixed(Timestamp::new(7)).now(), Timestamp::new(7));
/// assert!(Clock::system().now() > Timestamp::new(1_700_000_000_000));
/// ```
#[derive(Clone)]
pub struct Clock {
    now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// `None` for a clock that is always believed.
    doubt: Option<Arc<Doubt>>,
}

impl Clock {
    /// Returns the system clock.
    pub fn system() -> Self {
        let start = Instant::now();
        Self::doubting_jumps(system_now, move || start.elapsed())
    }

    /// Returns a clock that always returns `now`.
    pub fn fixed(now: Timestamp) -> Self {
        Self::new(move || now)
    }

    /// Returns a clock that calls `now`, and that is always believed.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self { now: Arc::new(now), doubt: None }
    }

    /// Returns a clock that calls `now`, and doubts its jumps forward as it doubts jumps of the system clock.
    ///
    /// `elapsed` returns how much time has passed since some moment in the past. It never goes back.
    pub fn doubting_jumps(
        now: impl Fn() -> Timestamp + Send + Sync + 'static,
        elapsed: impl Fn() -> Duration + Send + Sync + 'static,
    ) -> Self {
        Self { doubt: Some(Arc::new(Doubt::new(Arc::new(elapsed)))), ..Self::new(now) }
    }

    /// Returns the clock for a store, which believes it at this moment, whatever other stores believe.
    #[must_use]
    pub fn for_store(&self) -> Self {
        let doubt =
            self.doubt.as_ref().map(|doubt| Arc::new(Doubt::new(Arc::clone(&doubt.elapsed))));
        let clock = Self { doubt, now: Arc::clone(&self.now) };
        clock.now_for_expiry();
        clock
    }

    /// Returns the current time.
    pub fn now(&self) -> Timestamp {
        (self.now)()
    }

    /// Returns the time by which cells may be dropped for good.
    pub fn now_for_expiry(&self) -> Timestamp {
        let now = self.now();
        self.doubt.as_ref().map_or(now, |doubt| doubt.believed(now))
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

fn system_now() -> Timestamp {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::new(i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX))
}

/// What a store believes of a clock that may jump.
struct Doubt {
    elapsed: Arc<dyn Fn() -> Duration + Send + Sync>,
    /// `None` before the clock is asked for the first time.
    belief: Mutex<Option<Belief>>,
}

/// The time that was believed when the clock was last asked.
struct Belief {
    time: Timestamp,
    elapsed: Duration,
    /// For how long the clock was seen ahead; `None` if it was right.
    ahead_for: Option<Duration>,
}

impl Doubt {
    /// How far the clock may be ahead of the time that has passed, in milliseconds.
    const AHEAD_MAX: i64 = 60_000;
    /// For how long the clock must be seen ahead before it is followed.
    const FOLLOWED_AFTER: Duration = Duration::from_secs(3600);
    /// How much of the time between two looks counts: the clock may have been right meanwhile.
    const UNSEEN_MAX: Duration = Duration::from_secs(900);

    fn new(elapsed: Arc<dyn Fn() -> Duration + Send + Sync>) -> Self {
        Self { elapsed, belief: Mutex::new(None) }
    }

    /// Returns the time to believe if the clock says `now`.
    fn believed(&self, now: Timestamp) -> Timestamp {
        let elapsed = (self.elapsed)();
        let mut belief = self.belief.lock().expect("no thread panics while it holds this lock");
        let mut next = Belief { time: now, elapsed, ahead_for: None };
        if let Some(last) = &*belief {
            let passed = elapsed.saturating_sub(last.elapsed);
            let millis = i64::try_from(passed.as_millis()).unwrap_or(i64::MAX);
            let expected = last.time.get().saturating_add(millis);
            let seen = passed.min(Self::UNSEEN_MAX);
            let ahead_for =
                last.ahead_for.map_or(Duration::ZERO, |known| known.saturating_add(seen));
            let is_ahead = now.get() > expected.saturating_add(Self::AHEAD_MAX);
            if is_ahead && ahead_for < Self::FOLLOWED_AFTER {
                let time = Timestamp::new(expected);
                next = Belief { time, elapsed, ahead_for: Some(ahead_for) };
            }
        }
        belief.insert(next).time
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

    use super::*;

    const MINUTE: i64 = 60_000;
    const HOUR: i64 = 60 * MINUTE;

    /// A clock that may jump, and the time that really passes, in milliseconds.
    #[derive(Default)]
    struct Time {
        clock: AtomicI64,
        passed: AtomicU64,
    }

    impl Time {
        fn new() -> (Arc<Self>, Clock) {
            let time = Arc::new(Self::default());
            let (clock, passed) = (Arc::clone(&time), Arc::clone(&time));
            let doubting = Clock::doubting_jumps(
                move || Timestamp::new(clock.clock.load(Ordering::Relaxed)),
                move || Duration::from_millis(passed.passed.load(Ordering::Relaxed)),
            );
            (time, doubting)
        }

        fn jump(&self, millis: i64) {
            self.clock.fetch_add(millis, Ordering::Relaxed);
        }

        fn pass(&self, millis: i64) {
            self.jump(millis);
            self.passed.fetch_add(millis.unsigned_abs(), Ordering::Relaxed);
        }
    }

    #[test]
    fn a_jump_forward_is_believed_once_it_has_lasted_an_hour() {
        let (time, clock) = Time::new();
        assert_eq!(clock.now_for_expiry(), Timestamp::new(0));
        time.pass(5 * HOUR);
        assert_eq!(
            clock.now_for_expiry(),
            Timestamp::new(5 * HOUR),
            "time may pass between two calls"
        );
        time.jump(10 * HOUR);
        assert_eq!(clock.now(), Timestamp::new(15 * HOUR), "reads use the clock as it is");
        assert_eq!(clock.now_for_expiry(), Timestamp::new(5 * HOUR));
        for quarter in 1..4 {
            time.pass(HOUR / 4);
            assert_eq!(clock.now_for_expiry(), Timestamp::new(5 * HOUR + quarter * HOUR / 4));
        }
        time.pass(HOUR / 4 - 1);
        assert_eq!(clock.now_for_expiry(), Timestamp::new(6 * HOUR - 1));
        time.pass(1);
        assert_eq!(clock.now_for_expiry(), Timestamp::new(16 * HOUR));
        time.pass(1);
        assert_eq!(clock.now_for_expiry(), Timestamp::new(16 * HOUR + 1));
    }

    /// Between two looks the clock may have been right.
    #[test]
    fn two_short_jumps_are_not_one_long_one() {
        let (time, clock) = Time::new();
        clock.now_for_expiry();
        for jump in 0..3 {
            time.jump(10 * HOUR);
            assert_eq!(clock.now_for_expiry(), Timestamp::new(jump * 2 * HOUR));
            time.jump(-10 * HOUR);
            time.pass(2 * HOUR);
        }
    }

    #[test]
    fn each_store_believes_the_clock_at_its_opening() {
        let (time, clock) = Time::new();
        let first = clock.for_store();
        time.jump(10 * HOUR);
        let second = clock.for_store();
        assert_eq!(first.now_for_expiry(), Timestamp::new(0));
        assert_eq!(second.now_for_expiry(), Timestamp::new(10 * HOUR));
    }

    #[test]
    fn a_jump_that_is_taken_back_is_forgotten() {
        let (time, clock) = Time::new();
        for _ in 0..3 {
            let before = clock.now_for_expiry();
            time.jump(10 * HOUR);
            assert_eq!(clock.now_for_expiry(), before);
            time.pass(HOUR - 1);
            time.jump(-10 * HOUR);
            assert_eq!(clock.now_for_expiry(), clock.now());
        }
    }

    #[test]
    fn a_clock_is_followed_back_at_once_and_forward_by_a_minute() {
        let (time, clock) = Time::new();
        time.jump(10 * HOUR);
        assert_eq!(clock.now_for_expiry(), Timestamp::new(10 * HOUR), "the first time is believed");
        time.jump(-9 * HOUR);
        assert_eq!(clock.now_for_expiry(), Timestamp::new(HOUR));
        time.jump(MINUTE);
        assert_eq!(clock.now_for_expiry(), Timestamp::new(HOUR + MINUTE));
        time.jump(MINUTE + 1);
        assert_eq!(clock.now_for_expiry(), Timestamp::new(HOUR + MINUTE));
    }
}
