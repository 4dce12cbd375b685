"""Steps worlds in DART and prints where their links are at given times, as JSON.

Argument: a plan as JSON: the worlds as Phalanx resolved them, the times of the samples and by how
much the step of each world is divided in each run. A model that DART as Gazebo uses it cannot
represent is left out, with the reason; one that begins in what holds still is moved out. Each world has a process of its own, since DART ends where
it is given what it does not expect. Contacts are those of ODE, as in Gazebo's default engine.
"""

import contextlib
import json
import math
import os
import sys
import time
from concurrent import futures

import dartpy
import numpy
from dartpy import collision, dynamics, simulation

# Overlaps below this are left to the engines [m].
OVERLAP = 1e-5
# Ways below this are no motion [m] and [rad].
STILL = 1e-5
# How often models are moved out of what they begin in.
PARTINGS = 5


class NotCompared(Exception):
    """Raised with the reason for which a model is not compared."""


class LeftOut(Exception):
    """Raised with the index of a model that is not compared, and the reason."""


@contextlib.contextmanager
def about(index):
    """Says of which model something is not compared."""
    try:
        yield
    except NotCompared as reason:
        raise LeftOut(index, str(reason)) from None


def tagged(value):
    """Returns the name and the content of an enum."""
    if isinstance(value, str):
        return value, None
    return next(iter(value.items()))


