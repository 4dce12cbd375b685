"""Reads a recording for `ros2_recording.rs` by two packages, and writes what is in it as JSON.

Usage: reader.py RECORDING OUTPUT
Output: {topic: {type, count, qos: [depth, reliability, durability], messages: [[time, values]]}}
"""

import json
import math
import sys
from collections import Counter
from pathlib import Path

import numpy
from mcap_ros2.reader import read_ros2_messages
from rosbags.highlevel import AnyReader


def plain(store, value):
    """Returns a value as JSON has it; numbers that are not finite as texts."""
    if isinstance(value, numpy.ndarray):
        if value.dtype == numpy.uint8:
            return bytes(value).hex()
        return [plain(store, item) for item in value.tolist()]
    if isinstance(value, list):
        return [plain(store, item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if hasattr(value, "__msgtype__"):
        fields = store.fielddefs[value.__msgtype__][1]
        return {field: plain(store, getattr(value, field)) for field, _ in fields}
    return value


def by_rosbags(path):
    found = {}
    # The recording's own definitions are all that it knows.
    with AnyReader([path]) as reader:
        for connection in reader.connections:
            qos = connection.ext.offered_qos_profiles[0]
            found[connection.topic] = {
                "type": connection.msgtype,
                "count": connection.msgcount,
                "qos": [qos.depth, qos.reliability.name, qos.durability.name],
                "messages": [],
            }
        for connection, time, raw in reader.messages():
            values = plain(reader.typestore, reader.deserialize(raw, connection.msgtype))
            found[connection.topic]["messages"].append([time, values])
    return found


def by_mcap(path):
    counts = Counter()
    for message in read_ros2_messages(str(path)):
        # Messages of the type are made of its definition, which fails if the bytes are others.
        assert message.ros_msg is not None
        counts[message.channel.topic] += 1
    return counts


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    found = by_rosbags(source)
    counts = by_mcap(source)
    for topic, content in found.items():
        same = content["count"] == counts[topic] == len(content["messages"])
        assert same, f"{topic} has {content['count']} messages, and {counts[topic]} are read"
    target.write_text(json.dumps(found))
