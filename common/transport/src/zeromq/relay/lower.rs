//! [`Lower`]: the end of a relay that its secondaries connect to, as they would to a primary.
//!
//! It has the sockets of a primary that secondaries use; those of observers and clients are closed,
//! since a relay knows nothing to tell them. Three are served by the relay's own inbox.

use std::sync::Arc;

use crate::endpoint::Endpoints;
use crate::refusals::Tally;

use super::super::beats::Beats;
use super::super::directory::RunDirectory;
use super::super::entrance::Entrance;
use super::super::inbox::Frames;
use super::super::peer::PeerLink;
use super::super::primary::{BindError, bind};
use super::RelaySettings;

/// Sockets of a relay for its secondaries.
pub(super) struct Lower {
    /// The source of the first of its sockets in the relay's inbox.
    first: usize,
    beats: Beats,
    endpoints: Endpoints,
    /// Declared after the sockets that it decides for.
    pub(super) entrance: Entrance,
    /// Declared last: the directory is given free, or removed, when the socket files are gone.
    _directory: Option<Arc<RunDirectory>>,
}

impl Lower {
    /// Binds the sockets, and has them served in turn with those of the upper end.
    pub(super) fn open(settings: &RelaySettings, upper: &mut PeerLink) -> Result<Self, BindError> {
        let tally = Tally::default();
        let bound = bind(&settings.bind, &settings.lower, &tally)?;
        if let Some(directory) = bound.directory.as_ref().filter(|_| settings.removes_folder) {
            directory.remove_at_end();
        }
        let admitted_keys = bound
            .authenticator
            .as_ref()
            .map(|authenticator| authenticator.admitted_keys().clone());
        let first = upper.serve(vec![bound.control, bound.step, bound.data]);
        let first = first.map_err(|source| BindError::Other {
            endpoint: bound.endpoints.to_string(),
            source,
        })?;
        Ok(Self {
            first,
            beats: Beats::new(
                bound.beats,
                bound.authenticator.clone(),
                bound.directory.clone(),
            ),
            endpoints: bound.endpoints,
            entrance: Entrance::new(
                tally,
                admitted_keys.unwrap_or_default(),
                bound.authenticator,
            ),
            _directory: bound.directory,
        })
    }

    /// Closes the sockets; their last words still go out.
    pub(super) fn close(self, upper: &mut PeerLink) {
        upper.close(self.first);
    }

    /// Returns the address with the port that was found.
    pub(super) fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }

    /// Returns the source that is `control`.
    pub(super) fn control(&self) -> usize {
        self.first
    }

    /// Returns the source that is `step`.
    pub(super) fn step(&self) -> usize {
        self.first + 1
    }

    /// Returns the source that is `data`.
    pub(super) fn data(&self) -> usize {
        self.first + 2
    }

    /// Publishes a beat of the primary.
    pub(super) fn beat(&self, frames: Frames) {
        if frames.exactly::<2>().is_some() {
            // Who reads too slowly loses beats, as it would at the primary.
            let _ = self.beats.pass_on(frames);
        }
    }
}
