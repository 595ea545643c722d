//! A scan on several threads, whose cells come in order.
//!
//! ```text
//! table    region 1                       | region 2   | region 3 …
//! units    rows to k | k to p | from p    | all        | …
//! thread   1           2        1           2            …
//! caller   takes the cells of unit 1, then the cells of unit 2, …
//! ```
//!
//! A thread takes the next unit: a small region, or a range of rows of a large one, cut at blocks
//! of its largest file. It reads the unit into batches. Units that are ahead of the caller may fill
//! [`AHEAD_MAX`] bytes of memory, and the unit of the caller [`CURRENT_MAX`] more, so it always
//! proceeds.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use sstable::tools::OwnProcess;
use sstable::{CellRef, ReadTrace};

use super::batch::CellBatch;
use super::open::OpenRegion;
use super::plan::ScanPlan;
use super::region::RegionCells;
use super::row_range::RowRange;
use crate::error::{Error, Result};
use crate::table::Region;

const FORKED: &str =
    "the scan was begun by the process that this one was forked from; begin a scan in this process";
/// The bytes of cells of units that are ahead of the caller.
const AHEAD_MAX: usize = 64 << 20;
/// The bytes of cells of the unit that the caller reads.
const CURRENT_MAX: usize = 16 << 20;
/// Empty batches that are kept.
const SPARE_MAX: usize = 64;
/// Units for each thread that are taken or done, ahead of the caller.
const UNITS_AHEAD: usize = 8;

/// The cells of a scan on several threads.
#[derive(Debug)]
pub(super) struct ParallelCells {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// The units in order; `None` once the scan ends.
    units: Option<Receiver<Receiver<Message>>>,
    unit: Option<Receiver<Message>>,
    /// The number of units that were begun.
    begun: u64,
    batch: CellBatch,
    /// A fork does not have the threads.
    process: OwnProcess,
    /// The number of the current cell in the batch, and of the next one.
    index: usize,
    next: usize,
}

/// What a thread sends to the caller.
#[derive(Debug)]
enum Message {
    Cells(CellBatch),
    /// The end of the unit.
    End(Result<Box<ReadTrace>>),
}

#[derive(Debug)]
struct Shared {
    plan: Arc<ScanPlan>,
    regions: Vec<Region>,
    /// `None` after the last unit.
    queue: Mutex<Option<Queue>>,
    /// Batches whose cells were returned. New memory costs more time than the copies into it.
    spare: Mutex<Vec<CellBatch>>,
    room: Room,
}

/// The units that no thread has taken yet.
#[derive(Debug)]
struct Queue {
    next_region: usize,
    /// The ranges of rows of the last region that was cut.
    ranges: VecDeque<(Arc<OpenRegion>, RowRange)>,
    /// The counters of opening that region.
    opening: ReadTrace,
    /// The units that were taken.
    taken: u64,
    units: SyncSender<Receiver<Message>>,
}

/// A part of the table that one thread reads.
#[derive(Debug)]
struct Unit {
    number: u64,
    work: Work,
    to_caller: Sender<Message>,
}

#[derive(Debug)]
enum Work {
    Region(usize),
    Rows { open: Arc<OpenRegion>, range: RowRange, opening: Box<ReadTrace> },
    Failed(crate::error::Error),
}

impl ParallelCells {
    pub(super) fn new(plan: &Arc<ScanPlan>, regions: Vec<Region>, threads: usize) -> Self {
        let (sender, units) = mpsc::sync_channel(threads.saturating_mul(UNITS_AHEAD));
        let queue = Queue {
            next_region: 0,
            ranges: VecDeque::new(),
            opening: ReadTrace::default(),
            taken: 0,
            units: sender,
        };
        let shared = Arc::new(Shared {
            plan: Arc::clone(plan),
            regions,
            queue: Mutex::new(Some(queue)),
            spare: Mutex::default(),
            room: Room::default(),
        });
        let spawned = (0..threads).map(|_| {
            let of_thread = Arc::clone(&shared);
            thread::spawn(move || of_thread.read_units())
        });
        Self {
            threads: spawned.collect(),
            shared,
            units: Some(units),
            unit: None,
            begun: 0,
            batch: CellBatch::default(),
            process: OwnProcess::current(),
            index: 0,
            next: 0,
        }
    }

