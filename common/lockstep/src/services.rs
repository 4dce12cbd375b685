//! Services by their Gazebo names: which there are, and which commands a call of one means.
//!
//! Everything here is a pure function of the worlds' names. Time is common to all worlds, so what
//! the `control` or `set_physics` of one world changes, changes for all of them. A service whose
//! name ends in `/blocking` is the same one: every call here is answered once it has taken effect.

use messages::command::{
    EntityFactory, EntityFactoryV, Physics, ServerControl, WorldControl, WorldReset,
};
use messages::geometry::{Pose, PoseV};
use messages::sensor::Entity;
use messages::{Message, MessageError, StringMsg};
use protocol::Command;
use protocol::client_to_primary::{NamedPose, ResetKind, SpawnRequest};
use protocol::error_chain::chain;

/// The service that ends the run.
const SERVER_CONTROL: &str = "/server_control";

/// The kind of all replies.
pub const REPLY_KIND: &str = "gz.msgs.Boolean";

/// The types of entities in the order of their numbers in `gz.msgs.Entity`.
const ENTITY_TYPES: [&str; 10] = [
    "NONE",
    "LIGHT",
    "MODEL",
    "LINK",
    "VISUAL",
    "COLLISION",
    "SENSOR",
    "JOINT",
    "ACTOR",
    "WORLD",
];

/// The most models that one call may create or move.
const ENTITIES_MAX: usize = 10_000;

/// A service with the kind of its request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Its full name: `/world/shapes/control`.
    pub name: String,
    /// The kind of its request: `gz.msgs.WorldControl`.
    pub kind: &'static str,
}

/// A call that means no command.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// There is no service of this name.
    #[error("there is no service {service}; there are {known}")]
    Unknown {
        /// The name that was called.
        service: String,
        /// Those that there are.
        known: String,
    },
    /// The request is of another kind.
    #[error("{service} takes a {expected}, not a {kind}")]
    Kind {
        /// The service.
        service: String,
        /// The kind that it takes.
        expected: &'static str,
        /// The kind that was given.
        kind: String,
    },
    /// The bytes of the request are not of its kind.
    #[error("the request of {service} cannot be read")]
    Malformed {
        /// The service.
        service: String,
        /// The error in them.
        #[source]
        source: MessageError,
    },
    /// The request asks for what cannot be done.
    #[error("{service}: {reason}")]
    Refused {
        /// The service.
        service: String,
        /// Reason for the refusal, and what to do instead.
        reason: String,
    },
}

impl ServiceError {
    /// Returns the whole story in one line, causes included.
    pub fn reason(&self) -> String {
        chain(self)
    }
}

/// Translation of a request of a world's service into commands.
type Translation = fn(&Call<'_>) -> Result<Vec<Command>, ServiceError>;

/// A service that every world has.
struct WorldService {
    /// Its name after `/world/NAME/`.
    name: &'static str,
    /// The kind of its request.
    kind: &'static str,
    /// Translation of its requests.
    translate: Translation,
}

impl WorldService {
    const fn of<M: Message>(name: &'static str, translate: Translation) -> Self {
        Self {
            name,
            kind: M::KIND,
            translate,
        }
    }
}

/// The services of every world, by name.
const WORLD_SERVICES: &[WorldService] = &[
    WorldService::of::<WorldControl>("control", control),
    WorldService::of::<EntityFactory>("create", create),
    WorldService::of::<EntityFactoryV>("create_multiple", create_multiple),
    WorldService::of::<Entity>("disable_collision", |call| set_collisions(call, false)),
    WorldService::of::<Entity>("enable_collision", |call| set_collisions(call, true)),
    WorldService::of::<StringMsg>("level/set_performer", set_performer),
    WorldService::of::<Entity>("remove", remove),
    WorldService::of::<Physics>("set_physics", set_physics),
    WorldService::of::<Pose>("set_pose", set_pose),
    WorldService::of::<PoseV>("set_pose_vector", set_pose_vector),
];

/// Services that Gazebo has and that mean nothing here, with the reason.
const REFUSED: &[(&str, &str)] = &[
    (
        "control/state",
        "states of entities cannot be given; use control",
    ),
    ("light_config", "lights stay as the world has them"),
    ("playback/control", "nothing is played back"),
    (
        "set_spherical_coordinates",
        "where a world is on earth cannot change while it runs; write <spherical_coordinates> \
         into the world's file",
    ),
    ("visual_config", "visuals stay as the world has them"),
    ("wheel_slip", "slip of wheels cannot be set"),
];

/// A call of a world's service.
struct Call<'a> {
    service: &'a str,
    world: &'a str,
    /// True if names need the world's before them.
    has_siblings: bool,
    body: &'a [u8],
}

