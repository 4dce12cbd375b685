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

export class Trails {
  /** Lines of all trails together. */
  lines;
  /** @type {{ points: Float32Array, count: number, head: number }[]} */
  #trails = [];
  #slots;
  #positions;
  #colours;

  /**
   * @param {number[]} slots of the performers
   */
  constructor(slots) {
    this.#slots = slots;
    this.#trails = slots.map(() => ({
      points: new Float32Array(POINTS_MAX * 3),
      count: 0,
      head: 0,
    }));
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
    this.#slots.forEach((slot, index) => {
      const trail = this.#trails[index];
      const [x, y, z] = [shown[slot * 7], shown[slot * 7 + 1], shown[slot * 7 + 2]];
      if (trail.count > 0) {
        const last = ((trail.head + POINTS_MAX - 1) % POINTS_MAX) * 3;
        const distance = Math.hypot(
          x - trail.points[last],
          y - trail.points[last + 1],
          z - trail.points[last + 2],
        );
        if (distance < SPACING_M) return;
        if (distance > JUMP_M) trail.count = 0;
      }
      trail.points.set([x, y, z], trail.head * 3);
      trail.head = (trail.head + 1) % POINTS_MAX;
      trail.count = Math.min(trail.count + 1, POINTS_MAX);
      hasGrown = true;
    });
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
    const put = (
      /** @type {ArrayLike<number>} */ from,
      /** @type {number} */ at,
      /** @type {number[]} */ rgb,
      /** @type {number} */ alpha,
    ) => {
      for (let axis = 0; axis < 3; axis += 1) {
        this.#positions[vertex * 3 + axis] = from[at + axis];
        this.#colours[vertex * 4 + axis] = rgb[axis];
      }
      this.#colours[vertex * 4 + 3] = alpha;
      vertex += 1;
    };
    this.#slots.forEach((slot, index) => {
      const { points, count, head } = this.#trails[index];
      if (count === 0) return;
      const rgb = colourOf(slot).map((part) => part ** 2.2);
      for (let step = 0; step < count; step += 1) {
        const at = ((head + POINTS_MAX - count + step) % POINTS_MAX) * 3;
        const next = ((head + POINTS_MAX - count + step + 1) % POINTS_MAX) * 3;
        const alpha = (step / POINTS_MAX) * 0.85 + ((POINTS_MAX - count) / POINTS_MAX) * 0.3;
        put(points, at, rgb, alpha);
        if (step === count - 1) put(shown, slot * 7, rgb, alpha);
        else put(points, next, rgb, alpha);
      }
    });
    const { geometry } = this.lines;
    geometry.setDrawRange(0, vertex);
    geometry.attributes.position.needsUpdate = true;
    geometry.attributes.color.needsUpdate = true;
  }

  /** Releases all. */
  dispose() {
    this.lines.geometry.dispose();
  }
}
