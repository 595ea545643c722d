//! Keeps people in a family of cells, and their names in a map from names to rows.
//!
//! A person and the entry of the map are written in one batch, so neither exists without the other.
//!
//! ```text
//! cargo run -p hfile-store --example name_index -- DIRECTORY NAME YEAR    adds or changes a person
//! cargo run -p hfile-store --example name_index -- DIRECTORY PREFIX       lists people by name
//! ```

use std::env;
use std::error::Error;

use filter::{ErrorRate, FilterKind, Sizing};
use store::{Durability, FamilyOptions, Get, Put, Store, StoreOptions, WriteBatch};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match &arguments[..] {
        [directory, name, year] => add(directory, name, year),
        [directory, prefix] => list(directory, prefix),
        _ => Err("usage: name_index DIRECTORY (NAME YEAR | PREFIX)".into()),
    }
}

/// Opens the store, and creates its families the first time.
fn open(directory: &str) -> Result<Store, Box<dyn Error>> {
    let store = Store::open(directory, StoreOptions::default())?;
    if store.families().is_empty() {
        let one_percent = Sizing::ErrorRate(ErrorRate::new(0.01)?);
        let person = FamilyOptions::default().versions(3).filter(FilterKind::Ribbon, one_percent);
        store.create_family("person", person)?;
        store.create_map("rows by name")?;
        store.create_map("counters")?;
    }
    Ok(store)
}

fn add(directory: &str, name: &str, year: &str) -> Result<(), Box<dyn Error>> {
    let store = open(directory)?;
    let known = store.map("rows by name")?.get(name)?;
    let row = match known {
        Some(row) => row,
        None => format!("{:08}", store.map("counters")?.increment("people", 1)?).into_bytes(),
    };
    let mut batch = WriteBatch::new();
    batch.put(Put::new(&row).column("person", "name", name).column("person", "born", year));
    batch.insert("rows by name", name, &row);
    store.write(batch, Durability::Synced)?;
    store.close()?;
    Ok(())
}

/// Lists people in the order of their names. Works beside a process that writes.
fn list(directory: &str, prefix: &str) -> Result<(), Box<dyn Error>> {
    let store = Store::open_read_only(directory, StoreOptions::default())?;
    let snapshot = store.snapshot();
    for entry in snapshot.map("rows by name")?.prefix(prefix) {
        let (name, row) = entry?;
        for cell in snapshot.get(&Get::row(row).column("person", "born"))? {
            eprintln!("{}, born {}", name.escape_ascii(), cell.value().escape_ascii());
        }
    }
    Ok(())
}
