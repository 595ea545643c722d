//! The Rust examples of the book, as doctests. `crates/cli/tests/docs/main.rs` checks that each page with Rust is
//! here.
//!
//! `README.md` is a doctest of `hfile-store` too, with the dependencies that a user has.

#[doc = include_str!("../../README.md")]
struct Readme;

#[doc = include_str!("../../docs/src/filters/README.md")]
struct Filters;

#[doc = include_str!("../../docs/src/start.md")]
struct Start;

#[doc = include_str!("../../docs/src/guides/embed-a-store.md")]
struct EmbedAStore;
