// Lamps: which of them shine, and which cast shadows.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Vector3 } from '../../vendor/three.module.min.js';
import { Lights } from '../../lights.js';

const lamp = (type, x, castShadows) => ({
  name: type,
  type,
  link: null,
  pose: [x, 0, 3, 0, 0, 0, 1],
  diffuse: [1, 1, 1],
  direction: [0, 0, -1],
  spot: { inner_angle: 0.5, outer_angle: 1 },
  cast_shadows: castShadows,
});
const world = { lights: [lamp('point', 0, false), lamp('point', 5, true), lamp('spot', 9, false)] };

function shining(hasShadows) {
  const lights = new Lights(hasShadows);
  lights.show(world, () => undefined);
  lights.move([], new Vector3());
  const lamps = lights.root.children.filter((one) => one.isPointLight || one.isSpotLight);
  return lamps.map((one) => [one.isPointLight ? 'point' : 'spot', one.position.x, one.castShadow]);
}

test('the nearest lamp that casts shadows has the shadows, and others shine without', () => {
  assert.deepEqual(shining(true).sort(), [
    ['point', 0, false],
    ['point', 5, true],
    ['spot', 9, false],
  ]);
});

test('without a GPU no lamp casts shadows', () => {
  assert.ok(shining(false).every(([, , casts]) => !casts));
});
