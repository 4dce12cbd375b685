"""Integrates a robot whose base is held and whose joints are free, and prints its joints' motion.

Argument: a plan as JSON: the URDF, the gravity along z, the duration, the step of the integration
and how many steps lie between samples. Forward dynamics are Featherstone's articulated body
algorithm, integrated by the classical Runge-Kutta method of order 4. The motion from a state that
is a little off is printed too: how far it gets away tells how much errors grow by themselves.
"""

import json
import sys

import numpy
import pinocchio


def derivative(model, data, q, v, torque):
    """Returns the acceleration of the joints."""
    return pinocchio.aba(model, data, q, v, torque)


def integrate(model, plan, offset):
    """Returns the positions of the joints, in the order of their velocities, at each sample."""
    data = model.createData()
    step, torque = plan["step_s"], numpy.zeros(model.nv)
    begin = pinocchio.neutral(model)
    way, v = numpy.full(model.nv, offset), numpy.zeros(model.nv)

    def at(way):
        return pinocchio.integrate(model, begin, way)

    samples = [way.tolist()]
    for number in range(1, round(plan["duration_s"] / step) + 1):
        a1 = derivative(model, data, at(way), v, torque)
        v2 = v + step / 2 * a1
        a2 = derivative(model, data, at(way + step / 2 * v), v2, torque)
        v3 = v + step / 2 * a2
        a3 = derivative(model, data, at(way + step / 2 * v2), v3, torque)
        v4 = v + step * a3
        a4 = derivative(model, data, at(way + step * v3), v4, torque)
        way = way + step / 6 * (v + 2 * v2 + 2 * v3 + v4)
        v = v + step / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        if number % plan["steps_per_sample"] == 0:
            samples.append(way.tolist())
    return samples


def main():
    """Reads, integrates, prints."""
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    model = pinocchio.buildModelFromUrdf(plan["urdf"])
    model.gravity.linear = numpy.array([0.0, 0.0, -plan["gravity"]])
    model.armature[:] = 0.0
    if hasattr(model, "damping"):
        model.damping[:] = 0.0
    joints = [
        model.names[index]
        for index in range(1, model.njoints)
        if model.joints[index].nv == 1
    ]
    if len(joints) != model.nv:
        sys.exit("a joint has more than one axis")
    exact = integrate(model, plan, 0.0)
    beside = integrate(model, plan, plan["offset"])
    report = {"joints": joints, "samples": exact, "beside": beside}
    json.dump(report, sys.stdout)


if __name__ == "__main__":
    main()
