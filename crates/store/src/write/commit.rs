//! The way of a write: log, then memstore, then it is visible and acknowledged.
//!
//! Threads that write at the same time form a group. The first of them leads: it logs the batches
//! of all that wait with one call to the operating system, and if one of them asks for the disk,
//! with one sync. A batch gets one sequence id, and readers see it wholly or not at all: they read
//! up to the last sequence id that has been published.
//!
//! ```text
//! batch ─┐                       ┌ log: one write, one sync ┐
//! batch ─┼─ queue ─ first leads ─┤                          ├─ publish ─ wake the others
//! batch ─┘                       └ memstores, in log order  ┘
//! ```

use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use sstable::{Cell, CellRef, CellType, KeyRef, SequenceId, Timestamp};

use crate::error::{Error, Result};
use crate::files::sequence;
use crate::files::version::StoreVersion;
use crate::options::Durability;
use crate::read::get::ReadView;
use crate::store::Inner;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Condvar, Mutex, MutexGuard, let_others_go_on, lock, wait};
use crate::write::log::{LogEnd, encode_batch};

/// Where writes meet.
#[derive(Debug)]
pub(crate) struct Commit {
    queue: Mutex<Queue>,
    done: Condvar,
    writer: Mutex<Writer>,
    /// The sequence id up to which writes are visible.
    visible: AtomicU64,
    failure: OnceLock<Arc<str>>,
    /// The store's directory, if the store is open for reading only.
    read_only: Option<PathBuf>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: Vec<Request>,
    /// Requests that came so far, the leader's own too; their numbers are tickets.
    came: u64,
    /// Requests that were served.
    served: u64,
    has_leader: bool,
}

#[derive(Debug)]
struct Request {
    cells: Vec<Cell>,
    durability: Durability,
    stamp: Stamp,
}

/// What becomes the timestamp of cells that leave it open.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Stamp {
    /// The time of the write.
    Now,
    /// The sequence id of the write.
    SequenceId,
}

/// The end of the log. Whoever holds it, nobody else writes.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) log: LogEnd,
    /// The last batch's.
    pub(crate) newest: SequenceId,
    /// Records that the operating system does not have yet.
    pending: Vec<u8>,
    /// Whether a memstore holds what no log does.
    pub(crate) has_unlogged: bool,
}

impl Commit {
    /// More than this is not kept back, however little haste its writers have.
    const PENDING_BYTES_MAX: usize = 256 << 10;

    pub(crate) fn new(log: LogEnd, newest: SequenceId) -> Self {
        let writer = Writer { log, newest, pending: Vec::new(), has_unlogged: false };
        Self {
            queue: Mutex::default(),
            done: Condvar::new(),
            writer: Mutex::new(writer),
            visible: AtomicU64::new(newest.get()),
            failure: OnceLock::new(),
            read_only: None,
        }
    }

    /// As [`new`](Self::new), for a store that takes no writes.
    pub(crate) fn read_only(directory: &Path, log: LogEnd, newest: SequenceId) -> Self {
        Self { read_only: Some(directory.to_path_buf()), ..Self::new(log, newest) }
    }

    pub(crate) const fn is_read_only(&self) -> bool {
        self.read_only.is_some()
    }

    /// The sequence id up to which writes are visible.
    pub(crate) fn visible(&self) -> SequenceId {
        SequenceId::new(self.visible.load(Ordering::Acquire))
    }

