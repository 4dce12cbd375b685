// @ts-check
/**
 * Groups: performers that may touch in the next step, or that joints hold together, which one cell
 * owns. Each has a colour; its members are framed and tied to their middle. They are heard only
 * while they are shown.
 *
 * @module groups
 */

import {
  Box3,
  BufferAttribute,
  BufferGeometry,
  Color,
  DynamicDrawUsage,
  LineBasicMaterial,
  LineSegments,
  SRGBColorSpace,
  Vector3,
} from './vendor/three.module.min.js';
import { categoryColour } from './colours.js';

/** The topic that tells them. */
export const GROUPS_TOPIC = '/phalanx/groups';
/** Colours among which groups choose. */
const COLOURS = 7;
/** Width by which a frame is larger than what it is around [m]. */
const ROOM_M = 0.03;
/** Corners of the edges of a box, each by its bits x, y, z. */
const EDGES = [0, 1, 2, 3, 4, 5, 6, 7, 0, 2, 1, 3, 4, 6, 5, 7, 0, 4, 1, 5, 2, 6, 3, 7];

export class Groups {
  lines = new LineSegments(
    new BufferGeometry(),
    new LineBasicMaterial({ vertexColors: true, transparent: true, opacity: 0.95 }),
  );
  /** Names of members. @type {string[][]} */
  #groups = [];
  #scene;
  #box = new Box3();
  #middle = new Vector3();
  #point = new Vector3();
  #colour = new Color();

  /** @param {import('./scene.js').WorldScene} scene */
  constructor(scene) {
    this.#scene = scene;
    this.lines.frustumCulled = false;
    this.lines.renderOrder = 3;
    this.lines.visible = false;
  }

  /**
   * Takes groups as they were told.
   *
   * @param {any} message
   */
  take(message) {
    const groups = Array.isArray(message?.groups) ? message.groups : [];
    this.#groups = groups
      .map((/** @type {any} */ one) => one?.performers)
      .filter((/** @type {any} */ names) => Array.isArray(names));
  }

  /** Number of groups that were told. */
  get count() {
    return this.#groups.length;
  }

  /** Draws them where their members are shown. */
  draw() {
    const members = this.#groups.reduce((sum, group) => sum + group.length, 0);
    const { position, colour } = this.#room(members * (EDGES.length + 2));
    let count = 0;
    const put = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ z) => {
      position.setXYZ(count, x, y, z);
      colour.setXYZ(count, this.#colour.r, this.#colour.g, this.#colour.b);
      count += 1;
    };
    for (const group of this.#groups) {
      const entries = group.flatMap((name) => this.#scene.byName.get(name) ?? []);
      if (entries.length < 2) continue;
      const [red, green, blue] = categoryColour(hash(group[0]) % COLOURS);
      this.#colour.setRGB(red, green, blue, SRGBColorSpace);
      this.#middle.set(0, 0, 0);
      for (const entry of entries)
        this.#middle.add(this.#scene.boundsOf(entry, this.#box).getCenter(this.#point));
      this.#middle.divideScalar(entries.length);
      for (const entry of entries) {
        const { min, max } = this.#scene.boundsOf(entry, this.#box).expandByScalar(ROOM_M);
        for (const corner of EDGES)
          put(corner & 1 ? max.x : min.x, corner & 2 ? max.y : min.y, corner & 4 ? max.z : min.z);
        this.#box.getCenter(this.#point);
        put(this.#point.x, this.#point.y, this.#point.z);
        put(this.#middle.x, this.#middle.y, this.#middle.z);
      }
    }
    position.needsUpdate = true;
    colour.needsUpdate = true;
    this.lines.geometry.setDrawRange(0, count);
  }

  /**
   * Returns the attributes of the lines, with room for so many points.
   *
   * @param {number} points
   */
  #room(points) {
    const { geometry } = this.lines;
    let position = /** @type {any} */ (geometry.getAttribute('position'));
    if (!position || position.count < points) {
      const make = () => {
        const attribute = new BufferAttribute(new Float32Array(points * 6), 3);
        return attribute.setUsage(DynamicDrawUsage);
      };
      geometry.dispose();
      position = make();
      geometry.setAttribute('position', position);
      geometry.setAttribute('color', make());
    }
    return { position, colour: /** @type {any} */ (geometry.getAttribute('color')) };
  }
}

/** @param {string} text */
function hash(text) {
  let sum = 0;
  for (const letter of text) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 65_521;
  return sum;
}
