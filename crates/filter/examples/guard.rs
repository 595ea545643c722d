//! A guard in front of a database: reads of keys that do not exist never get through.
//!
//! At start the guard is loaded with every key there is. From then on each write tells it what came
//! and what went, so the filter must be one that can forget: a cuckoo filter or a d-left counting
//! Bloom filter. Reads ask the guard first; only a "maybe" goes on to the database.
//!
//! ```text
//! cargo run --release -p filter --example guard                  200,000 users
//! cargo run --release -p filter --example guard -- 1000
//! ```

use std::collections::BTreeMap;

use filter::{Cuckoo, DLeft, ErrorRate, KeyHash, Remove, Seed, Sizing};

/// What is behind the guard, with a count of the reads that reach it.
#[derive(Debug, Default)]
struct Database {
    users: BTreeMap<String, u64>,
    reads: u64,
}

impl Database {
    fn read(&mut self, user: &str) -> Option<u64> {
        self.reads += 1;
        self.users.get(user).copied()
    }
}

/// A database whose absent keys are turned away at the door.
struct Guarded<F> {
    database: Database,
    guard: F,
    seed: Seed,
    saved: u64,
}

impl<F: Remove> Guarded<F> {
    /// Loads the guard with all keys of the database.
    fn new(database: Database, mut guard: F, seed: Seed) -> Result<Self, filter::Full> {
        for user in database.users.keys() {
            guard.insert(KeyHash::new(seed, user.as_bytes()))?;
        }
        Ok(Self { database, guard, seed, saved: 0 })
    }

    fn hash(&self, user: &str) -> KeyHash {
        KeyHash::new(self.seed, user.as_bytes())
    }

    fn read(&mut self, user: &str) -> Option<u64> {
        if self.guard.may_contain(self.hash(user)) {
            return self.database.read(user);
        }
        self.saved += 1;
        None
    }

    /// The guard learns of a key before the database has it, so that no reader is ever denied one.
    fn add(&mut self, user: &str, balance: u64) -> Result<(), filter::Full> {
        let hash = self.hash(user);
        if !self.database.users.contains_key(user) {
            self.guard.insert(hash)?;
        }
        self.database.users.insert(user.to_owned(), balance);
        Ok(())
    }

    /// Only a key that was there is taken out of the guard: taking out a stranger could hide a member.
    fn remove(&mut self, user: &str) -> Result<(), filter::Absent> {
        if self.database.users.remove(user).is_some() {
            self.guard.remove(self.hash(user))?;
        }
        Ok(())
    }
}

fn user(number: u64) -> String {
    format!("user{number:010}")
}

/// A day in front of the database: reads, most of them for users who do not exist; adds; removes.
fn day<F: Remove>(name: &str, guard: F, users: u64) -> Result<(), Box<dyn std::error::Error>> {
    let mut database = Database::default();
    database.users.extend((0..users).map(|number| (user(number), number)));
    let mut guarded = Guarded::new(database, guard, Seed::new(std::process::id().into()))?;
    let stats = guarded.guard.stats();
    eprintln!("{name}: {users} users loaded, {:.1} bits each", stats.bits_per_key());

    // The oldest tenth leaves while as many come: what left is absent, what came is there.
    let moved = users / 10;
    for number in 0..moved {
        guarded.remove(&user(number))?;
        guarded.add(&user(users + number), number)?;
    }
    for number in moved..users + moved {
        assert!(guarded.read(&user(number)).is_some(), "a user who is there is never turned away");
    }
    guarded.database.reads = 0;
    let absent = (0..moved).map(user).chain((0..10 * users).map(|number| format!("bot{number}")));
    let mut asked = 0_u64;
    for stranger in absent {
        asked += 1;
        assert_eq!(guarded.read(&stranger), None);
    }
    eprintln!(
        "{name}: {asked} reads of absent users, {} reached the database, {} saved",
        guarded.database.reads, guarded.saved,
    );
    assert!(guarded.database.reads <= asked / 50, "the guard turns nearly all away");
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let users: u64 = std::env::args().nth(1).map_or(Ok(200_000), |count| count.parse())?;
    let rate = Sizing::ErrorRate(ErrorRate::new(0.005)?);
    // Keys come before others go, so there is room for some more than there are.
    let room = users + users / 20 + 100;
    day("cuckoo", Cuckoo::new(rate, room)?, users)?;
    day("d-left", DLeft::new(rate, room)?, users)?;
    Ok(())
}