    /// Keeps all others from writing.
    pub(crate) fn writer(&self) -> MutexGuard<'_, Writer> {
        lock(&self.writer)
    }

    /// Makes visible what was taken in with sequence ids up to `newest`.
    pub(crate) fn publish(&self, writer: &mut Writer, newest: SequenceId) {
        writer.newest = writer.newest.max(newest);
        self.visible.fetch_max(newest.get(), Ordering::Release);
    }

    /// Refuses if the store has stopped, or is open for reading only.
    pub(crate) fn check(&self) -> Result<()> {
        if let Some(path) = &self.read_only {
            return Err(Error::ReadOnly { path: path.clone() });
        }
        self.failure.get().map_or(Ok(()), |why| Err(Error::Poisoned { why: Arc::clone(why) }))
    }

    /// Stops the store: after this failure nobody knows what is on disk.
    pub(crate) fn poison(&self, error: Error) -> Error {
        let_others_go_on();
        let _ = self.failure.set(error.with_causes().into());
        error
    }

    pub(crate) const fn poison_on_panic(&self) -> PoisonOnPanic<'_> {
        PoisonOnPanic(self)
    }

    /// Writes a batch, and returns when it is as safe as was asked for.
    pub(crate) fn write(
        &self,
        store: &Inner,
        cells: Vec<Cell>,
        durability: Durability,
        stamp: Stamp,
    ) -> Result<()> {
        self.check()?;
        let request = Request { cells, durability, stamp };
        let mut queue = lock(&self.queue);
        queue.came += 1;
        let ticket = queue.came;
        if queue.has_leader {
            queue.waiting.push(request);
            loop {
                queue = wait(&self.done, queue);
                if queue.served >= ticket {
                    return self.check();
                }
                if !queue.has_leader {
                    break;
                }
            }
        } else {
            // Nobody waits: those who did were served, or lead.
            queue.waiting.push(request);
        }
        queue.has_leader = true;
        let group = mem::take(&mut queue.waiting);
        let leading = Leading { commit: self, group_len: group.len(), last: queue.came };
        drop(queue);
        let result = self.check().and_then(|()| self.write_group(store, &mut self.writer(), group));
        let result = result.map_err(|error| self.poison(error));
        drop(leading);
        result
    }

    /// Writes what `reckon` makes of the store as it is, while nobody else writes; returns it.
    ///
    /// If `reckon` fails or wants nothing, nothing is written.
    pub(crate) fn write_reckoned(
        &self,
        store: &Inner,
        durability: Durability,
        reckon: impl FnOnce(&ReadView) -> Result<Vec<Cell>>,
    ) -> Result<Vec<Cell>> {
        let _watch = self.poison_on_panic();
        let mut writer = self.writer();
        self.check()?;
        let mut cells = prepare(&store.version(), reckon(&store.view())?)?;
        if cells.is_empty() {
            return Ok(cells);
        }
        let request = Request { cells: cells.clone(), durability, stamp: Stamp::Now };
        let result = self.write_group(store, &mut writer, vec![request]);
        result.map_err(|error| self.poison(error))?;
        for cell in &mut cells {
            cell.set_sequence_id(writer.newest);
        }
        Ok(cells)
    }

    fn write_group(
        &self,
        store: &Inner,
        writer: &mut Writer,
        mut group: Vec<Request>,
    ) -> Result<()> {
        // The version's active memstores stay so for as long as the writer is held.
        let version = store.version();
        let now = store.options.clock.now();
        let mut durability = Durability::SkipWal;
        for request in &mut group {
            if request.durability != Durability::SkipWal {
                if writer.segment_len() > store.options.wal_segment_bytes {
                    writer.close_segment()?;
                }
                store.begin_segment(writer)?;
            }
            writer.log_batch(&version, request, now)?;
            durability = durability.max(request.durability);
        }
        if durability >= Durability::SyncWal || writer.pending.len() > Self::PENDING_BYTES_MAX {
            writer.write_pending()?;
        }
        if durability == Durability::FsyncWal {
            writer.log.sync()?;
        }
        for request in group {
            apply(&version, request.cells);
        }
        self.visible.store(writer.newest.get(), Ordering::Release);
        if writer.has_pending() {
            store.background.want_log();
        }
        if writer.segment_len() > store.options.wal_segment_bytes {
            writer.close_segment()?;
        }
        Ok(())
    }
}

/// Stops the store if its holder panics.
pub(crate) struct PoisonOnPanic<'a>(&'a Commit);

impl Drop for PoisonOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let thread = std::thread::current();
            let name = thread.name().unwrap_or("without a name");
            let why = format!("the thread {name} panicked while it worked on the store");
            let _ = self.0.failure.set(why.into());
        }
    }
}

/// A thread that leads a group. However it ends, those who wait are woken.
struct Leading<'a> {
    commit: &'a Commit,
    group_len: usize,
    /// The last of the group.
    last: u64,
}

impl Drop for Leading<'_> {
    fn drop(&mut self) {
        drop(self.commit.poison_on_panic());
        let mut queue = lock(&self.commit.queue);
        queue.has_leader = false;
        queue.served = self.last;
        // Whoever leads need not be the one that came last, nor first.
        let others_wait = self.group_len > 1 || !queue.waiting.is_empty();
        drop(queue);
        if others_wait {
            self.commit.done.notify_all();
        }
    }
}

