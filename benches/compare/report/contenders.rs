//! A marker for each contender: its form and colour name the engine, its fill names the settings.

use hfile_cli::charts::{LegendEntry, Mark};

/// The engines in the order of their forms and colours.
const ENGINES: [&str; 5] = ["ours", "RocksDB", "fjall", "redb", "HBase"];

/// Returns the marker of a contender, which is the same in all charts.
pub(super) fn mark_of(contender: &str) -> Mark {
    let engine = contender.split(',').next().unwrap_or(contender);
    let at = ENGINES.iter().position(|known| *known == engine).unwrap_or(ENGINES.len() - 1);
    let is_ribbon = contender.contains("ribbon");
    let is_second = contender.contains("HyperClock") || contender.contains("map off");
    Mark::new(at, usize::from(is_second) * 2 + usize::from(is_ribbon))
}

/// Returns the legend of some contenders.
pub(super) fn legend(contenders: &[String]) -> Vec<LegendEntry> {
    let entry = |name: &String| LegendEntry { name: name.clone(), mark: mark_of(name) };
    contenders.iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::names::CONTENDERS;

    #[test]
    fn contenders_have_different_markers_and_engines_different_forms() {
        let marks: HashSet<_> = CONTENDERS.iter().map(|name| mark_of(name)).collect();
        assert_eq!(marks.len(), CONTENDERS.len());
        let engines: HashSet<_> = ENGINES.map(mark_of).into();
        assert_eq!(engines.len(), ENGINES.len());
        assert_eq!(ENGINES.len(), Mark::FORMS);
    }
}
