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
  let above = new Uint8Array(length);
  const data = new Uint8Array(length * height);
  for (let y = 0; y < height; y += 1) {
    const start = y * (length + 1);
    const filter = rows[start];
    const row = rows.slice(start + 1, start + 1 + length);
    for (let x = 0; x < length; x += 1) {
      const left = x >= 2 ? row[x - 2] : 0;
      row[x] += expected(filter, left, above[x], x >= 2 ? above[x - 2] : 0);
    }
    for (let x = 0; x < length; x += 2) {
      data[y * length + x] = row[x + 1];
      data[y * length + x + 1] = row[x];
    }
    above = row;
  }
  return data;
}

/**
 * Returns what a filter of PNG expects of a byte.
 *
 * @param {number} filter
 * @param {number} left
 * @param {number} above
 * @param {number} corner left of what is above
 */
function expected(filter, left, above, corner) {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return above;
    case 3:
      return (left + above) >> 1;
    case 4: {
      const guess = left + above - corner;
      const [a, b, c] = [left, above, corner].map((value) => Math.abs(guess - value));
      if (a <= b && a <= c) return left;
      return b <= c ? above : corner;
    }
    default:
      return 0;
  }
}
