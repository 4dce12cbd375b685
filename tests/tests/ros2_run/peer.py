"""A node of ROS 2 on Cyclone DDS, for tests: tells what it receives, and publishes as it is told.

Its arguments are a domain, then topics as NAME=TYPE. Each message that arrives is a line of JSON:
the topic, the stamp [ns], and the number of its writer, counted in the order of arrival. Lines of
its standard input are texts of JSON: {"topic": NAME, "linear": X, "angular": Z} publishes a Twist,
{"wait_for": COUNT} answers once so many writers of each topic are known and heard, {"wait_for_new":
COUNT} once so many are that were not known before, {"count": true} answers with the number of
writers of each topic. A String is heard also if it came before. It ends with its input.
"""

import json
import os
import queue
import sys
import threading
import time
from dataclasses import dataclass

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, float64, int32, sequence, uint32
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration


def matched(ask):
    """Returns what an endpoint has met. The library counts and then asks, and has no place for one
    that comes between."""
    while True:
        try:
            return ask()
        except IndexError:
            continue


@dataclass
class Time(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):
    sec: int32
    nanosec: uint32


@dataclass
class Header(IdlStruct, typename="std_msgs::msg::dds_::Header_"):
    stamp: Time
    frame_id: str


@dataclass
class Clock(IdlStruct, typename="rosgraph_msgs::msg::dds_::Clock_"):
    clock: Time


@dataclass
class Vector3(IdlStruct, typename="geometry_msgs::msg::dds_::Vector3_"):
    x: float64
    y: float64
    z: float64


@dataclass
class Point(IdlStruct, typename="geometry_msgs::msg::dds_::Point_"):
    x: float64
    y: float64
    z: float64


@dataclass
class Quaternion(IdlStruct, typename="geometry_msgs::msg::dds_::Quaternion_"):
    x: float64
    y: float64
    z: float64
    w: float64


@dataclass
class Twist(IdlStruct, typename="geometry_msgs::msg::dds_::Twist_"):
    linear: Vector3
    angular: Vector3


@dataclass
class Pose(IdlStruct, typename="geometry_msgs::msg::dds_::Pose_"):
    position: Point
    orientation: Quaternion


@dataclass
class PoseWithCovariance(IdlStruct, typename="geometry_msgs::msg::dds_::PoseWithCovariance_"):
    pose: Pose
    covariance: array[float64, 36]


@dataclass
class TwistWithCovariance(IdlStruct, typename="geometry_msgs::msg::dds_::TwistWithCovariance_"):
    twist: Twist
    covariance: array[float64, 36]


@dataclass
class Odometry(IdlStruct, typename="nav_msgs::msg::dds_::Odometry_"):
    header: Header
    child_frame_id: str
    pose: PoseWithCovariance
    twist: TwistWithCovariance


@dataclass
class Imu(IdlStruct, typename="sensor_msgs::msg::dds_::Imu_"):
    header: Header
    orientation: Quaternion
    orientation_covariance: array[float64, 9]
    angular_velocity: Vector3
    angular_velocity_covariance: array[float64, 9]
    linear_acceleration: Vector3
    linear_acceleration_covariance: array[float64, 9]


@dataclass
class Transform(IdlStruct, typename="geometry_msgs::msg::dds_::Transform_"):
    translation: Vector3
    rotation: Quaternion


@dataclass
class TransformStamped(IdlStruct, typename="geometry_msgs::msg::dds_::TransformStamped_"):
    header: Header
    child_frame_id: str
    transform: Transform


@dataclass
class TFMessage(IdlStruct, typename="tf2_msgs::msg::dds_::TFMessage_"):
    transforms: sequence[TransformStamped]


@dataclass
class String(IdlStruct, typename="std_msgs::msg::dds_::String_"):
    data: str


TYPES = {kind.__name__: kind for kind in [Odometry, Clock, TFMessage, Imu, String]}
RELIABLE = Qos(Policy.Reliability.Reliable(duration(seconds=60)), Policy.History.KeepAll)
# A reader begins with what follows the first heartbeat of a writer that it knows, and nothing tells
# when that was; phalanx repeats heartbeats every 100 ms until readers have answered [s].
READY = 1.0
BEST_EFFORT = Qos(Policy.Reliability.BestEffort, Policy.History.KeepAll)
LATCHED = Qos(
    Policy.Reliability.Reliable(duration(seconds=60)),
    Policy.Durability.TransientLocal,
    Policy.History.KeepLast(10),
)
QUALITIES = {"Imu": BEST_EFFORT, "String": LATCHED}


