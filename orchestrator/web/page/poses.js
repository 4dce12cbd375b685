// @ts-check
/**
 * Poses of links: the reader of the binary channel `/phalanx/poses`, and a track of all links that
 * moves each smoothly from where it is shown to where it was last heard to be.
 *
 * What is shown is one message behind: it reaches a pose when the next one is due, and never goes
 * beyond what was heard.
 *
 * @module poses
 */

/** Bytes before the first entry. */
const HEADER_BYTES = 20;
/** Bytes of an entry. */
const ENTRY_BYTES = 60;
/** Index that stands for no owner and for no level. */
export const NONE = 0xffff;
/** Shortest and longest time between two messages that is believed [ms]. */
const INTERVAL_MS = { min: 8, max: 250 };
/** Distance that a link may move at least between two messages before it counts as a jump [m]. */
const JUMP_MIN_M = 1;
/** Numbers per pose: position, quaternion. */
const POSE = 7;

/**
 * @typedef {object} PoseMessage
 * @property {number} timeS simulated time [s]
 * @property {number} iteration
 * @property {number} count
 * @property {DataView} view
 */

/**
 * Reads the header of a message; throws a RangeError if entries are missing.
 *
 * @param {DataView} view
 * @returns {PoseMessage}
 */
export function readPoses(view) {
  const count = view.getUint32(16, true);
  if (view.byteLength < HEADER_BYTES + count * ENTRY_BYTES) {
    throw new RangeError(`poses of ${count} links are cut at ${view.byteLength} bytes`);
  }
  return {
    timeS: Number(view.getBigUint64(0, true)) / 1e9,
    iteration: Number(view.getBigUint64(8, true)),
    count,
    view,
  };
}

/** Where all links are shown, by slot: dense numbers from 0, in the order of `reset`. */
export class PoseTrack {
  /** @type {Map<number, number>} */
  slots = new Map();
  /** Shown poses, seven numbers per slot. */
  shown = new Float64Array(0);
  /** Speeds of the models [m/s], by slot. */
  speed = new Float32Array(0);
  /** Indices of owners, by slot. */
  owner = new Uint16Array(0);
  /** Indices of levels, by slot. */
  level = new Uint16Array(0);
  /** Slots that moved or were told anew since `takeChanged`. */
  #changed = new Set();
  /** Slots on their way. */
  #moving = new Set();
  /**
   * Links that are not shown, by their numbers.
   *
   * @type {Map<number, { pose: Float64Array, owner: number, level: number, speed: number }>}
   */
  #elsewhere = new Map();
  #from = new Float64Array(0);
  #to = new Float64Array(0);
  #begun = 0;
  #interval = 33;
  #heardAt = -1;
  /** Simulated time of the newest message [s]. */
  timeS = 0;
  /** Iteration of the newest message. */
  iteration = 0;

  /**
   * Begins with the links of a scene; links that were known keep where they are shown.
   *
   * @param {{ id: number, pose: number[] }[]} links
   */
  reset(links) {
    const before = {
      slots: this.slots,
      shown: this.shown,
      to: this.#to,
      owner: this.owner,
      level: this.level,
      speed: this.speed,
    };
    this.slots = new Map(links.map((link, slot) => [link.id, slot]));
    this.shown = new Float64Array(links.length * POSE);
    this.#from = new Float64Array(links.length * POSE);
    this.#to = new Float64Array(links.length * POSE);
    this.speed = new Float32Array(links.length);
    this.owner = new Uint16Array(links.length).fill(NONE);
    this.level = new Uint16Array(links.length).fill(NONE);
    this.#moving.clear();
    this.#changed.clear();
    for (const [id, old] of before.slots) {
      const pose = before.to.slice(old * POSE, old * POSE + POSE);
      const [owner, level, speed] = [before.owner[old], before.level[old], before.speed[old]];
      this.#elsewhere.set(id, { pose, owner, level, speed });
    }
    links.forEach((link, slot) => {
      const known = this.#elsewhere.get(link.id);
      const pose = known?.pose ?? link.pose;
      this.shown.set(pose, slot * POSE);
      this.#from.set(pose, slot * POSE);
      this.#to.set(pose, slot * POSE);
      if (known) {
        this.owner[slot] = known.owner;
        this.level[slot] = known.level;
        this.speed[slot] = known.speed;
      }
      this.#elsewhere.delete(link.id);
      this.#changed.add(slot);
    });
  }

