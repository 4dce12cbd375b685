// Lights: which of them shine, where to, and which cast shadows.

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

/** Shows a world, and returns its suns and its light from everywhere. */
function far(of, slotOf = () => undefined, shown = []) {
  const lights = new Lights(true);
  lights.show({ lights: [], ...of }, slotOf);
  lights.move(shown, new Vector3());
  lights.follow(new Vector3(), 10);
  const { children } = lights.root;
  const suns = children.filter((one) => one.isDirectionalLight);
  return { suns, sky: children.find((one) => one.isHemisphereLight) };
}

const sun = (more) => ({ ...lamp('directional', 0, true), ...more });
/** The direction in which a sun shines, to two places. */
const aim = ({ position, target }) =>
  target.position
    .clone()
    .sub(position)
    .normalize()
    .toArray()
    .map((part) => Math.round(part * 100) / 100 + 0);

test('a world has a sun of the page only where it has no light at all', () => {
  assert.equal(far({}).suns.length, 1);
  assert.equal(far(world).suns.length, 0);
  assert.equal(far({ lights: [sun(), sun()] }).suns.length, 2);
});

test('light from everywhere is as much as the world says, in its colour', () => {
  const strength = (ambient) => far({ ambient }).sky.intensity;
  assert.equal(strength([0, 0, 0]), 0);
  assert.equal(strength([0.4, 0.4, 0.4]), strength(undefined));
  assert.ok(strength([0.2, 0.2, 0.2]) < 0.6 * strength(undefined));
  assert.ok(strength([1, 1, 1]) > 1.2 * strength(undefined));
  const { color } = far({ ambient: [0.4, 0, 0] }).sky;
  assert.ok(color.r > 0.9 && color.g === 0 && color.b === 0);
});

test('a world without shadows has none', () => {
  const casting = (shadows) => far({ shadows, lights: [sun()] }).suns[0].castShadow;
  assert.deepEqual([undefined, true, false].map(casting), [true, true, false]);
  const lights = new Lights(true);
  lights.show({ ...world, shadows: false }, () => undefined);
  assert.ok(lights.root.children.every((one) => !one.castShadow));
});

test('a light from far away turns with its link', () => {
  const half = Math.SQRT1_2;
  const shown = [...[0, 0, 0, 0, 0, 0, 1], ...[5, 0, 2, half, 0, 0, half]];
  const { suns } = far({ lights: [sun({ link: 3, pose: [0, 0, 0, 0, 0, 0, 1] })] }, () => 1, shown);
  assert.deepEqual(aim(suns[0]), [0, 1, 0]);
  assert.deepEqual(aim(far({ lights: [sun()] }).suns[0]), [0, 0, -1]);
});
