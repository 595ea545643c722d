//! One run of the comparison, as in the JSON file.

use serde::{Deserialize, Serialize};

use crate::claims::Claim;
use crate::figure::Figure;
use crate::load::{Machine, Stage};

/// What a run measured.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Run {
    /// The command line.
    pub(crate) command: String,
    pub(crate) machine: Machine,
    /// Whether the run completed; false while it runs and if it was interrupted.
    pub(crate) is_finished: bool,
    /// Seconds to the end of the last stage.
    pub(crate) seconds: f64,
    /// The finished stages in order.
    pub(crate) stages: Vec<Stage>,
    /// The settings of the engines, in words.
    pub(crate) settings: Vec<String>,
    pub(crate) figures: Vec<Figure>,
    pub(crate) claims: Vec<Claim>,
}
