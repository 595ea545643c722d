//! Work on many files on all cores, with the results in the order of the files.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError, mpsc};
use std::thread;

/// Results per core that may wait for an earlier one.
const WAITING_PER_CORE: usize = 8;

/// Runs `work` for files in parallel, and calls `take` with each result in the order of the files.
///
/// The number of results in memory is limited. The first error of `take` ends the work.
pub(crate) fn in_parallel<F: Sync, T: Send>(
    files: &[F],
    work: impl Fn(&F) -> T + Sync,
    mut take: impl FnMut(&F, T) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let next = AtomicUsize::new(0);
    let window = Window::new(WAITING_PER_CORE * cores);
    thread::scope(|scope| {
        // The channel closes when the last worker drops its sender.
        let (sender, receiver) = mpsc::channel();
        for _ in 0..cores.min(files.len()) {
            let (sender, next, window, work) = (sender.clone(), &next, &window, &work);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = files.get(index) else { break };
                    window.wait_for(index);
                    // The receiver is gone if `take` failed.
                    if sender.send((index, work(file))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        // Workers that wait must go on if `take` fails or panics.
        let _open_at_the_end = OpenOnDrop(&window);
        let mut waiting = BTreeMap::new();
        let mut results = files.iter().enumerate();
        for (index, result) in receiver {
            waiting.insert(index, result);
            while let Some(result) = waiting.remove(&window.taken()) {
                let (index, file) = results.next().expect("each file has one result");
                take(file, result)?;
                window.set_taken(index + 1);
            }
        }
        Ok(())
    })
}

/// How far workers may be ahead of the results that were taken.
struct Window {
    len: usize,
    taken: Mutex<usize>,
    has_moved: Condvar,
}

impl Window {
    fn new(len: usize) -> Self {
        Self { len, taken: Mutex::new(0), has_moved: Condvar::new() }
    }

    fn taken(&self) -> usize {
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_taken(&self, count: usize) {
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner) = count;
        self.has_moved.notify_all();
    }

    /// Waits until `index` is in the window.
    fn wait_for(&self, index: usize) {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let is_ahead = |taken: &mut usize| index >= taken.saturating_add(self.len);
        drop(self.has_moved.wait_while(taken, is_ahead).unwrap_or_else(PoisonError::into_inner));
    }
}

/// Lets all workers go on when it is dropped.
struct OpenOnDrop<'w>(&'w Window);

impl Drop for OpenOnDrop<'_> {
    fn drop(&mut self) {
        self.0.set_taken(usize::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_files() {
        let files: Vec<u32> = (0..1_000).collect();
        let mut taken = Vec::new();
        let take = |file: &u32, result: u32| {
            assert_eq!(*file, result);
            taken.push(result);
            Ok(())
        };
        in_parallel(&files, |file| *file, take).expect("no error");
        assert_eq!(taken, files);
    }

    #[test]
    fn the_first_error_ends_the_work() {
        let files: Vec<u32> = (0..1_000).collect();
        let mut count = 0;
        let failed = in_parallel(
            &files,
            |file| *file,
            |_, _| {
                count += 1;
                anyhow::bail!("the first")
            },
        );
        assert!(failed.is_err() && count == 1);
    }
}
