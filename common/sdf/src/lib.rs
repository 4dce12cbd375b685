//! SDFormat text to [`World`]s: frames resolved, defaults filled in, every error with its place.
//!
//! The way of a file: [`tree`] keeps the XML as it is, `convert` upgrades older versions, `include`
//! brings in other files through a [`Resolver`], `frames` solves poses, and typed readers build the
//! immutable description in [`world`]. Only `search_paths` touches files; nothing knows physics.

mod bounds;
mod convert;
mod encoding;
mod frames;
mod fuel_address;
mod generate;
mod include;
mod merge;
mod params;
pub mod parcel;
mod pose;
pub mod problem;
mod read;
mod read_model;
mod report;
mod resolve;
mod runnable;
mod schema;
mod search_paths;
mod topic_namespace;
pub mod tree;
mod urdf;
mod value;
mod visual_files;
mod vocabulary;
pub mod world;

pub use bounds::{Reach, Sight};
pub use encoding::{DecodeTextError, decode_text};
pub use fuel_address::{FUEL_SERVER, FuelAddress, FuelKind, FuelResource};
pub use generate::{generate_fleet, generate_piles};
pub use parcel::{ModelParcel, StartJointError};
pub use pose::Pose;
pub use problem::{Problem, ReadWorldError, SourceSpan, WrittenAt};
pub use read::{ReadWorlds, read_worlds};
pub use read_model::{ReadModel, read_model};
pub use resolve::{NoFiles, ResolveError, ResolvedData, ResolvedFile, Resolver, UsedFile};
pub use runnable::{
    NotRunnableError, STEP_SIZE_MAX_S, STEP_SIZE_MIN_S, check_for_run, check_names,
};
pub use search_paths::{
    CachedFuel, ConfinedPaths, FoundModel, FuelCaches, SearchPaths, models_in, read_bounded,
    world_file_in,
};
pub use topic_namespace::{TopicNamespace, TopicNamespaceError, valid_topic};
pub use urdf::{DescriptionError, with_prefix as urdf_with_prefix};
pub use visual_files::{
    KeptFiles, UsedFiles, VISUAL_FILES_BYTES_MAX, VisualFile, VisualFileError, VisualFiles,
    mesh_name, read_skin,
};
pub use vocabulary::{SENSORS, SYSTEMS, SensorKind, find_sensor};
pub use world::{
    Actor, Animation, Atmosphere, Axis, Collision, Color, Content, ContentNode,
    ConvexDecomposition, Fog, Geometry, GroundBlend, GroundTexture, HeightmapShape, Inertial,
    Joint, JointEnd, JointKind, JointParent, Level, Light, Link, LinkReference, Material,
    MeshApproximation, MeshShape, Mimic, Model, NamedFrame, NestedModel, Pbr, Performer, Physics,
    Plugin, Progress, Script, Sensor, Skin, Sky, Solver, SphericalCoordinates, Surface,
    Surroundings, Trajectory, Visual, Waypoint, World, WorldJoint, decode_worlds, encode_worlds,
};
