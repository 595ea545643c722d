//! A filter in front of a cache and a store, which keeps reads of absent keys away from both.
//!
//! ```text
//! read ─▶ guard ─ maybe ─▶ cache ─ miss ─▶ store
//!           └ no: answered        └ hit: answered
//! ```
//!
//! Without the guard, each read of an absent key misses the cache and reaches the store. The guard
//! is loaded with all keys at the start. Then writers insert and remove keys while other threads
//! read, so the guard must be a filter with removal: a counting Bloom filter, a cuckoo filter or a
//! d-left filter.
//!
//! Two rules keep it correct. A key is inserted into the guard before the store and removed from it
//! after the store, so no stored key is ever denied. And all writes and cache fills of a key take
//! the same lock, so a reader cannot cache a value that was removed meanwhile.
//!
//! ```text
//! cargo run --release -p hfile-store --example guard                   50,000 users
//! cargo run --release -p hfile-store --example guard -- 5000
//! ```

use std::error::Error;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, RwLock};

use filter::{Absent, CountingBloom, Cuckoo, DLeft, FilterStats, Full, Sizing};
use quick_cache::sync::Cache;
use store::{Durability, KeyValueMap, Store, StoreOptions};

/// The share of absent keys that the guard lets pass.
const ERROR_RATE: f64 = 0.005;

type Failure = Box<dyn Error + Send + Sync>;

/// Counters of the reads.
#[derive(Debug, Default)]
struct Tally {
    reads: AtomicU64,
    denied: AtomicU64,
    cache_hits: AtomicU64,
    store_found: AtomicU64,
    store_missed: AtomicU64,
}

/// What the example asks of a guard.
trait Guard {
    fn insert(&mut self, user: &[u8]) -> Result<(), Full>;
    fn remove(&mut self, user: &[u8]) -> Result<(), Absent>;
    fn may_contain(&self, user: &[u8]) -> bool;
    fn stats(&self) -> FilterStats;
}

macro_rules! guard {
    ($filter:ty) => {
        impl Guard for $filter {
            fn insert(&mut self, user: &[u8]) -> Result<(), Full> {
                self.insert(user)
            }

            fn remove(&mut self, user: &[u8]) -> Result<(), Absent> {
                self.remove(user)
            }

            fn may_contain(&self, user: &[u8]) -> bool {
                self.may_contain(user)
            }

            fn stats(&self) -> FilterStats {
                self.stats()
            }
        }
    };
}
guard!(CountingBloom);
guard!(Cuckoo);
guard!(DLeft);

/// A store with a cache and a guard.
struct Guarded<F> {
    guard: RwLock<F>,
    cache: Cache<String, u64>,
    users: KeyValueMap,
    /// Lock stripes; a key's stripe is locked while the key is written or cached.
    stripes: Vec<Mutex<()>>,
    /// The hash of a key that selects its stripe.
    stripe_hash: RandomState,
    tally: Tally,
}

impl<F: Guard> Guarded<F> {
    /// Creates the cache, and loads the guard with all keys of the store.
    fn new(users: KeyValueMap, mut guard: F, cached: usize) -> Result<Self, Failure> {
        let mut pairs = users.range::<&[u8]>(..);
        while let Some((user, _)) = pairs.next_ref()? {
            guard.insert(user)?;
        }
        drop(pairs);
        let stripes = (0..64).map(|_| Mutex::new(())).collect();
        let (guard, cache, tally) = (RwLock::new(guard), Cache::new(cached), Tally::default());
        Ok(Self { guard, cache, users, stripes, stripe_hash: RandomState::new(), tally })
    }

    fn stripe(&self, user: &str) -> MutexGuard<'_, ()> {
        let stripe = self.stripe_hash.hash_one(user) as usize % self.stripes.len();
        self.stripes[stripe].lock().expect("no thread panicked")
    }

    fn read(&self, user: &str) -> Result<Option<u64>, Failure> {
        self.tally.reads.fetch_add(1, Relaxed);
        if !self.guard.read().expect("no thread panicked").may_contain(user.as_bytes()) {
            self.tally.denied.fetch_add(1, Relaxed);
            return Ok(None);
        }
        if let Some(balance) = self.cache.get(user) {
            self.tally.cache_hits.fetch_add(1, Relaxed);
            return Ok(Some(balance));
        }
        let _stripe = self.stripe(user);
        let Some(value) = self.users.get(user)? else {
            self.tally.store_missed.fetch_add(1, Relaxed);
            return Ok(None);
        };
        self.tally.store_found.fetch_add(1, Relaxed);
        let balance = u64::from_be_bytes(value.as_slice().try_into()?);
        self.cache.insert(user.to_owned(), balance);
        Ok(Some(balance))
    }

    /// Inserts a key into the guard, then into the store.
    fn add(&self, user: &str, balance: u64) -> Result<(), Failure> {
        let _stripe = self.stripe(user);
        if !self.users.contains(user)? {
            self.guard.write().expect("no thread panicked").insert(user.as_bytes())?;
        }
        self.users.insert(user, balance.to_be_bytes())?;
        self.cache.remove(user);
        Ok(())
    }

    /// Removes a key from the store, then from the guard.
    ///
    /// Only a stored key may be removed from the guard: removing another could hide a member.
    fn remove(&self, user: &str) -> Result<(), Failure> {
        let _stripe = self.stripe(user);
        if self.users.contains(user)? {
            self.users.remove(user)?;
            self.cache.remove(user);
            self.guard.write().expect("no thread panicked").remove(user.as_bytes())?;
        }
        Ok(())
    }
}

