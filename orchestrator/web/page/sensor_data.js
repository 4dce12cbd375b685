// @ts-check
/**
 * Readers of sensor messages: from JSON of Foxglove's schemas to points and pixels. Pure.
 *
 * @module sensor_data
 */

import { readGrey16 } from './png16.js';
import { readBytes } from './wire.js';

/** Readers of numbers, by Foxglove's numeric types. */
const NUMBERS = /** @type {Record<number, [number, (view: DataView, at: number) => number]>} */ ({
  1: [1, (view, at) => view.getUint8(at)],
  2: [1, (view, at) => view.getInt8(at)],
  3: [2, (view, at) => view.getUint16(at, true)],
  4: [2, (view, at) => view.getInt16(at, true)],
  5: [4, (view, at) => view.getUint32(at, true)],
  6: [4, (view, at) => view.getInt32(at, true)],
  7: [4, (view, at) => view.getFloat32(at, true)],
  8: [8, (view, at) => view.getFloat64(at, true)],
});
/** Points of a cloud that are drawn at most. */
const POINTS_MAX = 300_000;
/** Range from which a ray has hit nothing: JSON has no infinity [m]. */
const RANGE_MAX_M = 1e6;

/**
 * @typedef {object} PointData
 * @property {Float32Array} points
 * @property {Float32Array | null} fan triangles that rays swept
 * @property {Float32Array | null} colours
 */

/**
 * @typedef {object} Picture
 * @property {number} width [px]
 * @property {number} height [px]
 * @property {Uint8ClampedArray<ArrayBuffer> | null} pixels
 * @property {ImageBitmap | null} bitmap
 * @property {string} note
 */

/**
 * @typedef {object} Depth encoding of one number per pixel
 * @property {number} bytes per pixel
 * @property {number} unit factor to the unit of the suffix
 * @property {string} suffix
 * @property {(view: DataView, at: number) => number} read
 */

/**
 * Reads a scan: its hits as points, and the area that its rays swept as triangles.
 *
 * @param {any} message foxglove.LaserScan
 * @returns {PointData}
 */
export function readScan(message) {
  const ranges = /** @type {(number | null | string)[]} */ (message.ranges ?? []);
  const { start_angle: start = 0, end_angle: end = 0 } = message;
  const step = ranges.length > 1 ? (end - start) / (ranges.length - 1) : 0;
  const points = [];
  const fan = [];
  /** @type {[number, number] | null} */
  let last = null;
  for (let index = 0; index < ranges.length; index += 1) {
    const range = Number(ranges[index] ?? Number.NaN);
    if (!(range > 0 && range < RANGE_MAX_M)) {
      last = null;
      continue;
    }
    const angle = start + index * step;
    /** @type {[number, number]} */
    const hit = [range * Math.cos(angle), range * Math.sin(angle)];
    points.push(hit[0], hit[1], 0);
    if (last) fan.push(0, 0, 0, last[0], last[1], 0, hit[0], hit[1], 0);
    last = hit;
  }
  return { points: Float32Array.from(points), fan: Float32Array.from(fan), colours: null };
}

/**
 * Reads a point cloud; beyond the limit, evenly chosen points are left out.
 *
 * @param {any} message foxglove.PointCloud
 * @returns {PointData}
 */
export function readCloud(message) {
  const data = readBytes(message.data ?? '');
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const stride = Number(message.point_stride);
  if (!(stride > 0)) throw new RangeError('a point of a cloud has no size');
  const fields = new Map(
    (message.fields ?? []).map((/** @type {any} */ field) => [field.name, field]),
  );
  const readers = ['x', 'y', 'z'].map((name) => reader(fields.get(name), stride));
  const colour = ['red', 'green', 'blue'].map((name) =>
    fields.has(name) ? reader(fields.get(name), stride) : null,
  );
  const total = Math.floor(view.byteLength / stride);
  const skip = Math.max(1, Math.ceil(total / POINTS_MAX));
  const points = [];
  const colours = [];
  for (let index = 0; index < total; index += skip) {
    const at = index * stride;
    const place = readers.map((read) => read(view, at));
    if (!place.every(Number.isFinite)) continue;
    points.push(...place);
    if (colour[0]) colours.push(...colour.map((read) => (read ? read(view, at) / 255 : 0)));
  }
  return {
    points: Float32Array.from(points),
    fan: null,
    colours: colours.length > 0 ? Float32Array.from(colours) : null,
  };
}

/**
 * @param {any} field
 * @param {number} stride
 */
function reader(field, stride) {
  const found = NUMBERS[field?.type];
  if (!found) throw new RangeError('a cloud has no x, y and z');
  const [size, read] = found;
  if (field.offset + size > stride)
    throw new RangeError(`field ${field.name} is outside of its point`);
  return (/** @type {DataView} */ view, /** @type {number} */ at) => read(view, at + field.offset);
}

/**
 * Reads an image.
 *
 * @param {any} message foxglove.RawImage or foxglove.CompressedImage
 * @param {string} schemaName
 * @returns {Promise<Picture>}
 */
