//! Family maps of our store, which a background thread builds: how many files they cover, and since
//! when.

use std::thread;
use std::time::{Duration, Instant};

use workload::Samples;

use crate::engine::Engine;
use crate::figure::Figure;

/// The figure of the number of files when a fill ends.
pub(crate) const FILES_AT_END: &str = "files at the end of the fill";
/// The figure of the files that no map covers at that moment.
pub(crate) const UNMAPPED_AT_END: &str = "files without a map at the end of the fill";
/// The figure of the files that no map covers a little later.
pub(crate) const UNMAPPED_LATER: &str = "files without a map 5 s later";
/// The figure of the time from the end of a fill until a map covers every file.
const TIME_TO_MAP: &str = "time until maps cover all files";

/// The time after a fill at which the maps should cover every file.
const LATER: Duration = Duration::from_secs(5);
/// The time between two looks.
const STEP: Duration = Duration::from_millis(2);

/// Counts the files that maps cover now, which is the end of a fill, and after five seconds.
///
/// Engines without maps have no such figures. `figure` makes a figure of the engine.
pub(crate) fn coverage(engine: &dyn Engine, figure: &dyn Fn(Samples) -> Figure) -> Vec<Figure> {
    let end = Instant::now();
    let (Some(covered), Some(files)) = (engine.mapped_files(), engine.files()) else {
        return Vec::new();
    };
    let count = |work: &str, count: u64| {
        let samples = Samples { wall: vec![count as f64], cpu: Vec::new() };
        let (work, unit, files) = (work.to_owned(), "files".to_owned(), Some(files));
        Figure { work, files, unit, ..figure(samples) }
    };
    let mut figures =
        vec![count(FILES_AT_END, files), count(UNMAPPED_AT_END, files.saturating_sub(covered))];
    let mut all_covered_after = None;
    while end.elapsed() < LATER && all_covered_after.is_none() {
        if engine.mapped_files() >= engine.files() {
            all_covered_after = Some(end.elapsed());
        } else {
            thread::sleep(STEP);
        }
    }
    let covered = engine.mapped_files().unwrap_or_default();
    figures.push(count(UNMAPPED_LATER, files.saturating_sub(covered)));
    if let Some(time) = all_covered_after {
        let samples = Samples { wall: vec![time.as_secs_f64() * 1e3], cpu: Vec::new() };
        let (work, unit) = (TIME_TO_MAP.to_owned(), "ms".to_owned());
        figures.push(Figure { work, unit, ..figure(samples) });
    }
    figures
}