  /**
   * Takes a message.
   *
   * @param {PoseMessage} message
   * @param {number} nowMs
   */
  take(message, nowMs) {
    this.advance(nowMs);
    const isBack = message.timeS < this.timeS;
    if (this.#heardAt >= 0) {
      const interval = Math.min(Math.max(nowMs - this.#heardAt, INTERVAL_MS.min), INTERVAL_MS.max);
      this.#interval += (interval - this.#interval) * 0.2;
    }
    // Links of the message before that are not in this one have reached their pose.
    for (const slot of this.#moving) this.#arrive(slot);
    this.#moving.clear();
    this.#heardAt = nowMs;
    this.#begun = nowMs;
    this.timeS = message.timeS;
    this.iteration = message.iteration;
    for (let index = 0; index < message.count; index += 1) {
      this.#takeEntry(message.view, HEADER_BYTES + index * ENTRY_BYTES, isBack);
    }
  }

  /**
   * @param {DataView} view
   * @param {number} at
   * @param {boolean} isBack
   */
  #takeEntry(view, at, isBack) {
    const slot = this.slots.get(view.getUint32(at, true));
    if (slot === undefined) {
      this.#keep(view, at);
      return;
    }
    this.owner[slot] = view.getUint16(at + 4, true);
    this.level[slot] = view.getUint16(at + 6, true);
    this.speed[slot] = readSpeed(view, at);
    const base = slot * POSE;
    readPose(view, at, this.#to, base);
    for (let index = 0; index < POSE; index += 1)
      this.#from[base + index] = this.shown[base + index];
    this.#changed.add(slot);
    if (isBack || this.#isJump(slot)) this.#arrive(slot);
    else this.#moving.add(slot);
  }

  /**
   * Keeps what is told of a link that is not shown, such as one of another world: it is told again
   * only when it moves.
   *
   * @param {DataView} view
   * @param {number} at
   */
  #keep(view, at) {
    const id = view.getUint32(at, true);
    const pose = this.#elsewhere.get(id)?.pose ?? new Float64Array(POSE);
    readPose(view, at, pose, 0);
    const [owner, level] = [view.getUint16(at + 4, true), view.getUint16(at + 6, true)];
    this.#elsewhere.set(id, { pose, owner, level, speed: readSpeed(view, at) });
  }

  /** @param {number} slot */
  #isJump(slot) {
    const base = slot * POSE;
    const distance = Math.hypot(
      this.#to[base] - this.#from[base],
      this.#to[base + 1] - this.#from[base + 1],
      this.#to[base + 2] - this.#from[base + 2],
    );
    return distance > Math.max(JUMP_MIN_M, (this.speed[slot] * this.#interval * 8) / 1000);
  }

  /** @param {number} slot */
  #arrive(slot) {
    const base = slot * POSE;
    for (let index = 0; index < POSE; index += 1) this.shown[base + index] = this.#to[base + index];
    this.#changed.add(slot);
  }

  /**
   * Moves what is shown to a time.
   *
   * @param {number} nowMs
   */
  advance(nowMs) {
    if (this.#moving.size === 0) return;
    const part = (nowMs - this.#begun) / this.#interval;
    if (part >= 1) {
      for (const slot of this.#moving) this.#arrive(slot);
      this.#moving.clear();
      return;
    }
    for (const slot of this.#moving) {
      blend(this.#from, this.#to, this.shown, slot * POSE, part);
      this.#changed.add(slot);
    }
  }

  /**
   * Forgets links that are in no world any more.
   *
   * @param {Set<number>} ids of those that are
   */
  keepOnly(ids) {
    for (const id of this.#elsewhere.keys()) if (!ids.has(id)) this.#elsewhere.delete(id);
  }

  /** Has all links be where they were last heard to be. */
  settle() {
    for (const slot of this.#moving) this.#arrive(slot);
    this.#moving.clear();
  }

  /** Tells whether links are on their way. */
  get isMoving() {
    return this.#moving.size > 0;
  }

  /** Returns slots that changed since it was last asked. */
  takeChanged() {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }
}

/**
 * Reads the pose of an entry.
 *
 * @param {DataView} view
 * @param {number} at
 * @param {Float64Array} out
 * @param {number} base
 */
function readPose(view, at, out, base) {
  for (let index = 0; index < 3; index += 1) {
    out[base + index] = view.getFloat64(at + 20 + index * 8, true);
  }
  for (let index = 0; index < 4; index += 1) {
    out[base + 3 + index] = view.getFloat32(at + 44 + index * 4, true);
  }
}

/**
 * Reads the speed of an entry's model [m/s].
 *
 * @param {DataView} view
 * @param {number} at
 */
function readSpeed(view, at) {
  return Math.hypot(
    view.getFloat32(at + 8, true),
    view.getFloat32(at + 12, true),
    view.getFloat32(at + 16, true),
  );
}

/**
 * Writes the pose between two poses; the quaternion goes the shorter way.
 *
 * @param {Float64Array} from
 * @param {Float64Array} to
 * @param {Float64Array} out
 * @param {number} base
 * @param {number} part 0 to 1
 */
export function blend(from, to, out, base, part) {
  for (let index = 0; index < 3; index += 1) {
    out[base + index] = from[base + index] + (to[base + index] - from[base + index]) * part;
  }
  let dot = 0;
  for (let index = 3; index < POSE; index += 1) dot += from[base + index] * to[base + index];
  const sign = dot < 0 ? -1 : 1;
  let length = 0;
  for (let index = 3; index < POSE; index += 1) {
    const value = from[base + index] * (1 - part) + sign * to[base + index] * part;
    out[base + index] = value;
    length += value * value;
  }
  const scale = 1 / Math.sqrt(length || 1);
  for (let index = 3; index < POSE; index += 1) out[base + index] *= scale;
}
