//! Keeps users in one family and their sessions in another, which forgets them after an hour.
//!
//! Uses the store in `DIRECTORY`. Each run counts a visit of the user, and opens a session.
//!
//! ```text
//! cargo run -p hfile-store --example two_families -- DIRECTORY [NAME]
//! ```

use std::env;
use std::error::Error;
use std::time::Duration;

use store::{Durability, FamilyOptions, Increment, Put, Scan, Store, StoreOptions, WriteBatch};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let directory = arguments.next().ok_or("usage: two_families DIRECTORY [NAME]")?;
    let name = arguments.next().unwrap_or_else(|| "ada".to_owned());

    let store = Store::open(directory, StoreOptions::default())?;
    if store.families().is_empty() {
        store.create_family("user", FamilyOptions::default())?;
        let hour = Duration::from_secs(3600);
        store.create_family("session", FamilyOptions::default().ttl(Some(hour)))?;
    }

    store.increment(&Increment::new(&name).column("user", "visits", 1))?;
    let mut batch = WriteBatch::new();
    batch.put(Put::new(&name).column("user", "name", &name).column("session", "state", "open"));
    store.write(batch, Durability::Synced)?;

    for family in ["user", "session"] {
        for cell in store.scan(Scan::family(family))? {
            let cell = cell?;
            eprintln!("{:?} {}", cell.as_ref(), cell.value().escape_ascii());
        }
    }
    Ok(())
}
