//! `ue_msgs`: services by which a distributed simulator on another engine is controlled.

use super::geometry_msgs::{Pose, Twist};

super::ros_types! {
    /// Pose and motion of an entity.
    EntityState("ue_msgs/msg/EntityState") {
        /// Name of the entity.
        name: String,
        /// Pose in the reference frame.
        pose: Pose,
        /// Velocities in the reference frame.
        twist: Twist,
        /// An entity; empty or `world` is the world.
        reference_frame: String,
    }
    /// Asks for an entity to be held by another.
    AttachRequest("ue_msgs/srv/Attach_Request") {
        /// Name of the entity that holds.
        name1: String,
        /// Name of the entity that is held.
        name2: String,
    }
    /// Answer to it.
    AttachResponse("ue_msgs/srv/Attach_Response") {
        /// True if one holds the other.
        success: bool,
    }
    /// Asks for an entity to be removed.
    DeleteEntityRequest("ue_msgs/srv/DeleteEntity_Request") {
        /// Its name.
        name: String,
    }
    /// Answer to it.
    DeleteEntityResponse("ue_msgs/srv/DeleteEntity_Response") {
        /// True if it is gone.
        success: bool,
        /// Reason of a failure, for people.
        status_message: String,
    }
    /// Asks for an entity to be held by another no longer.
    DetachRequest("ue_msgs/srv/Detach_Request") {
        /// Name of the entity that holds.
        name1: String,
        /// Name of the entity that is held.
        name2: String,
    }
    /// Answer to it.
    DetachResponse("ue_msgs/srv/Detach_Response") {
        /// True if none holds the other.
        success: bool,
    }
    /// Asks for the state of an entity.
    GetEntityStateRequest("ue_msgs/srv/GetEntityState_Request") {
        /// Its name.
        name: String,
        /// The entity in whose frame it is told; empty or `world` is the world.
        reference_frame: String,
    }
    /// Answer to it.
    GetEntityStateResponse("ue_msgs/srv/GetEntityState_Response") {
        /// The state.
        state: EntityState,
        /// True if there is such an entity.
        success: bool,
    }
    /// Asks for an entity to be moved.
    SetEntityStateRequest("ue_msgs/srv/SetEntityState_Request") {
        /// Its new state.
        state: EntityState,
    }
    /// Answer to it.
    SetEntityStateResponse("ue_msgs/srv/SetEntityState_Response") {
        /// True if it is there.
        success: bool,
    }
    /// Asks for an entity to come into the world.
    SpawnEntityRequest("ue_msgs/srv/SpawnEntity_Request") {
        /// Text of its model, SDF or URDF.
        xml: String,
        /// Namespace of its topics.
        robot_namespace: String,
        /// Its name, and where it begins.
        state: EntityState,
        /// Its tags.
        tags: Vec<String>,
        /// Parameters, for simulators that have some.
        json_parameters: String,
    }
    /// Answer to it.
    SpawnEntityResponse("ue_msgs/srv/SpawnEntity_Response") {
        /// True if it is there.
        success: bool,
        /// Reason of a failure, for people.
        status_message: String,
    }
    /// Asks for entities to come into the world.
    SpawnEntitiesRequest("ue_msgs/srv/SpawnEntities_Request") {
        /// Model of each.
        r#type: Vec<String>,
        /// Name of each, and where it begins.
        state: Vec<EntityState>,
        /// Tags of each.
        tags: Vec<String>,
        /// Parameters of each, for simulators that have some.
        json_parameters: Vec<String>,
    }
    /// Answer to it.
    SpawnEntitiesResponse("ue_msgs/srv/SpawnEntities_Response") {
        /// True if all are there.
        success: bool,
        /// Reason of a failure, for people.
        status_message: String,
    }
}
