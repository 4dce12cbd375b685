// @ts-check
/**
 * Reader of grey PNG images of 16 bits, of which browsers show the upper 8 alone. Pure.
 *
 * @module png16
 */

/** Pixels of an image that is read at most. */
const PIXELS_MAX = 1 << 26;
/** Bytes of a file before its first chunk, and of a chunk's head. */
const HEAD = 8;

/**
 * Returns the bytes of a raw image, the lesser one of a pixel first.
 *
 * @param {Uint8Array<ArrayBuffer>} file
 * @returns {Promise<{ width: number, height: number, data: Uint8Array }>}
 */
export async function readGrey16(file) {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const parts = [];
  let width = 0;
  let height = 0;
  for (let at = HEAD; at + 12 <= file.byteLength;) {
    const length = view.getUint32(at);
    const kind = String.fromCharCode(...file.subarray(at + 4, at + HEAD));
    const body = at + HEAD;
    if (body + length + 4 > file.byteLength) throw new RangeError('an image is cut');
    if (kind === 'IHDR') {
      [width, height] = [view.getUint32(body), view.getUint32(body + 4)];
      const [depth, colour, , , interlace] = file.subarray(body + HEAD, body + 13);
      if (depth !== 16 || colour !== 0 || interlace !== 0)
        throw new RangeError('an image is not grey of 16 bits');
    } else if (kind === 'IDAT') {
      parts.push(file.subarray(body, body + length));
    }
    at = body + length + 4;
  }
  if (!(width * height > 0 && width * height <= PIXELS_MAX))
    throw new RangeError('an image has no pixels, or too many');
  const packed = new Blob(parts).stream().pipeThrough(new DecompressionStream('deflate'));
  const rows = new Uint8Array(await new Response(packed).arrayBuffer());
  return { width, height, data: unfiltered(rows, width * 2, height) };
}

/**
 * Takes back what was subtracted from the bytes of each row, and swaps those of each pixel.
 *
 * @param {Uint8Array} rows each with its filter before it
 * @param {number} length of a row without it [bytes]
 * @param {number} height
 */
function unfiltered(rows, length, height) {
  if (rows.length < (length + 1) * height) throw new RangeError('an image is cut');
  /** @type {Uint8Array} */
  let above = new Uint8Array(length);
  const data = new Uint8Array(length * height);
  for (let y = 0; y < height; y += 1) {
    const start = y * (length + 1);
    const row = rows.subarray(start + 1, start + 1 + length);
    unfilter(rows[start], row, above);
    for (let x = 0; x < length; x += 2) {
      data[y * length + x] = row[x + 1];
      data[y * length + x + 1] = row[x];
    }
    above = row;
  }
  return data;
}

/**
 * Takes back what a filter of PNG subtracted from the bytes of a row. Each has a loop of its own,
 * without a call for each byte: an image has a million of them.
 *
 * @param {number} filter
 * @param {Uint8Array} row
 * @param {Uint8Array} above
 */
function unfilter(filter, row, above) {
  const { length } = row;
  if (filter === 1) {
    for (let x = 2; x < length; x += 1) row[x] += row[x - 2];
  } else if (filter === 2) {
    for (let x = 0; x < length; x += 1) row[x] += above[x];
  } else if (filter === 3) {
    for (let x = 0; x < length; x += 1) row[x] += ((x >= 2 ? row[x - 2] : 0) + above[x]) >> 1;
  } else if (filter === 4) {
    for (let x = 0; x < Math.min(2, length); x += 1) row[x] += above[x];
    for (let x = 2; x < length; x += 1) {
      const left = row[x - 2];
      const over = above[x];
      const corner = above[x - 2];
      const toLeft = Math.abs(over - corner);
      const toOver = Math.abs(left - corner);
      const toCorner = Math.abs(left + over - 2 * corner);
      if (toLeft <= toOver && toLeft <= toCorner) row[x] += left;
      else row[x] += toOver <= toCorner ? over : corner;
    }
  }
}
