"""Steps a scene in MuJoCo and prints how long that took and where the bodies ended, as JSON.

Arguments: the scene as MJCF, and a plan as JSON: the number of steps, the names of the bodies to
report, and for each motor, in the order of the actuators, what its wheel is to do.
"""

import json
import sys
import time

import mujoco
import numpy


def rates(motors, seconds):
    """Returns the rates that wheels are to have after so much time [rad/s]."""
    ahead = numpy.array([motor["ahead"] for motor in motors])
    grown = numpy.array([motor["acceleration"] for motor in motors]) * seconds
    reached = numpy.copysign(numpy.minimum(numpy.abs(ahead), grown), ahead)
    swing = numpy.array([motor["turning"] * motor["lever"] for motor in motors])
    return (reached + swing) / numpy.array([motor["radius"] for motor in motors])


def run(model, data, plan):
    """Does all steps; commands change while speeds grow, and the rest is one call."""
    motors, steps = plan["motors"], plan["steps"]
    step_size = model.opt.timestep
    done = 0
    if motors:
        ramp = min(steps, plan["ramp_steps"])
        while done < ramp:
            data.ctrl[:] = rates(motors, (done + 1) * step_size)
            mujoco.mj_step(model, data)
            done += 1
        data.ctrl[:] = rates(motors, steps * step_size + plan["ramp_steps"] * step_size)
    if steps > done:
        mujoco.mj_step(model, data, nstep=steps - done)


def main():
    """Reads, runs, prints."""
    scene, plan_path = sys.argv[1:]
    with open(plan_path, encoding="utf-8") as file:
        plan = json.load(file)
    model = mujoco.MjModel.from_xml_path(scene)
    data = mujoco.MjData(model)
    begin = time.perf_counter()
    run(model, data, plan)
    seconds = time.perf_counter() - begin
    # A step ends with new positions of joints; where that brings the bodies is for the next.
    mujoco.mj_kinematics(model, data)
    warnings = {
        mujoco.mjtWarning(number).name: int(warning.number)
        for number, warning in enumerate(data.warning)
        if warning.number
    }
    bodies = [model.body(name).id for name in plan["bodies"]]
    option = model.opt
    report = {
        "version": mujoco.__version__,
        "seconds": seconds,
        "warnings": warnings,
        "positions": data.xpos[bodies].tolist(),
        "orientations_wxyz": data.xquat[bodies].tolist(),
        "contacts": int(data.ncon),
        "settings": {
            "solver": mujoco.mjtSolver(option.solver).name,
            "integrator": mujoco.mjtIntegrator(option.integrator).name,
            "cone": mujoco.mjtCone(option.cone).name,
            "iterations": int(option.iterations),
            "tolerance": float(option.tolerance),
        },
    }
    json.dump(report, sys.stdout)


if __name__ == "__main__":
    main()
