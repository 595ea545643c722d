use super::*;
use crate::{SequenceId, Timestamp};

fn open(directory: &Path) -> Store {
    Store::open(directory, StoreOptions::default().clock(Clock::fixed(Timestamp::new(1000))))
        .unwrap()
}

fn values(cells: &[Cell]) -> Vec<&str> {
    cells.iter().map(|cell| str::from_utf8(cell.value()).unwrap()).collect()
}

#[test]
fn what_was_written_is_read_also_after_it_is_opened_again() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = open(directory.path());
    store.create_family("f", FamilyOptions::default().versions(2)).unwrap();
    store.create_family("g", FamilyOptions::default()).unwrap();
    store.put(Put::new("a").column("f", "q", "1").column("g", "q", "2")).unwrap();
    let later = Timestamp::new(2000);
    store.put(Put::new("a").column_at("f", "q", later, "3")).unwrap();
    store.put(Put::new("b").column("f", "q", "4")).unwrap();
    store.delete(Delete::row("b")).unwrap();
    for _ in 0..3 {
        assert_eq!(values(&store.get(&Get::row("a")).unwrap()), ["3", "2"]);
        let history = Get::row("a").column("f", "q").versions(9);
        let history = store.get(&history).unwrap();
        assert_eq!(values(&history), ["3", "1"]);
        assert_eq!(history[0].sequence_id(), SequenceId::new(2));
        assert!(store.get(&Get::row("b")).unwrap().is_empty());
        assert!(store.get(&Get::row("aa")).unwrap().is_empty());
        let scanned: Vec<_> = store.scan(Scan::family("f")).unwrap().map(Result::unwrap).collect();
        assert_eq!(values(&scanned), ["3"]);
        let raw = Scan::family("f").raw(true).versions(9).reverse(true);
        let scanned: Vec<_> = store.scan(raw).unwrap().map(Result::unwrap).collect();
        assert_eq!(values(&scanned), ["", "4", "3", "1"]);
        let other = Store::open(directory.path(), StoreOptions::default());
        assert!(matches!(other, Err(Error::Locked { .. })));
        drop(store);
        store = open(directory.path());
    }
}