export async function readImage(message, schemaName) {
  const data = readBytes(message.data ?? '');
  if (DEPTHS[message.encoding] && message.format === 'png') {
    const image = await readGrey16(data);
    const raw = { ...image, step: image.width * 2, encoding: message.encoding };
    return { bitmap: null, ...readRaw(raw, image.data) };
  }
  if (schemaName === 'foxglove.CompressedImage') {
    const bitmap = await createImageBitmap(new Blob([data], { type: `image/${message.format}` }));
    return { width: bitmap.width, height: bitmap.height, pixels: null, bitmap, note: '' };
  }
  return { bitmap: null, ...readRaw(message, data) };
}

/**
 * Turns the bytes of a raw image into pixels; depths become grey, from near and light to far and
 * dark.
 *
 * @param {{ width: number, height: number, step: number, encoding: string }} message
 * @param {Uint8Array} data
 */
export function readRaw(message, data) {
  const { width, height, step, encoding } = message;
  if (data.byteLength < step * height) throw new RangeError('an image is cut');
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const pixels = new Uint8ClampedArray(width * height * 4);
  const colour = COLOURS[encoding];
  if (colour) {
    each(width, height, (at, x, y) => {
      const from = y * step + x * colour.bytes;
      for (let part = 0; part < 3; part += 1) pixels[at + part] = data[from + colour.order[part]];
      pixels[at + 3] = 255;
    });
    return { width, height, pixels, note: '' };
  }
  const depth = DEPTHS[encoding];
  if (!depth) throw new RangeError(`images of encoding ${encoding} are not known`);
  const [least, most] = limits(width, height, (x, y) =>
    depth.read(view, y * step + x * depth.bytes),
  );
  each(width, height, (at, x, y) => {
    const value = depth.read(view, y * step + x * depth.bytes);
    const grey =
      Number.isFinite(value) && value > 0
        ? 235 - (200 * (value - least)) / (most - least || 1)
        : 12;
    pixels.fill(grey, at, at + 3);
    pixels[at + 3] = 255;
  });
  const note =
    most > least
      ? `${(least * depth.unit).toFixed(2)} to ${(most * depth.unit).toFixed(2)}${depth.suffix}`
      : '';
  return { width, height, pixels, note };
}

/** Encodings of colours: bytes per pixel, places of red, green and blue. */
const COLOURS = /** @type {Record<string, { bytes: number, order: number[] }>} */ ({
  rgb8: { bytes: 3, order: [0, 1, 2] },
  bgr8: { bytes: 3, order: [2, 1, 0] },
  rgba8: { bytes: 4, order: [0, 1, 2] },
  bgra8: { bytes: 4, order: [2, 1, 0] },
  mono8: { bytes: 1, order: [0, 0, 0] },
  '8UC1': { bytes: 1, order: [0, 0, 0] },
  '8UC3': { bytes: 3, order: [2, 1, 0] },
});

/** Encodings of one number per pixel. */
const DEPTHS = /** @type {Record<string, Depth>} */ ({
  '32FC1': { bytes: 4, unit: 1, suffix: ' m', read: (view, at) => view.getFloat32(at, true) },
  '16UC1': { bytes: 2, unit: 0.001, suffix: ' m', read: (view, at) => view.getUint16(at, true) },
  mono16: { bytes: 2, unit: 1, suffix: '', read: (view, at) => view.getUint16(at, true) },
});

/**
 * @param {number} width
 * @param {number} height
 * @param {(at: number, x: number, y: number) => void} visit
 */
function each(width, height, visit) {
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) visit((y * width + x) * 4, x, y);
  }
}

/**
 * @param {number} width
 * @param {number} height
 * @param {(x: number, y: number) => number} value
 */
function limits(width, height, value) {
  let least = Infinity;
  let most = -Infinity;
  each(width, height, (_, x, y) => {
    const one = value(x, y);
    if (!Number.isFinite(one) || one <= 0) return;
    least = Math.min(least, one);
    most = Math.max(most, one);
  });
  return most >= least ? [least, most] : [0, 0];
}

/**
 * Reads contacts: for each point a line along its normal.
 *
 * @param {any} message gz.msgs.Contacts
 * @returns {number[]} start and end of each line, world frame [m]
 */
export function readContacts(message) {
  /** @type {number[]} */
  const lines = [];
  for (const contact of message.contact ?? []) {
    (contact.position ?? []).forEach((/** @type {any} */ point, /** @type {number} */ index) => {
      const normal = contact.normal?.[index] ?? contact.normal?.[0] ?? { z: 1 };
      const at = [point.x ?? 0, point.y ?? 0, point.z ?? 0];
      lines.push(
        ...at,
        at[0] + 0.4 * (normal.x ?? 0),
        at[1] + 0.4 * (normal.y ?? 0),
        at[2] + 0.4 * (normal.z ?? 0),
      );
    });
  }
  return lines;
}
