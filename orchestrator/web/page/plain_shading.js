// @ts-check
/**
 * Shading for a processor without GPU: light is computed at corners and not at pixels, of which
 * each is then a mixture with the fog and no more. Textures, shadows and gloss need the others.
 *
 * @module plain_shading
 */

import {
  Color,
  DoubleSide,
  FrontSide,
  ShaderMaterial,
  SRGBColorSpace,
  Vector2,
  Vector3,
} from './vendor/three.module.min.js';

/** Lamps, and lights from far away, that shine at most. */
export const LAMPS_MAX = 4;

const VERTEX = `
uniform vec3 sunWays[${LAMPS_MAX}];
uniform vec3 sunLights[${LAMPS_MAX}];
uniform int suns;
uniform vec3 skyLight;
uniform vec3 groundLight;
uniform vec3 glow;
uniform vec3 lampPlaces[${LAMPS_MAX}];
uniform vec3 lampLights[${LAMPS_MAX}];
uniform vec3 lampWays[${LAMPS_MAX}];
uniform vec2 lampCones[${LAMPS_MAX}];
uniform int lamps;
varying vec3 vColour;
varying float vDepth;

vec3 shown(vec3 light) {
  vec3 some = clamp(light, 0.0, 1.0);
  return mix(some * 12.92, 1.055 * pow(some, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, some));
}

void main() {
  mat3 turn = mat3(instanceMatrix);
  vec3 scales = vec3(dot(turn[0], turn[0]), dot(turn[1], turn[1]), dot(turn[2], turn[2]));
  vec3 up = normalize(turn * (normal / scales));
  vec4 place = modelMatrix * instanceMatrix * vec4(position, 1.0);
#ifdef IS_DOUBLE
  up = dot(up, cameraPosition - place.xyz) < 0.0 ? -up : up;
#endif
  vec3 light = mix(groundLight, skyLight, 0.5 * up.z + 0.5);
  for (int index = 0; index < ${LAMPS_MAX}; index += 1) {
    if (index >= suns) break;
    light += sunLights[index] * max(dot(up, sunWays[index]), 0.0);
  }
  for (int index = 0; index < ${LAMPS_MAX}; index += 1) {
    if (index >= lamps) break;
    vec3 way = lampPlaces[index] - place.xyz;
    float distance = max(length(way), 0.01);
    way /= distance;
    vec2 cone = lampCones[index];
    float lit = smoothstep(cone.x, cone.y, -dot(way, lampWays[index]));
    light += lampLights[index] * lit * max(dot(up, way), 0.0) / (distance * distance);
  }
  vColour = shown(instanceColor * light + glow);
  vec4 seen = viewMatrix * place;
  vDepth = -seen.z;
  gl_Position = projectionMatrix * seen;
}
`;

const FRAGMENT = `
uniform vec3 fogColour;
uniform vec2 fogRange;
uniform float fogDensity;
uniform float opacity;
varying vec3 vColour;
varying float vDepth;

void main() {
  float fog = fogDensity > 0.0
    ? 1.0 - exp(-fogDensity * fogDensity * vDepth * vDepth)
    : smoothstep(fogRange.x, fogRange.y, vDepth);
  gl_FragColor = vec4(mix(vColour, fogColour, fog), opacity);
}
`;

export class PlainShading {
  /** Light and fog, the same for all materials. */
  #shared = {
    sunWays: { value: Array.from({ length: LAMPS_MAX }, () => new Vector3(0, 0, 1)) },
    sunLights: { value: Array.from({ length: LAMPS_MAX }, () => new Vector3()) },
    suns: { value: 0 },
    skyLight: { value: new Vector3() },
    groundLight: { value: new Vector3() },
    lampPlaces: { value: Array.from({ length: LAMPS_MAX }, () => new Vector3()) },
    lampLights: { value: Array.from({ length: LAMPS_MAX }, () => new Vector3()) },
    lampWays: { value: Array.from({ length: LAMPS_MAX }, () => new Vector3()) },
    /** Cosines of half the angles of cones: outside and within. */
    lampCones: { value: Array.from({ length: LAMPS_MAX }, () => new Vector2(-3, -2)) },
    lamps: { value: 0 },
    fogColour: { value: new Vector3() },
    fogRange: { value: [60, 400] },
    fogDensity: { value: 0 },
  };

  /**
   * Makes a material of instances with colours.
   *
   * @param {{ opacity: number, glow: Color, isDouble: boolean, isPlane: boolean }} look
   */
  material({ opacity, glow, isDouble, isPlane }) {
    return new ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      defines: isDouble ? { IS_DOUBLE: '' } : {},
      uniforms: { ...this.#shared, glow: { value: glow }, opacity: { value: opacity } },
      side: isDouble ? DoubleSide : FrontSide,
      transparent: opacity < 1,
      depthWrite: opacity >= 1,
      polygonOffset: isPlane,
      polygonOffsetFactor: 1,
      polygonOffsetUnits: 4,
    });
  }

  /**
   * Takes light and fog of a scene, as other materials have them from the renderer.
   *
   * @param {import('./lights.js').Lights} lights
   * @param {any} fog of three.js
   */
  update(lights, fog) {
    const shared = this.#shared;
    lights.lightUp(shared);
    if (!fog) return;
    fog.color.getRGB(rgb, SRGBColorSpace);
    shared.fogColour.value.set(rgb.r, rgb.g, rgb.b);
    shared.fogDensity.value = fog.density ?? 0;
    shared.fogRange.value = [fog.near ?? 0, fog.far ?? 1];
  }
}

const rgb = { r: 0, g: 0, b: 0 };
