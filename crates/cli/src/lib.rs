//! What `hfile bench` shares with the benchmarks of its repository. It may change with every version.

pub mod charts;
pub mod workload;