/// Returns the services of worlds with these names, by name within each world.
pub fn list<S: AsRef<str>>(worlds: &[S]) -> Vec<Service> {
    let of_world = |world: &S| {
        let world = world.as_ref().to_owned();
        WORLD_SERVICES.iter().map(move |service| Service {
            name: format!("/world/{world}/{}", service.name),
            kind: service.kind,
        })
    };
    let server = Service {
        name: SERVER_CONTROL.to_owned(),
        kind: ServerControl::KIND,
    };
    std::iter::once(server)
        .chain(worlds.iter().flat_map(of_world))
        .collect()
}

/// Returns the kind that a service of this name takes, whatever worlds there are.
pub fn kind_of(service: &str) -> Option<&'static str> {
    let plain = service.strip_suffix("/blocking").unwrap_or(service);
    if plain == SERVER_CONTROL {
        return Some(ServerControl::KIND);
    }
    let rest = plain.strip_prefix("/world/")?;
    let is_it = |entry: &&WorldService| {
        let world = rest.strip_suffix(entry.name);
        world.is_some_and(|world| world.len() > 1 && world.ends_with('/'))
    };
    WORLD_SERVICES.iter().find(is_it).map(|entry| entry.kind)
}

/// Tells whether calls of a service of this name bring models as texts.
pub fn brings_models(service: &str) -> bool {
    let plain = service.strip_suffix("/blocking").unwrap_or(service);
    plain.ends_with("/create") || plain.ends_with("/create_multiple")
}

/// Returns why a service of this name, which Gazebo has, means nothing here.
pub fn refusal_of(service: &str) -> Option<&'static str> {
    let rest = service.strip_prefix("/world/")?;
    let is_it = |(name, _): &&(&str, &str)| {
        let world = rest.strip_suffix(name);
        world.is_some_and(|world| world.len() > 1 && world.ends_with('/'))
    };
    REFUSED.iter().find(is_it).map(|(_, reason)| *reason)
}

/// Returns the commands that a call means, in the order in which they are to be done, each once the
/// one before it has taken effect. `worlds` are the names of all worlds; `kind` may be empty.
///
/// # Errors
/// Fails when there is no such service, or its request is none or asks for what cannot be done.
pub fn translate<S: AsRef<str>>(
    service: &str,
    kind: &str,
    body: &[u8],
    worlds: &[S],
) -> Result<Vec<Command>, ServiceError> {
    let plain = service.strip_suffix("/blocking").unwrap_or(service);
    if plain == SERVER_CONTROL {
        check_kind(service, ServerControl::KIND, kind)?;
        return server_control(service, body);
    }
    let found = worlds.iter().find_map(|world| {
        let world = world.as_ref();
        let rest = plain.strip_prefix("/world/")?.strip_prefix(world)?;
        Some((world, rest.strip_prefix('/')?))
    });
    let Some((world, name)) = found else {
        return Err(unknown(service, worlds));
    };
    if let Some((_, reason)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
        return Err(refused(service, *reason));
    }
    let Some(entry) = WORLD_SERVICES.iter().find(|entry| entry.name == name) else {
        return Err(unknown(service, worlds));
    };
    check_kind(service, entry.kind, kind)?;
    (entry.translate)(&Call {
        service,
        world,
        has_siblings: worlds.len() > 1,
        body,
    })
}

