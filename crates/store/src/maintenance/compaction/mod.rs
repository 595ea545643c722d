//! Fewer files from many: reads have less to ask, and what is hidden or expired goes.
//!
//! ```text
//! policy  which files: as HBase's exploring policy chooses
//! run     their cells merged into one file, which takes their place
//! pace    not faster than is allowed, and no further once the store closes
//! ```

mod pace;
mod policy;
mod run;
