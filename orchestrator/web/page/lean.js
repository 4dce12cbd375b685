// @ts-check
/**
 * Drawing less where a processor draws: of the instances of a world only those that are in the
 * picture, shapes of few pixels as boxes, all boxes of one material at once, and what would be a
 * dot not at all.
 *
 * @module lean
 */

import {
  Box3,
  BoxGeometry,
  Color,
  DynamicDrawUsage,
  Group,
  InstancedMesh,
  Matrix4,
  Vector3,
} from './vendor/three.module.min.js';

/** @typedef {import('./scene.js').Batch} Batch */

/** Extent below which a shape is drawn as a box, and below which not at all [px]. */
const EXTENT_PX = { box: 15, least: 2.6 };
/** Part of the width of a round shape that its box has. */
const ROUND_SHARE = 0.84;
/** Triangles from which a box is worth it. */
const TRIANGLES_MIN = 14;

/**
 * @typedef {object} LeanBatch
 * @property {Batch} batch
 * @property {Float32Array} matrices of all instances, world frame
 * @property {Float32Array} colours of all instances
 * @property {Float32Array} radii of the balls around instances [m]
 * @property {Vector3} middle of the geometry
 * @property {Matrix4 | null} box from the unit box to one in place of the geometry
 * @property {Boxes | null} boxes
 * @property {number[]} shown numbers of the instances that are drawn as they are
 */

/** @typedef {{ mesh: InstancedMesh, most: number, count: number, shown: [LeanBatch, number][] }} Boxes */

export class Lean {
  /** The boxes, to be added to the scene. */
  root = new Group();
  /** @type {Map<Batch, LeanBatch>} */
  #batches = new Map();
  /** Boxes by material. @type {Map<any, Boxes>} */
  #boxes = new Map();
  #planes = Array.from({ length: 6 }, () => new Float64Array(4));
  #geometry = new BoxGeometry(1, 1, 1);

  clear() {
    for (const { mesh } of this.#boxes.values()) {
      this.root.remove(mesh);
      mesh.dispose();
    }
    this.#boxes.clear();
    this.#batches.clear();
  }

