//! The messages of the run's own channels.

use protocol::primary_to_observers::{Event, Severity};
use protocol::report::{
    EventCounts, Layout, LevelOutline, LevelReport, ModelOutline, PeerReport, PerformerReport,
    Stats, TopicReport,
};
use protocol::{Digest, Iteration, LinkPose, ModelId, PeerName, SimTime};
use serde::{Deserialize, Serialize};

/// The frame of reference that everything is in.
pub const WORLD_FRAME: &str = "world";

/// Seconds and nanoseconds, as Foxglove has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// \[s\]
    pub sec: u64,
    /// \[ns\]
    pub nsec: u32,
}

impl From<SimTime> for Stamp {
    fn from(time: SimTime) -> Self {
        Self {
            sec: time.0 / 1_000_000_000,
            nsec: (time.0 % 1_000_000_000) as u32,
        }
    }
}

/// Three coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Vector {
    /// Along x.
    pub x: f64,
    /// Along y.
    pub y: f64,
    /// Along z.
    pub z: f64,
}

impl From<[f64; 3]> for Vector {
    fn from([x, y, z]: [f64; 3]) -> Self {
        Self { x, y, z }
    }
}

impl From<Vector> for [f64; 3] {
    fn from(vector: Vector) -> Self {
        [vector.x, vector.y, vector.z]
    }
}

/// A unit quaternion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the components of a quaternion")]
pub struct Rotation {
    pub x: f64,
    pub y: f64,
    pub z: f64,
    pub w: f64,
}

/// Pose and velocity of a performer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placed {
    /// Simulated time.
    pub timestamp: Stamp,
    /// [`WORLD_FRAME`].
    pub parent_frame_id: String,
    /// The performer's name.
    pub child_frame_id: String,
    /// Position of its origin, world frame \[m\].
    pub translation: Vector,
    /// Orientation, world frame.
    pub rotation: Rotation,
    /// Linear velocity, world frame \[m/s\].
    #[serde(default)]
    pub linear_velocity: Vector,
}

/// Poses and velocities of all performers after an iteration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// The performers, by name.
    pub transforms: Vec<Placed>,
    /// The iteration.
    #[serde(default)]
    pub iteration: Iteration,
}

impl Frame {
    /// Makes the frame of an iteration from reports of all performers.
    pub fn new(iteration: Iteration, time: SimTime, performers: &[PerformerReport]) -> Self {
        let placed = |one: &PerformerReport| {
            let [x, y, z, w] = one.orientation_xyzw;
            Placed {
                timestamp: time.into(),
                parent_frame_id: WORLD_FRAME.to_owned(),
                child_frame_id: one.name.clone(),
                translation: one.position.into(),
                rotation: Rotation { x, y, z, w },
                linear_velocity: one.linear_velocity.into(),
            }
        };
        Self {
            transforms: performers.iter().map(placed).collect(),
            iteration,
        }
    }
}

/// Poses of links as seen from their models.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkTransforms {
    /// The links.
    pub transforms: Vec<LinkPlaced>,
}

/// Pose of a link as seen from its model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkPlaced {
    /// Simulated time from which it is there.
    pub timestamp: Stamp,
    /// The performer's name.
    pub parent_frame_id: String,
    /// `PERFORMER::LINK`.
    pub child_frame_id: String,
    /// Position of its origin, model frame \[m\].
    pub translation: Vector,
    /// Orientation, model frame.
    pub rotation: Rotation,
}

impl LinkPlaced {
    /// Returns the pose.
    pub fn pose(&self) -> LinkPose {
        let (Vector { x, y, z }, turn) = (self.translation, self.rotation);
        [x, y, z, turn.x, turn.y, turn.z, turn.w]
    }
}

/// Models that came and left in a step, or some of those, in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelChanges {
    /// True if all was set back to the start before.
    pub anew: bool,
    /// The changes.
    pub changes: Vec<ModelChange>,
}

/// A change to which models there are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelChange {
    /// A model comes.
    Comes {
        /// Its number.
        model: ModelId,
        /// The model with its data, in the encoding of [`sdf::ModelParcel`].
        #[serde(with = "base64_text")]
        parcel: Vec<u8>,
    },
    /// A model leaves.
    Leaves {
        /// Its number.
        model: ModelId,
    },
}

impl ModelChanges {
    /// Tells whether nothing changes.
    pub fn is_empty(&self) -> bool {
        !self.anew && self.changes.is_empty()
    }

    /// Returns the same in messages that each have little: first that all is set back, if so, and
    /// then one for each change. Thus one that is too large to be written takes no other with it.
    pub fn apart(self) -> impl Iterator<Item = Self> {
        let anew = self.anew.then(|| Self {
            anew: true,
            changes: Vec::new(),
        });
        let each = self.changes.into_iter().map(|change| Self {
            anew: false,
            changes: vec![change],
        });
        anew.into_iter().chain(each)
    }

    /// Returns its size in memory, about \[bytes\].
    pub fn size(&self) -> usize {
        let sizes = self.changes.iter().map(|change| match change {
            ModelChange::Comes { parcel, .. } => parcel.len(),
            ModelChange::Leaves { .. } => 0,
        });
        sizes.sum()
    }
}

/// Bytes as text.
mod base64_text {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(from)?;
        STANDARD.decode(text).map_err(D::Error::custom)
    }
}

/// Simulated time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// The last completed iteration.
    pub iteration: Iteration,
    /// Simulated time after it \[ns\].
    pub sim_time_ns: SimTime,
    /// True if time stood still then.
    pub paused: bool,
    /// Events so far.
    pub events: EventCounts,
}

