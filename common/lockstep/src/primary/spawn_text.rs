//! [`ReadText`]: the text of a model that was read, by whichever thread.
//!
//! Reading depends on the text and its files alone. Whatever depends on the run, such as which
//! names are free, is looked at when the command is applied.

use std::fmt;
use std::sync::Arc;

use protocol::client_to_primary::{JointPosition, SpawnRequest};
use protocol::plain_text::{escaped_line, is_harmful};
use sdf::{Model, ReadModel};

use crate::library::{Library, VisualUse};
use crate::limits::{SPAWNED_COLLISIONS_MAX, SPAWNED_OVERLAPS_MAX, SPAWNED_PARTS_MAX};

/// The longest name of a model, or of a part of one, that comes into a run \[bytes\].
pub(crate) const NAME_BYTES_MAX: usize = 255;
/// The most characters of a name that is refused that are shown.
const NAME_SHOWN_MAX: usize = 100;

/// A text of a model that was read, or why it is none, and the library that found its files.
#[derive(Clone)]
pub struct ReadText {
    pub(crate) read: Result<ReadModel, Arc<ReadTextError>>,
    pub(crate) library: Arc<dyn Library>,
    /// Size of the model with its meshes, if it was read elsewhere \[bytes\].
    pub(crate) bytes: usize,
}

/// A text that brings no model into a running world.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadTextError {
    #[error(transparent)]
    Read(#[from] sdf::ReadWorldError),
    #[error(transparent)]
    StartJoint(#[from] sdf::StartJointError),
    #[error(
        "the model has {count} {part}, and what comes into a running world has at most {maximum}: \
         split it, or put it into the world's file"
    )]
    TooManyParts {
        part: &'static str,
        count: usize,
        maximum: usize,
    },
    #[error(
        "more than {SPAWNED_OVERLAPS_MAX} pairs of the model's collisions are in one place: \
         simplify it, or put it into the world's file"
    )]
    TooManyOverlaps,
    #[error(
        "{shown} is no name of a part: it holds control characters, or has more than \
         {NAME_BYTES_MAX} bytes"
    )]
    PartName { shown: String },
    #[error("the text cannot be read")]
    Unknown,
}

impl ReadText {
    /// Reads the text of a request, with the joints where it has them start.
    pub(crate) fn of(request: &SpawnRequest, library: Arc<dyn Library>) -> Self {
        Self {
            read: read(request, &*library).map_err(Arc::new),
            library,
            bytes: 0,
        }
    }

    /// Reads the text of a request beside the run, with the size of what came of it.
    pub(crate) fn beside(request: &SpawnRequest, library: Arc<dyn Library>) -> Self {
        let text = Self::of(request, library);
        let bytes = text.read.as_ref().map(|read| read.parcel.encode().len());
        Self {
            bytes: bytes.unwrap_or_default(),
            ..text
        }
    }

    /// Returns a text that cannot be read, for a reason that nobody knows.
    pub(crate) fn unknown(library: Arc<dyn Library>) -> Self {
        Self {
            read: Err(Arc::new(ReadTextError::Unknown)),
            library,
            bytes: 0,
        }
    }
}

impl fmt::Debug for ReadText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let read = self.read.as_ref().map(|read| &read.parcel.model.name);
        write!(formatter, "ReadText({read:?})")
    }
}

fn read(request: &SpawnRequest, library: &dyn Library) -> Result<ReadModel, ReadTextError> {
    let file = request.file.as_deref().unwrap_or("the text to spawn");
    let mut read = sdf::read_model(&request.sdf, file, library)?;
    check_parts(&read.parcel.model)?;
    for JointPosition { joint, position } in &request.joints {
        read.start_joint(joint, *position)?;
    }
    let purpose = library.visual_use();
    if purpose == VisualUse::Sensors || read.parcel.model.draws() {
        read.keep_visual_files(library);
    } else if purpose == VisualUse::Recording {
        read.note_visual_files(library);
    }
    Ok(read)
}

/// Makes sure that a model is no larger than models are, and that its names can be shown.
fn check_parts(model: &Model) -> Result<(), ReadTextError> {
    let collisions = model.links.iter().map(|link| link.collisions.len()).sum();
    let counts = [
        ("links", model.links.len(), SPAWNED_PARTS_MAX),
        ("joints", model.joints.len(), SPAWNED_PARTS_MAX),
        ("collisions", collisions, SPAWNED_COLLISIONS_MAX),
    ];
    let mut counts = counts.into_iter();
    if let Some((part, count, maximum)) = counts.find(|(_, count, maximum)| count > maximum) {
        return Err(ReadTextError::TooManyParts {
            part,
            count,
            maximum,
        });
    }
    if model.overlapping_collisions(SPAWNED_OVERLAPS_MAX + 1) > SPAWNED_OVERLAPS_MAX {
        return Err(ReadTextError::TooManyOverlaps);
    }
    let links = model.links.iter().flat_map(|link| {
        let collisions = link.collisions.iter().map(|collision| &collision.name);
        let sensors = link.sensors.iter().map(|sensor| &sensor.name);
        std::iter::once(&link.name).chain(collisions).chain(sensors)
    });
    let joints = model.joints.iter().map(|joint| &joint.name);
    let frames = model.frames.iter().map(|frame| &frame.name);
    let nested = model.nested.iter().map(|nested| &nested.name);
    let mut names = links.chain(joints).chain(frames).chain(nested);
    match names.find(|name| !is_name_of_part(name)) {
        Some(name) => Err(ReadTextError::PartName {
            shown: shown_name(name),
        }),
        None => Ok(()),
    }
}

/// Tells whether a name can be told wherever names are: in events, logs and figures.
pub(crate) fn is_name_of_part(name: &str) -> bool {
    name.len() <= NAME_BYTES_MAX && !name.chars().any(is_harmful)
}

/// Returns a name in quotes with its control characters escaped, shortened.
pub(crate) fn shown_name(name: &str) -> String {
    let start: String = name.chars().take(NAME_SHOWN_MAX).collect();
    format!("\"{}\"", escaped_line(&start))
}
