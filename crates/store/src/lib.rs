//! An HBase-style store to embed.
