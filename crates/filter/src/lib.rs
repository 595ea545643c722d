//! Filters that tell which keys a set cannot hold.
#![cfg_attr(not(feature = "std"), no_std)]
extern crate alloc;
