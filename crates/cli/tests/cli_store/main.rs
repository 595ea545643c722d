//! `hfile store`, and the stores that it leaves.

mod between_processes;
#[path = "../support/command_line.rs"]
mod command_line;
mod csv;
mod damage;
mod families;
mod filter_attack;
mod increment_and_export;
mod put_and_scan;
mod read_only;
#[path = "../support/store_command.rs"]
mod store_command;
