// @ts-check
/**
 * Lights of a world, as far as they matter: its sun, with shadows around what is looked at, up to
 * four lamps, and light from everywhere. A world without lights has a sun of the page's own.
 *
 * @module lights
 */

import {
  Color,
  DirectionalLight,
  Group,
  HemisphereLight,
  PointLight,
  SpotLight,
  SRGBColorSpace,
  Vector3,
} from './vendor/three.module.min.js';
import { matrixOf } from './shapes.js';

/** @typedef {import('./contract.js').World} World */
/** @typedef {import('./contract.js').Light} Light */

/** Lamps that are drawn at most, besides the sun. */
const LAMPS_MAX = 4;
/** The sun of worlds that have none. */
const SUN = {
  direction: /** @type {[number, number, number]} */ ([-0.45, 0.35, -0.82]),
  strength: 1.75,
};
/** Strength of the light from everywhere. */
const SKY_STRENGTH = 1.65;
/** Half the width of the area with shadows at least and at most [m]. */
const SHADOW_HALF_M = { min: 4, max: 60 };

export class Lights {
  root = new Group();
  /** @type {DirectionalLight | null} */
  #sun = null;
  #direction = new Vector3(...SUN.direction);
  #half = 0;
  #sky = new HemisphereLight(0xffffff, 0xc6cbd2, SKY_STRENGTH);
  #hasShadows;
  #strength = 1;

  /** @param {boolean} hasShadows */
  constructor(hasShadows) {
    this.#hasShadows = hasShadows;
    this.#sky.position.set(0, 0, 1);
  }

  /**
   * Shows the lights of a world.
   *
   * @param {World} world
   */
  show(world) {
    for (const light of [...this.root.children]) {
      this.root.remove(light);
      /** @type {any} */ (light).dispose?.();
    }
    this.#half = 0;
    this.root.add(this.#sky);
    const free = world.lights.filter((light) => light.link === null || light.link === undefined);
    const sun = free.find((light) => light.type === 'directional');
    this.#addSun(sun);
    const lamps = free.filter((light) => light !== sun).slice(0, LAMPS_MAX);
    for (const lamp of lamps) this.#addLamp(lamp);
  }

  /** @param {Light | undefined} light */
  #addSun(light) {
    const colour = light ? brightness(light) : { colour: new Color(0xffffff), strength: 1 };
    const sun = new DirectionalLight(colour.colour, SUN.strength * Math.min(colour.strength, 1.5));
    if (light) this.#direction.set(...light.direction).transformDirection(matrixOf(light.pose));
    else this.#direction.set(...SUN.direction);
    if (this.#direction.lengthSq() < 0.5) this.#direction.set(...SUN.direction);
    sun.userData.strength = sun.intensity;
    sun.intensity *= this.#strength;
    sun.castShadow = this.#hasShadows && light?.cast_shadows !== false;
    sun.shadow.mapSize.set(2048, 2048);
    sun.shadow.bias = -0.0004;
    sun.shadow.normalBias = 0.02;
    this.#sun = sun;
    this.root.add(sun, sun.target);
  }

  /** @param {Light} light */
  #addLamp(light) {
    const { colour, strength } = brightness(light);
    const range = light.range ?? 0;
    const lamp =
      light.type === 'spot'
        ? new SpotLight(
            colour,
            12 * strength,
            range,
            Math.min((light.spot?.outer_angle ?? 1) / 2, 1.5),
            0.4,
          )
        : light.type === 'point'
          ? new PointLight(colour, 12 * strength, range)
          : new DirectionalLight(colour, 0.5 * strength);
    lamp.position.set(light.pose[0], light.pose[1], light.pose[2]);
    this.root.add(lamp);
    if (lamp instanceof PointLight) return;
    const aim = new Vector3(...light.direction).transformDirection(matrixOf(light.pose));
    lamp.target.position.copy(lamp.position).add(aim);
    this.root.add(lamp.target);
  }

  /**
   * Makes the sun and the light from everywhere weaker or stronger: at night the page is dark.
   *
   * @param {number} strength
   */
  setStrength(strength) {
    this.#strength = strength;
    this.#sky.intensity = SKY_STRENGTH * strength;
    if (this.#sun) this.#sun.intensity = this.#sun.userData.strength * strength;
  }

  /**
   * Puts shadows around what is looked at.
   *
   * @param {Vector3} target
   * @param {number} distance of the camera [m]
   */
  follow(target, distance) {
    const sun = this.#sun;
    if (!sun) return;
    const wanted = Math.min(Math.max(distance * 0.9, SHADOW_HALF_M.min), SHADOW_HALF_M.max);
    // In steps, so that edges of shadows do not crawl while the camera moves.
    const side = 2 ** (Math.ceil(Math.log2(wanted) * 2) / 2);
    const grain = (2 * side) / 64;
    const place = target.clone().divideScalar(grain).round().multiplyScalar(grain);
    sun.target.position.copy(place);
    sun.position.copy(place).addScaledVector(this.#direction, -4 * side);
    if (side === this.#half) return;
    this.#half = side;
    const { camera } = sun.shadow;
    camera.left = -side;
    camera.right = side;
    camera.top = side;
    camera.bottom = -side;
    camera.near = 0.1;
    camera.far = 8 * side;
    camera.updateProjectionMatrix();
  }
}

/** @param {Light} light */
function brightness(light) {
  const [red, green, blue] = light.diffuse;
  const strength = Math.max(red, green, blue, 0.01);
  const colour = new Color().setRGB(
    red / strength,
    green / strength,
    blue / strength,
    SRGBColorSpace,
  );
  return { colour, strength: strength * (light.intensity ?? 1) };
}
