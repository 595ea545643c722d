//! Reading ahead: while a scan walks through one data block, a thread of its own gets those behind it
//! ready: reads, verifies and decompresses them.
//!
//! ```text
//! frontier   index cursor on the last block that anyone has begun to read; who reads one moves it on
//! thread     ──→ blocks in their order, with the buffers they were read through ──→ scan
//!            ←── as many buffers as blocks may be under way ←──
//! ```
//!
//! The scan asks for each block by its place and checks it against the index, as if it had read it
//! by itself. Where the thread is not done with a block that the scan needs, the scan does not wait
//! idly: it reads a block behind the frontier, for later. And where the thread is well ahead of the
//! scan, it undoes the differences of a block as well, which the scan would otherwise do on its walk. So
//! both are busy, whatever takes longer.
//!
//! What could not be read is an error once the scan gets there; whatever else ends the thread, the scan
//! reads on without it.
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use crate::block::data::DataBlock;
use crate::block::encoded::EncodedBlock;
use crate::block::index::BlockHandle;
use crate::block::row_index::RowIndexKind;
use crate::buffers::Buffers;
use crate::file::index_cursor::IndexCursor;
use crate::file::open_file::OpenFile;
use crate::file::read_context::ReadContext;
use crate::{BlockKind, BlockSource, Caching, ReadTrace, Result};

/// Block edges that a scan crosses before the thread is started: a short scan needs none.
const EDGES_BEFORE: u32 = 2;
/// Blocks that the thread has under way or ready.
const READY_MAX: usize = 8;
/// Buffers that are gathered before the thread gets them back: to wake it up costs as much as to read
/// some kilobytes.
const SPENT_MAX: usize = READY_MAX / 2;
/// Blocks that are ready when the thread undoes the differences of a further one.
const READY_TO_DECODE: usize = READY_MAX / 2;
/// Blocks that the scan has read for later.
const OWN_MAX: usize = 8;
/// Larger blocks are left to the scan, for memory is bounded by how large those under way can be.
const BLOCK_LEN_MAX: u32 = 512 << 10;

/// The reading ahead of one scan.
#[derive(Debug, Default)]
pub(crate) struct ReadAhead {
    /// Block edges crossed one after the other.
    edges: u32,
    running: Option<Running>,
}

/// A thread at work, and what the scan has of it.
struct Running {
    frontier: Arc<Frontier>,
    /// Buffers on their way to the thread. `None` tells it to end.
    to_thread: Option<Sender<Buffers>>,
    /// Blocks on their way back. Behind a lock that is never waited for, as who calls has the only
    /// reference: it lets threads share what holds this.
    from_thread: Mutex<Receiver<Ready>>,
    /// The next one of those, if it has come.
    next: Option<Ready>,
    /// Blocks that the scan has read for later.
    own: VecDeque<Ready>,
    spent: Vec<Buffers>,
    thread: Option<JoinHandle<()>>,
}

/// A block, as far as it could be read.
#[derive(Debug)]
struct Ready {
    place: BlockHandle,
    /// Whether its bytes were read, whatever is in them.
    is_read: bool,
    /// `None` if the block is too large to be read ahead: the scan reads it.
    block: Option<Result<DataBlock>>,
    buffers: Buffers,
}

/// Up to where a file is read.
struct Frontier {
    file: Arc<OpenFile>,
    /// On the last block that anyone has begun to read; `None` where nothing more is to be read ahead.
    reached: Mutex<Option<IndexCursor>>,
    /// Blocks of the thread that the scan has not taken yet.
    ready: AtomicUsize,
}

impl ReadAhead {
    /// Buffers that the scan needs to have: for those blocks that it reads, and for the thread.
    pub(crate) fn buffers() -> Buffers {
        Buffers::at_most(READY_MAX + OWN_MAX)
    }

    /// Notes that a scan has come to the block that `cursor` stands on over the edge of the block in
    /// front of it. Starts the thread once the scan looks like a long one.
    pub(crate) fn cross_edge(&mut self, file: &Arc<OpenFile>, cursor: &IndexCursor) {
        self.edges = self.edges.saturating_add(1);
        if self.edges == EDGES_BEFORE {
            self.running = Running::start(file, cursor.clone());
        }
    }

