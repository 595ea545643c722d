//! One run of the comparison, as in the JSON file.

use serde::{Deserialize, Serialize};

use crate::claims::Claim;
use crate::figure::Figure;
use crate::load::Stage;

/// What a run measured.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Run {
    /// Whether the run completed; false while it runs and if it was interrupted.
    pub(crate) is_finished: bool,
    /// Seconds to the end of the last stage.
    pub(crate) seconds: f64,
    /// The number of rows of the main comparison.
    pub(crate) rows: u64,
    /// The finished stages in order.
    pub(crate) stages: Vec<Stage>,
    /// The command line, the machine, and the settings of the engines, in words.
    pub(crate) settings: Vec<String>,
    pub(crate) figures: Vec<Figure>,
    #[serde(skip_deserializing)]
    pub(crate) claims: Vec<Claim>,
}
