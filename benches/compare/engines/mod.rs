//! The stores under comparison, one file each.

#[cfg(feature = "store-peers")]
pub(crate) mod fjall;
pub(crate) mod ours;
#[cfg(feature = "store-peers")]
pub(crate) mod redb;
#[cfg(feature = "peers")]
pub(crate) mod rocksdb;
