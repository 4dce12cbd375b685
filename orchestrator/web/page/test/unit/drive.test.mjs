// Keys that are held become a twist.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { twistOf } from '../../drive.js';

test('held directions add up, opposite ones cancel', () => {
  assert.deepEqual(twistOf(new Set(), 1), { forward: 0, turn: 0 });
  assert.deepEqual(twistOf(new Set(['forward']), 0.5), { forward: 0.5, turn: 0 });
  assert.deepEqual(twistOf(new Set(['forward', 'back']), 0.5), { forward: 0, turn: 0 });
  assert.deepEqual(twistOf(new Set(['left']), 1), { forward: 0, turn: 1.6 });
});

test('backwards, the robot turns as a car does', () => {
  assert.deepEqual(twistOf(new Set(['back', 'left']), 1), { forward: -1, turn: -1.6 });
});
