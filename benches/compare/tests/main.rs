//! Tests of the program `compare`: its report, and what an interruption leaves.

mod chromium;
mod drawing;
mod full_run;
mod interruption;
#[path = "../names.rs"]
mod names;
mod report;
