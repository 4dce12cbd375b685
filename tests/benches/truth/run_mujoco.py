"""Steps a scene in MuJoCo and prints where its bodies are at regular times, as JSON.

Argument: a plan as JSON: the scene as MJCF, the names of the bodies, the number of samples and the
steps between them.
"""

import json
import sys

import mujoco


def main():
    """Loads, steps, prints."""
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    model = mujoco.MjModel.from_xml_string(plan["scene"])
    # Contacts as hard as the step allows, and a round cone of friction.
    model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    model.opt.impratio = 10
    model.geom_solref[:] = [4 * model.opt.timestep, 1]
    data = mujoco.MjData(model)
    bodies = [model.body(name).id for name in plan["bodies"]]
    samples = []
    for _ in range(plan["samples"]):
        mujoco.mj_kinematics(model, data)
        samples.append(
            [
                {"position": position.tolist(), "wxyz": turn.tolist()}
                for position, turn in zip(data.xpos[bodies], data.xquat[bodies])
            ]
        )
        mujoco.mj_step(model, data, nstep=plan["steps_per_sample"])
    print(json.dumps({"version": mujoco.__version__, "samples": samples}))


if __name__ == "__main__":
    main()
