// Shapes share geometries of unit size and are scaled to theirs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Box3, Vector3 } from '../../vendor/three.module.min.js';
import { geometryOf, matrixOf, unitShape } from '../../shapes.js';

function size(geometry) {
  const unit = unitShape(geometry);
  const shape = geometryOf(unit).clone().applyMatrix4(unit.matrix);
  shape.computeBoundingBox();
  return new Box3().copy(shape.boundingBox).getSize(new Vector3()).toArray();
}

function near(found, wanted) {
  found.forEach((value, axis) =>
    assert.ok(Math.abs(value - wanted[axis]) < 0.02, `${found} instead of ${wanted}`),
  );
}

test('each shape has its size, with its axis along z', () => {
  near(size({ type: 'box', size: [1, 2, 3] }), [1, 2, 3]);
  near(size({ type: 'sphere', radius: 0.5 }), [1, 1, 1]);
  near(size({ type: 'ellipsoid', radii: [1, 0.5, 0.25] }), [2, 1, 0.5]);
  near(size({ type: 'cylinder', radius: 0.5, length: 3 }), [1, 1, 3]);
  near(size({ type: 'cone', radius: 0.5, length: 3 }), [1, 1, 3]);
  near(size({ type: 'capsule', radius: 0.5, length: 2 }), [1, 1, 3]);
  near(size({ type: 'plane', normal: [0, 0, 1], size: [4, 5] }), [4, 5, 0]);
  near(size({ type: 'plane', normal: [1, 0, 0], size: [4, 5] }).slice(0, 1), [0]);
});

test('a cone has its tip at +z', () => {
  const positions = geometryOf(unitShape({ type: 'cone', radius: 1, length: 1 })).getAttribute(
    'position',
  );
  for (let index = 0; index < positions.count; index += 1) {
    if (positions.getZ(index) > 0.49)
      assert.ok(Math.hypot(positions.getX(index), positions.getY(index)) < 1e-6);
  }
});

test('equal shapes share a geometry, meshes and nothing have none', () => {
  const one = unitShape({ type: 'box', size: [1, 2, 3] });
  const other = unitShape({ type: 'box', size: [3, 2, 1] });
  assert.equal(geometryOf(one), geometryOf(other));
  assert.equal(unitShape({ type: 'mesh', asset: '/assets/a.glb' }), null);
  assert.equal(unitShape({ type: 'empty' }), null);
});

test('a pose is a matrix', () => {
  const half = Math.SQRT1_2;
  const turned = new Vector3(1, 0, 0).applyMatrix4(matrixOf([1, 2, 3, 0, 0, half, half]));
  near(turned.toArray(), [1, 3, 3]);
});
