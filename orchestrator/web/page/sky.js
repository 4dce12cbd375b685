// @ts-check
/**
 * The sky of a world: from the horizon upwards, by the hour of its day.
 *
 * @module sky
 */

import {
  BackSide,
  Color,
  Mesh,
  ShaderMaterial,
  SphereGeometry,
} from './vendor/three.module.min.js';

/** Colours at the horizon and overhead: by day, at dawn and dusk, at night. */
const COLOURS = {
  day: ['#d3e1ee', '#6b9bd1'],
  dusk: ['#eec39a', '#6c7aa8'],
  night: ['#1c2636', '#0b1220'],
};
/** Hours before and after sunrise and sunset in which it dawns. */
const DUSK_H = 1;
/** Hours of a world that says none. */
const DAY = { time: 10, sunrise: 6, sunset: 20 };

const VERTEX = `
varying vec3 vWay;
void main() {
  vWay = position;
  gl_Position = projectionMatrix * mat4(mat3(viewMatrix)) * vec4(position, 1.0);
  gl_Position.z = gl_Position.w * 0.99999;
}
`;
const FRAGMENT = `
uniform vec3 horizon;
uniform vec3 zenith;
varying vec3 vWay;
void main() {
  float up = clamp(normalize(vWay).z, 0.0, 1.0);
  gl_FragColor = vec4(mix(horizon, zenith, sqrt(up)), 1.0);
}
`;

export class Sky {
  mesh;
  #colours = { horizon: { value: new Color() }, zenith: { value: new Color() } };

  constructor() {
    const material = new ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: this.#colours,
      side: BackSide,
      depthWrite: false,
    });
    this.mesh = new Mesh(new SphereGeometry(1, 32, 16), material);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = -10;
    this.mesh.visible = false;
  }

  /**
   * Takes the sky of a world.
   *
   * @param {import('./contract.js').World['sky']} sky
   */
  show(sky) {
    const { time, sunrise, sunset } = { ...DAY, ...sky };
    const nearest = Math.min(Math.abs(time - sunrise), Math.abs(time - sunset));
    const isDay = time > sunrise && time < sunset;
    // 1 at the edge of the day, 0 an hour from it.
    const dusk = Math.max(1 - nearest / DUSK_H, 0);
    const [low, high] = isDay ? COLOURS.day : COLOURS.night;
    // Written as screens show them: nothing else shades it.
    paint(this.#colours.horizon.value, low, COLOURS.dusk[0], dusk);
    paint(this.#colours.zenith.value, high, COLOURS.dusk[1], dusk);
  }

  /** Colour at the horizon, which fog without one of its own takes. */
  get horizon() {
    const { r, g, b } = this.#colours.horizon.value;
    return new Color().setRGB(r, g, b, 'srgb');
  }
}

/**
 * @param {Color} out
 * @param {string} from
 * @param {string} to
 * @param {number} part
 */
function paint(out, from, to, part) {
  const [a, b] = [channels(from), channels(to)];
  const [red, green, blue] = a.map((one, index) => one + (b[index] - one) * part);
  // No conversion: the numbers stay those of the screen.
  out.r = red;
  out.g = green;
  out.b = blue;
}

/** @param {string} hex */
function channels(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
}
