//! Files and stores compared with real HBase.

mod hfiles;
mod hudi;
mod region;
