//! `[physics]`: settings of physics.

use sdf::Solver;
use serde::{Deserialize, Serialize};

use crate::kind::Kind;
use crate::setting::Setting;
use crate::values;

/// Settings of physics.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Physics {
    /// The effort of the solver of contacts and joints.
    #[serde(with = "values::word")]
    pub solver: Solver,
}

#[rustfmt::skip]
pub(crate) const SETTINGS: &[Setting] = &[
    Setting::of_run("physics", "solver", Kind::Word(&["exact", "fast"]))
        .flag("solver", "SOLVER",
            "The effort of the solver of contacts and joints; `fast` is softer where many bodies \
             touch"),
];