def stamp_of(message):
    """Returns the time of a message [ns]."""
    if isinstance(message, Clock):
        time_ = message.clock
    elif isinstance(message, TFMessage):
        time_ = message.transforms[0].header.stamp
    else:
        time_ = message.header.stamp
    return time_.sec * 1_000_000_000 + time_.nanosec


def describe(topic, message, writers):
    """Returns the line of a message."""
    writer = writers.setdefault(message.sample_info.publication_handle, len(writers))
    if isinstance(message, String):
        return {"topic": topic, "text": message.data, "writer": writer}
    line = {"topic": topic, "stamp": stamp_of(message), "writer": writer}
    if isinstance(message, Odometry):
        line["x"] = message.pose.pose.position.x
        line["child"] = message.child_frame_id
    if isinstance(message, TFMessage):
        line["child"] = message.transforms[0].child_frame_id
    return line


def say(line):
    print(json.dumps(line), flush=True)


class Node:
    def __init__(self, domain, topics):
        self.domain = Domain(domain, os.environ.get("PEER_CONFIGURATION", ""))
        self.participant = DomainParticipant(domain)
        self.readers = {}
        self.writers = {}
        self.known = {}
        self.waits_for = None
        self.known_since = None
        self.old = {}
        for topic in topics:
            name, kind = topic.split("=")
            qos = QUALITIES.get(kind, RELIABLE)
            dds = Topic(self.participant, "rt" + name, TYPES[kind])
            self.readers[name] = DataReader(self.participant, dds, qos=qos)

    def receive(self):
        for name, reader in self.readers.items():
            for message in reader.take(1000):
                if hasattr(message, "sample_info") and message.sample_info.valid_data:
                    say(describe(name, message, self.known))

    def do(self, command):
        if "wait_for" in command:
            self.waits_for = command["wait_for"]
            return
        if "count" in command:
            readers = self.readers.items()
            counts = {name: len(matched(one.get_matched_publications)) for name, one in readers}
            say({"counts": counts})
            return
        if "wait_for_new" in command:
            self.waits_for = command["wait_for_new"]
            readers = self.readers.items()
            known = {name: matched(one.get_matched_publications) for name, one in readers}
            self.old = {name: set(handles) for name, handles in known.items()}
            say({"noted": self.waits_for})
            return
        topic = command["topic"]
        if topic not in self.writers:
            dds = Topic(self.participant, "rt" + topic, Twist)
            self.writers[topic] = DataWriter(self.participant, dds, qos=RELIABLE)
            until = time.monotonic() + 240
            wanted = command.get("readers", 1)
            while len(matched(self.writers[topic].get_matched_subscriptions)) < wanted:
                if time.monotonic() > until:
                    raise SystemExit(f"{topic} has too few subscriptions")
                self.receive()
                time.sleep(0.005)
        linear, angular = Vector3(command["linear"], 0, 0), Vector3(0, 0, command["angular"])
        self.writers[topic].write(Twist(linear, angular))

    def look(self):
        if self.waits_for is None:
            return
        counts = []
        for name, reader in self.readers.items():
            known = set(matched(reader.get_matched_publications))
            counts.append(len(known - self.old.get(name, set())))
        if min(counts) < self.waits_for:
            self.known_since = None
            return
        self.known_since = self.known_since or time.monotonic()
        if time.monotonic() - self.known_since >= READY:
            say({"known": self.waits_for})
            self.waits_for = self.known_since = None


def main():
    node = Node(int(sys.argv[1]), sys.argv[2:])
    lines = queue.Queue()
    threading.Thread(target=lambda: [*map(lines.put, sys.stdin), lines.put("")], daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=0.002)
            if not line:
                break
            node.do(json.loads(line))
        except queue.Empty:
            pass
        node.receive()
        node.look()


main()
