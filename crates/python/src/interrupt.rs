//! Ends long work at a signal such as Ctrl-C.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use transfer::{Extent, Observer, Phase};

/// How often signals are looked for.
const INTERVAL: Duration = Duration::from_millis(100);

/// The number of questions of the observer for which the clock is read once: there is one for each cell, in less than
/// a microsecond. A phase asks less often, so that each of its questions counts.
const CALLS_PER_TIME: u32 = 32;

/// An observer that ends the work when Python has a signal whose handler raises.
///
/// Work without the lock of the interpreter would otherwise not see Ctrl-C: Python handles signals only in its main
/// thread, between its own instructions.
pub(crate) struct Interrupts(Arc<Mutex<State>>);

/// A phase whose work ends at such a signal.
struct InterruptiblePhase(Interrupts);

struct State {
    calls: u32,
    looked: Instant,
    raised: Option<PyErr>,
}

impl Interrupts {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(State { calls: 0, looked: Instant::now(), raised: None })))
    }

    /// Returns what the handler of a signal raised.
    pub(crate) fn into_raised(self) -> Option<PyErr> {
        self.state().raised.take()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Phase for InterruptiblePhase {
    fn is_cancelled(&self) -> bool {
        self.0.state().look()
    }
}

impl State {
    /// Handles signals if the interval has passed. Returns whether a handler has raised.
    fn look(&mut self) -> bool {
        let now = Instant::now();
        if self.raised.is_none() && now.duration_since(self.looked) >= INTERVAL {
            self.looked = now;
            #[expect(
                clippy::redundant_closure_for_method_calls,
                reason = "the method alone is not general enough"
            )]
            let handled = Python::attach(|py| py.check_signals());
            self.raised = handled.err();
        }
        self.raised.is_some()
    }
}

impl Observer for Interrupts {
    fn begin(&self, _phase: &'static str, _extent: Extent) -> Box<dyn Phase> {
        Box::new(InterruptiblePhase(Self(Arc::clone(&self.0))))
    }

    fn is_cancelled(&self) -> bool {
        let mut state = self.state();
        state.calls = state.calls.wrapping_add(1);
        if state.calls.is_multiple_of(CALLS_PER_TIME) {
            state.look()
        } else {
            state.raised.is_some()
        }
    }
}
