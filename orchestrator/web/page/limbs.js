// @ts-check
/**
 * Limbs of actors: which moment of an animation an actor's script asks for, and skins that are bent
 * by it. Where actors are is told as all poses are.
 *
 * @module limbs
 */

import { Group, Matrix4 } from './vendor/three.module.min.js';

/** @typedef {import('./contract.js').Motion} Motion */
/** @typedef {import('./contract.js').Script} Script */
/** @typedef {import('./contract.js').Trajectory} Trajectory */

/** Shortest and longest time between two messages that is believed [ms]. */
const INTERVAL_MS = { min: 8, max: 1000 };

/**
 * @typedef {object} SkinFile the file of a skin, as it was read
 * @property {any} scene its nodes
 * @property {any[]} clips animations of three.js
 * @property {string[]} names of these
 * @property {string} root key of the bone whose place is that of the whole body
 */

/**
 * @typedef {object} Moment of an animation
 * @property {number} clip its index
 * @property {number} timeS since it began [s]
 * @property {boolean} holdsRoot true if the root stays at the origin, as something else moves it
 */

/**
 * Returns the part of a script that is under way at an elapsed simulated time, the time since it
 * began [s], and the way that was covered in it [m].
 *
 * @param {Script} script
 * @param {number} elapsedS
 */
export function progress(script, elapsedS) {
  const begun = Math.max(elapsedS - script.delay_s, 0);
  const parts = script.trajectories.filter((one) => one.waypoints.length > 0);
  const lengthS = parts.reduce((most, one) => Math.max(most, one.waypoints.at(-1)?.time_s ?? 0), 0);
  const timeS = script.is_loop && lengthS > 0 ? begun % lengthS : Math.min(begun, lengthS);
  const trajectory = script.starts_by_itself
    ? (parts.findLast((one) => one.waypoints[0].time_s <= timeS) ?? parts[0])
    : undefined;
  if (!trajectory) return { trajectory: null, timeS: begun, distance: 0 };
  const first = trajectory.waypoints[0].time_s;
  return {
    trajectory,
    timeS: Math.max(timeS - first, 0),
    distance: distanceOn(trajectory, timeS),
  };
}

/**
 * Returns the way to where an actor is at a time, along straight lines [m].
 *
 * @param {Trajectory} trajectory
 * @param {number} timeS
 */
function distanceOn(trajectory, timeS) {
  let distance = 0;
  trajectory.waypoints.slice(1).forEach((to, index) => {
    const from = trajectory.waypoints[index];
    const way = to.pose.position.map((part, axis) => part - from.pose.position[axis]);
    const part = (timeS - from.time_s) / (to.time_s - from.time_s);
    distance += Math.min(Math.max(part, 0), 1) * Math.hypot(...way);
  });
  return distance;
}

/**
 * Returns the moment of the animation of an actor at an elapsed simulated time; null at rest.
 *
 * @param {Motion} motion
 * @param {SkinFile} file
 * @param {number} elapsedS
 * @returns {Moment | null}
 */
export function momentOf(motion, file, elapsedS) {
  const { trajectory, timeS, distance } = progress(motion.script, elapsedS);
  const named = trajectory ? file.names.indexOf(trajectory.animation) : -1;
  const clip = named < 0 ? file.names.indexOf('') : named;
  if (clip < 0) return null;
  const goesByDistance = motion.by_distance.includes(file.names[clip]) && distance > 0;
  const along = goesByDistance ? timeAtX(file, clip, distance / motion.scale) : null;
  const lengthS = file.clips[clip].duration;
  const looped = lengthS > 0 && timeS > lengthS ? timeS % lengthS : timeS;
  return { clip, timeS: along ?? looped, holdsRoot: trajectory !== null };
}

/**
 * Returns the time at which the root has come so far along x, of a motion that begins again
 * whenever it has come as far as it goes; null if it does not get on.
 *
 * @param {SkinFile} file
 * @param {number} clip
 * @param {number} wanted [m]
 */
export function timeAtX(file, clip, wanted) {
  const track = file.clips[clip].tracks.find(
    (/** @type {any} */ one) => one.name === `${file.root}.position`,
  );
  if (!track) return null;
  const { times, values } = track;
  const along = (/** @type {number} */ key) => values[key * 3];
  const [first, last] = [along(0), along(times.length - 1)];
  if (last <= 0 || last <= first || !Number.isFinite(wanted)) return null;
  const x = Math.max(wanted, first) > last ? wanted % last : Math.max(wanted, first);
  for (let key = 0; key < times.length; key += 1) {
    if (along(key) < x) continue;
    if (key === 0) return times[0];
    const part = (x - along(key - 1)) / (along(key) - along(key - 1));
    return times[key - 1] + (times[key] - times[key - 1]) * part;
  }
  return null;
}

