//! Work on many files on all cores, with the results in the order of the files.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

/// Files per core whose work has begun, or whose result waits for an earlier one.
const STARTED_PER_CORE: usize = 8;

/// Runs `work` for files in parallel, and calls `take` with each result in the order of the files.
///
/// The number of results in memory is limited. The first error of `take` ends the work.
pub(crate) fn in_parallel<F: Sync, T: Send>(
    files: &[F],
    work: impl Fn(&F) -> T + Sync,
    mut take: impl FnMut(&F, T) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    // A job is a file, and where its result goes.
    let (jobs, receiver) = mpsc::channel::<(&F, mpsc::Sender<T>)>();
    let queue = Mutex::new(receiver);
    let next_job = || queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
    thread::scope(|scope| {
        for _ in 0..cores.min(files.len()) {
            scope.spawn(|| {
                while let Ok((file, result)) = next_job() {
                    // The receiver is gone if `take` failed.
                    let _ = result.send(work(file));
                }
            });
        }
        // Dropped at the first error, and the workers end.
        let jobs = jobs;
        let mut started = VecDeque::new();
        let mut left = files.iter();
        loop {
            while started.len() < STARTED_PER_CORE * cores
                && let Some(file) = left.next()
            {
                let (sender, result) = mpsc::channel();
                jobs.send((file, sender)).expect("the queue outlives the scope");
                started.push_back((file, result));
            }
            let Some((file, result)) = started.pop_front() else { return Ok(()) };
            let taken = take(file, result.recv().expect("a worker has not panicked"));
            if taken.is_err() {
                // Nobody waits for what has not begun yet.
                drop(jobs);
                while next_job().is_ok() {}
                return taken;
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_files() {
        let files: Vec<u32> = (0..1_000).collect();
        let mut taken = Vec::new();
        let done = in_parallel(
            &files,
            |file| *file,
            |file, result| {
                assert_eq!(*file, result);
                taken.push(result);
                Ok(())
            },
        );
        done.expect("no error");
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
