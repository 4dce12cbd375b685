"""A client of services of ROS 2 on Cyclone DDS, in the way of rmw_cyclonedds, for tests.

Its argument is a domain. Each line of its standard input is JSON: {"service": NAME, "call": KEY,
"request": {...}} calls a service, whose response is a line of JSON: {"call": KEY, "response":
{...}}. A response that does not come in time is null. {"feedback": true} prints the progress that
the action has told so far. A call with "other" uses another definition of the request, of one octet.
"""

import dataclasses
import json
import sys
import time
import types
from dataclasses import dataclass

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import (
    array,
    float64,
    int8,
    int32,
    int64,
    sequence,
    uint8,
    uint16,
    uint32,
    uint64,
)
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

PATIENCE = 240.0
GUID = 0x1122334455667788


def matched(ask):
    """Returns what an endpoint has met. The library counts and then asks, and has no place for one
    that comes between."""
    while True:
        try:
            return ask()
        except IndexError:
            continue


def kind(name, fields):
    """Makes a type; the name is ROS's: package/folder/Name."""
    package, folder, short = name.split("/")
    dds = f"{package}::{folder}::dds_::{short}_"

    def fill_body(body):
        body["__annotations__"] = dict(fields)
        body["__module__"] = __name__

    return dataclass(types.new_class(short, (IdlStruct,), {"typename": dds}, fill_body))


Time = kind("builtin_interfaces/msg/Time", {"sec": int32, "nanosec": uint32})
Header = kind("std_msgs/msg/Header", {"stamp": Time, "frame_id": str})
Vector3 = kind("geometry_msgs/msg/Vector3", {"x": float64, "y": float64, "z": float64})
Point = kind("geometry_msgs/msg/Point", {"x": float64, "y": float64, "z": float64})
Quaternion = kind(
    "geometry_msgs/msg/Quaternion", {"x": float64, "y": float64, "z": float64, "w": float64}
)
Pose = kind("geometry_msgs/msg/Pose", {"position": Point, "orientation": Quaternion})
PoseStamped = kind("geometry_msgs/msg/PoseStamped", {"header": Header, "pose": Pose})
Twist = kind("geometry_msgs/msg/Twist", {"linear": Vector3, "angular": Vector3})
Accel = kind("geometry_msgs/msg/Accel", {"linear": Vector3, "angular": Vector3})
UUID = kind("unique_identifier_msgs/msg/UUID", {"uuid": array[uint8, 16]})
GoalInfo = kind("action_msgs/msg/GoalInfo", {"goal_id": UUID, "stamp": Time})

SI = "simulation_interfaces/msg/"
Result = kind(SI + "Result", {"result": uint8, "error_message": str})
Bounds = kind(SI + "Bounds", {"type": uint8, "points": sequence[Vector3]})
Category = kind(SI + "EntityCategory", {"category": uint8})
Tags = kind(SI + "TagsFilter", {"tags": sequence[str], "filter_mode": uint8})
Filters = kind(
    SI + "EntityFilters",
    {"filter": str, "categories": sequence[Category], "tags": Tags, "bounds": Bounds},
)
Info = kind(
    SI + "EntityInfo", {"category": Category, "description": str, "tags": sequence[str]}
)
State = kind(
    SI + "EntityState",
    {"header": Header, "pose": Pose, "twist": Twist, "acceleration": Accel},
)
NamedPose = kind(
    SI + "NamedPose",
    {"name": str, "description": str, "tags": sequence[str], "pose": Pose},
)
Resource = kind(SI + "Resource", {"uri": str, "resource_string": str})
SimulationState = kind(SI + "SimulationState", {"state": uint8})
Features = kind(
    SI + "SimulatorFeatures",
    {"features": sequence[uint16], "spawn_formats": sequence[str], "custom_info": str},
)
SPAWN = {
    "name": str,
    "allow_renaming": bool,
    "entity_resource": Resource,
    "entity_namespace": str,
    "initial_pose": PoseStamped,
}
Spawn = kind(SI + "SpawnEntity", SPAWN)
SpawnResult = kind(SI + "SpawnResult", {"result": Result, "entity_name": str})
Spawnable = kind(
    SI + "Spawnable",
    {"entity_resource": Resource, "description": str, "spawn_bounds": Bounds},
)
World = kind(
    SI + "WorldResource",
    {"name": str, "world_resource": Resource, "description": str, "tags": sequence[str]},
)
UeState = kind(
    "ue_msgs/msg/EntityState",
    {"name": str, "pose": Pose, "twist": Twist, "reference_frame": str},
)
RESULT = {"result": Result}
TOLD = {"success": bool, "status_message": str}

