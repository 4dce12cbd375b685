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
  return glb(
    {
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
    },
    positions,
  );
}

/** An upright plate, as GLB, that a bone carries from x = -1.5 m to 1.5 m and back within 2 s. */
export function walker() {
  const floats = (numbers) => Buffer.from(Float32Array.from(numbers).buffer);
  const identity = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
  const parts = [
    floats([-0.5, 0, 0, 0.5, 0, 0, 0.5, 0, 1.5, -0.5, 0, 1.5]),
    floats([0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0]),
    Buffer.from(Uint16Array.from([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]).buffer),
    floats([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]),
    Buffer.from(Uint32Array.from([0, 1, 2, 0, 2, 3]).buffer),
    floats([...identity, ...identity]),
    floats([0, 1, 2]),
    floats([-1.5, 0, 0, 1.5, 0, 0, -1.5, 0, 0]),
  ];
  let end = 0;
  const bufferViews = parts.map((part) => {
    const byteOffset = end;
    end += part.length;
    return { buffer: 0, byteOffset, byteLength: part.length };
  });
  const accessor = (bufferView, componentType, count, type, more = {}) => ({
    bufferView,
    componentType,
    count,
    type,
    ...more,
  });
  return glb(
    {
      asset: { version: '2.0' },
      scene: 0,
      scenes: [{ nodes: [0, 1] }],
      nodes: [{ mesh: 0, skin: 0 }, { name: 'hips', children: [2] }, { name: 'arm' }],
      skins: [{ joints: [1, 2], inverseBindMatrices: 5, skeleton: 1 }],
      animations: [
        {
          name: '',
          channels: [{ sampler: 0, target: { node: 2, path: 'translation' } }],
          samplers: [{ input: 6, output: 7 }],
        },
      ],
      materials: [
        {
          doubleSided: true,
          emissiveFactor: [0.9, 0, 0],
          pbrMetallicRoughness: { baseColorFactor: [0.9, 0.05, 0.05, 1], metallicFactor: 0 },
        },
      ],
      meshes: [
        {
          primitives: [
            {
              attributes: { POSITION: 0, NORMAL: 1, JOINTS_0: 2, WEIGHTS_0: 3 },
              indices: 4,
              material: 0,
            },
          ],
        },
      ],
      accessors: [
        accessor(0, 5126, 4, 'VEC3', { min: [-0.5, 0, 0], max: [0.5, 0, 1.5] }),
        accessor(1, 5126, 4, 'VEC3'),
        accessor(2, 5123, 4, 'VEC4'),
        accessor(3, 5126, 4, 'VEC4'),
        accessor(4, 5125, 6, 'SCALAR'),
        accessor(5, 5126, 2, 'MAT4'),
        accessor(6, 5126, 3, 'SCALAR', { min: [0], max: [2] }),
        accessor(7, 5126, 3, 'VEC3'),
      ],
      bufferViews,
      buffers: [{ byteLength: end }],
    },
    Buffer.concat(parts),
  );
}

/** Returns a file of a document and the bytes that it names. */
function glb(content, bytes) {
  const document = Buffer.from(JSON.stringify(content));
  const json = Buffer.concat([document, Buffer.alloc((4 - (document.length % 4)) % 4, 0x20)]);
  const header = Buffer.alloc(12);
  header.write('glTF', 0);
  header.writeUInt32LE(2, 4);
  header.writeUInt32LE(12 + 8 + json.length + 8 + bytes.length, 8);
  return Buffer.concat([header, chunk(json, 0x4e4f534a), chunk(bytes, 0x004e4942)]);
}

function chunk(bytes, kind) {
  const head = Buffer.alloc(8);
  head.writeUInt32LE(bytes.length, 0);
  head.writeUInt32LE(kind, 4);
  return Buffer.concat([head, bytes]);
}
