// Pure parts: colours, formats, options, twists, messages of runs, and readers of sensors.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { categoryColour, css, legend, niceCeiling, speedColour } from '../../colours.js';
import { byHost, countOf, isDefaultLevel, isPlaying, readRun, readScene } from '../../contract.js';
import { bytes, duration, fixed, micros, rollPitchYaw, times, whole } from '../../format.js';
import { readOptions, writeOptions } from '../../options.js';
import { NONE } from '../../poses.js';
import { readCloud, readContacts, readRaw, readScan } from '../../sensor_data.js';

test('categories differ, begin again lighter, and nobody is grey', () => {
  const first = Array.from({ length: 45 }, (_, index) => css(categoryColour(index)));
  assert.equal(new Set(first).size, 45);
  assert.equal(css(categoryColour(NONE)), css(categoryColour(-1)));
});

test('neighbouring categories are told apart without red and green', () => {
  // Differences in blue and lightness alone, as people without red or green cones see them.
  for (let index = 0; index < 7; index += 1) {
    for (let other = 0; other < index; other += 1) {
      const [a, b] = [categoryColour(index), categoryColour(other)];
      const light = ([red, green, blue]) => 0.3 * red + 0.59 * green + 0.11 * blue;
      const distance = Math.hypot(light(a) - light(b), a[2] - b[2]);
      assert.ok(distance > 0.07, `${index} and ${other}: ${distance}`);
    }
  }
});

test('speeds grow lighter', () => {
  const light = (speed) => speedColour(speed, 2).reduce((sum, part) => sum + part, 0);
  for (let step = 0; step < 20; step += 1)
    assert.ok(light(step / 10) < light((step + 1) / 10) + 1e-9);
  assert.deepEqual(speedColour(9, 2), speedColour(2, 2));
  assert.deepEqual([0.13, 1, 1.2, 4.9, 70].map(niceCeiling), [0.2, 1, 2, 5, 100]);
});

test('a legend names what is coloured', () => {
  const names = { owners: ['s1', 's2'], levels: ['hall'], fastest: 5 };
  assert.deepEqual(
    legend('owner', names).map((one) => one.label),
    ['s1', 's2'],
  );
  assert.equal(legend('speed', names).at(-1).label, '5 m/s');
  assert.deepEqual(legend('material', names), []);
});

test('figures are written for people', () => {
  assert.equal(fixed(-0.0004, 2), '0.00');
  assert.equal(fixed(undefined, 2), '–');
  assert.equal(whole(1234567), '1\u202f234\u202f567');
  assert.deepEqual([1.5, 61.25, 3725.5].map(duration), ['1.50 s', '1:01.3', '1:02:05.5']);
  assert.deepEqual([640, 2500, 25_000].map(micros), ['640 µs', '2.50 ms', '25.0 ms']);
  assert.equal(bytes(88e6), '88 MB');
  assert.equal(times(12.34), '12.3×');
  const [roll, pitch, yaw] = rollPitchYaw(0, 0, Math.SQRT1_2, Math.SQRT1_2);
  assert.ok(Math.abs(yaw - Math.PI / 2) < 1e-9 && roll === 0 && pitch === 0);
});

test('hosts have their secondaries and the load that is known of them', () => {
  const load = { load_average: 3, cores: 2, memory_bytes: 8e9, available_bytes: 1e9 };
  const secondaries = [
    { name: 's2', host: 'b', host_load: null },
    { name: 's1', host: 'b', host_load: load },
    { name: 's3', host: 'a' },
    { name: 's4' },
  ];
  assert.deepEqual(byHost(secondaries), [
    { host: 'a', secondaries: ['s3'], load: null },
    { host: 'b', secondaries: ['s2', 's1'], load },
  ]);
});

test('options are read from the fragment and what is wrong is left out', () => {
  const options = readOptions(
    '#token=abc&colour=owner&camera=1,2,3,4,5,6&show=levels,trails&theme=dark&quality=best',
  );
  assert.equal(options.token, 'abc');
  assert.equal(options.colour, 'owner');
  assert.deepEqual(options.camera, [1, 2, 3, 4, 5, 6]);
  assert.deepEqual(options.show, ['levels', 'trails']);
  assert.equal(options.quality, 'auto');
  assert.equal(readOptions('#camera=1,2').camera, null);
  assert.equal(readOptions('#colour=red').colour, 'material');
});

