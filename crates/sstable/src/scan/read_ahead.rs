//! Prefetching for long scans: a thread reads, verifies and decompresses the next data blocks.
//!
//! ```text
//! frontier   index cursor at the last block that the scan or the thread has claimed to read
//! thread     ──→ blocks in file order, with the buffers that were used to read them ──→ scan
//!            ←── one set of buffers for each further block that the thread may read ←──
//! ```
//!
//! The scan requests each block by its location, and checks it against the index as if it had read
//! the block itself. If the thread has not finished the block, the scan claims and reads a later
//! block instead of waiting. If several blocks wait for the scan, the thread also decodes the
//! delta-encoded ones. So the scan and the thread both stay busy, whichever is slower.
//!
//! A read error of the thread is returned when the scan reaches the block. If the thread ends for
//! another reason, the scan continues without it.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use crate::block::data::DataBlock;
use crate::block::encoded::EncodedBlock;
use crate::block::index_entry::BlockHandle;
use crate::block::row_index::RowIndexKind;
use crate::buffers::Buffers;
use crate::error::Result;
use crate::file::index_cursor::IndexCursor;
use crate::file::open_file::OpenFile;
use crate::file::options::Caching;
use crate::file::read_context::ReadContext;
use crate::own_process::OwnProcess;
use crate::trace::{BlockKind, BlockSource, ReadTrace};

/// The number of blocks after its first one that a scan enters before the thread is started.
const BLOCKS_BEFORE_START: u32 = 2;
/// The maximum number of blocks that the thread is reading or that wait for the scan.
const THREAD_BLOCKS_MAX: usize = 8;
/// Buffers are returned in batches: waking the thread costs as much as reading some KiB.
const RETURNED_BATCH: usize = THREAD_BLOCKS_MAX / 2;
/// The thread also decodes blocks if at least this number of blocks wait for the scan.
const DECODE_FROM: usize = THREAD_BLOCKS_MAX / 2;
/// The maximum number of later blocks that the scan has read itself instead of waiting.
const SCAN_BLOCKS_MAX: usize = 8;
/// The maximum length of a prefetched block, which bounds memory; the scan reads larger blocks.
const BLOCK_LEN_MAX: u32 = 512 << 10;

/// The prefetching of one scan.
#[derive(Debug, Default)]
pub(crate) struct ReadAhead {
    /// Blocks that the scan has advanced to since it started or last stopped prefetching.
    blocks_entered: u32,
    prefetcher: Option<Prefetcher>,
}

/// A running prefetch thread, and the blocks read ahead that the scan has not used yet.
struct Prefetcher {
    frontier: Arc<Frontier>,
    /// Sends buffers to the thread. `None` makes the thread end.
    to_thread: Option<Sender<Buffers>>,
    /// Receives blocks from the thread.
    ///
    /// The lock is never contended. It only makes the type `Sync`.
    from_thread: Mutex<Receiver<PrefetchedBlock>>,
    /// A block that was received from the thread but not used yet.
    next: Option<PrefetchedBlock>,
    /// Later blocks that the scan has read itself, in file order.
    read_by_scan: VecDeque<PrefetchedBlock>,
    /// Buffers of used blocks, to be returned to the thread.
    used_buffers: Vec<Buffers>,
    thread: Option<JoinHandle<()>>,
    /// A fork does not have the thread.
    process: OwnProcess,
}

/// A block that was read ahead, or the error of reading it.
#[derive(Debug)]
struct PrefetchedBlock {
    handle: BlockHandle,
    /// Whether the bytes of the block were read, even if they are damaged.
    is_read: bool,
    /// `None` if the block is too large to prefetch, so that the scan reads it.
    block: Option<Result<DataBlock>>,
    buffers: Buffers,
}

/// The position up to which blocks are claimed, shared by the scan and the thread.
///
/// A block is claimed by the scan or by the thread, so that only one of them reads it.
struct Frontier {
    file: Arc<OpenFile>,
    /// At the last claimed block; `None` if no further block may be claimed.
    last_claimed: Mutex<Option<IndexCursor>>,
    /// The number of blocks read by the thread that the scan has not taken yet.
    pending: AtomicUsize,
}

impl ReadAhead {
    /// Returns an empty buffer pool for the blocks of the scan and of the thread.
    pub(crate) fn buffers() -> Buffers {
        Buffers::at_most(THREAD_BLOCKS_MAX + SCAN_BLOCKS_MAX)
    }

