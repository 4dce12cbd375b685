// Compares pictures by the mean colours of small areas: edges may be drawn a little differently,
// the same thing in another place or colour may not.

import { readFile } from 'node:fs/promises';
import { load } from './modules.mjs';

const { PNG } = load('pngjs');

/** Width and height of an area [px]. */
const AREA = 8;
/** Difference of a mean colour above which an area differs, 0 to 255. */
const DIFFERS = 14;

export async function compare(foundPath, keptPath) {
  const [found, kept] = (await Promise.all([readFile(foundPath), readFile(keptPath)])).map(
    (bytes) => PNG.sync.read(bytes),
  );
  if (found.width !== kept.width || found.height !== kept.height) {
    throw new Error(`${foundPath} has ${size(found)} pixels instead of ${size(kept)}`);
  }
  let [areas, different, sum] = [0, 0, 0];
  for (let y = 0; y < found.height; y += AREA) {
    for (let x = 0; x < found.width; x += AREA) {
      const [one, other] = [mean(found, x, y), mean(kept, x, y)];
      const distance = Math.max(...one.map((part, index) => Math.abs(part - other[index])));
      areas += 1;
      sum += distance;
      if (distance > DIFFERS) different += 1;
    }
  }
  return { share: different / areas, mean: sum / areas };
}

function size({ width, height }) {
  return `${width} x ${height}`;
}

function mean(image, left, top) {
  const sum = [0, 0, 0];
  let count = 0;
  for (let y = top; y < Math.min(top + AREA, image.height); y += 1) {
    for (let x = left; x < Math.min(left + AREA, image.width); x += 1) {
      for (let part = 0; part < 3; part += 1)
        sum[part] += image.data[(y * image.width + x) * 4 + part];
      count += 1;
    }
  }
  return sum.map((part) => part / count);
}