    /// Returns the block at `place` if it is the next one that was read ahead. Returns `None` if the scan
    /// has to read it: the scan went elsewhere, or the block is too large. `buffers` are those of blocks
    /// that the scan no longer needs.
    pub(crate) fn take(
        &mut self,
        place: BlockHandle,
        buffers: &mut Buffers,
        trace: &mut ReadTrace,
    ) -> Option<Result<DataBlock>> {
        let ready = self.running.as_mut()?.take(place, buffers);
        if let Some(ready) = ready {
            ready.count(trace);
            return ready.block;
        }
        self.stop(trace);
        None
    }

    /// Ends the thread, for the scan goes elsewhere, and counts the blocks that were read in vain.
    pub(crate) fn stop(&mut self, trace: &mut ReadTrace) {
        self.edges = 0;
        let Some(mut running) = self.running.take() else { return };
        running.join();
        while running.receive() {
            running.own.extend(running.next.take());
        }
        running.own.iter().for_each(|ready| ready.count(trace));
    }
}

impl Running {
    /// Starts a thread that reads what is behind a block; `None` if there is no thread to be had.
    fn start(file: &Arc<OpenFile>, reached: IndexCursor) -> Option<Self> {
        let (to_thread, buffers) = mpsc::channel();
        let (ready, from_thread) = mpsc::channel();
        for _ in 0..READY_MAX {
            to_thread.send(Buffers::default()).ok()?;
        }
        let (file, reached) = (Arc::clone(file), Mutex::new(Some(reached)));
        let frontier = Arc::new(Frontier { file, reached, ready: AtomicUsize::new(0) });
        let thread = {
            let frontier = Arc::clone(&frontier);
            let work = move || frontier.read_ahead(&buffers, &ready);
            thread::Builder::new().name("read-ahead".to_owned()).spawn(work).ok()?
        };
        Some(Self {
            frontier,
            to_thread: Some(to_thread),
            from_thread: Mutex::new(from_thread),
            next: None,
            own: VecDeque::new(),
            spent: Vec::new(),
            thread: Some(thread),
        })
    }

    /// The block at `place`; `None` if it is not the next one, or cannot be had as the thread has ended.
    fn take(&mut self, place: BlockHandle, buffers: &mut Buffers) -> Option<Ready> {
        loop {
            if self.own.front().is_some_and(|ready| ready.place == place) {
                return self.own.pop_front();
            }
            if self.next.is_none() {
                self.next = self.ready_blocks().try_recv().ok();
            }
            if self.next.is_some() {
                let next = self.next.take_if(|next| next.place == place)?;
                return Some(self.spend(next, buffers));
            }
            // The thread is at it, or nobody has begun with it.
            let claimed = (self.own.len() < OWN_MAX).then(|| self.frontier.claim()).flatten();
            let Some(claimed) = claimed else {
                self.recycle(buffers);
                if self.receive() {
                    continue;
                }
                return None;
            };
            let (is_read, block) = self.frontier.read(claimed, buffers);
            let block = block.map(|block| block.map(Arc::new).map(DataBlock::Encoded));
            let ready = Ready { place: claimed, is_read, block, buffers: Buffers::default() };
            if claimed == place {
                return Some(ready);
            }
            self.own.push_back(ready);
        }
    }

    /// Waits for the next block of the thread; returns whether there is one.
    fn receive(&mut self) -> bool {
        if self.next.is_none() {
            self.next = self.ready_blocks().recv().ok();
        }
        self.next.is_some()
    }

