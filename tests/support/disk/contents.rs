//! The bytes of one file: those on disk, and those that only the operating system holds.

use std::ops::Range;
use std::sync::Arc;

use crate::Random;

/// The unit that a disk writes atomically.
pub(super) const SECTOR: usize = 512;

/// The bytes of one file, which only grows; clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    bytes: Arc<Vec<u8>>,
    /// The number of bytes on disk.
    durable_len: usize,
    /// Ranges that a failed sync dropped; no later sync writes them.
    dropped: Vec<Range<usize>>,
}

impl Contents {
    pub(super) fn bytes(&self) -> &Arc<Vec<u8>> {
        &self.bytes
    }

    pub(super) fn append(&mut self, bytes: &[u8]) {
        Arc::make_mut(&mut self.bytes).extend_from_slice(bytes);
    }

    /// Truncates the file, durably.
    pub(super) fn truncate(&mut self, len: usize) {
        Arc::make_mut(&mut self.bytes).resize(len, 0);
        self.durable_len = len;
    }

    pub(super) fn sync(&mut self) {
        self.durable_len = self.bytes.len();
    }

    /// A failed sync: bytes that were not on disk are dropped and count as clean.
    pub(super) fn fail_sync(&mut self) {
        self.dropped.push(self.durable_len..self.bytes.len());
        self.sync();
    }

    /// Returns the contents after a power cut.
    ///
    /// Each unsynced sector survives with probability `kept`; the length is anywhere between the
    /// synced and the full length.
    pub(super) fn after_power_cut(&self, kept: f64, random: &mut Random) -> Self {
        let mut bytes = self.bytes.to_vec();
        for range in &self.dropped {
            bytes[range.clone()].fill(0);
        }
        let unsynced = bytes.len() - self.durable_len;
        if unsynced > 0 {
            let len = match random.below(3) {
                _ if kept >= 1.0 => unsynced,
                _ if kept <= 0.0 => 0,
                0 => unsynced,
                _ => random.below(unsynced + 1),
            };
            bytes.truncate(self.durable_len + len);
            let mut at = self.durable_len;
            while at < bytes.len() {
                let end = (at / SECTOR + 1).saturating_mul(SECTOR).min(bytes.len());
                if !happens(kept, random) {
                    bytes[at..end].fill(0);
                }
                at = end;
            }
        }
        Self { durable_len: bytes.len(), bytes: Arc::new(bytes), dropped: Vec::new() }
    }
}

/// Returns true with probability `odds`.
pub(super) fn happens(odds: f64, random: &mut Random) -> bool {
    (random.next_u64() >> 11) as f64 / ((1_u64 << 53) as f64) < odds
}