  /**
   * Begins to choose what is drawn of a batch, or begins anew as it has grown.
   *
   * @param {Batch} batch
   */
  add(batch) {
    const count = batch.instances.length;
    const { geometry } = batch;
    if (!geometry.boundingBox) geometry.computeBoundingBox();
    const bounds = /** @type {Box3} */ (geometry.boundingBox);
    const before = this.#batches.get(batch)?.batch.instances.length ?? 0;
    const box = this.#boxOf(batch, bounds);
    const boxes = box && this.#boxesOf(batch);
    if (boxes) boxes.most += count - before;
    this.#batches.set(batch, {
      batch,
      matrices: new Float32Array(count * 16),
      colours: new Float32Array(count * 3),
      radii: new Float32Array(count),
      middle: bounds.getCenter(new Vector3()),
      box,
      boxes,
      shown: [],
    });
  }

  /**
   * Places an instance of a batch, world frame.
   *
   * @param {Batch} batch
   * @param {number} index
   * @param {Matrix4} matrix
   */
  place(batch, index, matrix) {
    const lean = this.#batches.get(batch);
    if (!lean) return;
    matrix.toArray(lean.matrices, index * 16);
    if (lean.radii[index] > 0) return;
    const bounds = /** @type {Box3} */ (batch.geometry.boundingBox);
    lean.radii[index] = (bounds.getSize(size).length() / 2) * matrix.getMaxScaleOnAxis();
  }

  /**
   * @param {Batch} batch
   * @param {number} index
   * @param {import('./vendor/three.module.min.js').Color} colour
   */
  colour(batch, index, colour) {
    const lean = this.#batches.get(batch);
    if (lean) colour.toArray(lean.colours, index * 3);
  }

  /**
   * Chooses what is drawn.
   *
   * @param {import('./vendor/three.module.min.js').PerspectiveCamera} camera
   * @param {number} heightPx of the picture
   */
  choose(camera, heightPx) {
    camera.updateMatrixWorld();
    planesOf(camera, this.#planes);
    // Pixels of something as large as its distance.
    const focal = heightPx / (2 * Math.tan((camera.fov * Math.PI) / 360));
    for (const boxes of this.#boxes.values()) begin(boxes);
    for (const lean of this.#batches.values()) this.#chooseOf(lean, camera.position, focal);
    for (const { mesh, count } of this.#boxes.values()) show(mesh, count);
  }

  /**
   * @param {LeanBatch} lean
   * @param {Vector3} eye
   * @param {number} focal
   */
  #chooseOf(lean, eye, focal) {
    const { batch, matrices, radii, middle, shown } = lean;
    const { mesh } = batch;
    if (!mesh || !mesh.visible) return;
    shown.length = 0;
    for (let index = 0; index < radii.length; index += 1) {
      const base = index * 16;
      const [x, y, z] = placeOf(matrices, base, middle);
      const radius = radii[index];
      if (isOutside(this.#planes, x, y, z, radius)) continue;
      const distance = Math.max(Math.hypot(x - eye.x, y - eye.y, z - eye.z), 0.01);
      const extent = (2 * radius * focal) / distance;
      if (extent < EXTENT_PX.least && !batch.isPlane) continue;
      if (lean.boxes && lean.box && extent < EXTENT_PX.box) addBox(lean, index);
      else {
        copy(matrices, base, mesh.instanceMatrix.array, shown.length * 16, 16);
        const colours = mesh.instanceColor?.array;
        if (colours) copy(lean.colours, index * 3, colours, shown.length * 3, 3);
        shown.push(index);
      }
    }
    show(mesh, shown.length);
  }

  /**
   * Returns which instance of which batch an instance of a drawn mesh is.
   *
   * @param {InstancedMesh} mesh
   * @param {number} instance
   * @returns {[Batch, number] | null}
   */
  find(mesh, instance) {
    const batch = /** @type {Batch | undefined} */ (mesh.userData.batch);
    const lean = batch && this.#batches.get(batch);
    if (batch && lean) return [batch, lean.shown[instance]];
    for (const boxes of this.#boxes.values()) {
      const found = boxes.mesh === mesh ? boxes.shown[instance] : undefined;
      if (found) return [found[0].batch, found[1]];
    }
    return null;
  }

  /** Returns the meshes of boxes that are drawn. */
  boxMeshes() {
    return [...this.#boxes.values()].map(({ mesh }) => mesh);
  }

  /**
   * Returns the box in place of a geometry, or null where it stays as it is.
   *
   * @param {Batch} batch
   * @param {Box3} bounds
   */
  #boxOf(batch, bounds) {
    const corners = batch.geometry.index?.count ?? 0;
    if (batch.isPlane || batch.isCollision || batch.material.transparent || batch.isMesh)
      return null;
    const isBox = batch.geometry.type === 'BoxGeometry';
    if (!isBox && corners / 3 < TRIANGLES_MIN) return null;
    const share = isBox ? 1 : ROUND_SHARE;
    const [width, height] = [bounds.getSize(new Vector3()), bounds.getCenter(new Vector3())];
    return new Matrix4()
      .makeScale(width.x * share, width.y * share, width.z * (isBox ? 1 : share))
      .setPosition(height);
  }

  /** @param {Batch} batch */
  #boxesOf(batch) {
    let boxes = this.#boxes.get(batch.material);
    if (!boxes) {
      boxes = { mesh: this.#makeBoxes(batch, 1), most: 0, count: 0, shown: [] };
      this.#boxes.set(batch.material, boxes);
    }
    return boxes;
  }

  /**
   * @param {{ material: any }} kind
   * @param {number} most
   */
  #makeBoxes({ material }, most) {
    const mesh = new InstancedMesh(this.#geometry, material, most);
    prepare(mesh);
    this.root.add(mesh);
    return mesh;
  }

  /** Makes room for all boxes, once all batches are known. */
  makeRoom() {
    for (const boxes of this.#boxes.values()) {
      if (boxes.mesh.instanceMatrix.count >= boxes.most) continue;
      const { material } = boxes.mesh;
      this.root.remove(boxes.mesh);
      boxes.mesh.dispose();
      boxes.mesh = this.#makeBoxes({ material }, boxes.most);
    }
  }
}

/**
 * Prepares a mesh whose instances change with each frame.
 *
 * @param {InstancedMesh} mesh
 */
export function prepare(mesh) {
  mesh.instanceMatrix.setUsage(DynamicDrawUsage);
  mesh.frustumCulled = false;
  mesh.setColorAt(0, white);
  mesh.instanceColor?.setUsage(DynamicDrawUsage);
}

/** @param {Boxes} boxes */
function begin(boxes) {
  boxes.count = 0;
  boxes.shown.length = 0;
}

/**
 * @param {LeanBatch} lean
 * @param {number} index
 */
function addBox(lean, index) {
  const { boxes, box } = lean;
  if (!boxes || !box || boxes.count >= boxes.mesh.instanceMatrix.count) return;
  scratch.fromArray(lean.matrices, index * 16).multiply(box);
  scratch.toArray(boxes.mesh.instanceMatrix.array, boxes.count * 16);
  const colours = boxes.mesh.instanceColor?.array;
  if (colours) copy(lean.colours, index * 3, colours, boxes.count * 3, 3);
  boxes.shown.push([lean, index]);
  boxes.count += 1;
}

/**
 * @param {InstancedMesh} mesh
 * @param {number} count
 */
function show(mesh, count) {
  mesh.count = count;
  mesh.instanceMatrix.needsUpdate = true;
  if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
  // The ball around it is that of other instances.
  mesh.boundingSphere = null;
}

/**
 * @param {Float32Array} from
 * @param {number} at
 * @param {any} to
 * @param {number} start
 * @param {number} count
 */
function copy(from, at, to, start, count) {
  for (let index = 0; index < count; index += 1) to[start + index] = from[at + index];
}

/** @type {[number, number, number]} */
const place = [0, 0, 0];

/**
 * Returns a point of a geometry in the frame of the world; the array is used again.
 *
 * @param {Float32Array} matrices
 * @param {number} base
 * @param {Vector3} point
 */
function placeOf(matrices, base, { x, y, z }) {
  for (let axis = 0; axis < 3; axis += 1) {
    place[axis] =
      matrices[base + axis] * x +
      matrices[base + 4 + axis] * y +
      matrices[base + 8 + axis] * z +
      matrices[base + 12 + axis];
  }
  return place;
}

/**
 * Writes the planes around what a camera sees; each looks inwards.
 *
 * @param {import('./vendor/three.module.min.js').PerspectiveCamera} camera
 * @param {Float64Array[]} planes
 */
function planesOf(camera, planes) {
  const m = scratch.multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse).elements;
  for (let axis = 0; axis < 3; axis += 1) {
    for (const [side, sign] of [
      [0, 1],
      [1, -1],
    ]) {
      const plane = planes[axis * 2 + side];
      for (let part = 0; part < 4; part += 1)
        plane[part] = m[part * 4 + 3] + sign * m[part * 4 + axis];
      const length = Math.hypot(plane[0], plane[1], plane[2]) || 1;
      for (let part = 0; part < 4; part += 1) plane[part] /= length;
    }
  }
}

/**
 * @param {Float64Array[]} planes
 * @param {number} x
 * @param {number} y
 * @param {number} z
 * @param {number} radius
 */
function isOutside(planes, x, y, z, radius) {
  return planes.some((plane) => plane[0] * x + plane[1] * y + plane[2] * z + plane[3] < -radius);
}

const scratch = new Matrix4();
const size = new Vector3();
const white = new Color(1, 1, 1);
