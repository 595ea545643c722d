//! Filters compared with the implementations whose formats they have.

mod go;
mod hadoop;
mod java;
