"""Starts a run of Phalanx from ROS 2, and nodes beside it that live in its time.

    ros2 launch docs/examples/phalanx.launch.py world:=worlds/ramp.sdf secondaries:=2
    ros2 launch docs/examples/phalanx.launch.py world:=fleet.sdf rviz:=true

`ros2 launch -s` of this file lists the arguments. The launch ends with the run, and the run with the
launch. Services are mapped in the way of the middleware that the environment names.
"""

import os

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, EmitEvent, ExecuteProcess, OpaqueFunction
from launch.conditions import IfCondition
from launch.events import Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

ARGUMENTS = {
    "world": ("", "World files, separated by commas, or a run file; empty is the demo"),
    "phalanx": ("phalanx", "The program"),
    "secondaries": ("2", "Number of processes that simulate; 0 is one process for everything"),
    "name": ("", "Name of the run; empty is the world's and a number"),
    "paused": ("false", "Whether time is paused at first, until a service lets it run"),
    "rules": ("", "File of rules for topics; docs/ros2.md tells what they can say"),
    "real_time_factor": ("", "Simulated seconds per second; 0 is as fast as possible"),
    "rviz": ("false", "Whether RViz is started"),
}


def service_mapping():
    """Returns the mapping of services of the middleware that nodes here have."""
    middleware = os.environ.get("RMW_IMPLEMENTATION", "")
    return "cyclonedds" if "cyclonedds" in middleware else "fastrtps"


def run(context):
    """Returns the process of the run, which ends the launch when it ends."""

    def value(name):
        return LaunchConfiguration(name).perform(context)

    command = [value("phalanx"), "run", *filter(None, value("world").split(","))]
    command += ["--headless", "--ros2", f"--ros-service-mapping={service_mapping()}"]
    command += [f"--secondaries={value('secondaries')}"]
    for name in ["name", "rules", "real_time_factor"]:
        flag = "ros-rules" if name == "rules" else name.replace("_", "-")
        if value(name):
            command.append(f"--{flag}={value(name)}")
    if value("paused").lower() in ("true", "1"):
        command.append("--paused")
    return [
        ExecuteProcess(
            cmd=command,
            name="phalanx",
            output="screen",
            # The run writes its last files when it is interrupted.
            sigterm_timeout="10",
            on_exit=EmitEvent(event=Shutdown(reason="the run has ended")),
        )
    ]


def generate_launch_description():
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=text)
        for name, (default, text) in ARGUMENTS.items()
    ]
    return LaunchDescription([
        *declared,
        OpaqueFunction(function=run),
        # Robots that come from URDF are on /robot_description, their frames on /tf.
        Node(
            package="rviz2",
            executable="rviz2",
            parameters=[{"use_sim_time": True}],
            condition=IfCondition(LaunchConfiguration("rviz")),
        ),
    ])
