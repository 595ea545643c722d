//! A guard in front of a cache in front of a database: reads of keys that do not exist never get
//! through.
//!
//! ```text
//! read ─▶ guard ─ maybe ─▶ cache ─ miss ─▶ store
//!           └ no: answered        └ hit: answered
//! ```
//!
//! Without the guard, whoever asks for keys that do not exist gets past the cache every time, since
//! a cache holds only what there is. The guard is loaded with every key at the start. From then on
//! threads that write tell it what comes and what goes while others read, so it must be a filter
//! that can forget: a counting Bloom filter, a cuckoo filter or a d-left filter.
//!
//! Two orders keep it right. A key comes into the guard before the store has it, and leaves it
//! after the store has lost it, so no key that is there is denied at any moment. And what concerns
//! one key happens under one lock, so that a reader cannot put a value into the cache that was
//! removed meanwhile.
//!
//! ```text
//! cargo run --release -p hfile-store --example guard                   50,000 users
//! cargo run --release -p hfile-store --example guard -- 5000
//! ```

use std::error::Error;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, RwLock};

use filter::{CountingBloom, Cuckoo, DLeft, ErrorRate, KeyHash, Remove, Seed, Sizing};
use quick_cache::sync::Cache;
use store::{Durability, FamilyOptions, Keys, Store, StoreOptions};

/// How often the guard lets an absent key pass.
const ERROR_RATE: f64 = 0.005;

type Failure = Box<dyn Error + Send + Sync>;

/// What reads came to.
#[derive(Debug, Default)]
struct Tally {
    reads: AtomicU64,
    denied: AtomicU64,
    cache_hits: AtomicU64,
    store_found: AtomicU64,
    store_missed: AtomicU64,
}

/// The store behind its cache behind its guard.
struct Guarded<F> {
    guard: RwLock<F>,
    cache: Cache<String, u64>,
    users: Keys,
    /// Held while a key is written, or read from the store into the cache.
    stripes: Vec<Mutex<()>>,
    seed: Seed,
    tally: Tally,
}

impl<F: Remove> Guarded<F> {
    /// Loads the guard with all keys of the store.
    fn new(users: Keys, mut guard: F, cached: usize) -> Result<Self, Failure> {
        let seed = Seed::new(RandomState::new().build_hasher().finish());
        let mut pairs = users.range::<&[u8]>(..);
        while let Some((user, _)) = pairs.next_ref()? {
            guard.insert(KeyHash::new(seed, user))?;
        }
        drop(pairs);
        let stripes = (0..64).map(|_| Mutex::new(())).collect();
        let (guard, cache, tally) = (RwLock::new(guard), Cache::new(cached), Tally::default());
        Ok(Self { guard, cache, users, stripes, seed, tally })
    }

    fn hash(&self, user: &str) -> KeyHash {
        KeyHash::new(self.seed, user.as_bytes())
    }

    fn stripe(&self, user: &str) -> MutexGuard<'_, ()> {
        let stripe = self.hash(user).get() as usize % self.stripes.len();
        self.stripes[stripe].lock().expect("nobody panicked")
    }

    fn read(&self, user: &str) -> Result<Option<u64>, Failure> {
        self.tally.reads.fetch_add(1, Relaxed);
        if !self.guard.read().expect("nobody panicked").may_contain(self.hash(user)) {
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

    /// The guard learns of a key before the store has it.
    fn add(&self, user: &str, balance: u64) -> Result<(), Failure> {
        let _stripe = self.stripe(user);
        if !self.users.contains(user)? {
            self.guard.write().expect("nobody panicked").insert(self.hash(user))?;
        }
        self.users.insert(user, balance.to_be_bytes())?;
        self.cache.remove(user);
        Ok(())
    }

    /// Only a key that was there is taken out of the guard: taking out another could hide a member.
    fn remove(&self, user: &str) -> Result<(), Failure> {
        let _stripe = self.stripe(user);
        if self.users.contains(user)? {
            self.users.remove(user)?;
            self.cache.remove(user);
            self.guard.write().expect("nobody panicked").remove(self.hash(user))?;
        }
        Ok(())
    }
}

fn user(number: u64) -> String {
    format!("user{number:010}")
}

/// One number after the other that looks random.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// A reader: half of its reads are of users who stay all day, most of them of few; half are of
/// nobody.
fn read_all_day<F: Remove>(guarded: &Guarded<F>, reader: u64, users: u64) -> Result<(), Failure> {
    let mut state = reader;
    for read in 0..users {
        // Users of the last four fifths stay. Squaring makes the lower numbers the popular ones.
        let share = random(&mut state) as f64 / (1_u64 << 31) as f64;
        let staying = users / 5 + (share * share * (users - users / 5) as f64) as u64;
        let balance = guarded.read(&user(staying))?;
        assert_eq!(balance, Some(staying), "a user who is there is never denied");
        assert_eq!(guarded.read(&format!("bot{reader}-{read}"))?, None);
    }
    Ok(())
}

/// A writer: its share of the first fifth leaves, and as many come.
fn write_all_day<F: Remove>(guarded: &Guarded<F>, writer: u64, users: u64) -> Result<(), Failure> {
    for number in (writer..users / 5).step_by(2) {
        guarded.remove(&user(number))?;
        assert_eq!(guarded.read(&user(number))?, None, "who left is not served from the cache");
        guarded.add(&user(users + number), users + number)?;
        assert_eq!(guarded.read(&user(users + number))?, Some(users + number));
    }
    Ok(())
}

/// A day: four readers and two writers at once; then everything is looked at once more.
fn day<F: Remove + Send + Sync>(name: &str, guard: F, users: u64) -> Result<(), Failure> {
    let directory = tempfile::tempdir()?;
    let options = StoreOptions::default().durability(Durability::AsyncWal);
    let store = Store::open(directory.path(), options)?;
    store.create_family("users", FamilyOptions::default())?;
    let keys = store.keys("users")?;
    for number in 0..users {
        keys.insert(user(number), number.to_be_bytes())?;
    }
    store.flush()?;

    let guarded = Guarded::new(keys, guard, users as usize / 10)?;
    let stats = guarded.guard.read().expect("nobody panicked").stats();
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
    // Absent: 4·users bots, and users/5 who had just left.
    let absent = (4 * users + users / 5) as f64;
    let allowed = absent * ERROR_RATE * 1.2 + 30.0;
    assert!((of(&tally.store_missed) as f64) < allowed, "{} got through", of(&tally.store_missed));
    assert!(
        of(&tally.cache_hits) > of(&tally.store_found) / 4,
        "the cache serves the popular users"
    );
    assert_eq!(guarded.guard.read().expect("nobody panicked").stats().keys, users);
    for number in users / 5..users + users / 5 {
        assert_eq!(guarded.read(&user(number))?, Some(number));
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let users: u64 = std::env::args().nth(1).map_or(Ok(50_000), |count| count.parse())?;
    let users = users.max(100) / 10 * 10;
    let rate = Sizing::ErrorRate(ErrorRate::new(ERROR_RATE)?);
    // A key comes before another goes, so there is room for a few more than there are.
    let room = users + users / 20 + 100;
    day("counting Bloom", CountingBloom::new(rate, room)?, users)?;
    day("cuckoo", Cuckoo::new(rate, room)?, users)?;
    day("d-left", DLeft::new(rate, room)?, users)?;
    Ok(())
}
