// @ts-check
/**
 * Trails of performers: points spaced by distance, drawn as lines that fade to their end. A jump
 * leaves none.
 *
 * @module trails
 */

import {
  BufferAttribute,
  BufferGeometry,
  DynamicDrawUsage,
  LineBasicMaterial,
  LineSegments,
} from './vendor/three.module.min.js';

/** Points of a trail at most. */
const POINTS_MAX = 48;
/** Distance between points [m]. */
const SPACING_M = 0.18;
/** Distance above which a move is a jump [m]. */
const JUMP_M = 3;
/** Colour of the trail that is being written. */
const rgb = [0, 0, 0];

export class Trails {
  /** Lines of all trails together. */
  lines;
  /** @type {{ points: Float32Array, count: number, head: number }[]} */
  #trails = [];
  #slots;
  #links;
  #positions;
  #colours;

  /**
   * @param {{ slot: number, link: number }[]} performers places of their poses, numbers of links
   * @param {Trails | null} [before] whose trails go on, as far as their links are still there
   */
  constructor(performers, before = null) {
    const slots = performers.map(({ slot }) => slot);
    this.#slots = slots;
    this.#links = performers.map(({ link }) => link);
    const known = new Map(
      before ? before.#links.map((link, index) => [link, before.#trails[index]]) : [],
    );
    this.#trails = this.#links.map(
      (link) => known.get(link) ?? { points: new Float32Array(POINTS_MAX * 3), count: 0, head: 0 },
    );
    const vertices = slots.length * POINTS_MAX * 2;
    this.#positions = new Float32Array(vertices * 3);
    this.#colours = new Float32Array(vertices * 4);
    const geometry = new BufferGeometry();
    geometry.setAttribute(
      'position',
      new BufferAttribute(this.#positions, 3).setUsage(DynamicDrawUsage),
    );
    geometry.setAttribute(
      'color',
      new BufferAttribute(this.#colours, 4).setUsage(DynamicDrawUsage),
    );
    geometry.setDrawRange(0, 0);
    this.lines = new LineSegments(
      geometry,
      new LineBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false }),
    );
    this.lines.frustumCulled = false;
  }

  /**
   * Takes where performers are now.
   *
   * @param {Float64Array} shown seven numbers per slot
   */
  grow(shown) {
    let hasGrown = false;
    for (let index = 0; index < this.#slots.length; index += 1) {
      const trail = this.#trails[index];
      const base = this.#slots[index] * 7;
      if (trail.count > 0) {
        const last = ((trail.head + POINTS_MAX - 1) % POINTS_MAX) * 3;
        const distance = Math.hypot(
          shown[base] - trail.points[last],
          shown[base + 1] - trail.points[last + 1],
          shown[base + 2] - trail.points[last + 2],
        );
        if (distance < SPACING_M) continue;
        if (distance > JUMP_M) trail.count = 0;
      }
      for (let axis = 0; axis < 3; axis += 1)
        trail.points[trail.head * 3 + axis] = shown[base + axis];
      trail.head = (trail.head + 1) % POINTS_MAX;
      trail.count = Math.min(trail.count + 1, POINTS_MAX);
      hasGrown = true;
    }
    return hasGrown;
  }

  /**
   * Writes lines from the oldest point to where each performer is shown.
   *
   * @param {Float64Array} shown
   * @param {(slot: number) => import('./colours.js').Rgb} colourOf
   */
  draw(shown, colourOf) {
    let vertex = 0;
    for (let index = 0; index < this.#slots.length; index += 1) {
      const trail = this.#trails[index];
      const { count } = trail;
      if (count === 0) continue;
      const slot = this.#slots[index];
      const colour = colourOf(slot);
      for (let part = 0; part < 3; part += 1) rgb[part] = colour[part] ** 2.2;
      const first = trail.head + POINTS_MAX - count;
      const faded = ((POINTS_MAX - count) / POINTS_MAX) * 0.3;
      for (let step = 0; step < count; step += 1) {
        const alpha = (step / POINTS_MAX) * 0.85 + faded;
        this.#put(vertex, trail.points, ((first + step) % POINTS_MAX) * 3, alpha);
        if (step === count - 1) this.#put(vertex + 1, shown, slot * 7, alpha);
        else this.#put(vertex + 1, trail.points, ((first + step + 1) % POINTS_MAX) * 3, alpha);
        vertex += 2;
      }
    }
    const { geometry } = this.lines;
    geometry.setDrawRange(0, vertex);
    for (const name of ['position', 'color']) {
      const attribute = /** @type {BufferAttribute} */ (geometry.getAttribute(name));
      // Only what is drawn is sent.
      attribute.clearUpdateRanges();
      attribute.addUpdateRange(0, vertex * attribute.itemSize);
      attribute.needsUpdate = true;
    }
  }

  /**
   * Writes a point of a line in the colour of its trail.
   *
   * @param {number} vertex
   * @param {ArrayLike<number>} from
   * @param {number} at
   * @param {number} alpha
   */
  #put(vertex, from, at, alpha) {
    const positions = this.#positions;
    const colours = this.#colours;
    const place = vertex * 3;
    const colour = vertex * 4;
    positions[place] = from[at];
    positions[place + 1] = from[at + 1];
    positions[place + 2] = from[at + 2];
    colours[colour] = rgb[0];
    colours[colour + 1] = rgb[1];
    colours[colour + 2] = rgb[2];
    colours[colour + 3] = alpha;
  }

  /** Releases all. */
  dispose() {
    this.lines.geometry.dispose();
  }
}
