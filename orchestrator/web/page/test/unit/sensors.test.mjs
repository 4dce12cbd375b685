// Topics of sensors are shown by what tells them apart.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { readGrey16 } from '../../png16.js';
import { shortName } from '../../sensors.js';

test('a sensor is named by its model and itself', () => {
  const base = '/foxglove/world/w/model/robot_1/link/base/sensor/lidar';
  assert.equal(shortName(`${base}/scan`), 'robot_1 lidar');
  assert.equal(shortName(`${base}/scan/points`), 'robot_1 lidar');
  assert.equal(shortName('/foxglove/front/scan'), '/front/scan');
  assert.equal(shortName('/scan'), '/scan');
});

test('a compressed image is named as the image', () => {
  const base = '/world/w/model/robot_1/link/base/sensor/eye';
  assert.equal(shortName(`${base}/image/compressed`), 'robot_1 eye');
  assert.equal(shortName(`${base}/depth_image/compressedDepth`), 'robot_1 eye');
});

/** Returns a PNG file of rows that are filtered already, without checksums. */
function png({ width, height, depth = 16, rows }) {
  const chunk = (kind, body) => {
    const head = Buffer.alloc(4);
    head.writeUInt32BE(body.length);
    return Buffer.concat([head, Buffer.from(kind), body, Buffer.alloc(4)]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = depth;
  const packed = deflateSync(Buffer.from(rows.flat()));
  const parts = [packed.subarray(0, 5), packed.subarray(5)].map((part) => chunk('IDAT', part));
  const all = [Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', header), ...parts];
  return new Uint8Array(Buffer.concat([...all, chunk('IEND', Buffer.alloc(0))]));
}

/** Returns a row as PNG stores it: what a filter expects is subtracted. */
function filtered(filter, row, above) {
  const paeth = (a, b, c) => {
    const [pa, pb, pc] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)];
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
  };
  const bytes = row.map((value, x) => {
    const [a, b, c] = [row[x - 2] ?? 0, above[x], above[x - 2] ?? 0];
    const expected = [0, a, b, Math.floor((a + b) / 2), paeth(a, b, c)][filter];
    return (value - expected + 256) % 256;
  });
  return [filter, ...bytes];
}

test('distances are read from PNG whatever the filters of its rows', async () => {
  const values = [0, 1, 2, 3, 4].map((row) => [250 * row, 65_535 - 9 * row, 4_711 * row]);
  const rows = values.map((row) => row.flatMap((value) => [value >> 8, value & 255]));
  const stored = rows.map((row, y) => filtered(y, row, rows[y - 1] ?? row.map(() => 0)));
  const file = png({ width: 3, height: 5, rows: stored });
  const { width, height, data } = await readGrey16(file);
  assert.deepEqual([width, height], [3, 5]);
  const view = new DataView(data.buffer);
  const found = Array.from({ length: 15 }, (_, index) => view.getUint16(index * 2, true));
  assert.deepEqual(found, values.flat());
});

test('a PNG that is none of distances is refused', async () => {
  const rows = [[0, 1]];
  await assert.rejects(readGrey16(png({ width: 2, height: 1, depth: 8, rows })), RangeError);
  await assert.rejects(readGrey16(png({ width: 2, height: 9, rows })), RangeError);
  await assert.rejects(readGrey16(png({ width: 0, height: 1, rows })), RangeError);
  const cut = png({ width: 2, height: 1, rows }).subarray(0, 40);
  await assert.rejects(readGrey16(cut));
});
