//! [`LinkTable`]: where links are as seen from their models, at a place in a recording.

use std::collections::BTreeMap;

use protocol::{LinkPose, SimTime};
use recording::{Channel, LinkTransforms, ReadError};

use super::loaded::{Loaded, parse};

/// Poses of links by their frames, `PERFORMER::LINK`, as seen from their models. One that is not
/// there is where it was at the start.
#[derive(Debug, Default)]
pub(super) struct LinkTable {
    poses: BTreeMap<String, LinkPose>,
    /// The chunk that they are of, and the first of its messages that was not looked at.
    read: Option<(usize, usize)>,
    has_changed: bool,
}

impl LinkTable {
    /// Brings the table to a frame of a chunk, whose links have this channel. Every chunk begins
    /// with all links.
    ///
    /// # Errors
    /// Fails if a message makes no sense.
    pub(super) fn go_to(
        &mut self,
        loaded: &Loaded,
        frame: usize,
        channels: LinkChannels,
    ) -> Result<(), ReadError> {
        let end = end_of(loaded, frame, channels.poses);
        let from = match self.read {
            Some((chunk, read)) if chunk == loaded.chunk && read <= end => read,
            _ => {
                self.poses.clear();
                self.has_changed = true;
                0
            }
        };
        for message in &loaded.messages[from..end] {
            if Some(message.channel) != channels.links {
                continue;
            }
            let links: LinkTransforms = parse(Channel::Links, message)?;
            for link in links.transforms {
                let pose = link.pose();
                self.poses.insert(link.child_frame_id, pose);
            }
            self.has_changed = true;
        }
        self.read = Some((loaded.chunk, end));
        Ok(())
    }

    /// Returns all poses.
    pub(super) fn poses(&self) -> &BTreeMap<String, LinkPose> {
        &self.poses
    }

    /// Tells whether they are others than when this was asked last.
    pub(super) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }
}

/// Numbers of the channels that say where models and links are.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkChannels {
    pub(super) links: Option<u16>,
    pub(super) poses: Option<u16>,
}

/// Returns the end of what was said up to a frame: links of its iteration stand behind it.
/// A frame of an earlier time is of a run that was set back.
fn end_of(loaded: &Loaded, frame: usize, poses: Option<u16>) -> usize {
    let begin = loaded.frames[frame].index + 1;
    let shown: SimTime = loaded.frames[frame].time;
    let behind = loaded.messages[begin..].iter().position(|message| {
        message.sim_time > shown || Some(message.channel) == poses && message.sim_time < shown
    });
    behind.map_or(loaded.messages.len(), |count| begin + count)
}
