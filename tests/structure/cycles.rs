//! Cycles between modules: sets of modules of which each reaches each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::modules::Use;

/// How many lines are shown of those that tie one module to another.
const SHOWN: usize = 5;

/// Modules that use each other in a circle, with the uses between them.
#[derive(Debug)]
pub(crate) struct Cycle<'a> {
    pub(crate) modules: BTreeSet<&'a str>,
    pub(crate) uses: Vec<&'a Use>,
}

/// Returns the cycles, each as large as it is: modules of two of them never reach each other both ways.
pub(crate) fn cycles(uses: &[Use]) -> Vec<Cycle<'_>> {
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for one in uses {
        next.entry(&one.from).or_default().insert(&one.to);
    }
    let ahead: BTreeMap<&str, BTreeSet<&str>> =
        next.keys().map(|from| (*from, reach(from, &next))).collect();
    let reaches = |from: &str, to: &str| ahead.get(from).is_some_and(|set| set.contains(to));

    let mut cycles: Vec<Cycle<'_>> = Vec::new();
    for module in next.keys().copied().filter(|module| reaches(module, module)) {
        if cycles.iter().any(|cycle| cycle.modules.contains(module)) {
            continue;
        }
        let both_ways = |other: &&str| reaches(module, other) && reaches(other, module);
        let modules: BTreeSet<&str> = next.keys().copied().filter(both_ways).collect();
        let inside = |one: &&Use| modules.contains(&one.from[..]) && modules.contains(&one.to[..]);
        let uses = uses.iter().filter(inside).collect();
        cycles.push(Cycle { modules, uses });
    }
    cycles
}

/// The modules that can be reached from one in one step or more.
fn reach<'a>(from: &str, next: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<&str> = next.get(from).into_iter().flatten().copied().collect();
    while let Some(module) = waiting.pop() {
        if reached.insert(module) {
            waiting.extend(next.get(module).into_iter().flatten());
        }
    }
    reached
}

impl Cycle<'_> {
    /// Returns the folder of the modules, as a path of modules; empty for the root.
    pub(crate) fn folder(&self) -> &str {
        let first = self.modules.first().expect("a cycle has modules");
        first.rsplit_once("::").map_or("", |(folder, _)| folder)
    }

    /// What ties the modules to each other, one line of the source a line.
    pub(crate) fn report(&self) -> String {
        let modules: Vec<&str> = self.modules.iter().copied().collect();
        let mut report = format!("{} modules: {}\n", modules.len(), modules.join(", "));
        let mut pairs: BTreeMap<(&str, &str), Vec<&Use>> = BTreeMap::new();
        for one in &self.uses {
            pairs.entry((&one.from, &one.to)).or_default().push(one);
        }
        for ((from, to), uses) in pairs {
            let _ = writeln!(report, "  {from} → {to}"); // A string takes everything.
            for one in uses.iter().take(SHOWN) {
                let _ = writeln!(report, "    {}:{} → {to} ({})", one.file, one.line, one.name);
            }
            if uses.len() > SHOWN {
                let _ = writeln!(report, "    and {} more", uses.len() - SHOWN);
            }
        }
        report
    }
}
