//! [`PoseTable`]: where the links of all performers are, and the messages on `/phalanx/poses`.
//!
//! A message is, little-endian: `u64` simulated time \[ns\], `u64` iteration, `u32` count, then as
//! many entries of [`ENTRY_BYTES`] bytes: `u32` link, `u16` index of the owner, `u16` index of the
//! level, `f32` linear velocity of the model xyz \[m/s\], `f64` position xyz \[m\], `f32`
//! orientation xyzw; world frame. 65535 is no owner and no level.

use std::collections::BTreeMap;

use bytes::{BufMut, Bytes, BytesMut};
use protocol::LinkPose;
use protocol::report::PerformerReport;

use crate::geometry::{compose, pose};
use crate::shown_scene::MovingModel;

/// Size of an entry \[bytes\].
pub const ENTRY_BYTES: usize = 4 + 2 + 2 + 12 + 24 + 16;
/// Size of what is before the entries \[bytes\].
pub const HEADER_BYTES: usize = 8 + 8 + 4;
/// Index that stands for no owner and for no level.
pub const NOBODY: u16 = u16::MAX;

/// Poses of the links of all performers.
#[derive(Clone, Debug, Default)]
pub(crate) struct PoseTable {
    models: Vec<MovingModel>,
    by_name: BTreeMap<String, usize>,
    /// States of all links, in the order of models and their links.
    links: Vec<LinkState>,
    /// Index of the first link of each model.
    first_links: Vec<usize>,
    /// Poses of links as seen from their models, by their frames, where they are not as at the
    /// start.
    offsets: BTreeMap<String, LinkPose>,
    /// Counts changes, so that each message has what changed since the one before.
    tick: u64,
    /// Simulated time \[ns\] and iteration of the last change.
    pub(crate) time_ns: u64,
    pub(crate) iteration: u64,
}

/// State of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LinkState {
    id: u32,
    owner: u16,
    level: u16,
    velocity: [f32; 3],
    /// Pose as seen from its model, where reports place it.
    offset: LinkPose,
    pose: LinkPose,
    /// The tick in which it changed last.
    changed: u64,
    /// True once it is known.
    is_known: bool,
}

/// Numbers of a report on a performer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Belonging {
    /// Index of its owner.
    pub(crate) owner: u16,
    /// Index of its level.
    pub(crate) level: u16,
}

impl PoseTable {
    /// Takes the models of a scene, and keeps what is known of those that were there.
    pub(crate) fn set_models(&mut self, models: Vec<MovingModel>) {
        let before: BTreeMap<u32, LinkState> =
            self.links.iter().map(|link| (link.id, *link)).collect();
        self.tick += 1;
        self.links.clear();
        self.first_links.clear();
        for model in &models {
            self.first_links.push(self.links.len());
            for link in &model.links {
                let new = LinkState {
                    id: link.id,
                    owner: NOBODY,
                    level: NOBODY,
                    velocity: [0.0; 3],
                    offset: link.offset,
                    pose: link.offset,
                    changed: self.tick,
                    is_known: false,
                };
                self.links
                    .push(before.get(&link.id).copied().unwrap_or(new));
            }
        }
        let names = models.iter().enumerate();
        self.by_name = names
            .map(|(index, model)| (model.name.clone(), index))
            .collect();
        self.models = models;
        self.apply_offsets();
    }

    /// Takes where links are as seen from their models, by their frames; those that are not among
    /// them are where they were at the start. The next report places them.
    pub(crate) fn set_offsets(&mut self, offsets: BTreeMap<String, LinkPose>) {
        self.offsets = offsets;
        self.apply_offsets();
    }

    fn apply_offsets(&mut self) {
        let links = self.models.iter().flat_map(|model| &model.links);
        for (link, state) in links.zip(&mut self.links) {
            state.offset = *self.offsets.get(&link.frame).unwrap_or(&link.offset);
        }
    }

    /// Forgets where everything is, as another run has begun or the recording has jumped.
    pub(crate) fn forget(&mut self) {
        for link in &mut self.links {
            link.is_known = false;
        }
    }

