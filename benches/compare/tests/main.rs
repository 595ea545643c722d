//! Tests of the program `compare`: its report, and what an interruption leaves.

mod interruption;
mod report;
