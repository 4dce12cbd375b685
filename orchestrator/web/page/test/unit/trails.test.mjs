// Trails of performers, while models come and go.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Trails } from '../../trails.js';

/** Poses of so many slots, all so far along. */
const along = (slots, x) => {
  const shown = new Float64Array(slots * 7);
  for (let slot = 0; slot < slots; slot += 1) shown[slot * 7] = x;
  return shown;
};

/** Returns the number of lines, and the first x of them. */
function drawn(trails, shown) {
  trails.draw(shown, () => [1, 1, 1]);
  const { drawRange, attributes } = trails.lines.geometry;
  return [drawRange.count / 2, attributes.position.array[0]];
}

test('whoever stays keeps its trail, wherever its pose stands now', () => {
  const first = new Trails([
    { slot: 0, link: 7 },
    { slot: 1, link: 8 },
  ]);
  for (const x of [1, 2, 3]) first.grow(along(2, x));
  assert.deepEqual(drawn(first, along(2, 3)), [6, 1]);
  // Link 7 is gone, link 8 has another place, and a new one has come.
  const next = new Trails(
    [
      { slot: 0, link: 8 },
      { slot: 1, link: 9 },
    ],
    first,
  );
  assert.deepEqual(drawn(next, along(2, 3)), [3, 1]);
  next.grow(along(2, 4));
  assert.deepEqual(drawn(next, along(2, 4)), [5, 1]);
  assert.deepEqual(drawn(new Trails([{ slot: 0, link: 8 }]), along(1, 4))[0], 0);
});