    /// Takes what a report says of a performer: links keep their places in the model unless their
    /// poses come by themselves.
    pub(crate) fn report(
        &mut self,
        report: &PerformerReport,
        belonging: Belonging,
        places_links: bool,
    ) {
        let Some(index) = self.by_name.get(&report.name).copied() else {
            return;
        };
        let origin = pose(report.position, report.orientation_xyzw);
        let first = self.first_links[index];
        let count = self.models[index].links.len();
        for state in &mut self.links[first..first + count] {
            let before = *state;
            (state.owner, state.level) = (belonging.owner, belonging.level);
            state.velocity = report.linear_velocity.map(|speed| speed as f32);
            if places_links || !state.is_known {
                state.pose = compose(&origin, &state.offset);
                state.is_known = true;
            }
            if *state != before {
                state.changed = self.tick;
            }
        }
    }

    /// Takes the poses of all links of a performer, world frame.
    pub(crate) fn place_links(&mut self, name: &str, poses: impl Iterator<Item = LinkPose>) {
        let Some(index) = self.by_name.get(name).copied() else {
            return;
        };
        let first = self.first_links[index];
        let count = self.models[index].links.len();
        for (state, pose) in self.links[first..first + count].iter_mut().zip(poses) {
            if state.pose != pose || !state.is_known {
                state.pose = pose;
                state.is_known = true;
                state.changed = self.tick;
            }
        }
    }

    /// Returns the message with what changed since the last call; `None` when nothing did.
    pub(crate) fn take_changes(&mut self) -> Option<Bytes> {
        let now = self.tick;
        self.tick += 1;
        let changed = |link: &&LinkState| link.changed == now && link.is_known;
        let count = self.links.iter().filter(changed).count();
        (count > 0).then(|| self.message(count, self.links.iter().filter(changed)))
    }

    /// Returns the message with all links.
    pub(crate) fn all(&self) -> Bytes {
        let known = |link: &&LinkState| link.is_known;
        let count = self.links.iter().filter(known).count();
        self.message(count, self.links.iter().filter(known))
    }

    /// Returns frames of links with their poses, world frame.
    pub(crate) fn frames(&self) -> impl Iterator<Item = (&str, &LinkPose)> {
        let links = self.models.iter().flat_map(|model| &model.links);
        let states = links.zip(&self.links).filter(|(_, state)| state.is_known);
        states.map(|(link, state)| (link.frame.as_str(), &state.pose))
    }

    /// Returns frames of links that were in the last message with changes.
    pub(crate) fn changed_frames(&self) -> impl Iterator<Item = (&str, &LinkPose)> {
        let links = self.models.iter().flat_map(|model| &model.links);
        let is_changed = |state: &LinkState| state.is_known && state.changed + 1 == self.tick;
        let states = links
            .zip(&self.links)
            .filter(move |(_, state)| is_changed(state));
        states.map(|(link, state)| (link.frame.as_str(), &state.pose))
    }