impl Writer {
    /// Gives a batch its sequence id and, where there is none, its time, and logs it.
    fn log_batch(
        &mut self,
        version: &StoreVersion,
        request: &mut Request,
        now: Timestamp,
    ) -> Result<()> {
        let sequence_id = sequence::after(self.newest)?;
        let stamp = match request.stamp {
            Stamp::Now => now,
            // Below 2^63: the ids count up from 1.
            Stamp::SequenceId => Timestamp::new(sequence_id.get().cast_signed()),
        };
        for cell in &mut request.cells {
            cell.set_sequence_id(sequence_id);
            if cell.timestamp() == Timestamp::LATEST {
                cell.set_timestamp(stamp);
            }
        }
        if request.durability == Durability::SkipWal {
            self.has_unlogged = true;
        } else {
            let mut family = (&b""[..], 0);
            let cells = request.cells.iter().map(|cell| {
                let cell = cell.as_ref();
                if cell.family != family.0 {
                    let known = version.family(cell.family).expect("checked before the queue");
                    family = (cell.family, known.family.id);
                }
                (family.1, cell)
            });
            let segment = self.log.segment().expect("begun before a batch is logged");
            let (identity, durable) = (*segment.identity(), segment.durable());
            encode_batch(&mut self.pending, &identity, sequence_id, durable, cells)?;
        }
        self.newest = sequence_id;
        Ok(())
    }

    /// Hands what is pending to the operating system.
    pub(crate) fn write_pending(&mut self) -> Result<()> {
        if !self.pending.is_empty() {
            self.log.write(&self.pending)?;
            self.pending.clear();
        }
        Ok(())
    }

    /// Closes the log segment that is being written, if there is one, with all that is pending.
    pub(crate) fn close_segment(&mut self) -> Result<()> {
        self.write_pending()?;
        self.log.close()
    }

    /// Bytes of the log segment, with those that are pending.
    fn segment_len(&self) -> u64 {
        self.log.segment().map_or(0, |segment| segment.written() + self.pending.len() as u64)
    }

    pub(crate) const fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }
}

/// Puts a batch's cells into the memstores of their families.
pub(crate) fn apply(version: &StoreVersion, mut cells: Vec<Cell>) {
    while let Some(first) = cells.first() {
        let name = first.family();
        let family = version.family(name).expect("checked before the queue");
        let others = if cells.iter().all(|cell| cell.family() == name) {
            Vec::new()
        } else {
            let name = name.to_vec();
            cells.extract_if(.., |cell| cell.family() != name).collect()
        };
        family.active.insert(mem::replace(&mut cells, others));
    }
}

/// Half of what a log record could hold, so that spelling out what follows has room.
const BATCH_BYTES_MAX: usize = 512 << 20;

/// Checks a batch and spells out what it leaves open: a delete of a whole row names no family.
pub(crate) fn prepare(version: &StoreVersion, cells: Vec<Cell>) -> Result<Vec<Cell>> {
    let mut family: &[u8] = b"";
    let mut deletes_rows = false;
    let mut bytes = 0;
    for cell in &cells {
        let cell = cell.as_ref();
        check(&cell)?;
        bytes += cell.key().flat_len() + 32 + cell.value.len() + cell.tags.len();
        let all_families = cell.family.is_empty() && cell.cell_type == CellType::DeleteFamily;
        deletes_rows |= all_families;
        if !all_families && cell.family != family {
            let known = version.family(cell.family).ok_or_else(|| {
                let name = sstable::escape(cell.family);
                Error::invalid(format!("the store has no family \"{name}\""))
            })?;
            family = known.family.name.as_bytes();
        }
    }
    if bytes > BATCH_BYTES_MAX {
        return Err(Error::invalid("a batch has at most 512 MiB"));
    }
    if !deletes_rows {
        return Ok(cells);
    }
    let mut spelled_out = Vec::with_capacity(cells.len());
    for cell in cells {
        if cell.family().is_empty() {
            spelled_out.extend(version.families.iter().map(|version| {
                CellRef { family: version.family.name.as_bytes(), ..cell.as_ref() }.to_cell()
            }));
        } else {
            spelled_out.push(cell);
        }
    }
    Ok(spelled_out)
}

/// Refuses a cell that no file could hold, before it is in the log.
fn check(cell: &CellRef<'_>) -> Result<()> {
    let refuse = |what: &str| {
        let row = sstable::escape(&cell.row[..cell.row.len().min(64)]);
        Err(Error::invalid(format!("row \"{row}\": {what}")))
    };
    if cell.row.is_empty() {
        return refuse("a row has at least one byte");
    }
    if cell.row.len() > KeyRef::ROW_LEN_MAX {
        return refuse("a row has at most 32,767 bytes");
    }
    if cell.timestamp < Timestamp::new(0) {
        return refuse("a timestamp is not negative");
    }
    if cell.cell_type.deletes_family() && !cell.qualifier.is_empty() {
        return refuse("a delete of a family names no column");
    }
    if cell.tags.len() > i16::MAX as usize {
        return refuse("the tags of a cell have at most 32,767 bytes");
    }
    let tiled: usize = cell.tags().map(|(_, data)| 3 + data.len()).sum();
    if tiled != cell.tags.len() {
        return refuse("the tags' lengths do not add up");
    }
    Ok(())
}
