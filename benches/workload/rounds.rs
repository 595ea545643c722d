//! Rounds: all contenders take turns, each round starts with another one, and each turn is timed.

use std::time::Instant;

use crate::cpu_time::{PROCESS, cpu_nanos};

/// The time per piece of work of one contender, one sample per round.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Wall-clock time.
    pub wall: Vec<f64>,
    /// Processor time of the process.
    pub cpu: Vec<f64>,
}

/// Runs `turn` for each of `contenders` in each round; the samples are nanoseconds per piece of
/// work.
///
/// `turn` returns the number of pieces, and the processor time of threads that have ended
/// meanwhile.
pub fn alternate(
    contenders: usize,
    rounds: usize,
    mut turn: impl FnMut(usize, usize) -> (u64, u64),
) -> Vec<Samples> {
    let mut samples = vec![Samples::default(); contenders];
    for round in 0..rounds {
        for place in 0..contenders {
            let contender = (round + place) % contenders;
            let (cpu, start) = (cpu_nanos(PROCESS), Instant::now());
            let (pieces, ended) = turn(contender, round);
            let wall = start.elapsed().as_nanos() as f64;
            // Smaller if a thread of the engine has ended meanwhile.
            let cpu = (cpu_nanos(PROCESS) + ended).saturating_sub(cpu) as f64;
            samples[contender].wall.push(wall / pieces as f64);
            samples[contender].cpu.push(cpu / pieces as f64);
        }
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_has_each_contender_once_and_another_first() {
        let mut turns = Vec::new();
        let samples = alternate(3, 3, |contender, round| {
            turns.push((round, contender));
            (1, 0)
        });
        let first: Vec<_> = turns.iter().step_by(3).copied().collect();
        assert_eq!(first, [(0, 0), (1, 1), (2, 2)]);
        turns.sort_unstable();
        turns.dedup();
        assert_eq!(turns.len(), 9);
        assert!(samples.iter().all(|sample| sample.wall.len() == 3 && sample.cpu.len() == 3));
    }
}