    fn message<'a>(&self, count: usize, links: impl Iterator<Item = &'a LinkState>) -> Bytes {
        let mut bytes = BytesMut::with_capacity(HEADER_BYTES + count * ENTRY_BYTES);
        bytes.put_u64_le(self.time_ns);
        bytes.put_u64_le(self.iteration);
        bytes.put_u32_le(count as u32);
        for link in links {
            bytes.put_u32_le(link.id);
            bytes.put_u16_le(link.owner);
            bytes.put_u16_le(link.level);
            link.velocity
                .iter()
                .for_each(|speed| bytes.put_f32_le(*speed));
            link.pose[..3].iter().for_each(|x| bytes.put_f64_le(*x));
            link.pose[3..]
                .iter()
                .for_each(|q| bytes.put_f32_le(*q as f32));
        }
        bytes.freeze()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::IDENTITY;
    use crate::shown_scene::MovingLink;

    fn model(name: &str, ids: &[u32]) -> MovingModel {
        let link = |id: &u32| MovingLink {
            id: *id,
            frame: format!("{name}::{id}"),
            offset: [0.0, 0.0, f64::from(*id), 0.0, 0.0, 0.0, 1.0],
        };
        MovingModel {
            name: name.to_owned(),
            links: ids.iter().map(link).collect(),
        }
    }

    fn report(name: &str, x: f64) -> PerformerReport {
        PerformerReport {
            name: name.to_owned(),
            owner: None,
            level: "default".to_owned(),
            levels: Vec::new(),
            position: [x, 0.0, 0.0],
            orientation_xyzw: [0.0, 0.0, 0.0, 1.0],
            linear_velocity: [1.0, 0.0, 0.0],
            angular_velocity: [0.0; 3],
            hand_offs: 0,
            group: None,
        }
    }

    fn ids(message: &Bytes) -> Vec<u32> {
        let (entries, rest) = message[HEADER_BYTES..].as_chunks::<ENTRY_BYTES>();
        assert!(rest.is_empty());
        let id = |entry: &[u8; ENTRY_BYTES]| u32::from_le_bytes(entry[..4].try_into().unwrap());
        entries.iter().map(id).collect()
    }

    #[test]
    fn a_message_has_what_changed_since_the_one_before() {
        let mut table = PoseTable::default();
        table.set_models(vec![model("a", &[3]), model("b", &[4, 5])]);
        let belonging = Belonging { owner: 0, level: 1 };
        assert_eq!(table.take_changes(), None);
        table.report(&report("a", 1.0), belonging, true);
        table.report(&report("b", 1.0), belonging, true);
        table.report(&report("stranger", 1.0), belonging, true);
        assert_eq!(ids(&table.take_changes().unwrap()), [3, 4, 5]);
        table.report(&report("a", 1.0), belonging, true);
        table.report(&report("b", 2.0), belonging, true);
        let changes = table.take_changes().unwrap();
        assert_eq!(ids(&changes), [4, 5]);
        assert_eq!(changes.len(), HEADER_BYTES + 2 * ENTRY_BYTES);
        assert_eq!(ids(&table.all()), [3, 4, 5]);
        // z of the second link of b: its place in the model.
        let z = &changes[HEADER_BYTES + ENTRY_BYTES + 20 + 16..][..8];
        assert_eq!(f64::from_le_bytes(z.try_into().unwrap()), 5.0);
        let others = Belonging { owner: 1, level: 1 };
        table.report(&report("a", 1.0), others, true);
        assert_eq!(ids(&table.take_changes().unwrap()), [3]);
    }

    #[test]
    fn links_whose_poses_come_by_themselves_are_not_placed_by_reports() {
        let mut table = PoseTable::default();
        table.set_models(vec![model("a", &[0, 1])]);
        let belonging = Belonging { owner: 0, level: 0 };
        table.place_links("a", [IDENTITY, IDENTITY].into_iter());
        table.take_changes();
        table.report(&report("a", 7.0), belonging, false);
        let x = &table.all()[HEADER_BYTES + 20..][..8];
        assert_eq!(f64::from_le_bytes(x.try_into().unwrap()), 0.0);
    }

    #[test]
    fn links_of_a_recording_are_where_they_are_as_seen_from_their_models() {
        let mut table = PoseTable::default();
        table.set_models(vec![model("a", &[1, 2])]);
        let belonging = Belonging { owner: 0, level: 0 };
        let mut z_of = |offsets: BTreeMap<String, LinkPose>| {
            table.set_offsets(offsets);
            table.report(&report("a", 7.0), belonging, true);
            let poses = table.frames().map(|(_, pose)| pose[2]);
            poses.collect::<Vec<f64>>()
        };
        let raised = [0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 1.0];
        let moved = BTreeMap::from([("a::2".to_owned(), raised)]);
        assert_eq!(z_of(moved), [1.0, 5.0]);
        assert_eq!(z_of(BTreeMap::new()), [1.0, 2.0]);
    }

    #[test]
    fn models_that_stay_keep_their_poses_when_others_come() {
        let mut table = PoseTable::default();
        table.set_models(vec![model("a", &[0])]);
        table.report(&report("a", 7.0), Belonging { owner: 0, level: 0 }, true);
        table.set_models(vec![model("new", &[1]), model("a", &[0])]);
        assert_eq!(ids(&table.all()), [0]);
        let frames: Vec<(&str, f64)> = table.frames().map(|(name, pose)| (name, pose[0])).collect();
        assert_eq!(frames, [("a::0", 7.0)]);
    }
}
