//! `simulation_interfaces` 2.1: control of simulators, the same for all of them.
//!
//! A service is two types, of its request and its response; an action has those of its two
//! services, and the message of its feedback. Goal, result and feedback of an action are parts of
//! these here, which changes no byte.

use super::builtin_interfaces::Time;
use super::geometry_msgs::{Accel, Pose, PoseStamped, Twist, Vector3};
use super::std_msgs::Header;
use super::unique_identifier_msgs::UUID;

super::ros_types! {
    /// Result of a service; services have codes of their own above 100.
    CallResult("simulation_interfaces/msg/Result") [
        RESULT_FEATURE_UNSUPPORTED: u8 = 0;
        RESULT_OK: u8 = 1;
        RESULT_NOT_FOUND: u8 = 2;
        RESULT_INCORRECT_STATE: u8 = 3;
        RESULT_OPERATION_FAILED: u8 = 4;
    ] {
        /// One of the constants.
        result: u8,
        /// Reason of a failure, for people.
        error_message: String,
    }
    /// An area or an extent.
    Bounds("simulation_interfaces/msg/Bounds") [
        TYPE_EMPTY: u8 = 0;
        TYPE_BOX: u8 = 1;
        TYPE_CONVEX_HULL: u8 = 2;
        TYPE_SPHERE: u8 = 3;
    ] {
        /// One of the constants.
        r#type: u8,
        /// Corners of a box, upper right and lower left; centre of a sphere and its radius as x;
        /// or corners of a hull \[m\].
        points: Vec<Vector3>,
    }
    /// Major category of an entity.
    EntityCategory("simulation_interfaces/msg/EntityCategory") [
        CATEGORY_OBJECT: u8 = 0;
        CATEGORY_ROBOT: u8 = 1;
        CATEGORY_HUMAN: u8 = 2;
        CATEGORY_DYNAMIC_OBJECT: u8 = 4;
        CATEGORY_STATIC_OBJECT: u8 = 5;
    ] {
        /// One of the constants.
        category: u8,
    }
    /// Tags of which any or all are asked for.
    TagsFilter("simulation_interfaces/msg/TagsFilter") [
        FILTER_MODE_ANY: u8 = 0;
        FILTER_MODE_ALL: u8 = 1;
    ] {
        /// The tags; none leaves nothing out.
        tags: Vec<String>,
        /// One of the constants.
        filter_mode: u8,
    }
    /// Conditions that entities fulfil together.
    EntityFilters("simulation_interfaces/msg/EntityFilters") {
        /// POSIX extended regular expression that names match; empty leaves nothing out.
        filter: String,
        /// Categories of which any is asked for; none leaves nothing out.
        categories: Vec<EntityCategory>,
        /// Tags that are asked for.
        tags: TagsFilter,
        /// Area that entities overlap, world frame.
        bounds: Bounds,
    }
    /// Description of an entity.
    EntityInfo("simulation_interfaces/msg/EntityInfo") {
        /// Its category.
        category: EntityCategory,
        /// Text for people.
        description: String,
        /// Its tags.
        tags: Vec<String>,
    }
    /// Pose and motion of an entity.
    EntityState("simulation_interfaces/msg/EntityState") {
        /// Time and frame; an empty frame is the world.
        header: Header,
        /// Pose in that frame.
        pose: Pose,
        /// Velocities in that frame.
        twist: Twist,
        /// Accelerations in that frame.
        acceleration: Accel,
    }
    /// A pose with a name.
    NamedPose("simulation_interfaces/msg/NamedPose") {
        /// Its name.
        name: String,
        /// Text for people.
        description: String,
        /// Its purposes.
        tags: Vec<String>,
        /// World frame.
        pose: Pose,
    }
    /// A file by its address, or its text.
    Resource("simulation_interfaces/msg/Resource") {
        /// The address.
        uri: String,
        /// The text, if there is no address.
        resource_string: String,
    }
    /// State of the simulation.
    SimulationState("simulation_interfaces/msg/SimulationState") [
        STATE_STOPPED: u8 = 0;
        STATE_PLAYING: u8 = 1;
        STATE_PAUSED: u8 = 2;
        STATE_QUITTING: u8 = 3;
        STATE_NO_WORLD: u8 = 4;
        STATE_LOADING_WORLD: u8 = 5;
    ] {
        /// One of the constants.
        state: u8,
    }
    /// Features of a simulator.
    SimulatorFeatures("simulation_interfaces/msg/SimulatorFeatures") [
        SPAWNING: u8 = 0;
        DELETING: u8 = 1;
        NAMED_POSES: u8 = 2;
        POSE_BOUNDS: u8 = 3;
        ENTITY_TAGS: u8 = 4;
        ENTITY_BOUNDS: u8 = 5;
        ENTITY_BOUNDS_BOX: u8 = 6;
        ENTITY_BOUNDS_CONVEX: u8 = 7;
        ENTITY_CATEGORIES: u8 = 8;
        SPAWNING_RESOURCE_STRING: u8 = 9;
        ENTITY_STATE_GETTING: u8 = 10;
        ENTITY_STATE_SETTING: u8 = 11;
        ENTITY_INFO_GETTING: u8 = 12;
        ENTITY_INFO_SETTING: u8 = 13;
        SPAWNABLES: u8 = 14;
        SIMULATION_RESET: u8 = 20;
        SIMULATION_RESET_TIME: u8 = 21;
        SIMULATION_RESET_STATE: u8 = 22;
        SIMULATION_RESET_SPAWNED: u8 = 23;
        SIMULATION_STATE_GETTING: u8 = 24;
        SIMULATION_STATE_SETTING: u8 = 25;
        SIMULATION_STATE_PAUSE: u8 = 26;
        STEP_SIMULATION_SINGLE: u8 = 31;
        STEP_SIMULATION_MULTIPLE: u8 = 32;
        STEP_SIMULATION_ACTION: u8 = 33;
        WORLD_LOADING: u8 = 40;
        WORLD_RESOURCE_STRING: u8 = 41;
        WORLD_TAGS: u8 = 42;
        WORLD_UNLOADING: u8 = 43;
        WORLD_INFO_GETTING: u8 = 44;
        AVAILABLE_WORLDS: u8 = 45;
        SPAWNING_ENTITIES: u8 = 50;
    ] {
        /// Those of the constants that there are.
        features: Vec<u16>,
        /// Formats of models that can be spawned.
        spawn_formats: Vec<String>,
        /// Text for people.
        custom_info: String,
    }
    /// An entity that is to come into the world.
    SpawnEntity("simulation_interfaces/msg/SpawnEntity") {
        /// Its name; empty is that of the resource.
        name: String,
        /// True if it gets another name when its own is taken.
        allow_renaming: bool,
        /// Its model.
        entity_resource: Resource,
        /// Namespace of its topics.
        entity_namespace: String,
        /// Its pose, and the frame of that: the world, or an entity.
        initial_pose: PoseStamped,
    }
    /// Result of spawning.
    SpawnResult("simulation_interfaces/msg/SpawnResult") [
        NAME_NOT_UNIQUE: u8 = 101;
        NAME_INVALID: u8 = 102;
        UNSUPPORTED_FORMAT: u8 = 103;
        NO_RESOURCE: u8 = 104;
        NAMESPACE_INVALID: u8 = 105;
        RESOURCE_PARSE_ERROR: u8 = 106;
        MISSING_ASSETS: u8 = 107;
        UNSUPPORTED_ASSETS: u8 = 108;
        INVALID_POSE: u8 = 109;
    ] {
        /// The result.
        result: CallResult,
        /// Name that the entity got.
        entity_name: String,
    }
    /// A model that can be spawned.
    Spawnable("simulation_interfaces/msg/Spawnable") {
        /// The model.
        entity_resource: Resource,
        /// Text for people.
        description: String,
        /// Its extent.
        spawn_bounds: Bounds,
    }
    /// A world that can be loaded.
    WorldResource("simulation_interfaces/msg/WorldResource") {
        /// Its name.
        name: String,
        /// Its file.
        world_resource: Resource,
        /// Text for people.
        description: String,
        /// Its tags.
        tags: Vec<String>,
    }
    /// Asks for an entity to be removed.
    DeleteEntityRequest("simulation_interfaces/srv/DeleteEntity_Request") {
        /// Its name.
        entity: String,
    }
    /// Answer to it.
    DeleteEntityResponse("simulation_interfaces/srv/DeleteEntity_Response") {
        /// The result.
        result: CallResult,
    }
    /// Asks which worlds can be loaded.
    GetAvailableWorldsRequest("simulation_interfaces/srv/GetAvailableWorlds_Request") {
        /// Places to look at besides the usual ones.
        additional_sources: Vec<String>,
        /// Tags of the worlds.
        filter: TagsFilter,
        /// True if only this machine is looked at.
        offline_only: bool,
        /// True if places that fail are passed over.
        continue_on_error: bool,
    }
    /// Answer to it.
    GetAvailableWorldsResponse("simulation_interfaces/srv/GetAvailableWorlds_Response") [
        DEFAULT_SOURCES_FAILED: u8 = 101;
    ] {
        /// The result.
        result: CallResult,
        /// The worlds.
        worlds: Vec<WorldResource>,
    }
    /// Asks which world is loaded.
    GetCurrentWorldRequest("simulation_interfaces/srv/GetCurrentWorld_Request") {
    }
    /// Answer to it.
    GetCurrentWorldResponse("simulation_interfaces/srv/GetCurrentWorld_Response") [
        NO_WORLD_LOADED: u8 = 101;
    ] {
        /// The result.
        result: CallResult,
        /// The world.
        world: WorldResource,
    }
    /// Asks for the names of entities.
    GetEntitiesRequest("simulation_interfaces/srv/GetEntities_Request") {
        /// Conditions that they fulfil.
        filters: EntityFilters,
    }
    /// Answer to it.
    GetEntitiesResponse("simulation_interfaces/srv/GetEntities_Response") {
        /// The result.
        result: CallResult,
        /// The names.
        entities: Vec<String>,
    }
    /// Asks for the states of entities.
    GetEntitiesStatesRequest("simulation_interfaces/srv/GetEntitiesStates_Request") {
        /// Conditions that they fulfil.
        filters: EntityFilters,
    }
    /// Answer to it.
    GetEntitiesStatesResponse("simulation_interfaces/srv/GetEntitiesStates_Response") {
        /// The result.
        result: CallResult,
        /// The names.
        entities: Vec<String>,
        /// The states, in the same order.
        states: Vec<EntityState>,
    }
    /// Asks for the extent of an entity.
    GetEntityBoundsRequest("simulation_interfaces/srv/GetEntityBounds_Request") {
        /// Its name.
        entity: String,
    }
    /// Answer to it.
    GetEntityBoundsResponse("simulation_interfaces/srv/GetEntityBounds_Response") {
        /// The result.
        result: CallResult,
        /// The extent, in the frame of the entity.
        bounds: Bounds,
    }
    /// Asks for the description of an entity.
    GetEntityInfoRequest("simulation_interfaces/srv/GetEntityInfo_Request") {
        /// Its name.
        entity: String,
    }
    /// Answer to it.
    GetEntityInfoResponse("simulation_interfaces/srv/GetEntityInfo_Response") {
        /// The result.
        result: CallResult,
        /// The description.
        info: EntityInfo,
    }
    /// Asks for the state of an entity.
    GetEntityStateRequest("simulation_interfaces/srv/GetEntityState_Request") {
        /// Its name.
        entity: String,
    }
    /// Answer to it.
    GetEntityStateResponse("simulation_interfaces/srv/GetEntityState_Response") {
        /// The result.
        result: CallResult,
        /// The state.
        state: EntityState,
    }
    /// Asks for the area of a named pose.
    GetNamedPoseBoundsRequest("simulation_interfaces/srv/GetNamedPoseBounds_Request") {
        /// Its name.
        name: String,
    }
    /// Answer to it.
    GetNamedPoseBoundsResponse("simulation_interfaces/srv/GetNamedPoseBounds_Response") {
        /// The result.
        result: CallResult,
        /// The area.
        bounds: Bounds,
    }
    /// Asks for named poses.
    GetNamedPosesRequest("simulation_interfaces/srv/GetNamedPoses_Request") {
        /// Tags of the poses.
        tags: TagsFilter,
    }
    /// Answer to it.
    GetNamedPosesResponse("simulation_interfaces/srv/GetNamedPoses_Response") {
        /// The result.
        result: CallResult,
        /// The poses.
        poses: Vec<NamedPose>,
    }
    /// Asks for the state of the simulation.
    GetSimulationStateRequest("simulation_interfaces/srv/GetSimulationState_Request") {
    }
    /// Answer to it.
    GetSimulationStateResponse("simulation_interfaces/srv/GetSimulationState_Response") {
        /// The state.
        state: SimulationState,
        /// The result.
        result: CallResult,
    }
    /// Asks for the features of the simulator.
    GetSimulatorFeaturesRequest("simulation_interfaces/srv/GetSimulatorFeatures_Request") {
    }
    /// Answer to it.
    GetSimulatorFeaturesResponse("simulation_interfaces/srv/GetSimulatorFeatures_Response") {
        /// The features.
        features: SimulatorFeatures,
    }
    /// Asks which models can be spawned.
    GetSpawnablesRequest("simulation_interfaces/srv/GetSpawnables_Request") {
        /// Places to look at besides the usual ones.
        sources: Vec<String>,
    }
    /// Answer to it.
    GetSpawnablesResponse("simulation_interfaces/srv/GetSpawnables_Response") {
        /// The result.
        result: CallResult,
        /// The models.
        spawnables: Vec<Spawnable>,
    }
    /// Asks for a world to be loaded.
    LoadWorldRequest("simulation_interfaces/srv/LoadWorld_Request") {
        /// The world.
        world_resource: Resource,
        /// True if parts that are not supported are an error.
        fail_on_unsupported_element: bool,
        /// True if files that are missing are none.
        ignore_missing_or_unsupported_assets: bool,
    }
    /// Answer to it.
    LoadWorldResponse("simulation_interfaces/srv/LoadWorld_Response") [
        UNSUPPORTED_FORMAT: u8 = 101;
        NO_RESOURCE: u8 = 102;
        RESOURCE_PARSE_ERROR: u8 = 103;
        MISSING_ASSETS: u8 = 104;
        UNSUPPORTED_ASSETS: u8 = 105;
        UNSUPPORTED_ELEMENTS: u8 = 106;
    ] {
        /// The result.
        result: CallResult,
        /// The world.
        world: WorldResource,
    }
    /// Asks for the simulation to be set back to its start.
    ResetSimulationRequest("simulation_interfaces/srv/ResetSimulation_Request") [
        SCOPE_DEFAULT: u8 = 0;
        SCOPE_TIME: u8 = 1;
        SCOPE_STATE: u8 = 2;
        SCOPE_SPAWNED: u8 = 4;
        SCOPE_ALL: u8 = 255;
    ] {
        /// Bits of the constants.
        scope: u8,
    }
    /// Answer to it.
    ResetSimulationResponse("simulation_interfaces/srv/ResetSimulation_Response") {
        /// The result.
        result: CallResult,
    }
    /// Describes an entity.
    SetEntityInfoRequest("simulation_interfaces/srv/SetEntityInfo_Request") {
        /// Its name.
        entity: String,
        /// The description.
        info: EntityInfo,
    }
    /// Answer to it.
    SetEntityInfoResponse("simulation_interfaces/srv/SetEntityInfo_Response") {
        /// The result.
        result: CallResult,
    }
    /// Asks for an entity to be moved.
    SetEntityStateRequest("simulation_interfaces/srv/SetEntityState_Request") {
        /// Its name.
        entity: String,
        /// Its new state.
        state: EntityState,
        /// True if the pose is set.
        set_pose: bool,
        /// True if the velocities are set.
        set_twist: bool,
        /// True if the accelerations are set.
        set_acceleration: bool,
    }
    /// Answer to it.
    SetEntityStateResponse("simulation_interfaces/srv/SetEntityState_Response") [
        INVALID_POSE: u8 = 101;
    ] {
        /// The result.
        result: CallResult,
    }
    /// Asks for another state of the simulation.
    SetSimulationStateRequest("simulation_interfaces/srv/SetSimulationState_Request") {
        /// The state.
        state: SimulationState,
    }
    /// Answer to it.
    SetSimulationStateResponse("simulation_interfaces/srv/SetSimulationState_Response") [
        ALREADY_IN_TARGET_STATE: u8 = 101;
        STATE_TRANSITION_ERROR: u8 = 102;
        INCORRECT_TRANSITION: u8 = 103;
    ] {
        /// The result.
        result: CallResult,
    }
    /// Asks for entities to come into the world.
    SpawnEntitiesRequest("simulation_interfaces/srv/SpawnEntities_Request") {
        /// The entities.
        spawn_requests: Vec<SpawnEntity>,
    }
    /// Answer to it.
    SpawnEntitiesResponse("simulation_interfaces/srv/SpawnEntities_Response") [
        ENTITIES_SPAWN_FAILED: u8 = 150;
    ] {
        /// The result of all together.
        result: CallResult,
        /// Results of each, in the same order.
        results: Vec<SpawnResult>,
    }
    /// Asks for an entity to come into the world.
    SpawnEntityRequest("simulation_interfaces/srv/SpawnEntity_Request") {
        /// Its name; empty is that of the resource.
        name: String,
        /// True if it gets another name when its own is taken.
        allow_renaming: bool,
        /// Its model.
        entity_resource: Resource,
        /// Namespace of its topics.
        entity_namespace: String,
        /// Its pose, and the frame of that: the world, or an entity.
        initial_pose: PoseStamped,
    }
    /// Answer to it.
    SpawnEntityResponse("simulation_interfaces/srv/SpawnEntity_Response") [
        NAME_NOT_UNIQUE: u8 = 101;
        NAME_INVALID: u8 = 102;
        UNSUPPORTED_FORMAT: u8 = 103;
        NO_RESOURCE: u8 = 104;
        NAMESPACE_INVALID: u8 = 105;
        RESOURCE_PARSE_ERROR: u8 = 106;
        MISSING_ASSETS: u8 = 107;
        UNSUPPORTED_ASSETS: u8 = 108;
        INVALID_POSE: u8 = 109;
    ] {
        /// The result.
        result: CallResult,
        /// Name that the entity got.
        entity_name: String,
    }
    /// Asks for iterations of a paused simulation.
    StepSimulationRequest("simulation_interfaces/srv/StepSimulation_Request") {
        /// Their number.
        steps: u64,
    }
    /// Answer to it.
    StepSimulationResponse("simulation_interfaces/srv/StepSimulation_Response") {
        /// The result.
        result: CallResult,
    }
    /// Asks for the world to be unloaded.
    UnloadWorldRequest("simulation_interfaces/srv/UnloadWorld_Request") {
    }
    /// Answer to it.
    UnloadWorldResponse("simulation_interfaces/srv/UnloadWorld_Response") [
        NO_WORLD_LOADED: u8 = 101;
    ] {
        /// The result.
        result: CallResult,
    }
    /// Sends a goal: iterations of a paused simulation.
    SimulateStepsSendGoalRequest("simulation_interfaces/action/SimulateSteps_SendGoal_Request") {
        /// Identifier of the goal.
        goal_id: UUID,
        /// Number of iterations; the whole of `SimulateSteps_Goal`.
        steps: u64,
    }
    /// Answer to it.
    SimulateStepsSendGoalResponse("simulation_interfaces/action/SimulateSteps_SendGoal_Response") {
        /// True if the goal is accepted.
        accepted: bool,
        /// The time of that.
        stamp: Time,
    }
    /// Asks for the result of a goal, once there is one.
    SimulateStepsGetResultRequest("simulation_interfaces/action/SimulateSteps_GetResult_Request") {
        /// Identifier of the goal.
        goal_id: UUID,
    }
    /// Answer to it.
    SimulateStepsGetResultResponse(
        "simulation_interfaces/action/SimulateSteps_GetResult_Response"
    ) {
        /// One of the constants of `action_msgs/msg/GoalStatus`.
        status: i8,
        /// The result; the whole of `SimulateSteps_Result`.
        result: CallResult,
    }
    /// Progress of a goal.
    SimulateStepsFeedbackMessage("simulation_interfaces/action/SimulateSteps_FeedbackMessage") {
        /// Identifier of the goal.
        goal_id: UUID,
        /// Number of iterations that are done.
        completed_steps: u64,
        /// Number of those that are left.
        remaining_steps: u64,
    }
}
