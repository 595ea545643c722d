//! The harness that loads stores and times their gets, for `hfile bench` and the benchmarks.
//!
//! ```text
//! keys     the keys to load, by file, and absent keys among them
//! load     writes them to a store, one file after the other
//! gets     times gets one by one, checks each, and sums the counters
//! rounds   times the work of several contenders in turns
//! spread   the median and the quartiles of samples
//! ```

mod gets;
mod keys;
mod load;
mod rounds;
mod spread;

pub use self::gets::{Measured, Mix, PlannedGet, WrongAnswer, clock_nanos, measure, plan_gets};
pub use self::keys::{FileWeights, KeyList, KeySet, mutate, write_hex};
pub use self::load::{FAMILY, QUALIFIER, Values, load, unmerged};
pub use self::rounds::{Samples, alternate};
pub use self::spread::{Spread, median};
