//! How many files the family maps of our store cover after a fill; a background thread builds them.

use std::thread;
use std::time::{Duration, Instant};

use workload::Samples;

use crate::engine::{Contender, Engine};
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

/// Counts the files that maps cover now, which is the end of a fill, and after five seconds.
///
/// Engines without maps have no such figures.
pub(crate) fn coverage(engine: &dyn Engine, contender: &Contender) -> Vec<Figure> {
    let end = Instant::now();
    let (Some(covered), Some(files)) = (engine.mapped_files(), engine.files()) else {
        return Vec::new();
    };
    let figure = |work: &str, unit: &str, sample: f64| {
        let samples = Samples { wall: vec![sample], cpu: Vec::new() };
        let unit = unit.to_owned();
        Figure { unit, files: Some(files), ..Figure::new(contender, work, samples) }
    };
    while end.elapsed() < LATER && engine.mapped_files() < engine.files() {
        thread::sleep(Duration::from_millis(2));
    }
    let (time, covered_later) = (end.elapsed(), engine.mapped_files().unwrap_or_default());
    let unmapped = |covered: u64| files.saturating_sub(covered) as f64;
    let mut figures = vec![
        figure(FILES_AT_END, "files", files as f64),
        figure(UNMAPPED_AT_END, "files", unmapped(covered)),
        figure(UNMAPPED_LATER, "files", unmapped(covered_later)),
    ];
    if covered_later >= files {
        figures.push(figure(TIME_TO_MAP, "ms", time.as_secs_f64() * 1e3));
    }
    figures
}
