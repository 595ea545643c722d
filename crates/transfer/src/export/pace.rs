//! When an export writes its manifest, which has all parts: not after each of very many.
//!
//! A part counts as exported once a manifest that names the part is on disk. If the process is killed
//! before that, the next run exports the part again.

use std::time::{Duration, Instant};

/// A manifest is written if it has this share of new parts: the writes of all parts are linear.
const NEW_PARTS: usize = 16;
/// A manifest is also written after this many times its last duration: it takes little of the export,
/// and little work is lost.
const DURATIONS: u32 = 20;

/// The last write of a manifest, and the parts since.
pub(super) struct ManifestPace {
    written: usize,
    unwritten: usize,
    ended: Instant,
    duration: Duration,
}

impl ManifestPace {
    /// Begins with a manifest of `parts` parts.
    pub(super) fn new(parts: usize) -> Self {
        Self { written: parts, unwritten: 0, ended: Instant::now(), duration: Duration::ZERO }
    }

    /// Counts a part, and writes the manifest if it is due.
    pub(super) fn add<E>(&mut self, write: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        self.unwritten = self.unwritten.saturating_add(1);
        let has_many = self.unwritten.saturating_mul(NEW_PARTS) >= self.written;
        if !has_many && self.ended.elapsed() < self.duration.saturating_mul(DURATIONS) {
            return Ok(());
        }
        let begun = Instant::now();
        write()?;
        self.written = self.written.saturating_add(self.unwritten);
        (self.unwritten, self.ended, self.duration) = (0, Instant::now(), begun.elapsed());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_parts_are_written_each_and_very_many_take_a_linear_number_of_entries() {
        let mut pace = ManifestPace::new(0);
        let (mut parts, mut writes, mut entries) = (0, 0, 0);
        let mut add = |duration| {
            parts += 1;
            pace.duration = duration;
            pace.add(|| {
                writes += 1;
                entries += parts;
                Ok::<_, ()>(())
            })
            .unwrap();
            (parts, writes, entries)
        };
        let slow = Duration::from_secs(3600);
        assert_eq!((0..16).map(|_| add(slow)).last().unwrap().1, 16);
        let (added, _, written) = (0..10_000).map(|_| add(slow)).last().unwrap();
        assert!(written < 20 * added, "{written} entries of {added} parts");
        // A part that took long is written at once.
        let before = add(slow).1;
        assert_eq!(add(Duration::ZERO).1, before + 1);
    }
}