/** A skin of an actor, with bones of its own. */
export class Skin {
  /** The object, to be added to a three.js scene. */
  root = new Group();
  /** Its meshes. @type {any[]} */
  meshes = [];
  #file;
  #motion;
  /** Pose in the frame of its link. */
  #local;
  /** Bones by their keys, with their places at rest. @type {Map<string, { bone: any, rest: any }>} */
  #bones = new Map();
  /** Interpolants of clips, once they were shown. @type {Map<number, any[]>} */
  #tracks = new Map();

  /**
   * @param {SkinFile} file
   * @param {Motion} motion
   * @param {Matrix4} local pose and scale in the frame of its link
   */
  constructor(file, motion, local) {
    this.#file = file;
    this.#motion = motion;
    this.#local = local;
    this.root.matrixAutoUpdate = false;
    const twins = copied(file.scene);
    this.root.add(twins.get(file.scene));
    for (const [one, node] of twins) {
      if (node.isMesh) this.meshes.push(node);
      // The nodes of the file stay at rest.
      if (node.isBone) this.#bones.set(keyOf(one), { bone: node, rest: one });
    }
  }

  /**
   * Places it, by the pose of its link in the world.
   *
   * @param {Matrix4} link
   */
  place(link) {
    this.root.matrix.multiplyMatrices(link, this.#local);
    this.root.matrixWorldNeedsUpdate = true;
  }

  /**
   * Bends it as it is at an elapsed simulated time [s].
   *
   * @param {number} elapsedS
   */
  bend(elapsedS) {
    for (const { bone, rest } of this.#bones.values()) {
      bone.position.copy(rest.position);
      bone.quaternion.copy(rest.quaternion);
      bone.scale.copy(rest.scale);
    }
    const moment = momentOf(this.#motion, this.#file, elapsedS);
    if (!moment) return;
    for (const { name, part, interpolant } of this.#tracksOf(moment.clip)) {
      const known = this.#bones.get(name);
      if (!known) continue;
      if (part === 'position' && moment.holdsRoot && name === this.#file.root) {
        known.bone.position.set(0, 0, 0);
      } else {
        known.bone[part].fromArray(interpolant.evaluate(moment.timeS));
      }
    }
  }

  /** @param {number} clip */
  #tracksOf(clip) {
    let tracks = this.#tracks.get(clip);
    if (!tracks) {
      tracks = this.#file.clips[clip].tracks.map((/** @type {any} */ track) => {
        const dot = track.name.lastIndexOf('.');
        const [name, part] = [track.name.slice(0, dot), track.name.slice(dot + 1)];
        return { name, part, interpolant: track.createInterpolant() };
      });
      this.#tracks.set(clip, /** @type {any[]} */ (tracks));
    }
    return /** @type {any[]} */ (tracks);
  }

  /** Releases what is its own. */
  dispose() {
    for (const mesh of this.meshes) {
      mesh.material.dispose();
      mesh.skeleton?.dispose();
    }
  }
}

/** Simulated time that is shown: it reaches what was heard when the next message is due. */
export class LimbClock {
  #from = 0;
  #to = 0;
  #heardAt = -1;
  #interval = 33;

  /**
   * Hears a time of simulated seconds.
   *
   * @param {number} timeS
   * @param {number} nowMs
   */
  take(timeS, nowMs) {
    if (timeS === this.#to) return;
    const isBack = timeS < this.#to;
    this.#from = this.#heardAt < 0 || isBack ? timeS : this.at(nowMs);
    if (this.#heardAt >= 0) {
      const { min, max } = INTERVAL_MS;
      const interval = Math.min(Math.max(nowMs - this.#heardAt, min), max);
      this.#interval += (interval - this.#interval) * 0.2;
    }
    this.#to = timeS;
    this.#heardAt = nowMs;
  }

  /**
   * Returns the time that is shown [s].
   *
   * @param {number} nowMs
   */
  at(nowMs) {
    const part = Math.min(Math.max((nowMs - this.#heardAt) / this.#interval, 0), 1);
    return this.#from + (this.#to - this.#from) * part;
  }
}

/**
 * Returns the key of a node, by which tracks of animations find it.
 *
 * @param {any} node
 * @returns {string}
 */
export function keyOf(node) {
  return node.name || node.uuid;
}

/**
 * Copies nodes, whose skins are moved by the bones of the copy; returns the copies of all by what
 * they are of.
 *
 * @param {any} scene
 * @returns {Map<any, any>}
 */
function copied(scene) {
  const copy = scene.clone(true);
  /** @type {Map<any, any>} */
  const twins = new Map();
  const pair = (/** @type {any} */ one, /** @type {any} */ other) => {
    twins.set(one, other);
    one.children.forEach((/** @type {any} */ child, /** @type {number} */ index) => {
      pair(child, other.children[index]);
    });
  };
  pair(scene, copy);
  for (const [one, other] of twins) {
    if (!one.isSkinnedMesh) continue;
    const skeleton = one.skeleton.clone();
    skeleton.bones = one.skeleton.bones.map((/** @type {any} */ bone) => twins.get(bone));
    other.bind(skeleton, one.bindMatrix);
  }
  return twins;
}
