//! Scans of files that the operating system refuses to read: an error, also if damage is skipped.

use std::io;
use std::sync::Arc;

use cells::error_line;
use hbase_files::{Error, RootDirectory, Table, TableScan};
use sstable::Limits;
use support::root_directory::RootCopy;

use crate::refusing::Refusing;

fn table(copy: &RootCopy, refused: &str) -> Table {
    let root = RootDirectory::open(Arc::new(Refusing(refused.into())), &copy.path());
    root.and_then(|root| root.table(&"t6".parse().expect("a name"))).expect("it has a schema")
}

fn error(table: &Table, scan: &TableScan) -> Option<Error> {
    table.scan(scan).and_then(Iterator::collect::<Result<Vec<_>, _>>).err()
}

#[test]
fn a_refused_permission_is_not_skipped_as_damage() {
    let copy = RootCopy::new();
    let scan = TableScan::default().skip_damaged(true).with_logs(true);
    for refused in [
        "475ea0cde6a4298710607723607cb381/g/6c183b79333a4937a728208fc3573483",
        "475ea0cde6a4298710607723607cb381/g",
        "localhost%2C36349%2C1795412714489.1795412744013",
    ] {
        let error = error(&table(&copy, refused), &scan).expect("refused");
        let mut cause: &dyn std::error::Error = &error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        let cause = cause.downcast_ref::<io::Error>().expect("an error of the system");
        assert_eq!(cause.kind(), io::ErrorKind::PermissionDenied, "{refused}: {error}");
    }
}

#[test]
fn a_check_calls_nothing_damaged_that_it_may_not_read() {
    let copy = RootCopy::new();
    assert_eq!(table(&copy, "nothing").check().unread.len(), 0);
    for (refused, unread) in [
        ("475ea0cde6a4298710607723607cb381/g/6c183b79333a4937a728208fc3573483", false),
        ("475ea0cde6a4298710607723607cb381/g", true),
        ("475ea0cde6a4298710607723607cb381/.regioninfo", true),
        ("localhost%2C36349%2C1795412714489.1795412744013", true),
    ] {
        let table = table(&copy, refused);
        let check = table.check();
        assert_eq!(check.damages, [], "{refused}");
        let tree = &**table.tree();
        let mut damages = Vec::new();
        let files = check.files.iter();
        let errors: Vec<Error> = files
            .filter_map(|file| file.run(tree, Limits::default(), |_| {}, &mut damages).err())
            .collect();
        assert_eq!(damages, [], "{refused}");
        assert_eq!((check.unread.is_empty(), errors.is_empty()), (!unread, unread), "{refused}");
        let mut unread = check.unread.iter().chain(&errors).map(|error| error_line(error));
        assert!(unread.any(|line| line.contains("permission denied")), "{refused}");
    }
}

#[test]
fn too_many_cells_of_logs_are_not_skipped_as_damage() {
    let copy = RootCopy::new();
    let table = copy.table("t1");
    let nowhere = copy.path().join("nowhere");
    let scan = TableScan::default().with_logs(true).log_bytes_max(100).log_directory(&nowhere);
    let error = error(&table, &scan.skip_damaged(true)).expect("no such directory");
    assert!(
        matches!(&error, Error::Temporary { directory, .. } if *directory == nowhere),
        "{error}"
    );
}