def transform(pose):
    """Returns a pose as a matrix of four rows."""
    x, y, z, w = pose["orientation_xyzw"]
    matrix = numpy.eye(4)
    matrix[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    matrix[:3, 3] = pose["position"]
    return matrix


def isometry(matrix):
    """Returns a matrix as DART wants it."""
    return dartpy.math.Isometry3(matrix)


def quaternion(matrix):
    """Returns the rotation of a matrix as x, y, z, w."""
    turn = dartpy.math.Quaternion(matrix[:3, :3])
    return [turn.x(), turn.y(), turn.z(), turn.w()]


class Scene:
    """A world in DART."""

    def __init__(self, plan, division, left_out):
        self.world = simulation.World()
        self.world.setGravity(plan["gravity"])
        self.step_s = plan["step_s"] / division
        self.world.setTimeStep(self.step_s)
        self.world.setCollisionDetector(collision.OdeCollisionDetector())
        resting = simulation.DeactivationOptions()
        resting.mEnabled = False
        self.world.setDeactivationOptions(resting)
        # The option is a copy, and its filter the one that is used.
        self.filter = self.world.getConstraintSolver().getCollisionOption().collisionFilter
        self.models = plan["models"]
        self.is_driven = bool(plan["drives"])
        self.left_out = left_out
        self.bodies = {}
        self.welded = []
        self.joints = {}
        self.held = set()
        self.made = {}
        self.build(plan)

    def build(self, plan):
        """Makes bodies of links, from parents to children."""
        for index, model in enumerate(self.models):
            if index in self.left_out:
                continue
            with about(index):
                for number, link in enumerate(model["links"]):
                    self.check(link, self.holds_still(index, number))
                for joint in model["joints"]:
                    kind, parent = tagged(joint["parent"])
                    parent = (index, parent) if kind == "Link" else None
                    self.hold((index, joint["child"]), parent, joint)
        for joint in plan["joints"]:
            self.hold_models(joint)
        skeletons = []
        for index, model in enumerate(self.models):
            if index in self.left_out:
                continue
            with about(index):
                for number in range(len(model["links"])):
                    if self.top((index, number)) == (index, number):
                        skeletons.append(self.grow((index, number)))
        self.close()
        for index in range(len(self.models)):
            if index not in self.left_out:
                self.separate(index)
        self.mask()
        for skeleton in skeletons:
            self.world.addSkeleton(skeleton)
        self.drives = [
            (self.made[drive["model"], drive["joint"]], drive["acceleration"])
            for drive in plan["drives"]
            if drive["model"] not in self.left_out
        ]
        for joint, _ in self.drives:
            # As gz-physics does for commands of velocity.
            joint.setActuatorType(dynamics.ActuatorType.SERVO)

    def hold_models(self, joint):
        """Notes a joint between models, all of which are compared or none."""
        kind, parent = tagged(joint["parent"])
        parent = (parent["model"], parent["link"]) if kind == "Link" else None
        child = (joint["child"]["model"], joint["child"]["link"])
        ends = [key[0] for key in (child, parent) if key is not None]
        here = [index for index in ends if index not in self.left_out]
        if here and len(here) < len(ends):
            raise LeftOut(here[0], "a joint to such a model")
        if here:
            with about(here[0]):
                self.hold(child, parent, joint)

    def holds_still(self, index, number):
        """Tells whether a link never moves."""
        model = self.models[index]
        return model["is_static"] or model["links"][number]["is_static"]

    def check(self, link, holds_still):
        """Refuses what DART or its use in Gazebo has no word for."""
        if not holds_still:
            if link["kinematic"]:
                raise NotCompared("a link that moves as it is told")
            if any(link["velocity_decay"]):
                raise NotCompared("velocity_decay, which Gazebo's use of DART ignores")
            if not link["inertial"]["mass"] > 0:
                raise NotCompared("a link without mass")
            if link["inertial"]["fluid_added_mass"]:
                raise NotCompared("fluid_added_mass")
        for part in link["collisions"]:
            surface = part["surface"]
            is_uneven = surface["friction"] != surface["friction2"]
            is_special = any(surface["slip"]) or is_uneven and any(surface["friction_direction"])
            if self.is_driven and is_special:
                raise NotCompared("friction with directions or slip")
            if surface["collide_without_contact"]:
                raise NotCompared("a collision without contact")

    def hold(self, child, parent, joint):
        """Notes the joint above a link; a second one closes a loop."""
        if self.holds_still(*child):
            if parent is None or self.holds_still(*parent):
                return
            raise NotCompared("a joint whose child never moves")
        kind, _ = tagged(joint["kind"])
        if parent is None or parent[0] != child[0]:
            self.held.add(child[0])
        if kind == "Gearbox":
            raise NotCompared("a gearbox, which DART does not have")
        if child in self.joints:
            if kind != "Fixed":
                raise NotCompared("a loop of joints")
            self.welded.append((child, parent))
        else:
            self.joints[child] = (parent, joint)

    def top(self, link):
        """Returns the first link of the tree that a link is in."""
        passed = set()
        while link in self.joints and self.joints[link][0] is not None:
            if link in passed:
                raise NotCompared("a loop of joints")
            passed.add(link)
            link = self.joints[link][0]
        return link

    def grow(self, root):
        """Makes the skeleton of a tree."""
        skeleton = dynamics.Skeleton(f"{root[0]}/{root[1]}")
        holds_still = self.holds_still(*root)
        pending = [root]
        while pending:
            link = pending.pop()
            self.bodies[link] = self.attach(skeleton, link)
            below = [child for child, (parent, _) in self.joints.items() if parent == link]
            pending.extend(below)
            holds_still = holds_still and not below
        skeleton.setSelfCollisionCheck(True)
        skeleton.setMobile(not holds_still)
        return skeleton

    def attach(self, skeleton, key):
        """Makes a body of a link, and the joint above it."""
        link = self.models[key[0]]["links"][key[1]]
        own = transform(link["pose"])
        parent, joint = self.joints.get(key, (None, None))
        above = () if parent is None else (self.bodies[parent],)
        base = numpy.eye(4) if parent is None else self.bodies[parent].getWorldTransform().matrix()
        if self.holds_still(*key):
            made, body = skeleton.createWeldJointAndBodyNodePair(*above)
            made.setTransformFromParentBodyNode(isometry(own))
        elif joint is None:
            made, body = skeleton.createFreeJointAndBodyNodePair()
            made.setPositions(dynamics.FreeJoint.convertToPositions(own))
        else:
            made, body = make_joint(skeleton, above, joint)
            frame = transform(joint["pose"])
            made.setTransformFromParentBodyNode(isometry(numpy.linalg.inv(base) @ frame))
            made.setTransformFromChildBodyNode(isometry(numpy.linalg.inv(own) @ frame))
        if joint in self.models[key[0]]["joints"]:
            self.made[key[0], self.models[key[0]]["joints"].index(joint)] = made
        body.setName(f"{key[0]}/{key[1]}")
        give_inertia(body, link, self.holds_still(*key))
        for part in link["collisions"]:
            give_shape(body, part)
        return body

    def close(self):
        """Closes loops with welds."""
        for child, parent in self.welded:
            bodies = [self.bodies[child]]
            if parent is not None:
                bodies.append(self.bodies[parent])
            weld = dartpy.constraint.WeldJointConstraint(*bodies)
            self.world.getConstraintSolver().addConstraint(weld)

    def separate(self, index):
        """Has links of one model pass through each other that do so."""
        model = self.models[index]
        assemblies = self.assemblies(index)
        for first, one in enumerate(model["links"]):
            for second in range(first):
                other = model["links"][second]
                shared = [
                    nested
                    for nested in model["nested"]
                    if nested["self_collide"]
                    and all(link["name"].startswith(nested["name"] + "::") for link in (one, other))
                ]
                opens = (
                    model["self_collide"]
                    or one["self_collide"]
                    or other["self_collide"]
                    or shared
                    or assemblies[first] != assemblies[second]
                )
                if not opens:
                    pair = self.bodies[index, first], self.bodies[index, second]
                    self.filter.addBodyNodePairToBlackList(*pair)

    def mask(self):
        """Has links whose masks share no bit pass through each other."""
        masks = {}
        for key in self.bodies:
            parts = self.models[key[0]]["links"][key[1]]["collisions"]
            found = {part["surface"]["collide_bitmask"] for part in parts}
            if len(found) > 1:
                raise LeftOut(key[0], "collisions of one link with different masks")
            masks[key] = found.pop() if found else 0xFF
        special = [key for key, mask in masks.items() if mask != 0xFF]
        for first in special:
            for second in self.bodies:
                if first != second and not masks[first] & masks[second]:
                    self.filter.addBodyNodePairToBlackList(self.bodies[first], self.bodies[second])

    def assemblies(self, index):
        """Returns what nested model, and what is joined to it, each link of a model belongs to."""
        model = self.models[index]
        numbers = []
        for link in model["links"]:
            around = [
                number
                for number, nested in enumerate(model["nested"])
                if link["name"].startswith(nested["name"] + "::")
            ]
            numbers.append(max(around, default=-1))
        for joint in model["joints"]:
            kind, parent = tagged(joint["parent"])
            if kind == "Link":
                old, new = numbers[joint["child"]], numbers[parent]
                numbers = [new if number == old else number for number in numbers]
        return numbers

    def run(self, times_s, touched):
        """Returns the states of all links at each time."""
        samples, done = [], 0
        unfelt = {key[0] for key in self.bodies if not self.holds_still(*key)} - touched
        for time_s in times_s:
            until = round(time_s / self.step_s)
            while done < until:
                for joint, rate in self.drives:
                    joint.setCommand(0, rate * (done + 1) * self.step_s)
                self.world.step()
                done += 1
                if unfelt:
                    self.feel(unfelt, touched)
            samples.append(self.states())
        return samples

    def feel(self, unfelt, touched):
        """Notes which models touch something."""
        for contact in self.world.getLastCollisionResult().getContacts():
            for side in (contact.collisionObject1, contact.collisionObject2):
                model, _ = key_of(side)
                if model in unfelt:
                    unfelt.discard(model)
                    touched.add(model)

    def states(self):
        """Returns pose and velocities of each link of each model, world frame."""
        found = []
        for index, model in enumerate(self.models):
            of_model = []
            links = [] if index in self.left_out else model["links"]
            for number in range(len(links)):
                body = self.bodies[index, number]
                matrix = body.getWorldTransform().matrix()
                of_model.append(
                    {
                        "position": matrix[:3, 3].tolist(),
                        "orientation_xyzw": quaternion(matrix),
                        "linear": body.getLinearVelocity().tolist(),
                        "angular": body.getAngularVelocity().tolist(),
                    }
                )
            found.append(of_model)
        return found


def make_joint(skeleton, above, joint):
    """Makes a joint of its kind, with its axes in its own frame."""
    kind, content = tagged(joint["kind"])
    turn = transform(joint["pose"])[:3, :3].T
    makers = {
        "Fixed": skeleton.createWeldJointAndBodyNodePair,
        "Ball": skeleton.createBallJointAndBodyNodePair,
        "Revolute": skeleton.createRevoluteJointAndBodyNodePair,
        "Continuous": skeleton.createRevoluteJointAndBodyNodePair,
        "Prismatic": skeleton.createPrismaticJointAndBodyNodePair,
        "Screw": skeleton.createScrewJointAndBodyNodePair,
        "Universal": skeleton.createUniversalJointAndBodyNodePair,
        "Revolute2": skeleton.createUniversalJointAndBodyNodePair,
    }
    made, body = makers[kind](*above)
    axes = []
    if kind in ("Universal", "Revolute2"):
        axes = content
        made.setAxis1(turn @ content[0]["xyz"])
        made.setAxis2(turn @ content[1]["xyz"])
    elif kind == "Screw":
        axes = [content["axis"]]
        made.setAxis(turn @ axes[0]["xyz"])
        made.setPitch(content["thread_pitch"])
    elif content is not None:
        axes = [content]
        made.setAxis(turn @ content["xyz"])
    for number, axis in enumerate(axes):
        set_axis(made, number, axis, kind == "Continuous")
    # Names it in errors of DART.
    made.setName(joint["name"])
    return made, body


def set_axis(made, number, axis, is_endless):
    """Sets limits, springs, damping and dry friction as gz-physics does."""
    if axis["mimic"]:
        raise NotCompared("a joint that follows another")
    if axis["lower"] is not None and not is_endless:
        made.setPositionLowerLimit(number, axis["lower"])
    if axis["upper"] is not None and not is_endless:
        made.setPositionUpperLimit(number, axis["upper"])
    if axis["velocity"] is not None:
        made.setVelocityLowerLimit(number, -axis["velocity"])
        made.setVelocityUpperLimit(number, axis["velocity"])
    made.setLimitEnforcement(True)
    made.setDampingCoefficient(number, axis["damping"])
    made.setCoulombFriction(number, axis["friction"])
    made.setSpringStiffness(number, axis["spring_stiffness"])
    made.setRestPosition(number, axis["spring_reference"])
    made.setPosition(number, axis["initial_position"])


def give_inertia(body, link, holds_still):
    """Sets mass, centre of mass and moments."""
    inertial = link["inertial"]
    body.setGravityMode(link["gravity"])
    if holds_still:
        return
    frame = transform(inertial["pose"])
    xx, xy, xz, yy, yz, zz = inertial["inertia"]
    own = numpy.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    moment = frame[:3, :3] @ own @ frame[:3, :3].T
    body.setInertia(dynamics.Inertia(inertial["mass"], frame[:3, 3], moment))


def give_shape(body, part):
    """Adds a collision to a body."""
    kind, content = tagged(part["geometry"])
    frame = transform(part["pose"])
    if kind == "Box":
        shape = dynamics.BoxShape(content["size"])
    elif kind == "Sphere":
        shape = dynamics.SphereShape(content["radius"])
    elif kind == "Cylinder":
        shape = dynamics.CylinderShape(content["radius"], content["length"])
    elif kind == "Capsule":
        shape = dynamics.CapsuleShape(content["radius"], content["length"])
    elif kind == "Plane":
        shape = dynamics.PlaneShape(content["normal"], 0.0)
    elif kind == "Empty":
        return
    else:
        raise NotCompared(f"the shape {kind.lower()}")
    node = body.createShapeNode(shape)
    node.setRelativeTransform(isometry(frame))
    node.createCollisionAspect()
    aspect = node.createDynamicsAspect()
    aspect.setFrictionCoeff(part["surface"]["friction"])
    aspect.setRestitutionCoeff(part["surface"]["restitution"])


def without_refused(make, left_out):
    """Makes something, leaving out one model more as long as one is refused."""
    while True:
        try:
            return make()
        except LeftOut as refusal:
            index, reason = refusal.args
            left_out[index] = reason


def move(plan, index, by):
    """Moves a model."""
    model = plan["models"][index]
    for part in [model] + model["links"] + model["joints"]:
        position = part["pose"]["position"]
        part["pose"]["position"] = [old + new for old, new in zip(position, by)]


def part_all(plan, left_out):
    """Moves models out of what holds still and overlaps with them; returns by how much.

    How bodies part that begin in each other is no law of mechanics: DART parts them at 1 mm/s.
    """
    moved = {}
    for _ in range(PARTINGS):
        scene = without_refused(lambda: Scene(plan, 1, left_out), left_out)
        found = overlaps(scene, left_out)
        if not found:
            return moved
        for index, (_, by) in found.items():
            move(plan, index, by)
            moved[index] = [old + new for old, new in zip(moved.get(index, [0, 0, 0]), by)]
    for index in found:
        left_out[index] = "it begins within others"
    return moved


def overlaps(scene, left_out):
    """Returns the greatest depth of each model in what holds still, and the way out."""
    scene.world.step()
    found = {}
    for contact in scene.world.getLastCollisionResult().getContacts():
        depth = contact.penetrationDepth
        if depth < OVERLAP:
            continue
        first, second = (
            key_of(side) for side in (contact.collisionObject1, contact.collisionObject2)
        )
        holds = [scene.holds_still(*key) for key in (first, second)]
        if scene.top(first) == scene.top(second):
            continue
        if not any(holds):
            for key in (first, second):
                left_out[key[0]] = "it begins within others"
            continue
        index, sign = (first[0], 1) if holds[1] else (second[0], -1)
        if index in scene.held:
            left_out[index] = "it is held within others"
            continue
        if depth > found.get(index, (0, None))[0]:
            found[index] = depth, [sign * depth * part for part in contact.normal]
    return {index: way for index, way in found.items() if index not in left_out}


def key_of(side):
    """Returns model and link of one side of a contact."""
    body = side.getShapeFrame().asShapeNode().getBodyNodePtr()
    model, link = body.getName().split("/")
    return int(model), int(link)


def simulate(plan, times_s, divisions):
    """Returns the samples of all runs of a world."""
    left_out, touched, runs = {}, set(), []
    begin = time.perf_counter()
    moved = part_all(plan, left_out)
    for division in divisions:
        if runs and is_still(plan, runs[-1]):
            runs.append(runs[-1])
            continue
        scene = without_refused(lambda: Scene(plan, division, left_out), left_out)
        runs.append(scene.run(times_s, touched))
    return {
        "runs": runs,
        "touched": sorted(touched),
        "moved": moved,
        "left_out": left_out,
        "seconds": time.perf_counter() - begin,
    }


def is_still(plan, samples):
    """Tells whether no link has moved, so that smaller steps would show nothing else."""
    for sample in samples:
        for model, of_model in zip(plan["models"], sample):
            for link, state in zip(model["links"], of_model):
                old, new = link["pose"], state
                way = [a - b for a, b in zip(old["position"], new["position"])]
                turns = (old["orientation_xyzw"], new["orientation_xyzw"])
                alike = abs(sum(a * b for a, b in zip(*turns)))
                if max(map(abs, way)) > STILL or 1 - alike > STILL * STILL:
                    return False
    return True


def apart(plan, times_s, divisions):
    """Simulates a world in a process of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            answer = simulate(plan, times_s, divisions)
        except Exception as error:  # pylint: disable=broad-except
            answer = {"failed": repr(error)}
        with os.fdopen(writer, "w", encoding="utf-8") as output:
            json.dump(answer, output)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as source:
        text = source.read()
    _, status = os.waitpid(child, 0)
    if not text:
        return {"failed": f"DART ended with status {status}"}
    return json.loads(text)


def finite(value):
    """Returns a value with null for what is no number."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [finite(part) for part in value]
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    return value


def main():
    """Simulates all worlds, prints."""
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    # Many worlds are the same but for their names.
    texts = [json.dumps(world) for world in plan["worlds"]]
    different = list(dict.fromkeys(texts))

    def answer(text):
        return apart(json.loads(text), plan["times_s"], plan["divisions"])

    with futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(different, pool.map(answer, different)))
    answers = [found[text] for text in texts]
    print()
    print(json.dumps(finite({"version": dartpy.__version__, "worlds": answers})))


if __name__ == "__main__":
    main()
