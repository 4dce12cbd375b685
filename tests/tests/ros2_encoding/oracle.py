"""Answers for `ros2_encoding.rs`: what the package rosbags makes of definitions and of bytes.

Usage: oracle.py MODE INPUT OUTPUT, both files of JSON. Modes:
  describe   [{name, definition}]        -> {name: {own, jazzy}}, fingerprints of the definitions
                                            and of those that come with the package, or null
  draw       {seed, count, definitions}  -> [{type, cdr}], random values of each type as bytes
  read       {definitions, messages}     -> [values], bytes of messages as values
"""

import json
import math
import random
import struct
import sys

import numpy
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.interfaces import Nodetype

WHOLE = {
    "int8": (8, True), "uint8": (8, False), "int16": (16, True), "uint16": (16, False),
    "int32": (32, True), "uint32": (32, False), "int64": (64, True), "uint64": (64, False),
}
FLOATS = {"float32": ("<I", "<f", 32), "float64": ("<Q", "<d", 64)}
TEXTS = ["", "a", "frame", "robot/base_link", "größe", "日本", "x" * 255]


def message_name(name):
    """Returns the name of a part of a service or action as if it were a message: the package has
    no others."""
    return name.replace("/srv/", "/msg/").replace("/action/", "/msg/")


def store_of(definitions):
    store = get_typestore(Stores.EMPTY)
    for entry in definitions:
        definition = message_name(entry["definition"])
        known = get_types_from_msg(definition, message_name(entry["name"]))
        for name, fields in known.items():
            if name in store.fielddefs and store.fielddefs[name] != fields:
                raise SystemExit(f"{name} is defined differently in {entry['name']}")
        store.register({name: fields for name, fields in known.items()
                        if name not in store.fielddefs})
    return store


def describe(entries):
    jazzy = get_typestore(Stores.ROS2_JAZZY)
    answer = {}
    for entry in entries:
        name = entry["name"]
        own = store_of([entry]).hash_rihs01(message_name(name))
        answer[name] = {
            "own": own,
            "jazzy": jazzy.hash_rihs01(name) if name in jazzy.fielddefs else None,
        }
    return answer


def draw_base(rng, base):
    if base == "bool":
        return rng.random() < 0.5
    if base == "string":
        return rng.choice(TEXTS)
    if base in WHOLE:
        bits, signed = WHOLE[base]
        least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        return rng.choice([least, most, 0, 1, rng.randint(least, most)])
    whole, real, bits = FLOATS[base]
    value = struct.unpack(real, struct.pack(whole, rng.getrandbits(bits)))[0]
    # Of the numbers that are none, Python keeps only the plain one as it is.
    value = math.nan if math.isnan(value) else value
    return rng.choice([value, value, 0.0, -0.0, 1.5, math.inf, -math.inf, math.nan])


def draw_list(rng, store, inner, count):
    values = [draw_field(rng, store, inner) for _ in range(count)]
    kind, desc = inner
    if kind == Nodetype.BASE and desc[0] != "string":
        return numpy.array(values, dtype=desc[0] if desc[0] != "bool" else numpy.bool_)
    return values


def draw_field(rng, store, node):
    kind, desc = node
    if kind == Nodetype.BASE:
        return draw_base(rng, desc[0])
    if kind == Nodetype.NAME:
        return draw_message(rng, store, desc)
    inner, length = desc
    if kind == Nodetype.SEQUENCE:
        is_number = inner[0] == Nodetype.BASE and inner[1][0] != "string"
        length = rng.choice([0, 1, 2, 3, 7, 1000 if is_number else 9])
    return draw_list(rng, store, inner, length)


def draw_message(rng, store, name):
    # The field of types without fields is a byte that means nothing and that writers leave at 0.
    draws = {
        field: 0 if field == "structure_needs_at_least_one_member" else draw_field(rng, store, node)
        for field, node in store.fielddefs[name][1]
    }
    return store.types[name](**draws)


def draw(request):
    rng = random.Random(request["seed"])
    store = store_of(request["definitions"])
    answer = []
    for entry in request["definitions"]:
        name = entry["name"]
        for _ in range(request["count"]):
            message = draw_message(rng, store, message_name(name))
            raw = store.serialize_cdr(message, message_name(name))
            answer.append({"type": name, "cdr": bytes(raw).hex()})
    return answer


def plain(store, value):
    """Returns a value as JSON has it; numbers that are not finite as texts."""
    if isinstance(value, numpy.ndarray):
        return [plain(store, item) for item in value.tolist()]
    if isinstance(value, list):
        return [plain(store, item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if hasattr(value, "__msgtype__"):
        fields = store.fielddefs[value.__msgtype__][1]
        return {field: plain(store, getattr(value, field)) for field, _ in fields}
    return value


def read(request):
    store = store_of(request["definitions"])
    answer = []
    for message in request["messages"]:
        raw = bytes.fromhex(message["cdr"])
        answer.append(plain(store, store.deserialize_cdr(raw, message["type"])))
    return answer


if __name__ == "__main__":
    mode, source, target = sys.argv[1:]
    with open(source) as file:
        given = json.load(file)
    answer = {"describe": describe, "draw": draw, "read": read}[mode](given)
    with open(target, "w") as file:
        json.dump(answer, file)
