//! Ends long work at a signal such as Ctrl-C.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use transfer::{Extent, Observer, Phase};

/// How often signals are looked for.
const INTERVAL: Duration = Duration::from_millis(100);

/// The number of calls for which the clock is read once: there is a call for each cell, in less than a microsecond.
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
        self.0.lock().unwrap_or_else(PoisonError::into_inner).raised.take()
    }
}

impl Phase for InterruptiblePhase {
    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

impl Observer for Interrupts {
    fn begin(&self, _phase: &'static str, _extent: Extent) -> Box<dyn Phase> {
        Box::new(InterruptiblePhase(Self(Arc::clone(&self.0))))
    }

    fn is_cancelled(&self) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.calls = state.calls.wrapping_add(1);
        if !state.calls.is_multiple_of(CALLS_PER_TIME) {
            return state.raised.is_some();
        }
        let now = Instant::now();
        if state.raised.is_none() && now.duration_since(state.looked) >= INTERVAL {
            state.looked = now;
            #[expect(
                clippy::redundant_closure_for_method_calls,
                reason = "the method alone is not general enough"
            )]
            let handled = Python::attach(|py| py.check_signals());
            state.raised = handled.err();
        }
        state.raised.is_some()
    }
}
