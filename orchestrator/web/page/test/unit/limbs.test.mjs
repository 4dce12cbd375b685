// Limbs of actors are at the moment that their script asks for: by time or by the way that the actor
// has covered, and again from the beginning.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LimbClock, momentOf, progress, timeAtX } from '../../limbs.js';

const waypoint = (time_s, position) => ({ time_s, pose: { position } });
const WALK = {
  animation: 'walk',
  waypoints: [waypoint(0, [0, 0, 0]), waypoint(2, [4, 0, 0]), waypoint(3, [4, 3, 0])],
};
const RUN = { animation: 'run', waypoints: [waypoint(3, [4, 3, 0]), waypoint(4, [0, 0, 0])] };
const SCRIPT = { is_loop: true, delay_s: 1, starts_by_itself: true, trajectories: [WALK, RUN] };

/** A file whose root goes 4 m along x within 2 s. */
const position = { name: 'hips.position', times: [0, 1, 2], values: [0, 0, 0, 3, 0, 0, 4, 0, 0] };
const other = { name: 'arm.position', times: [0], values: [0, 0, 0] };
const clip = { duration: 2, tracks: [other, position] };
const file = (names) => ({ scene: null, clips: names.map(() => clip), names, root: 'hips' });
const motion = (script, by_distance = [], scale = 1) => ({ script, by_distance, scale });

test('a script knows its part, its time and the way in it', () => {
  const check = (elapsedS, trajectory, timeS, distance) =>
    assert.deepEqual(progress(SCRIPT, elapsedS), { trajectory, timeS, distance });
  check(0.5, WALK, 0, 0);
  check(2, WALK, 1, 2);
  check(3.5, WALK, 2.5, 5.5);
  check(4.5, RUN, 0.5, 2.5);
  check(5.25, WALK, 0.25, 0.5);
  const still = { ...SCRIPT, starts_by_itself: false };
  assert.deepEqual(progress(still, 2.5), { trajectory: null, timeS: 1.5, distance: 0 });
  const once = { ...SCRIPT, is_loop: false };
  assert.equal(progress(once, 99).timeS, 1, 'it stays at its end');
  const empty = { ...SCRIPT, trajectories: [{ animation: '', waypoints: [] }] };
  assert.equal(progress(empty, 2).trajectory, null);
});

test('an animation is that of the part, or of the file, and begins again', () => {
  const own = file(['', 'run']);
  const walking = momentOf(motion(SCRIPT), own, 3.5);
  assert.deepEqual(walking, { clip: 0, timeS: 0.5, holdsRoot: true });
  assert.deepEqual(momentOf(motion(SCRIPT), own, 4.5), { clip: 1, timeS: 0.5, holdsRoot: true });
  assert.equal(momentOf(motion(SCRIPT), file(['jump']), 2), null);
  const none = { ...SCRIPT, trajectories: [] };
  assert.deepEqual(momentOf(motion(none), own, 4.5), { clip: 0, timeS: 1.5, holdsRoot: false });
});

test('limbs go on with the way that was covered', () => {
  const own = file(['walk']);
  assert.equal(timeAtX(own, 0, 1.5), 0.5);
  assert.equal(timeAtX(own, 0, 4), 2);
  assert.equal(timeAtX(own, 0, 4 + 3.5), 1.5);
  assert.equal(timeAtX(own, 0, Infinity), null);
  assert.equal(timeAtX({ ...own, root: 'arm' }, 0, 1), null, 'it does not get on');
  // 2 m of an actor that is half as large are 4 m of its file.
  assert.equal(momentOf(motion(SCRIPT, ['walk'], 0.5), own, 2)?.timeS, 2);
});

test('the time that is shown reaches what was heard, and no more', () => {
  const clock = new LimbClock();
  clock.take(5, 1000);
  assert.equal(clock.at(1000), 5);
  clock.take(5.1, 1033);
  assert.ok(clock.at(1040) > 5 && clock.at(1040) < 5.1);
  assert.equal(clock.at(2000), 5.1);
  clock.take(0, 2000);
  assert.equal(clock.at(2000), 0, 'a reset');
});
