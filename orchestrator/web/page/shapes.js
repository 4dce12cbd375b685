// @ts-check
/**
 * Geometries of shapes. Shapes that differ only in size share one of unit size and differ in scale,
 * so that a thousand boxes are one instanced mesh.
 *
 * @module shapes
 */

import {
  BoxGeometry,
  CapsuleGeometry,
  ConeGeometry,
  CylinderGeometry,
  Matrix4,
  PlaneGeometry,
  Quaternion,
  SphereGeometry,
  Vector3,
} from './vendor/three.module.min.js';

/** @typedef {import('./vendor/three.module.min.js').BufferGeometry} BufferGeometry */
/** @typedef {import('./contract.js').Geometry} Geometry */

/**
 * @typedef {object} UnitShape
 * @property {string} key equal for shapes that share a geometry
 * @property {() => BufferGeometry} make
 * @property {Matrix4} matrix from the unit shape to the shape
 */

/** @type {Map<string, BufferGeometry>} */
const made = new Map();
/** Segments around round shapes, and from pole to pole of balls. */
let segments = { around: 32, along: 20 };
/** Number of shapes in a world from which round ones are coarser. */
const MANY = 1500;
/** Number up to which they are fine also where a processor draws. */
const FEW = 100;

/**
 * Chooses how fine round shapes are: corners cost most where a processor draws them.
 *
 * @param {number} count of shapes in the world
 * @param {boolean} isSoftware
 */
export function chooseDetail(count, isSoftware) {
  const isMany = count > MANY;
  const before = segments.around;
  if (isSoftware && count <= FEW) segments = { around: 28, along: 18 };
  else if (isSoftware) segments = isMany ? { around: 8, along: 5 } : { around: 16, along: 10 };
  else segments = isMany ? { around: 20, along: 12 } : { around: 32, along: 20 };
  if (segments.around !== before) made.clear();
}

/**
 * Returns the shared geometry of a unit shape.
 *
 * @param {UnitShape} shape
 */
export function geometryOf(shape) {
  let geometry = made.get(shape.key);
  if (!geometry) {
    geometry = shape.make();
    made.set(shape.key, geometry);
  }
  return geometry;
}

/**
 * Returns the unit shape of a shape, or null for meshes, heightmaps and what is not drawn.
 *
 * @param {Geometry} geometry
 * @returns {UnitShape | null}
 */
export function unitShape(geometry) {
  const { type, size = [1, 1, 1], radius = 1, length = 1 } = geometry;
  switch (type) {
    case 'box':
      return scaled('box', () => new BoxGeometry(1, 1, 1), size[0], size[1], size[2]);
    case 'sphere':
      return scaled('sphere', makeSphere, radius, radius, radius);
    case 'ellipsoid': {
      const [x, y, z] = geometry.radii ?? [1, 1, 1];
      return scaled('sphere', makeSphere, x, y, z);
    }
    case 'cylinder':
      return scaled('cylinder', makeCylinder, radius, radius, length);
    case 'cone':
      return scaled(
        'cone',
        () => upright(new ConeGeometry(1, 1, segments.around)),
        radius,
        radius,
        length,
      );
    case 'capsule': {
      const make = () =>
        upright(new CapsuleGeometry(radius, length, segments.along >> 1, segments.around));
      return { key: `capsule ${radius} ${length}`, make, matrix: new Matrix4() };
    }
    case 'plane': {
      const normal = new Vector3(...(geometry.normal ?? [0, 0, 1])).normalize();
      const turn = new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), normal);
      const matrix = new Matrix4().compose(new Vector3(), turn, new Vector3(size[0], size[1], 1));
      return { key: 'plane', make: () => new PlaneGeometry(1, 1), matrix };
    }
    default:
      return null;
  }
}

/**
 * @param {string} key
 * @param {() => BufferGeometry} make
 * @param {number} x
 * @param {number} y
 * @param {number} z
 * @returns {UnitShape}
 */
function scaled(key, make, x, y, z) {
  return { key, make, matrix: new Matrix4().makeScale(x, y, z) };
}

function makeSphere() {
  return upright(new SphereGeometry(1, segments.around, segments.along));
}

function makeCylinder() {
  return upright(new CylinderGeometry(1, 1, 1, segments.around));
}

/**
 * Turns the axis of a geometry from y to z.
 *
 * @param {BufferGeometry} geometry
 */
function upright(geometry) {
  return geometry.rotateX(Math.PI / 2);
}

/**
 * Returns the matrix of a pose.
 *
 * @param {ArrayLike<number>} pose
 * @param {number} [at] index of its first number
 * @param {Matrix4} [out]
 */
export function matrixOf(pose, at = 0, out = new Matrix4()) {
  position.set(pose[at], pose[at + 1], pose[at + 2]);
  quaternion.set(pose[at + 3], pose[at + 4], pose[at + 5], pose[at + 6]);
  return out.compose(position, quaternion, one);
}

const position = new Vector3();
const quaternion = new Quaternion();
const one = new Vector3(1, 1, 1);
