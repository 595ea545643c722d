//! Keys, values and gets of `hfile bench` and of the benchmarks. All are generated from a seed.
//!
//! ```text
//! random   random numbers, and the keys and values of a seed
//! keys     the keys to load, by file, and absent keys among them
//! load     writes them to a store, one file after the other
//! gets     times gets one by one, checks each, and sums the counters
//! spread   the median and the quartiles of samples
//! ```

mod gets;
mod keys;
mod load;
mod random;
mod spread;

pub use self::gets::{Measured, Mix, PlannedGet, WrongAnswer, clock_nanos, measure, plan_gets};
pub use self::keys::{FileWeights, KeyList, KeySet, mutate};
pub use self::load::{FAMILY, QUALIFIER, Values, load, unmerged};
pub use self::random::{KEY_LEN, Random, fill_value, key, mix};
pub use self::spread::{Spread, median};