impl Call<'_> {
    fn request<M: Message>(&self) -> Result<M, ServiceError> {
        read(self.service, self.body)
    }

    fn refuse(&self, reason: impl Into<String>) -> ServiceError {
        refused(self.service, reason)
    }

    /// Returns the name of something in the world as reports have it.
    fn reported(&self, name: &str) -> Result<String, ServiceError> {
        match name {
            "" => Err(self.refuse("the request has no name: entities are found by it alone")),
            _ if self.has_siblings => Ok(format!("{}::{name}", self.world)),
            _ => Ok(name.to_owned()),
        }
    }

    fn check_count(&self, count: usize) -> Result<(), ServiceError> {
        match count {
            0 => Err(self.refuse("the request names nothing")),
            1..=ENTITIES_MAX => Ok(()),
            _ => Err(self.refuse(format!("{count} entities are more than {ENTITIES_MAX}"))),
        }
    }

    fn spawn(&self, factory: EntityFactory) -> Result<Command, ServiceError> {
        if !factory.sdf_filename.is_empty() {
            let advice = "send the text of the file as sdf: the server reads no files for others";
            return Err(self.refuse(advice));
        }
        if factory.sdf.is_empty() {
            return Err(self.refuse("the request has no sdf"));
        }
        let relative_to = match factory.relative_to.as_str() {
            "" | "world" => None,
            name => Some(self.reported(name)?),
        };
        Ok(Command::Spawn(Box::new(SpawnRequest {
            sdf: factory.sdf,
            name: Some(factory.name).filter(|name| !name.is_empty()),
            allow_renaming: factory.allow_renaming,
            pose: factory.pose.as_ref().map(numbers),
            relative_to,
            world: self.has_siblings.then(|| self.world.to_owned()),
            joints: Vec::new(),
            file: None,
            namespace: None,
        })))
    }

    fn named_pose(&self, pose: &Pose) -> Result<NamedPose, ServiceError> {
        Ok(NamedPose {
            model: self.reported(&pose.name)?,
            pose: numbers(pose),
        })
    }
}

/// Resets and seeds first, then plays, pauses or goes on by steps. As in Gazebo, steps are done
/// only with `pause`, and a call without it plays.
fn control(call: &Call<'_>) -> Result<Vec<Command>, ServiceError> {
    let request: WorldControl = call.request()?;
    let mut commands = Vec::new();
    if let Some(what) = request.reset.as_ref().and_then(reset_kind) {
        commands.push(Command::Reset { what });
    }
    if request.seed != 0 {
        let seed = u64::from(request.seed);
        commands.push(Command::SetSeed { seed });
    }
    let count = match request.multi_step {
        0 => u64::from(request.step),
        count => u64::from(count),
    };
    if let Some(time) = &request.run_to_sim_time {
        let sim_time_s = time.as_ns() as f64 / 1e9;
        commands.extend([Command::Pause, Command::RunTo { sim_time_s }]);
    } else if !request.pause {
        commands.push(Command::Play);
    } else {
        commands.push(Command::Pause);
        commands.extend((count > 0).then_some(Command::Step { count }));
    }
    Ok(commands)
}

fn reset_kind(reset: &WorldReset) -> Option<ResetKind> {
    match (reset.all, reset.time_only, reset.model_only) {
        (true, _, _) | (_, true, true) => Some(ResetKind::All),
        (_, true, _) => Some(ResetKind::Time),
        (_, _, true) => Some(ResetKind::Models),
        (false, false, false) => None,
    }
}

fn create(call: &Call<'_>) -> Result<Vec<Command>, ServiceError> {
    Ok(vec![call.spawn(call.request()?)?])
}

fn create_multiple(call: &Call<'_>) -> Result<Vec<Command>, ServiceError> {
    let request: EntityFactoryV = call.request()?;
    call.check_count(request.data.len())?;
    let factories = request.data.into_iter();
    factories.map(|factory| call.spawn(factory)).collect()
}

fn remove(call: &Call<'_>) -> Result<Vec<Command>, ServiceError> {
    let entity: Entity = call.request()?;
    match entity_type(&entity) {
        "MODEL" | "NONE" | "" => Ok(vec![Command::Remove {
            model: call.reported(&entity.name)?,
        }]),
        other => Err(call.refuse(format!("only a MODEL can be removed, not a {other}"))),
    }
}

