//! The openings and closings of a region that logs record, and which cells were written before them.
//!
//! All earlier writes of a region are in store files when HBase opens or closes it. Two rules say
//! whether an event came after an entry. Of the same server: its logs have the event after the entry.
//! Of different servers, whose entries have no common order: the event has the later time.

use std::collections::BTreeMap;

/// The server that wrote an entry, where, when, and with which sequence id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrittenBy {
    /// The number of the server's directory; `None` if it is not known.
    pub(crate) server: Option<usize>,
    pub(crate) position: Position,
    pub(crate) time: u64,
    pub(crate) sequence: u64,
}

/// The place of an entry in the order of the reads.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Position {
    /// The number of the log.
    pub(crate) log: usize,
    /// The offset in the log.
    pub(crate) offset: u64,
}

/// The events of one region.
#[derive(Debug, Default)]
pub(crate) struct RegionEvents(BTreeMap<Option<usize>, ServerEvents>);

/// The events of one region that one server wrote.
#[derive(Debug, Default)]
struct ServerEvents {
    last: Position,
    /// The greatest time.
    latest: u64,
    /// The times by sequence id. Only events that no other exceeds in both sequence id and time, so times
    /// fall as sequence ids rise.
    times: BTreeMap<u64, u64>,
}

/// The milliseconds by which the clocks of two servers may differ. HBase: `hbase.master.maxclockskew`.
const CLOCK_SKEW_MAX: u64 = 30_000;

impl RegionEvents {
    /// Adds an event. To add one again changes nothing.
    pub(crate) fn add(&mut self, event: WrittenBy) {
        let of_server = self.0.entry(event.server).or_default();
        of_server.last = of_server.last.max(event.position);
        of_server.latest = of_server.latest.max(event.time);
        let times = &mut of_server.times;
        if times.range(event.sequence..).next().is_some_and(|(_, time)| *time >= event.time) {
            return;
        }
        while let Some((&sequence, &time)) = times.range(..=event.sequence).next_back()
            && time <= event.time
        {
            times.remove(&sequence);
        }
        times.insert(event.sequence, event.time);
    }

    /// Returns whether an entry was written before one of the events.
    pub(crate) fn has_event_after(&self, entry: WrittenBy) -> bool {
        self.0.iter().any(|(server, events)| {
            if server.is_some() && *server == entry.server {
                events.last > entry.position
            } else {
                events.has_later_event(entry)
            }
        })
    }
}

impl ServerEvents {
    /// Returns whether an event came after an entry of another server.
    ///
    /// The sequence ids of a region rise, except after `restore_snapshot`, which sets them back. So an
    /// entry with a greater sequence id than the event is older only if the clocks of the two servers
    /// leave no doubt.
    fn has_later_event(&self, entry: WrittenBy) -> bool {
        self.times.range(entry.sequence..).next().is_some_and(|(_, time)| *time > entry.time)
            || self.latest > entry.time.saturating_add(CLOCK_SKEW_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the rules as they are written down, for all events one by one.
    #[test]
    fn the_summary_of_the_events_answers_as_all_of_them() {
        let mut random: u32 = 5;
        let mut next = |count: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            u64::from((random >> 8) % count)
        };
        let mut followed = 0;
        for _ in 0..300 {
            let mut written = || WrittenBy {
                server: usize::try_from(next(3)).ok().filter(|server| *server > 0),
                position: Position { log: 0, offset: next(9) },
                time: next(5) * CLOCK_SKEW_MAX / 2,
                sequence: next(6),
            };
            let events: Vec<WrittenBy> = (0..6).map(|_| written()).collect();
            let mut summary = RegionEvents::default();
            for event in &events {
                summary.add(*event);
            }
            for _ in 0..20 {
                let entry = written();
                let expected = events.iter().any(|event| {
                    if event.server.is_some() && event.server == entry.server {
                        return event.position > entry.position;
                    }
                    let skew = if entry.sequence > event.sequence { CLOCK_SKEW_MAX } else { 0 };
                    entry.time + skew < event.time
                });
                assert_eq!(summary.has_event_after(entry), expected, "{events:?} {entry:?}");
                followed += u32::from(expected);
            }
        }
        assert!((1000..5000).contains(&followed), "{followed}");
    }
}
