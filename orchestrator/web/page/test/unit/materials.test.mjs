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

test('without a GPU nothing shines', () => {
  assert.equal(made({ specular: [1, 1, 1, 1], shininess: 9 }, true).type, 'ShaderMaterial');
});