SERVICES = {
    "/phalanx/" + name: ("simulation_interfaces/srv/" + type_name, request, response)
    for name, type_name, request, response in [
        ("delete_entity", "DeleteEntity", {"entity": str}, RESULT),
        (
            "get_available_worlds",
            "GetAvailableWorlds",
            {
                "additional_sources": sequence[str],
                "filter": Tags,
                "offline_only": bool,
                "continue_on_error": bool,
            },
            {"result": Result, "worlds": sequence[World]},
        ),
        ("get_current_world", "GetCurrentWorld", {}, {"result": Result, "world": World}),
        (
            "get_entities",
            "GetEntities",
            {"filters": Filters},
            {"result": Result, "entities": sequence[str]},
        ),
        (
            "get_entities_states",
            "GetEntitiesStates",
            {"filters": Filters},
            {"result": Result, "entities": sequence[str], "states": sequence[State]},
        ),
        (
            "get_entity_bounds",
            "GetEntityBounds",
            {"entity": str},
            {"result": Result, "bounds": Bounds},
        ),
        ("get_entity_info", "GetEntityInfo", {"entity": str}, {"result": Result, "info": Info}),
        (
            "get_entity_state",
            "GetEntityState",
            {"entity": str},
            {"result": Result, "state": State},
        ),
        (
            "get_named_pose_bounds",
            "GetNamedPoseBounds",
            {"name": str},
            {"result": Result, "bounds": Bounds},
        ),
        (
            "get_named_poses",
            "GetNamedPoses",
            {"tags": Tags},
            {"result": Result, "poses": sequence[NamedPose]},
        ),
        (
            "get_simulation_state",
            "GetSimulationState",
            {},
            {"state": SimulationState, "result": Result},
        ),
        ("get_simulator_features", "GetSimulatorFeatures", {}, {"features": Features}),
        (
            "get_spawnables",
            "GetSpawnables",
            {"sources": sequence[str]},
            {"result": Result, "spawnables": sequence[Spawnable]},
        ),
        (
            "load_world",
            "LoadWorld",
            {
                "world_resource": Resource,
                "fail_on_unsupported_element": bool,
                "ignore_missing_or_unsupported_assets": bool,
            },
            {"result": Result, "world": World},
        ),
        ("reset_simulation", "ResetSimulation", {"scope": uint8}, RESULT),
        ("set_entity_info", "SetEntityInfo", {"entity": str, "info": Info}, RESULT),
        (
            "set_entity_state",
            "SetEntityState",
            {
                "entity": str,
                "state": State,
                "set_pose": bool,
                "set_twist": bool,
                "set_acceleration": bool,
            },
            RESULT,
        ),
        ("set_simulation_state", "SetSimulationState", {"state": SimulationState}, RESULT),
        (
            "spawn_entities",
            "SpawnEntities",
            {"spawn_requests": sequence[Spawn]},
            {"result": Result, "results": sequence[SpawnResult]},
        ),
        ("spawn_entity", "SpawnEntity", SPAWN, {"result": Result, "entity_name": str}),
        ("step_simulation", "StepSimulation", {"steps": uint64}, RESULT),
        ("unload_world", "UnloadWorld", {}, RESULT),
    ]
}
ACTION = "/phalanx/simulate_steps/_action/"
ACTION_TYPE = "simulation_interfaces/action/SimulateSteps_"
SERVICES |= {
    ACTION
    + "send_goal": (
        ACTION_TYPE + "SendGoal",
        {"goal_id": UUID, "steps": uint64},
        {"accepted": bool, "stamp": Time},
    ),
    ACTION
    + "get_result": (
        ACTION_TYPE + "GetResult",
        {"goal_id": UUID},
        {"status": int8, "result": Result},
    ),
    ACTION
    + "cancel_goal": (
        "action_msgs/srv/CancelGoal",
        {"goal_info": GoalInfo},
        {"return_code": int8, "goals_canceling": sequence[GoalInfo]},
    ),
    "/SpawnEntity": (
        "ue_msgs/srv/SpawnEntity",
        {
            "xml": str,
            "robot_namespace": str,
            "state": UeState,
            "tags": sequence[str],
            "json_parameters": str,
        },
        TOLD,
    ),
    "/SpawnEntities": (
        "ue_msgs/srv/SpawnEntities",
        {
            "type": sequence[str],
            "state": sequence[UeState],
            "tags": sequence[str],
            "json_parameters": sequence[str],
        },
        TOLD,
    ),
    "/DeleteEntity": ("ue_msgs/srv/DeleteEntity", {"name": str}, TOLD),
    "/GetEntityState": (
        "ue_msgs/srv/GetEntityState",
        {"name": str, "reference_frame": str},
        {"state": UeState, "success": bool},
    ),
    "/SetEntityState": ("ue_msgs/srv/SetEntityState", {"state": UeState}, {"success": bool}),
    "/Detach": ("ue_msgs/srv/Detach", {"name1": str, "name2": str}, {"success": bool}),
    "/Attach": ("ue_msgs/srv/Attach", {"name1": str, "name2": str}, {"success": bool}),
}
Feedback = kind(
    ACTION_TYPE + "FeedbackMessage",
    {"goal_id": UUID, "completed_steps": uint64, "remaining_steps": uint64},
)
SERIALIZED = kind(
    "phalanx_msgs/msg/SerializedMessage", {"topic": str, "type": str, "data": sequence[uint8]}
)
BARRIER = kind(
    "phalanx_msgs/msg/Barrier",
    {
        "iteration": uint64,
        "sim_time": Time,
        "digest": str,
        "messages": sequence[SERIALIZED],
        "left_out": uint64,
        "entities": sequence[str],
        "states": sequence[State],
        "failures": sequence[str],
    },
)
SERVICES |= {
    "/phalanx/join_barrier": (
        "phalanx_msgs/srv/JoinBarrier",
        {
            "name": str,
            "every": uint64,
            "topics": sequence[str],
            "entities": sequence[str],
            "timeout_s": float64,
            "policy": str,
        },
        TOLD | {"barrier": BARRIER},
    ),
    "/phalanx/answer_barrier": (
        "phalanx_msgs/srv/AnswerBarrier",
        {"name": str, "iteration": uint64, "messages": sequence[SERIALIZED]},
        TOLD | {"barrier": BARRIER},
    ),
    "/phalanx/leave_barrier": ("phalanx_msgs/srv/LeaveBarrier", {"name": str}, TOLD),
}
EMPTY = {"structure_needs_at_least_one_member": uint8}
HEADER = {"guid": uint64, "sequence": int64}
SERVICE_QOS = Qos(
    Policy.Reliability.Reliable(duration(seconds=60)),
    Policy.History.KeepAll,
    Policy.Durability.Volatile,
)