fn user(number: u64) -> String {
    format!("user{number:010}")
}

/// Returns the next pseudo-random number.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// A reader thread: half of its reads are of users who stay, skewed to popular ones.
///
/// The other half are of absent keys.
fn read_all_day<F: Guard>(guarded: &Guarded<F>, reader: u64, users: u64) -> Result<(), Failure> {
    let mut state = reader;
    for read in 0..users {
        // The last four fifths of the users stay. Squaring makes the lower numbers more popular.
        let share = random(&mut state) as f64 / (1_u64 << 31) as f64;
        let staying = users / 5 + (share * share * (users - users / 5) as f64) as u64;
        let balance = guarded.read(&user(staying))?;
        assert_eq!(balance, Some(staying), "the guard denies no stored user");
        assert_eq!(guarded.read(&format!("bot{reader}-{read}"))?, None);
    }
    Ok(())
}

/// A writer thread: removes half of the first fifth of the users, and adds as many new users.
fn write_all_day<F: Guard>(guarded: &Guarded<F>, writer: u64, users: u64) -> Result<(), Failure> {
    for number in (writer..users / 5).step_by(2) {
        guarded.remove(&user(number))?;
        assert_eq!(guarded.read(&user(number))?, None, "the cache has no removed user");
        guarded.add(&user(users + number), users + number)?;
        assert_eq!(guarded.read(&user(users + number))?, Some(users + number));
    }
    Ok(())
}

/// Runs four readers and two writers concurrently, then checks all users.
fn day<F: Guard + Send + Sync>(name: &str, guard: F, users: u64) -> Result<(), Failure> {
    let directory = tempfile::tempdir()?;
    let options = StoreOptions::default().durability(Durability::Async);
    let store = Store::open(directory.path(), options)?;
    let map = store.create_map("users")?;
    for number in 0..users {
        map.insert(user(number), number.to_be_bytes())?;
    }
    store.flush()?;

    let guarded = Guarded::new(map, guard, users as usize / 10)?;
    let stats = guarded.guard.read().expect("no thread panicked").stats();
    assert_eq!(stats.keys, users, "the guard has every user at the start");
    std::thread::scope(|scope| {
        let guarded = &guarded;
        let readers =
            (1..=4).map(|reader| scope.spawn(move || read_all_day(guarded, reader, users)));
        let writers =
            (0..2).map(|writer| scope.spawn(move || write_all_day(guarded, writer, users)));
        let threads: Vec<_> = readers.chain(writers).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a thread panicked"))
    })?;

    let of = |counter: &AtomicU64| counter.load(Relaxed);
    let tally = &guarded.tally;
    let share = |counter| of(counter) as f64 * 100.0 / of(&tally.reads) as f64;
    eprintln!(
        "{name:>14}: {:.1} bits a user; of {} reads {:.1}% denied by the guard, {:.1}% from the cache, \
         {:.1}% from the store, {:.2}% found nothing there",
        stats.bytes as f64 * 8.0 / users as f64,
        of(&tally.reads),
        share(&tally.denied),
        share(&tally.cache_hits),
        share(&tally.store_found),
        share(&tally.store_missed),
    );
    // Reads of absent keys: 4·users bots, and users/5 removed users.
    let absent = (4 * users + users / 5) as f64;
    let allowed = absent * ERROR_RATE * 1.2 + 30.0;
    assert!((of(&tally.store_missed) as f64) < allowed, "{} got through", of(&tally.store_missed));
    assert!(
        of(&tally.cache_hits) > of(&tally.store_found) / 4,
        "the cache serves the popular users"
    );
    assert_eq!(guarded.guard.read().expect("no thread panicked").stats().keys, users);
    for number in users / 5..users + users / 5 {
        assert_eq!(guarded.read(&user(number))?, Some(number));
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let users: u64 = std::env::args().nth(1).map_or(Ok(50_000), |count| count.parse())?;
    let users = users.max(100) / 10 * 10;
    let rate = Sizing::error_rate(ERROR_RATE)?;
    // Keys can be added before others are removed, so the filter needs some spare capacity.
    let room = users + users / 20 + 100;
    day("counting Bloom", CountingBloom::new(rate, room)?, users)?;
    day("cuckoo", Cuckoo::new(rate, room)?, users)?;
    day("d-left", DLeft::new(rate, room)?, users)?;
    Ok(())
}
