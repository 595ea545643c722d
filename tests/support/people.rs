//! A CSV file as a user may have it, with expected cells.
//!
//! Its columns have names of their own, some fields are quoted, the cells have two families and
//! three types, and the rows are unsorted. The expected cells follow from the row numbers.

use std::io::{self, Write};

use sstable::{CellRef, Timestamp};

/// The header line.
pub const HEADER: &str = "user,full name,info:age,score,signup";

/// The options of `hfile build` for this file.
pub const OPTIONS: [&str; 12] = [
    "--row",
    "user",
    "--column",
    "full name=info:name",
    "--column",
    "score=stat:score",
    "--type",
    "info:age=int32",
    "--type",
    "stat:score=float64",
    "--timestamp",
    "signup",
];

/// One line of the file.
pub struct Person {
    row: String,
    name: String,
    age: i32,
    score: f64,
    signup: i64,
}

impl Person {
    /// Returns the line of a number, whose row key has at least `digits` digits.
    pub fn new(number: u64, digits: usize) -> Self {
        Self {
            row: format!("row{number:0digits$}"),
            name: format!("N{number}, the \"{number}th\""),
            age: (number % 90) as i32,
            score: number as f64 / 7.0,
            signup: 1_600_000_000_000 + number as i64,
        }
    }

    /// Writes the line.
    ///
    /// # Errors
    ///
    /// If `out` fails.
    pub fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { row, name, age, score, signup } = self;
        let quoted = name.replace('"', "\"\"");
        writeln!(out, "{row},\"{quoted}\",{age},{score:?},{signup}")
    }

    /// Passes the expected cells to `each`, those of the family `info` first.
    pub fn cells(&self, mut each: impl FnMut(CellRef<'_>)) {
        let (age, score) = (self.age.to_be_bytes(), self.score.to_be_bytes());
        for (family, qualifier, value) in [
            ("info", "age", &age[..]),
            ("info", "name", self.name.as_bytes()),
            ("stat", "score", &score),
        ] {
            let (row, time) = (self.row.as_bytes(), Timestamp::new(self.signup));
            each(CellRef::put(row, family.as_bytes(), qualifier.as_bytes(), time, value));
        }
    }
}
