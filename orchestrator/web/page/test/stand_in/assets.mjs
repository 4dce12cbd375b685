// Files that the stand-in's worlds name: a texture and a mesh, made here.

import { load } from '../modules.mjs';

const { PNG } = load('pngjs');

export function checker() {
  const side = 64;
  const image = new PNG({ width: side, height: side });
  for (let y = 0; y < side; y += 1) {
    for (let x = 0; x < side; x += 1) {
      const isDark = ((x >> 4) + (y >> 4)) % 2 === 0;
      image.data.set(isDark ? [120, 88, 56, 255] : [214, 184, 140, 255], (y * side + x) * 4);
    }
  }
  return PNG.sync.write(image);
}

/** A pyramid with its base on z = 0, as GLB. */
export function pyramid() {
  const [a, b, c, d, tip] = [
    [-0.5, -0.5, 0],
    [0.5, -0.5, 0],
    [0.5, 0.5, 0],
    [-0.5, 0.5, 0],
    [0, 0, 0.9],
  ];
  const corners = [a, b, tip, b, c, tip, c, d, tip, d, a, tip].flat();
  const positions = Buffer.from(Float32Array.from(corners).buffer);
  const document = Buffer.from(
    JSON.stringify({
      asset: { version: '2.0' },
      scene: 0,
      scenes: [{ nodes: [0] }],
      nodes: [{ mesh: 0 }],
      materials: [
        {
          pbrMetallicRoughness: {
            baseColorFactor: [0.75, 0.3, 0.5, 1],
            metallicFactor: 0,
            roughnessFactor: 0.6,
          },
        },
      ],
      meshes: [{ primitives: [{ attributes: { POSITION: 0 }, material: 0 }] }],
      accessors: [
        {
          bufferView: 0,
          componentType: 5126,
          count: 12,
          type: 'VEC3',
          min: [-0.5, -0.5, 0],
          max: [0.5, 0.5, 0.9],
        },
      ],
      bufferViews: [{ buffer: 0, byteLength: positions.length }],
      buffers: [{ byteLength: positions.length }],
    }),
  );
  const json = Buffer.concat([document, Buffer.alloc((4 - (document.length % 4)) % 4, 0x20)]);
  const header = Buffer.alloc(12);
  header.write('glTF', 0);
  header.writeUInt32LE(2, 4);
  header.writeUInt32LE(12 + 8 + json.length + 8 + positions.length, 8);
  return Buffer.concat([header, chunk(json, 0x4e4f534a), chunk(positions, 0x004e4942)]);
}

function chunk(bytes, kind) {
  const head = Buffer.alloc(8);
  head.writeUInt32LE(bytes.length, 0);
  head.writeUInt32LE(kind, 4);
  return Buffer.concat([head, bytes]);
}
