"""Drops a robot on a plane in PyBullet and prints how fast it steps and where it ends, as JSON.

Argument: a plan as JSON: the URDF, the height of its origin, the step size, the steps to time and
the steps in all.
"""

import json
import sys
import time

import pybullet


def main():
    """Loads, steps, prints."""
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    pybullet.connect(pybullet.DIRECT)
    pybullet.setGravity(0, 0, -plan["gravity"])
    pybullet.setPhysicsEngineParameter(fixedTimeStep=plan["step_s"], numSubSteps=1)
    for folder in plan["folders"]:
        pybullet.setAdditionalSearchPath(folder)
    plane = pybullet.createCollisionShape(pybullet.GEOM_PLANE)
    pybullet.createMultiBody(0, plane)
    flags = pybullet.URDF_USE_INERTIA_FROM_FILE
    robot = pybullet.loadURDF(plan["urdf"], [0, 0, plan["height"]], flags=flags)
    # The root's frame is at its centre of mass here, and at the model's origin in the file.
    offset = pybullet.getDynamicsInfo(robot, -1)[3]
    pybullet.resetBasePositionAndOrientation(
        robot, [offset[0], offset[1], plan["height"] + offset[2]], [0, 0, 0, 1]
    )
    for joint in range(pybullet.getNumJoints(robot)):
        pybullet.setJointMotorControl2(robot, joint, pybullet.VELOCITY_CONTROL, force=0)
    begin = time.perf_counter()
    for _ in range(plan["timed_steps"]):
        pybullet.stepSimulation()
    seconds = time.perf_counter() - begin
    for _ in range(plan["steps"] - plan["timed_steps"]):
        pybullet.stepSimulation()
    position, turn = pybullet.getBasePositionAndOrientation(robot)
    inverse = pybullet.invertTransform(offset, [0, 0, 0, 1])
    origin = pybullet.multiplyTransforms(position, turn, *inverse)[0]
    report = {"steps_per_s": plan["timed_steps"] / seconds, "origin": origin}
    # The engine prints lines of its own before.
    print()
    print(json.dumps(report))


if __name__ == "__main__":
    main()
