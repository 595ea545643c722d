//! The stores under comparison, one file each.

#[cfg(feature = "store-peers")]
pub(crate) mod coordinode;
#[cfg(feature = "store-peers")]
pub(crate) mod fjall;
#[cfg(feature = "store-peers")]
pub(crate) mod lmdb;
pub(crate) mod ours;
#[cfg(feature = "store-peers")]
pub(crate) mod redb;
#[cfg(feature = "peers")]
pub(crate) mod rocksdb;
#[cfg(feature = "store-peers")]
pub(crate) mod surrealkv;