/// The digest of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IterationDigest {
    /// The iteration.
    pub iteration: Iteration,
    /// Of all performers after it.
    pub digest: Digest,
}

/// Hosts of levels and performers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Affinity {
    /// The levels, in world order.
    pub levels: Vec<LevelReport>,
    /// The performers, by name.
    pub performers: Vec<Membership>,
}

/// Cell and owner of a performer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Membership {
    /// Its name.
    pub name: String,
    /// The secondary that runs its physics.
    pub owner: Option<PeerName>,
    /// The level whose cell owns it.
    pub level: String,
    /// Levels that it keeps active.
    pub levels: Vec<String>,
    /// Number of times that it has changed cell.
    pub hand_offs: u64,
}

impl From<&PerformerReport> for Membership {
    fn from(report: &PerformerReport) -> Self {
        Self {
            name: report.name.clone(),
            owner: report.owner.clone(),
            level: report.level.clone(),
            levels: report.levels.clone(),
            hand_offs: report.hand_offs,
        }
    }
}

impl Membership {
    /// Tells whether this is what a report says, too.
    pub fn is_of(&self, report: &PerformerReport) -> bool {
        self.name == report.name
            && self.owner == report.owner
            && self.level == report.level
            && self.levels == report.levels
            && self.hand_offs == report.hand_offs
    }
}

/// Something that happened, as Foxglove's log has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogMessage {
    timestamp: Stamp,
    level: u8,
    message: String,
    name: String,
    file: String,
    line: u32,
    iteration: Iteration,
    severity: Severity,
    kind: String,
}

impl LogMessage {
    /// Takes down an event of a simulated time.
    pub fn new(event: &Event, time: SimTime) -> Self {
        Self {
            timestamp: time.into(),
            level: match event.severity {
                Severity::Info => 2,
                Severity::Warning => 3,
                Severity::Error => 4,
            },
            message: event.text.clone(),
            name: event.kind.clone(),
            file: String::new(),
            line: 0,
            iteration: event.iteration,
            severity: event.severity,
            kind: event.kind.clone(),
        }
    }

    /// Returns the event.
    pub fn event(self) -> Event {
        Event {
            iteration: self.iteration,
            severity: self.severity,
            kind: self.kind,
            text: self.message,
        }
    }
}

/// Figures of the run and of its processes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// The run.
    pub stats: Stats,
    /// Its processes, the primary first.
    pub peers: Vec<PeerReport>,
}

/// Levels and models at the start, and the topics that there are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "StoredWorld")]
pub struct WorldContent {
    /// Levels, static models, and the performers at the start.
    #[serde(flatten)]
    pub layout: Layout,
    /// Topics of systems and sensors.
    pub topics: Vec<TopicReport>,
}

/// The same as it stands in the file: what has no bound has `null` there.
#[derive(Deserialize)]
struct StoredWorld {
    levels: Vec<LevelOutline>,
    statics: Vec<StoredOutline>,
    performers: Vec<StoredOutline>,
    topics: Vec<TopicReport>,
}

#[derive(Deserialize)]
struct StoredOutline {
    name: String,
    min: [Option<f64>; 3],
    max: [Option<f64>; 3],
}

impl From<StoredOutline> for ModelOutline {
    fn from(stored: StoredOutline) -> Self {
        Self {
            name: stored.name,
            min: stored.min.map(|bound| bound.unwrap_or(f64::NEG_INFINITY)),
            max: stored.max.map(|bound| bound.unwrap_or(f64::INFINITY)),
        }
    }
}

impl From<StoredWorld> for WorldContent {
    fn from(stored: StoredWorld) -> Self {
        let outlines = |list: Vec<StoredOutline>| list.into_iter().map(Into::into).collect();
        Self {
            layout: Layout {
                levels: stored.levels,
                statics: outlines(stored.statics),
                performers: outlines(stored.performers),
            },
            topics: stored.topics,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinite_bounds_are_read_back_as_infinite() {
        let plane = ModelOutline {
            name: "ground".to_owned(),
            min: [f64::NEG_INFINITY, f64::NEG_INFINITY, 0.0],
            max: [f64::INFINITY, f64::INFINITY, 0.0],
        };
        let world = WorldContent {
            layout: Layout {
                statics: vec![plane],
                ..Layout::default()
            },
            topics: Vec::new(),
        };
        let text = serde_json::to_string(&world).unwrap();
        assert!(text.contains("[null,null,0.0]"), "{text}");
        assert_eq!(serde_json::from_str::<WorldContent>(&text).unwrap(), world);
    }

    #[test]
    fn changes_are_told_apart_in_their_order() {
        let leaves = |model| ModelChange::Leaves {
            model: ModelId { world: 0, model },
        };
        let told = |anew, changes| ModelChanges { anew, changes };
        let all = told(true, vec![leaves(1), leaves(2)]);
        let expected = [
            told(true, Vec::new()),
            told(false, vec![leaves(1)]),
            told(false, vec![leaves(2)]),
        ];
        assert_eq!(all.apart().collect::<Vec<_>>(), expected);
        assert_eq!(ModelChanges::default().apart().count(), 0);
    }

    #[test]
    fn an_event_comes_back_from_a_log() {
        let event = Event {
            iteration: Iteration(7),
            severity: Severity::Warning,
            kind: "peer".to_owned(),
            text: "s1 is slow".to_owned(),
        };
        let log = LogMessage::new(&event, SimTime(1_500_000_000));
        let text = serde_json::to_string(&log).unwrap();
        assert!(text.contains("\"timestamp\":{\"sec\":1,\"nsec\":500000000},\"level\":3"));
        let back: LogMessage = serde_json::from_str(&text).unwrap();
        assert_eq!(back.event(), event);
    }
}