test('a link has the view and never the token', () => {
  const link = writeOptions({
    token: 'abc',
    colour: 'level',
    camera: [1, 2, 3, 4, 5, 6],
    show: ['levels'],
    select: 'a b',
  });
  assert.ok(!link.includes('abc'));
  const again = readOptions(link);
  assert.equal(again.colour, 'level');
  assert.equal(again.select, 'a b');
  assert.deepEqual(again.camera, [1, 2, 3, 4, 5, 6]);
});

test('runs have every part, and performers that are not told stay', () => {
  const run = readRun({ run: 'demo', performers: [{ name: 'a' }] });
  assert.equal(run.state, 'waiting');
  assert.deepEqual(run.levels, []);
  assert.equal(readRun({}, run).performers[0].name, 'a');
  assert.deepEqual(readRun({ performers: [] }, run).performers, []);
  assert.ok(isPlaying('running') && !isPlaying('paused'));
  assert.equal(countOf(['a', 'b']), 2);
  assert.deepEqual(readScene({ worlds: [{ world: 'w' }] }).worlds[0].models, []);
});

test('a scan has its hits as points, and gaps where nothing was hit', () => {
  const scan = readScan({
    start_angle: 0,
    end_angle: Math.PI,
    ranges: [1, 2, null, 1e9, 3],
  });
  assert.equal(scan.points.length, 9);
  assert.ok(Math.abs(scan.points[6] + 3) < 1e-6);
  // One triangle: only the first two rays are neighbours that hit.
  assert.equal(scan.fan.length, 9);
});

test('a cloud is read by its fields, and one without positions is refused', () => {
  const data = Buffer.alloc(32);
  [1, 2, 3].forEach((value, axis) => data.writeFloatLE(value, axis * 4));
  data.writeFloatLE(Number.NaN, 16);
  const fields = ['x', 'y', 'z'].map((name, index) => ({ name, offset: index * 4, type: 7 }));
  const cloud = readCloud({ point_stride: 16, fields, data: data.toString('base64') });
  assert.deepEqual([...cloud.points], [1, 2, 3]);
  assert.throws(() => readCloud({ point_stride: 16, fields: [], data: '' }), RangeError);
  assert.throws(() => readCloud({ point_stride: 8, fields, data: '' }), RangeError);
  assert.throws(() => readCloud({ point_stride: 0, fields, data: '' }), RangeError);
});

test('images are read in their encodings', () => {
  const colour = readRaw(
    { width: 1, height: 1, step: 3, encoding: 'bgr8' },
    Uint8Array.from([1, 2, 3]),
  );
  assert.deepEqual([...colour.pixels], [3, 2, 1, 255]);
  const depth = readRaw(
    { width: 2, height: 1, step: 8, encoding: '32FC1' },
    new Uint8Array(Float32Array.from([1, 3]).buffer),
  );
  assert.ok(depth.pixels[0] > depth.pixels[4]);
  assert.equal(depth.note, '1.00 to 3.00 m');
  assert.throws(
    () => readRaw({ width: 2, height: 2, step: 6, encoding: 'rgb8' }, new Uint8Array(3)),
    /cut/,
  );
  assert.throws(
    () => readRaw({ width: 1, height: 1, step: 1, encoding: 'magic' }, new Uint8Array(1)),
    /magic/,
  );
});

test('contacts are lines along normals', () => {
  assert.deepEqual(
    readContacts({ contact: [{ position: [{ x: 1 }], normal: [{ z: 1 }] }] }),
    [1, 0, 0, 1, 0, 0.4],
  );
  assert.deepEqual(readContacts({}), []);
});

test('the level of performers in none is known in one world and in several', () => {
  assert.ok(isDefaultLevel('default') && isDefaultLevel('east::default'));
  assert.ok(!isDefaultLevel('hall') && !isDefaultLevel('east::hall'));
});