    /// Records that the scan has moved on to the block at `cursor`.
    ///
    /// Starts the thread once the scan has entered enough blocks.
    pub(crate) fn enter_block(&mut self, file: &Arc<OpenFile>, cursor: &IndexCursor) {
        self.blocks_entered = self.blocks_entered.saturating_add(1);
        if self.blocks_entered == BLOCKS_BEFORE_START {
            self.prefetcher = Prefetcher::start(file, cursor.clone());
        }
    }

    /// Returns the block at `handle`, if it is the next prefetched block.
    ///
    /// `None` means that the scan must read the block itself: the block is too large, or the scan has
    /// moved to another position. `buffers` are the free buffers of the scan.
    pub(crate) fn take(
        &mut self,
        handle: BlockHandle,
        buffers: &mut Buffers,
        trace: &mut ReadTrace,
    ) -> Option<Result<DataBlock>> {
        let running = self.prefetcher.as_mut()?;
        let has_thread = running.process.is_current();
        let prefetched = has_thread.then(|| running.take(handle, buffers)).flatten();
        if let Some(prefetched) = prefetched {
            prefetched.count(trace);
            return prefetched.block;
        }
        self.stop(trace);
        None
    }

    /// Ends the thread, and counts the reads of blocks that the scan did not use.
    pub(crate) fn stop(&mut self, trace: &mut ReadTrace) {
        self.blocks_entered = 0;
        let Some(mut prefetcher) = self.prefetcher.take() else { return };
        prefetcher.join();
        while prefetcher.wait_for_next() {
            prefetcher.read_by_scan.extend(prefetcher.next.take());
        }
        prefetcher.read_by_scan.iter().for_each(|prefetched| prefetched.count(trace));
    }
}

impl Prefetcher {
    /// Starts a thread that reads the blocks after a cursor; `None` if no thread can be started.
    fn start(file: &Arc<OpenFile>, last_claimed: IndexCursor) -> Option<Self> {
        let (to_thread, buffers) = mpsc::channel();
        let (to_scan, from_thread) = mpsc::channel();
        for _ in 0..THREAD_BLOCKS_MAX {
            to_thread.send(Buffers::default()).ok()?;
        }
        let (file, last_claimed) = (Arc::clone(file), Mutex::new(Some(last_claimed)));
        let frontier = Arc::new(Frontier { file, last_claimed, pending: AtomicUsize::new(0) });
        let thread = {
            let frontier = Arc::clone(&frontier);
            let work = move || frontier.read_ahead(&buffers, &to_scan);
            thread::Builder::new().name("read-ahead".to_owned()).spawn(work).ok()?
        };
        Some(Self {
            frontier,
            to_thread: Some(to_thread),
            from_thread: Mutex::new(from_thread),
            next: None,
            read_by_scan: VecDeque::new(),
            used_buffers: Vec::new(),
            thread: Some(thread),
            process: OwnProcess::current(),
        })
    }

    /// Returns the block at `handle`; `None` if it is not the next one, or if the thread has ended.
    fn take(&mut self, handle: BlockHandle, buffers: &mut Buffers) -> Option<PrefetchedBlock> {
        loop {
            if self.read_by_scan.front().is_some_and(|prefetched| prefetched.handle == handle) {
                return self.read_by_scan.pop_front();
            }
            if self.next.is_none() {
                self.next = self.receiver().try_recv().ok();
            }
            if self.next.is_some() {
                let next = self.next.take_if(|next| next.handle == handle)?;
                return Some(self.take_buffers(next, buffers));
            }
            // The thread is still reading the block, or the block is not claimed yet: claim the next
            // unclaimed block and read it here.
            let claimed = (self.read_by_scan.len() < SCAN_BLOCKS_MAX)
                .then(|| self.frontier.claim_next())
                .flatten();
            let Some(claimed) = claimed else {
                self.return_buffers(buffers);
                if self.wait_for_next() {
                    continue;
                }
                return None;
            };
            let (is_read, block) = self.frontier.read(claimed, buffers);
            let block = block.map(|block| block.map(Arc::new).map(DataBlock::Encoded));
            let prefetched =
                PrefetchedBlock { handle: claimed, is_read, block, buffers: Buffers::default() };
            if claimed == handle {
                return Some(prefetched);
            }
            self.read_by_scan.push_back(prefetched);
        }
    }

    /// Waits for the next block of the thread. Returns `false` if the thread has ended.
    fn wait_for_next(&mut self) -> bool {
        if self.next.is_none() {
            self.next = self.receiver().recv().ok();
        }
        self.next.is_some()
    }