    /// Returns the current cell.
    pub(super) fn cell(&self) -> Option<CellRef<'_>> {
        self.batch.cell(self.index)
    }

    /// Moves to the next cell; returns whether there is one.
    pub(super) fn select_next(&mut self, trace: &mut ReadTrace) -> Result<bool> {
        if self.batch.cell(self.next).is_none() && !self.receive(trace)? {
            return Ok(false);
        }
        self.index = self.next;
        self.next = self.next.saturating_add(1);
        Ok(true)
    }

    /// Receives the next batch; returns whether there is one.
    #[cold]
    fn receive(&mut self, trace: &mut ReadTrace) -> Result<bool> {
        if !self.process.is_current() {
            let (path, source) = (self.shared.plan.path.clone(), io::Error::other(FORKED));
            return Err(Error::Io { path, action: "read", source });
        }
        self.shared.take_back(std::mem::take(&mut self.batch));
        loop {
            let Some(unit) = &self.unit else {
                self.unit = self.units.as_ref().and_then(|units| units.recv().ok());
                if self.unit.is_none() {
                    self.join();
                    return Ok(false);
                }
                self.shared.room.set_current(self.begun);
                self.begun = self.begun.saturating_add(1);
                continue;
            };
            match unit.recv() {
                Ok(Message::Cells(batch)) => {
                    (self.batch, self.next) = (batch, 0);
                    return Ok(true);
                }
                Ok(Message::End(end)) => {
                    self.unit = None;
                    trace.add(&*end?);
                }
                Err(_) => {
                    self.join();
                    panic!("a thread of the scan ended within a unit");
                }
            }
        }
    }

    /// Ends the threads. A panic of a thread goes on in the caller.
    fn join(&mut self) {
        if !self.process.is_current() {
            // The locks of the threads, and the places of their messages, may be in any state.
            std::mem::forget((
                self.units.take(),
                self.unit.take(),
                std::mem::take(&mut self.threads),
            ));
            return;
        }
        (self.units, self.unit) = (None, None);
        self.shared.room.close();
        for thread in self.threads.drain(..) {
            if let Err(panic) = thread.join()
                && !thread::panicking()
            {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

impl Drop for ParallelCells {
    fn drop(&mut self) {
        self.join();
    }
}

impl Shared {
    /// The work of one thread.
    fn read_units(&self) {
        while let Some(Unit { number, work, to_caller }) = self.take_unit() {
            let read = match work {
                Work::Failed(error) => Err(error),
                Work::Rows { open, range, opening } => {
                    self.read(number, &open, &range, &to_caller, opening)
                }
                Work::Region(index) => self.read_region(index, number, &to_caller),
            };
            // The caller is gone if it has dropped the scan.
            let _ = to_caller.send(Message::End(read));
        }
    }

    fn read_region(
        &self,
        index: usize,
        number: u64,
        to_caller: &Sender<Message>,
    ) -> Result<Box<ReadTrace>> {
        let mut trace = Box::<ReadTrace>::default();
        let Some(region) = self.regions.get(index) else { return Ok(trace) };
        let open = OpenRegion::open(&self.plan, region, &mut trace)?;
        self.read(number, &open, &self.plan.range, to_caller, trace)
    }

    fn read(
        &self,
        number: u64,
        open: &OpenRegion,
        range: &RowRange,
        to_caller: &Sender<Message>,
        mut trace: Box<ReadTrace>,
    ) -> Result<Box<ReadTrace>> {
        let mut cells = RegionCells::new(&self.plan, open, range)?;
        let mut batch = self.empty_batch();
        let mut read = Ok(());
        while let Some(cell) = cells.cell() {
            batch.push(&cell);
            if batch.is_full() {
                let full = std::mem::replace(&mut batch, self.empty_batch());
                if !self.send(number, full, to_caller) {
                    return Ok(trace);
                }
            }
            read = cells.advance();
            if read.is_err() {
                break;
            }
        }
        // The cells before an error are returned, as by one thread.
        if !batch.is_empty() && !self.send(number, batch, to_caller) {
            return Ok(trace);
        }
        read?;
        trace.add(&cells.take_trace());
        Ok(trace)
    }

    /// Takes a batch from the caller, and gives its room back.
    fn take_back(&self, mut batch: CellBatch) {
        self.room.give_back(batch.memory());
        let mut spare = lock(&self.spare);
        if !batch.is_empty() && spare.len() < SPARE_MAX {
            batch.clear();
            spare.push(batch);
        }
    }

    fn empty_batch(&self) -> CellBatch {
        lock(&self.spare).pop().unwrap_or_default()
    }

    /// Sends a batch once there is room for it; returns whether the scan goes on.
    fn send(&self, number: u64, batch: CellBatch, to_caller: &Sender<Message>) -> bool {
        self.room.take(number, batch.memory()) && to_caller.send(Message::Cells(batch)).is_ok()
    }

    /// Takes the next unit; `None` after the last one, or if the caller has ended the scan.
    fn take_unit(&self) -> Option<Unit> {
        let mut guard = lock(&self.queue);
        let queue = guard.as_mut()?;
        let Some(work) = queue.next_work(self) else {
            // Without this sender, the caller sees that no unit follows.
            *guard = None;
            return None;
        };
        let (to_caller, unit) = mpsc::channel();
        let number = queue.taken;
        queue.taken = queue.taken.saturating_add(1);
        queue.units.send(unit).ok()?;
        Some(Unit { number, work, to_caller })
    }
}

impl Queue {
    fn next_work(&mut self, shared: &Shared) -> Option<Work> {
        loop {
            if let Some((open, range)) = self.ranges.pop_front() {
                let opening = Box::new(std::mem::take(&mut self.opening));
                return Some(Work::Rows { open, range, opening });
            }
            let index = self.next_region;
            let region = shared.regions.get(index)?;
            self.next_region = index.saturating_add(1);
            // The lengths of some files are not recorded.
            let len = region.files().try_fold(0_u64, |sum, file| sum.checked_add(file.len?));
            if len.is_some_and(|len| len <= shared.plan.scan.part_len) {
                return Some(Work::Region(index));
            }
            match OpenRegion::open(&shared.plan, region, &mut self.opening) {
                Ok(open) => self.cut(Arc::new(open), region, &shared.plan),
                Err(error) => return Some(Work::Failed(error)),
            }
        }
    }

    /// Cuts a region into ranges of rows.
    fn cut(&mut self, open: Arc<OpenRegion>, region: &Region, plan: &ScanPlan) {
        let cuts = open.largest_file().map(|largest| {
            let part_len = plan.scan.part_len.max(1);
            let bytes = part_len.saturating_mul(largest.whole().len());
            let len = bytes.checked_div(open.files_len()).unwrap_or(part_len);
            // A damaged index fails when its file is read.
            largest.whole().index().cuts(len, &mut self.opening).unwrap_or_default()
        });
        let (order, whole) = (plan.order, &plan.range);
        let mut start = whole.start.clone();
        for cut in cuts.unwrap_or_default() {
            let is_inside = order.compare_rows(&cut, &start).is_gt()
                && whole.ends_after(&cut, order)
                && order.compare_rows(&cut, &region.info.start_key).is_gt()
                && (region.info.end_key.is_empty()
                    || order.compare_rows(&cut, &region.info.end_key).is_lt());
            if is_inside {
                let range = RowRange { start, stop: Some(cut.clone()) };
                self.ranges.push_back((Arc::clone(&open), range));
                start = cut;
            }
        }
        self.ranges.push_back((open, RowRange { start, stop: whole.stop.clone() }));
    }
}

/// The memory for batches that the caller has not taken yet.
#[derive(Debug, Default)]
struct Room {
    state: Mutex<RoomState>,
    has_changed: Condvar,
}

#[derive(Debug, Default)]
struct RoomState {
    used: usize,
    /// The number of the unit that the caller reads.
    current: u64,
    is_closed: bool,
}

impl Room {
    /// Takes room for a batch of a unit, if necessary once there is some. `false` once it is closed.
    fn take(&self, unit: u64, bytes: usize) -> bool {
        let waited = self.has_changed.wait_while(lock(&self.state), |state| {
            // Other units use at most `AHEAD_MAX`, so the caller has batches of its own to take
            // if the unit of the caller has to wait.
            let own = if unit == state.current { CURRENT_MAX } else { 0 };
            let is_full = state.used > AHEAD_MAX.saturating_add(own);
            is_full && !state.is_closed
        });
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        state.used = state.used.saturating_add(bytes);
        !state.is_closed
    }

    fn give_back(&self, bytes: usize) {
        self.change(|state| state.used = state.used.saturating_sub(bytes));
    }

    fn set_current(&self, unit: u64) {
        self.change(|state| state.current = unit);
    }

    fn close(&self) {
        self.change(|state| state.is_closed = true);
    }

    fn change(&self, change: impl FnOnce(&mut RoomState)) {
        change(&mut lock(&self.state));
        self.has_changed.notify_all();
    }
}

/// A thread that panics leaves nothing half-made under these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Takes room in another thread; returns whether it has it at once, and once `then` was called.
    #[track_caller]
    fn check_waits(room: &Arc<Room>, unit: u64, then: impl FnOnce(&Room)) {
        let (sender, taken) = mpsc::channel();
        let other = Arc::clone(room);
        let taking = thread::spawn(move || sender.send(other.take(unit, 1)));
        let at_once = taken.recv_timeout(Duration::from_millis(50));
        assert!(at_once.is_err(), "unit {unit} did not wait");
        then(room);
        let waited = taken.recv_timeout(Duration::from_secs(30));
        assert_eq!(waited, Ok(!lock(&room.state).is_closed), "unit {unit}");
        taking.join().expect("no panic").expect("received");
    }

    #[test]
    fn units_ahead_wait_for_room_and_the_current_one_has_more() {
        let room = Arc::new(Room::default());
        // What exceeds the room is taken nevertheless, if there is any.
        assert!(room.take(1, AHEAD_MAX) && room.take(1, 1));
        check_waits(&room, 1, |room| room.give_back(2));
        assert_eq!(lock(&room.state).used, AHEAD_MAX);
        assert!(room.take(0, CURRENT_MAX));
        assert!(room.take(0, 1), "unit 0 is the current one");
        check_waits(&room, 0, |room| room.give_back(CURRENT_MAX));
        check_waits(&room, 1, |room| room.set_current(1));
        check_waits(&room, 2, Room::close);
        assert!(!room.take(2, 1));
    }

    #[test]
    fn batches_are_full_at_their_length_and_empty_without_cells() {
        let mut batch = CellBatch::default();
        assert!(batch.is_empty() && !batch.is_full() && batch.cell(0).is_none());
        let value = vec![7; 64 << 10];
        let cell = CellRef::put(b"r", b"f", b"q", sstable::Timestamp::new(5), &value);
        for count in 1..=4 {
            assert!(!batch.is_full());
            batch.push(&cell);
            assert_eq!(batch.cell(count - 1), Some(cell));
            assert!(batch.memory() > count * value.len() && !batch.is_empty());
        }
        assert!(batch.is_full());
        batch.clear();
        assert!(batch.is_empty() && batch.cell(0).is_none() && batch.memory() == 0);
    }
}
