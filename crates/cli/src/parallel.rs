//! Work on many files on all cores, with the results in the order of the files.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Files of a group per core.
///
/// The results of a group are in memory together, and the cores wait for the last file of a group.
const GROUP_PER_CORE: usize = 8;

/// Runs `work` for files in parallel, and calls `take` with each result in the order of the files.
///
/// The number of results in memory is limited. The first error of `take` ends the work.
pub(crate) fn in_parallel<T: Send>(
    files: &[PathBuf],
    work: impl Fn(&Path) -> T + Sync,
    mut take: impl FnMut(&Path, T) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    for group in files.chunks(GROUP_PER_CORE * cores) {
        let results: Vec<Mutex<Option<T>>> = group.iter().map(|_| Mutex::new(None)).collect();
        let next = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..cores.min(group.len()) {
                scope.spawn(|| {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let (Some(file), Some(place)) = (group.get(index), results.get(index))
                        else {
                            break;
                        };
                        let result = work(file);
                        *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
                    }
                });
            }
        });
        for (file, result) in group.iter().zip(results) {
            let result = result.into_inner().unwrap_or_else(PoisonError::into_inner);
            // A panic of `work` has ended the scope with a panic.
            take(file, result.expect("each file of the group has a result"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_files() {
        let files: Vec<PathBuf> = (0..100).map(|number| number.to_string().into()).collect();
        let mut taken = Vec::new();
        let take = |file: &Path, result: PathBuf| {
            assert_eq!(file, result);
            taken.push(result);
            Ok(())
        };
        in_parallel(&files, Path::to_path_buf, take).expect("no error");
        assert_eq!(taken, files);
        let mut count = 0;
        let failed = in_parallel(&files, Path::to_path_buf, |_, _| {
            count += 1;
            anyhow::bail!("the first")
        });
        assert!(failed.is_err() && count == 1);
    }
}