fn set_collisions(call: &Call<'_>, enabled: bool) -> Result<Vec<Command>, ServiceError> {
    let request: Entity = call.request()?;
    match entity_type(&request) {
        "MODEL" | "LINK" | "NONE" | "" => Ok(vec![Command::SetCollisions {
            entity: call.reported(&request.name)?,
            enabled,
        }]),
        other => Err(call.refuse(format!("name a MODEL or a LINK, not a {other}"))),
    }
}

/// Returns the type that an entity is said to have, which may be given by its number.
fn entity_type(entity: &Entity) -> &str {
    let number = entity.r#type.parse::<usize>().ok();
    number
        .and_then(|number| ENTITY_TYPES.get(number).copied())
        .unwrap_or(&entity.r#type)
}

fn set_performer(call: &Call<'_>) -> Result<Vec<Command>, ServiceError> {
    let request: StringMsg = call.request()?;
    Ok(vec![Command::SetPerformer {
        model: call.reported(&request.data)?,
        size: None,
    }])
}

fn set_physics(call: &Call<'_>) -> Result<Vec<Command>, ServiceError> {
    let request: Physics = call.request()?;
    let factor = request.real_time_factor;
    if !(factor.is_finite() && factor >= 0.0) {
        // Before the size of steps has changed.
        return Err(call.refuse(format!("{factor} is no real_time_factor")));
    }
    let mut commands = Vec::new();
    if request.max_step_size != 0.0 {
        commands.push(Command::SetStepSize {
            step_size_s: request.max_step_size,
        });
    }
    commands.push(Command::SetRealTimeFactor { factor });
    Ok(commands)
}

fn set_pose(call: &Call<'_>) -> Result<Vec<Command>, ServiceError> {
    let poses = vec![call.named_pose(&call.request()?)?];
    Ok(vec![Command::SetPoses { poses }])
}

fn set_pose_vector(call: &Call<'_>) -> Result<Vec<Command>, ServiceError> {
    let request: PoseV = call.request()?;
    call.check_count(request.pose.len())?;
    let poses = request.pose.iter().map(|pose| call.named_pose(pose));
    Ok(vec![Command::SetPoses {
        poses: poses.collect::<Result<_, _>>()?,
    }])
}

fn server_control(service: &str, body: &[u8]) -> Result<Vec<Command>, ServiceError> {
    let request: ServerControl = read(service, body)?;
    if request.stop {
        Ok(vec![Command::Stop])
    } else {
        Err(refused(service, "only stop: true can be done"))
    }
}

fn read<M: Message>(service: &str, body: &[u8]) -> Result<M, ServiceError> {
    messages::decode(body).map_err(|source| ServiceError::Malformed {
        service: service.to_owned(),
        source,
    })
}

fn check_kind(service: &str, expected: &'static str, kind: &str) -> Result<(), ServiceError> {
    let is_it = kind.is_empty() || messages::find(kind).is_some_and(|kind| kind.name == expected);
    if is_it {
        return Ok(());
    }
    Err(ServiceError::Kind {
        service: service.to_owned(),
        expected,
        kind: kind.to_owned(),
    })
}

fn unknown<S: AsRef<str>>(service: &str, worlds: &[S]) -> ServiceError {
    let known: Vec<String> = list(worlds).into_iter().map(|one| one.name).collect();
    ServiceError::Unknown {
        service: service.to_owned(),
        known: known.join(", "),
    }
}

fn refused(service: &str, reason: impl Into<String>) -> ServiceError {
    ServiceError::Refused {
        service: service.to_owned(),
        reason: reason.into(),
    }
}

/// Returns position and orientation xyzw.
fn numbers(pose: &Pose) -> [f64; 7] {
    let position: [f64; 3] = (&pose.position).into();
    let orientation = pose.orientation.xyzw();
    std::array::from_fn(|index| match index {
        0..3 => position[index],
        _ => orientation[index - 3],
    })
}

#[cfg(test)]
mod tests;