def fill(type_, given):
    """Makes a value of a type from JSON; what is not given is zero or empty."""
    if dataclasses.is_dataclass(type_):
        given = given or {}
        names = {one.name for one in dataclasses.fields(type_)}
        assert set(given) <= names, (type_, set(given) - names)
        return type_(**{
            one.name: fill(one.type, given.get(one.name)) for one in dataclasses.fields(type_)
        })
    annotation = getattr(type_, "__metadata__", None)
    meta = annotation[0] if annotation else None
    if meta is not None and hasattr(meta, "subtype"):
        if hasattr(meta, "length") and meta.length:
            return given or [0] * meta.length
        return [fill(meta.subtype, one) for one in given or []]
    if type_ is str:
        return given or ""
    if type_ is bool:
        return bool(given)
    return given or 0


def plain(value):
    """Returns a value as JSON has it."""
    if dataclasses.is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    if isinstance(value, (list, tuple, bytes, bytearray)):
        return [plain(one) for one in value]
    return value


class Client:
    """A service as a client has it: a writer of requests and a reader of replies."""

    def __init__(self, participant, name, entry, request=None):
        type_name, own_request, response = entry
        request = request or own_request
        self.request = kind(type_name + "_Request", HEADER | (request or EMPTY))
        self.response = kind(type_name + "_Response", HEADER | response)
        topic = Topic(participant, f"rq{name}Request", self.request)
        self.writer = DataWriter(participant, topic, qos=SERVICE_QOS)
        topic = Topic(participant, f"rr{name}Reply", self.response)
        self.reader = DataReader(participant, topic, qos=SERVICE_QOS)
        self.sequence = 0
        self.replies = {}

    def wait_for_server(self):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if matched(self.writer.get_matched_subscriptions) and matched(
                self.reader.get_matched_publications
            ):
                return True
            time.sleep(0.02)
        return False

    def send(self, given):
        self.sequence += 1
        given = dict(given or {}, guid=GUID, sequence=self.sequence)
        self.writer.write(fill(self.request, given))
        return self.sequence

    def wait(self, sequence):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for reply in self.reader.take(N=50):
                if reply.guid == GUID:
                    self.replies[reply.sequence] = plain(reply)
            if sequence in self.replies:
                reply = self.replies.pop(sequence)
                return {key: value for key, value in reply.items() if key not in HEADER}
            time.sleep(0.005)
        return None


def main():
    participant = DomainParticipant(int(sys.argv[1]))
    topic = Topic(participant, f"rt{ACTION}feedback", Feedback)
    feedback = DataReader(participant, topic, qos=SERVICE_QOS)
    clients, pending = {}, {}
    for line in sys.stdin:
        asked = json.loads(line)
        if "feedback" in asked:
            told = [[one.completed_steps, one.remaining_steps] for one in feedback.take(N=10000)]
            print(json.dumps({"feedback": told}), flush=True)
            continue
        if "wait" in asked:
            client, sequence = pending.pop(asked["wait"])
            print(json.dumps({"response": client.wait(sequence)}), flush=True)
            continue
        name = asked["service"]
        if name not in clients:
            other = {"octet": uint8} if "other" in asked else None
            clients[name] = Client(participant, name, SERVICES[name], other)
            clients[name].wait_for_server()
        client = clients[name]
        sequence = client.send(asked.get("request"))
        if "later" in asked:
            pending[asked["later"]] = (client, sequence)
            continue
        print(json.dumps({"response": client.wait(sequence)}), flush=True)


if __name__ == "__main__":
    main()
