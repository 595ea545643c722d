//! `hfile store`, and the stores that it leaves. The transcripts have what its verbs print.

#[path = "../support/command_line.rs"]
mod command_line;
mod csv;
mod failed_export;
mod filter_attack;
mod read_only;
#[path = "../support/store_command.rs"]
mod store_command;
