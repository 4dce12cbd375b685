// Poses are read from bytes and shown smoothly: between what was heard, never beyond it, and jumps
// at once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NONE, PoseTrack, blend, readPoses } from '../../poses.js';

const STILL = [0, 0, 0, 0, 0, 0, 1];

function message(timeS, entries) {
  const view = new DataView(new ArrayBuffer(20 + entries.length * 60));
  view.setBigUint64(0, BigInt(Math.round(timeS * 1e9)), true);
  view.setBigUint64(8, BigInt(Math.round(timeS * 1000)), true);
  view.setUint32(16, entries.length, true);
  entries.forEach(({ link, owner = 0, level = 0, velocity = [0, 0, 0], pose }, index) => {
    const at = 20 + index * 60;
    view.setUint32(at, link, true);
    view.setUint16(at + 4, owner, true);
    view.setUint16(at + 6, level, true);
    velocity.forEach((part, axis) => view.setFloat32(at + 8 + axis * 4, part, true));
    pose.slice(0, 3).forEach((part, axis) => view.setFloat64(at + 20 + axis * 8, part, true));
    pose.slice(3).forEach((part, axis) => view.setFloat32(at + 44 + axis * 4, part, true));
  });
  return view;
}

function track(links) {
  const made = new PoseTrack();
  made.reset(links.map((id) => ({ id, pose: STILL })));
  return made;
}

test('a message is read field by field', () => {
  const one = readPoses(
    message(1.5, [
      { link: 7, owner: 2, level: 3, velocity: [3, 4, 0], pose: [1, 2, 3, 0, 0, 0, 1] },
    ]),
  );
  assert.equal(one.timeS, 1.5);
  assert.equal(one.iteration, 1500);
  const shown = track([7]);
  shown.take(one, 0);
  shown.advance(1000);
  assert.deepEqual([...shown.shown], [1, 2, 3, 0, 0, 0, 1]);
  assert.equal(shown.speed[0], 5);
  assert.equal(shown.owner[0], 2);
  assert.equal(shown.level[0], 3);
});

test('a message that is cut is refused', () => {
  const whole = message(0, [{ link: 1, pose: STILL }]);
  assert.throws(() => readPoses(new DataView(whole.buffer, 0, 79)), RangeError);
  assert.throws(() => readPoses(new DataView(new ArrayBuffer(10))), RangeError);
});

test('links move between what was heard and never beyond it', () => {
  const shown = track([1]);
  for (let step = 0; step <= 10; step += 1) {
    const x = step * 0.1;
    shown.take(
      readPoses(
        message(step * 0.033, [{ link: 1, velocity: [3, 0, 0], pose: [x, 0, 0, 0, 0, 0, 1] }]),
      ),
      step * 33,
    );
    for (const later of [5, 15, 25, 32]) {
      const before = shown.shown[0];
      shown.advance(step * 33 + later);
      assert.ok(
        shown.shown[0] >= before && shown.shown[0] <= x + 1e-12,
        `${before} ${shown.shown[0]} ${x}`,
      );
    }
  }
  shown.advance(2000);
  assert.ok(Math.abs(shown.shown[0] - 1) < 1e-12);
  assert.ok(!shown.isMoving);
});

test('a jump is shown at once, and so is time that goes back', () => {
  const shown = track([1]);
  shown.take(readPoses(message(1, [{ link: 1, pose: STILL }])), 0);
  shown.take(readPoses(message(1.03, [{ link: 1, pose: [50, 0, 0, 0, 0, 0, 1] }])), 33);
  assert.equal(shown.shown[0], 50);
  shown.take(readPoses(message(0, [{ link: 1, pose: [49.9, 0, 0, 0, 0, 0, 1] }])), 66);
  assert.equal(shown.shown[0], 49.9);
});

test('links that are left out stay, unknown ones are skipped', () => {
  const shown = track([1, 2]);
  shown.take(
    readPoses(
      message(0, [
        { link: 1, pose: [0.1, 0, 0, 0, 0, 0, 1] },
        { link: 9, pose: [8, 8, 8, 0, 0, 0, 1] },
      ]),
    ),
    0,
  );
  shown.take(readPoses(message(0.03, [{ link: 2, pose: [0.2, 0, 0, 0, 0, 0, 1] }])), 33);
  shown.advance(500);
  assert.deepEqual([shown.shown[0], shown.shown[7]], [0.1, 0.2]);
});

test('a new scene keeps where known links are and starts others', () => {
  const shown = track([1, 2]);
  shown.take(readPoses(message(0, [{ link: 2, owner: 4, pose: [3, 0, 0, 0, 0, 0, 1] }])), 0);
  shown.reset([
    { id: 2, pose: STILL },
    { id: 5, pose: [9, 9, 9, 0, 0, 0, 1] },
  ]);
  assert.deepEqual([...shown.shown.slice(0, 3)], [3, 0, 0]);
  assert.deepEqual([...shown.shown.slice(7, 10)], [9, 9, 9]);
  assert.deepEqual([...shown.owner], [4, NONE]);
});

test('what is told of links of another world is known when that is shown', () => {
  const shown = track([1]);
  shown.take(readPoses(message(0, [{ link: 8, owner: 2, pose: [4, 5, 6, 0, 0, 0, 1] }])), 0);
  shown.take(readPoses(message(0.1, [{ link: 1, pose: [1, 0, 0, 0, 0, 0, 1] }])), 100);
  shown.reset([{ id: 8, pose: STILL }]);
  assert.deepEqual([...shown.shown.slice(0, 3)], [4, 5, 6]);
  assert.deepEqual([...shown.owner], [2]);
  shown.reset([{ id: 1, pose: STILL }]);
  assert.deepEqual([...shown.shown.slice(0, 3)], [1, 0, 0]);
  shown.keepOnly(new Set([1]));
  shown.reset([{ id: 8, pose: STILL }]);
  assert.deepEqual([...shown.shown.slice(0, 3)], [0, 0, 0]);
});

test('quaternions go the shorter way and stay of unit length', () => {
  const half = Math.SQRT1_2;
  const from = Float64Array.from([0, 0, 0, 0, 0, half, half]);
  const to = Float64Array.from([0, 0, 0, 0, 0, -half, -half]);
  const out = new Float64Array(7);
  blend(from, to, out, 0, 0.5);
  assert.ok(Math.abs(Math.abs(out[5] * half + out[6] * half) - 1) < 1e-12);
  assert.ok(Math.abs(Math.hypot(...out.slice(3)) - 1) < 1e-12);
});