    fn ready_blocks(&mut self) -> &mut Receiver<Ready> {
        self.from_thread.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the buffers from a block of the thread, which gets them back.
    fn spend(&mut self, mut ready: Ready, buffers: &mut Buffers) -> Ready {
        self.frontier.ready.fetch_sub(1, Ordering::Relaxed);
        self.spent.push(std::mem::take(&mut ready.buffers));
        if self.spent.len() >= SPENT_MAX {
            self.recycle(buffers);
        }
        ready
    }

    /// Gives the thread buffers for further blocks.
    fn recycle(&mut self, buffers: &mut Buffers) {
        for mut spent in self.spent.drain(..) {
            // Instead of the one in which the block itself has come.
            spent.take_from(buffers);
            // A thread that has ended needs none.
            self.to_thread.as_ref().map(|thread| thread.send(spent));
        }
    }

    /// Ends the thread, and waits until it has: no longer than for a block.
    fn join(&mut self) {
        self.frontier.close();
        self.to_thread = None;
        // If it has panicked, it has ended all the same; the scan will come to what made it.
        self.thread.take().map(JoinHandle::join);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.join();
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("own", &self.own).finish_non_exhaustive()
    }
}

impl Ready {
    /// Counts that it was read.
    fn count(&self, trace: &mut ReadTrace) {
        if self.is_read {
            trace.touch(BlockKind::Data, BlockSource::File, self.place.byte_len());
        }
    }
}

impl Frontier {
    /// What the thread does: makes blocks ready until there is none left, or nobody to read for.
    fn read_ahead(&self, buffers: &Receiver<Buffers>, ready: &Sender<Ready>) {
        while let Ok(mut buffers) = buffers.recv()
            && let Some(place) = self.claim()
        {
            let (is_read, block) = self.read(place, &mut buffers);
            let block = block.map(|block| match block {
                Ok(block) if self.ready.load(Ordering::Relaxed) >= READY_TO_DECODE => {
                    Ok(decoded(block, &mut buffers))
                }
                block => block.map(Arc::new).map(DataBlock::Encoded),
            });
            let goes_on = matches!(block, Some(Ok(_)));
            self.ready.fetch_add(1, Ordering::Relaxed);
            let sent = ready.send(Ready { place, is_read, block, buffers });
            if sent.is_err() || !goes_on {
                return;
            }
        }
    }

    /// Moves on by one block, which whoever calls has to read.
    fn claim(&self) -> Option<BlockHandle> {
        let mut reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        let cursor = reached.take()?;
        // If an index block is damaged, the scan gets that error when its own cursor reads it.
        let (buffers, trace) = (&mut Buffers::default(), &mut ReadTrace::default());
        let context = &mut ReadContext { caching: Caching::Bypass, buffers, trace };
        let next = cursor.into_next(&self.file, context).ok().flatten()?;
        let place = next.block_place();
        if place.len > BLOCK_LEN_MAX {
            return None;
        }
        *reached = Some(next);
        Some(place)
    }

    /// Reads the block at a place that was claimed. Returns whether its bytes could be read, and the
    /// block: `None` if it is too large to be read ahead, after which no block can be claimed.
    fn read(
        &self,
        place: BlockHandle,
        buffers: &mut Buffers,
    ) -> (bool, Option<Result<EncodedBlock>>) {
        let blocks = &self.file.blocks;
        match blocks.read_data_of_at_most(BLOCK_LEN_MAX, place, buffers) {
            Ok(Some(raw)) => (true, Some(blocks.open_data(raw))),
            Ok(None) => {
                self.close();
                (false, None)
            }
            Err(error) => (false, Some(Err(error))),
        }
    }

    /// Lets nobody read on.
    fn close(&self) {
        *self.reached.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Decodes a delta-encoded block, if it can be decoded: if not, the scan finds out at which cell.
fn decoded(block: EncodedBlock, buffers: &mut Buffers) -> DataBlock {
    let is_short = u32::try_from(block.plain_len()).is_ok_and(|len| len <= BLOCK_LEN_MAX);
    if block.is_delta_encoded()
        && is_short
        && let Ok(decoded) = block.decode_copy(RowIndexKind::ByOrder, buffers)
    {
        block.recycle(buffers);
        return DataBlock::Decoded(Arc::new(decoded));
    }
    DataBlock::Encoded(Arc::new(block))
}
