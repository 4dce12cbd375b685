"""Loads a launch file in the way of `ros2 launch`, with stand-ins for its packages.

Arguments are the file and, as NAME:=VALUE, what a user would give. Prints as JSON the command that
the launch starts, whether its end ends the launch, and the programs of nodes that are started.
"""

import json
import sys
import types


class Entity:
    """Anything of a launch: it keeps what it was made with."""

    def __init__(self, *given, **named):
        self.given, self.named = given, named


class LaunchConfiguration(Entity):
    def perform(self, context):
        return context[self.given[0]]


KINDS = {
    "launch": ["LaunchDescription"],
    "launch.actions": ["DeclareLaunchArgument", "EmitEvent", "ExecuteProcess", "OpaqueFunction"],
    "launch.conditions": ["IfCondition"],
    "launch.events": ["Shutdown"],
    "launch.substitutions": ["LaunchConfiguration"],
    "launch_ros": [],
    "launch_ros.actions": ["Node"],
}


def stand_in():
    """Makes the packages."""
    for name, kinds in KINDS.items():
        module = types.ModuleType(name)
        for kind in kinds:
            setattr(module, kind, globals().get(kind) or type(kind, (Entity,), {}))
        sys.modules[name] = module


def main():
    stand_in()
    file, *words = sys.argv[1:]
    scope = {"__name__": "launch_file"}
    with open(file, encoding="utf-8") as text:
        exec(compile(text.read(), file, "exec"), scope)  # noqa: S102
    entities = scope["generate_launch_description"]().given[0]
    context = {}
    for entity in entities:
        if type(entity).__name__ == "DeclareLaunchArgument":
            assert entity.named["description"]
            context[entity.given[0]] = entity.named["default_value"]
    for word in words:
        name, value = word.split(":=")
        assert name in context, f"no argument is named {name}"
        context[name] = value
    processes, nodes = [], []
    for entity in entities:
        if type(entity).__name__ == "OpaqueFunction":
            processes += entity.named["function"](context)
        if type(entity).__name__ == "Node":
            condition = entity.named["condition"].given[0].perform(context)
            if condition.lower() in ("true", "1"):
                nodes.append(entity.named["executable"])
    (process,) = processes
    end = process.named["on_exit"].named["event"]
    print(json.dumps({
        "command": process.named["cmd"],
        "ends_launch": type(end).__name__ == "Shutdown",
        "nodes": nodes,
    }))


if __name__ == "__main__":
    main()