    fn receiver(&mut self) -> &mut Receiver<PrefetchedBlock> {
        self.from_thread.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the buffers from a block of the thread, to return them to the thread.
    fn take_buffers(
        &mut self,
        mut prefetched: PrefetchedBlock,
        buffers: &mut Buffers,
    ) -> PrefetchedBlock {
        self.frontier.pending.fetch_sub(1, Ordering::Relaxed);
        self.used_buffers.push(std::mem::take(&mut prefetched.buffers));
        if self.used_buffers.len() >= RETURNED_BATCH {
            self.return_buffers(buffers);
        }
        prefetched
    }

    /// Returns the used buffers to the thread, with replacements from `buffers`.
    fn return_buffers(&mut self, buffers: &mut Buffers) {
        for mut used_buffers in self.used_buffers.drain(..) {
            // The scan still uses the buffer that contains the block: replace it.
            used_buffers.take_from(buffers);
            // Fails only if the thread has ended.
            self.to_thread.as_ref().map(|thread| thread.send(used_buffers));
        }
    }

    /// Ends the thread and waits for it, at most as long as it reads one block.
    fn join(&mut self) {
        if !self.process.is_current() {
            self.forget_thread();
            return;
        }
        self.frontier.stop();
        self.to_thread = None;
        // Ignores a panic of the thread: the scan reads the block itself, and fails too.
        self.thread.take().map(JoinHandle::join);
    }

    /// Leaves to the parent of this process what it shares with the thread, which is not in this process.
    fn forget_thread(&mut self) {
        let (to_scan, ended) = mpsc::channel();
        drop(to_scan);
        std::mem::forget(std::mem::replace(&mut self.from_thread, Mutex::new(ended)));
        std::mem::forget((self.to_thread.take(), self.thread.take()));
    }
}

impl Drop for Prefetcher {
    fn drop(&mut self) {
        self.join();
    }
}

impl fmt::Debug for Prefetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("own", &self.read_by_scan).finish_non_exhaustive()
    }
}

impl PrefetchedBlock {
    /// Adds the read of the block to `trace`.
    fn count(&self, trace: &mut ReadTrace) {
        if self.is_read {
            trace.touch(BlockKind::Data, BlockSource::File, self.handle.byte_len());
        }
    }
}

impl Frontier {
    /// The thread's main loop: reads blocks until none is left, one fails, or the scan ends it.
    fn read_ahead(&self, buffers: &Receiver<Buffers>, to_scan: &Sender<PrefetchedBlock>) {
        while let Ok(mut buffers) = buffers.recv()
            && let Some(handle) = self.claim_next()
        {
            let (is_read, block) = self.read(handle, &mut buffers);
            let block = block.map(|block| match block {
                Ok(block) if self.pending.load(Ordering::Relaxed) >= DECODE_FROM => {
                    Ok(decode_if_possible(block, &mut buffers))
                }
                block => block.map(Arc::new).map(DataBlock::Encoded),
            });
            let is_sound = matches!(block, Some(Ok(_)));
            self.pending.fetch_add(1, Ordering::Relaxed);
            let sent = to_scan.send(PrefetchedBlock { handle, is_read, block, buffers });
            if sent.is_err() || !is_sound {
                return;
            }
        }
    }

    /// Claims the next block, which the caller must read. `None` if there is none to prefetch.
    fn claim_next(&self) -> Option<BlockHandle> {
        let mut last_claimed = self.last_claimed.lock().unwrap_or_else(PoisonError::into_inner);
        let cursor = last_claimed.take()?;
        // Ignores a damaged index block: the scan's own cursor returns the error.
        let (buffers, trace) = (&mut Buffers::default(), &mut ReadTrace::default());
        let context = &mut ReadContext { caching: Caching::Bypass, buffers, trace };
        let next = cursor.into_next(&self.file, context).ok().flatten()?;
        let handle = next.block_place();
        if handle.len > BLOCK_LEN_MAX {
            return None;
        }
        *last_claimed = Some(next);
        Some(handle)
    }

    /// Reads a claimed block. Returns whether its bytes were read, and the block.
    ///
    /// The block is `None` if it is too large to prefetch. No further block can then be claimed.
    fn read(
        &self,
        handle: BlockHandle,
        buffers: &mut Buffers,
    ) -> (bool, Option<Result<EncodedBlock>>) {
        let blocks = &self.file.blocks;
        match blocks.read_data_block_up_to(BLOCK_LEN_MAX, handle, buffers) {
            Ok(Some(raw)) => (true, Some(blocks.open_encoded(raw))),
            Ok(None) => {
                self.stop();
                (false, None)
            }
            Err(error) => (false, Some(Err(error))),
        }
    }

    /// Prevents further claims.
    fn stop(&self) {
        *self.last_claimed.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Decodes a delta-encoded block. Returns a damaged one encoded: the scan reports the damaged cell.
fn decode_if_possible(block: EncodedBlock, buffers: &mut Buffers) -> DataBlock {
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
