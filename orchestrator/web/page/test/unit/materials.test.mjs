// Materials: which surfaces shine, and how wide their highlights are.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Materials } from '../../materials.js';

const lights = [{ diffuse: [1, 1, 1], specular: [0.5, 0.5, 0.5] }];

function made(material, isSimple = false) {
  const materials = new Materials(null, isSimple, () => {});
  materials.takeLights(lights);
  return materials.of(materials.surface({ diffuse: [0.5, 0.5, 0.5, 1], ...material }, 0));
}

test('an exponent makes a highlight of the specular colour in the light of the world', () => {
  const found = made({ specular: [1, 0.5, 0, 1], shininess: 30, roughness: 0.5 });
  assert.equal(found.type, 'MeshPhongMaterial');
  assert.equal(found.shininess, 30);
  assert.deepEqual(found.specular.toArray(), [0.125, 0.0625, 0]);
});

test('without an exponent roughness counts, and what has no specular colour is dull', () => {
  const rough = made({ specular: [1, 1, 1, 1], shininess: 0, roughness: 0.3 });
  assert.deepEqual([rough.type, rough.roughness], ['MeshStandardMaterial', 0.3]);
  const dull = made({ specular: [0, 0, 0, 1], shininess: 30, roughness: 0.3 });
  assert.deepEqual([dull.type, dull.roughness], ['MeshStandardMaterial', 0.8]);
});

test('ground has its layers in the shader, by their parts of the image of shares', () => {
  const assets = { texture: (address) => ({ address }) };
  const materials = new Materials(assets, false, () => {});
  const layers = [
    { texture: '/assets/b.png', repeat: 2 },
    { texture: '/assets/c.png', repeat: 0.5 },
  ];
  const ground = { shares: '/assets/s.png', shares_at: [0.5, 0.25, 0.1, 0.2], layers };
  const given = { diffuse: [1, 1, 1, 1], texture: '/assets/a.png', ground };
  const material = materials.of(materials.surface(given, 0, { isMesh: true }));
  const shader = { uniforms: {}, fragmentShader: 'void main() {\n#include <map_fragment>\n}' };
  material.onBeforeCompile(shader);
  assert.equal(shader.uniforms.groundShares.value.address, '/assets/s.png');
  assert.equal(shader.uniforms.groundLayer1.value.address, '/assets/c.png');
  assert.equal(shader.uniforms.groundRepeat0.value, 2);
  assert.match(shader.fragmentShader, /groundLayer0, vMapUv \* groundRepeat0\)\.rgb, groundPart\.r/);
  assert.match(shader.fragmentShader, /groundLayer1, vMapUv \* groundRepeat1\)\.rgb, groundPart\.g/);
  assert.ok(!shader.fragmentShader.includes('groundLayer2'));
});

test('without a GPU nothing shines', () => {
  assert.equal(made({ specular: [1, 1, 1, 1], shininess: 9 }, true).type, 'ShaderMaterial');
});
