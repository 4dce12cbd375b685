//! Requests of services, and commands to entities by topic.

use crate::basic::{Header, Time};
use crate::geometry::{Pose, PoseV};
use crate::message::messages;
use crate::motion::Wrench;
use crate::sensor::Entity;

messages! {
    /// Parts of a run that are reset.
    WorldReset("gz.msgs.WorldReset") {
        /// Time when it was made.
        header: Header,
        /// Everything.
        all: bool,
        /// Simulated time alone.
        time_only: bool,
        /// Models alone.
        model_only: bool,
    }
    /// Controls time: the request of `/world/NAME/control`.
    WorldControl("gz.msgs.WorldControl") {
        /// Time when it was made.
        header: Header,
        /// True if time is to stand still afterwards.
        pause: bool,
        /// True if one iteration is to be done.
        step: bool,
        /// Number of iterations that are to be done.
        multi_step: u32,
        /// Parts that are reset first.
        reset: Option<WorldReset>,
        /// The seed of random numbers from now on; 0 keeps it.
        seed: u32,
        /// Simulated time to run to.
        run_to_sim_time: Option<Time>,
    }
    /// The request of `/world/NAME/set_physics`.
    Physics("gz.msgs.Physics") {
        /// Time when it was made.
        header: Header,
        /// Simulated time per iteration \[s\]; 0 keeps it.
        max_step_size: f64,
        /// Simulated over real time; 0 is as fast as possible.
        real_time_factor: f64,
    }
    /// The request of `/world/NAME/create`.
    EntityFactory("gz.msgs.EntityFactory") {
        /// Time when it was made.
        header: Header,
        /// SDF or URDF text.
        sdf: String,
        /// A file with it.
        sdf_filename: String,
        /// Pose of its origin.
        pose: Option<Pose>,
        /// Its name, unless the text's.
        name: String,
        /// True if another name is given to it when its own is taken.
        allow_renaming: bool,
        /// The frame of the pose; the world's without it.
        relative_to: String,
    }
    /// The request of `/world/NAME/create_multiple`.
    EntityFactoryV("gz.msgs.EntityFactory_V") {
        /// Time when it was made.
        header: Header,
        /// Entities to create, in this order.
        data: Vec<EntityFactory>,
    }
    /// Controls the whole run: the request of `/server_control`.
    ServerControl("gz.msgs.ServerControl") {
        /// Time when it was made.
        header: Header,
        /// True if the run is to end.
        stop: bool,
    }
    /// A wrench on an entity: `/world/NAME/wrench`.
    EntityWrench("gz.msgs.EntityWrench") {
        /// Time when it was made.
        header: Header,
        /// A link, or a model, whose canonical link is meant.
        entity: Entity,
        /// World frame.
        wrench: Wrench,
    }
    /// Poses to be set: `/world/NAME/set_pose_vector`.
    PosesToSet {
        /// The poses by name.
        poses: PoseV,
    }
}
