// @ts-check
/**
 * Lights of a world, as far as they matter: its sun, with shadows around what is looked at, lamps
 * of the world and of links, of which the nearest shine, and light from everywhere. A world without
 * lights has a sun of the page's own.
 *
 * @module lights
 */

import {
  Color,
  DirectionalLight,
  Group,
  HemisphereLight,
  Matrix4,
  PointLight,
  SpotLight,
  SRGBColorSpace,
  Vector3,
} from './vendor/three.module.min.js';
import { LAMPS_MAX } from './plain_shading.js';
import { matrixOf } from './shapes.js';

/** @typedef {import('./contract.js').World} World */
/** @typedef {import('./contract.js').Light} Light */
/**
 * @typedef {object} Lamp
 * @property {Light} light
 * @property {number | undefined} slot of the link that carries it
 * @property {Matrix4} local pose in the frame of its link, or of the world
 * @property {Vector3} place world frame
 * @property {Vector3} aim point that it shines at, world frame
 */

/** Lamps that cast shadows at most, of each kind: one to all sides draws the world six times. */
const SHADOWS_MAX = { spot: 2, point: 1 };
/** Distance to which a lamp without a range casts shadows [m]. */
const POINT_SHADOW_M = 60;
/** The sun of worlds that have none. */
const SUN = {
  direction: /** @type {[number, number, number]} */ ([-0.45, 0.35, -0.82]),
  strength: 1.75,
};
/** Strength of the light from everywhere. */
const SKY_STRENGTH = 1.65;
/** Colours of the light from above and from below. */
const SKY_COLOURS = { above: 0xffffff, below: 0xc6cbd2 };
/** Half the width of the area with shadows at least and at most [m]. */
const SHADOW_HALF_M = { min: 4, max: 60 };
/** Distance at which lamps are as bright as their attenuation says [m]. */
const LAMP_M = 3;
/** Cone of a lamp that shines to all sides: cosines that any angle passes. */
const EVERYWHERE = /** @type {[number, number]} */ ([-3, -2]);
/** Strength of further lights from far away. */
const FAR_LIGHT_STRENGTH = 0.5;

export class Lights {
  root = new Group();
  /** @type {DirectionalLight | null} */
  #sun = null;
  #direction = new Vector3(...SUN.direction);
  #half = 0;
  #sky = new HemisphereLight(SKY_COLOURS.above, SKY_COLOURS.below, SKY_STRENGTH);
  #hasShadows;
  #strength = 1;
  /** All lamps of the world. @type {Lamp[]} */
  #lamps = [];
  /** Lights of the renderer, for as many lamps as shine. @type {(PointLight | SpotLight)[]} */
  #shining = [];

  /** @param {boolean} hasShadows */
  constructor(hasShadows) {
    this.#hasShadows = hasShadows;
    this.#sky.position.set(0, 0, 1);
  }

  /**
   * Shows the lights of a world.
   *
   * @param {World} world
   * @param {(link: number) => number | undefined} slotOf slot of the link of a number
   */
  show(world, slotOf) {
    for (const light of [...this.root.children]) {
      this.root.remove(light);
      /** @type {any} */ (light).dispose?.();
    }
    this.#half = 0;
    this.root.add(this.#sky);
    const isFree = (/** @type {Light} */ light) => light.link === null || light.link === undefined;
    const suns = world.lights.filter((light) => light.type === 'directional' && isFree(light));
    this.#addSun(suns[0]);
    for (const light of suns.slice(1, LAMPS_MAX)) this.#addFarLight(light);
    const lamps = world.lights.filter((light) => light.type !== 'directional');
    this.#lamps = lamps.map((light) =>
      lampOf(light, isFree(light) ? undefined : slotOf(light.link ?? -1)),
    );
    this.#shining = [];
    // The renderer compiles for a number of lights of each kind, which stays as it is.
    const spots = lamps.filter((light) => light.type === 'spot').length;
    const points = lamps.length - spots;
    const spotShare = Math.min(spots, Math.max(LAMPS_MAX - points, LAMPS_MAX / 2));
    const shadows = { spot: 0, point: 0 };
    if (this.#hasShadows) {
      for (const kind of /** @type {const} */ (['spot', 'point'])) {
        const casting = lamps.filter((light) => light.type === kind && casts(light)).length;
        shadows[kind] = Math.min(casting, SHADOWS_MAX[kind]);
      }
    }
    for (let nth = 0; nth < spotShare; nth += 1) this.#addLamp(makeSpot(nth < shadows.spot));
    const pointShare = Math.min(points, LAMPS_MAX - spotShare);
    for (let nth = 0; nth < pointShare; nth += 1) this.#addLamp(makePoint(nth < shadows.point));
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
  #addFarLight(light) {
    const { colour, strength } = brightness(light);
    const far = new DirectionalLight(colour, FAR_LIGHT_STRENGTH * strength);
    const aim = new Vector3(...light.direction).transformDirection(matrixOf(light.pose));
    far.position.copy(aim).negate();
    this.root.add(far);
  }

  /** @param {PointLight | SpotLight} lamp */
  #addLamp(lamp) {
    this.#shining.push(lamp);
    this.root.add(lamp);
    if (lamp instanceof SpotLight) this.root.add(lamp.target);
  }

  /**
   * Moves lamps with their links, and has those shine that are nearest to what is looked at.
   *
   * @param {ArrayLike<number>} shown poses, seven numbers per slot
   * @param {Vector3} target
   */
  move(shown, target) {
    if (this.#lamps.length === 0) return;
    for (const lamp of this.#lamps) placeLamp(lamp, shown);
    const near = this.#lamps.toSorted(
      (a, b) => a.place.distanceToSquared(target) - b.place.distanceToSquared(target),
    );
    for (const isSpot of [true, false]) {
      const slots = this.#shining.filter((shining) => shining instanceof SpotLight === isSpot);
      const ofKind = near.filter(({ light }) => (light.type === 'spot') === isSpot);
      const lamps = ofKind.slice(0, slots.length);
      // Slots with shadows come first, and choose among the lamps that shine anyway.
      for (const slot of slots) {
        const casting = slot.castShadow ? lamps.findIndex(({ light }) => casts(light)) : -1;
        const [lamp] = lamps.splice(Math.max(casting, 0), 1);
        if (!lamp) continue;
        if (slot.castShadow) slot.shadow.intensity = casting < 0 ? 0 : 1;
        lightLamp(slot, lamp);
      }
    }
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

  /**
   * Writes the lights into the uniforms of plain shading, as what a white surface gives back.
   *
   * @param {any} uniforms
   */
  lightUp(uniforms) {
    const give = (
      /** @type {Vector3} */ out,
      /** @type {Color} */ colour,
      /** @type {number} */ intensity,
    ) => out.set(colour.r, colour.g, colour.b).multiplyScalar(intensity / Math.PI);
    give(uniforms.skyLight.value, this.#sky.color, this.#sky.intensity);
    give(uniforms.groundLight.value, this.#sky.groundColor, this.#sky.intensity);
    if (this.#sun) give(uniforms.sunLight.value, this.#sun.color, this.#sun.intensity);
    uniforms.sunWay.value.copy(this.#direction).negate();
    uniforms.lamps.value = this.#shining.length;
    this.#shining.forEach((lamp, index) => {
      uniforms.lampPlaces.value[index].copy(lamp.position);
      give(uniforms.lampLights.value[index], lamp.color, lamp.intensity);
      const isSpot = lamp instanceof SpotLight;
      if (isSpot)
        uniforms.lampWays.value[index].copy(lamp.target.position).sub(lamp.position).normalize();
      const cone = uniforms.lampCones.value[index];
      if (isSpot) cone.set(Math.cos(lamp.angle), Math.cos(lamp.angle * (1 - lamp.penumbra)) + 1e-4);
      else cone.set(...EVERYWHERE);
    });
  }
}

/** @param {Light} light */
function casts(light) {
  return light.cast_shadows !== false;
}

/** @param {boolean} hasShadow */
function makeSpot(hasShadow) {
  const spot = new SpotLight();
  spot.castShadow = hasShadow;
  spot.shadow.mapSize.set(1024, 1024);
  spot.shadow.bias = -0.0006;
  spot.shadow.normalBias = 0.02;
  return spot;
}

/** @param {boolean} hasShadow */
function makePoint(hasShadow) {
  const point = new PointLight();
  point.castShadow = hasShadow;
  point.shadow.mapSize.set(512, 512);
  point.shadow.bias = -0.0001;
  point.shadow.normalBias = 0.004;
  const { camera } = point.shadow;
  camera.near = 0.05;
  camera.far = POINT_SHADOW_M;
  camera.updateProjectionMatrix();
  return point;
}

/**
 * @param {Light} light
 * @param {number | undefined} slot
 * @returns {Lamp}
 */
function lampOf(light, slot) {
  return { light, slot, local: matrixOf(light.pose), place: new Vector3(), aim: new Vector3() };
}

/**
 * @param {Lamp} lamp
 * @param {ArrayLike<number>} shown
 */
function placeLamp({ light, slot, local, place, aim }, shown) {
  const pose = slot === undefined ? local : matrixOf(shown, slot * 7, scratch).multiply(local);
  place.setFromMatrixPosition(pose);
  aim
    .set(...light.direction)
    .transformDirection(pose)
    .add(place);
}

/**
 * Has a light of the renderer be a lamp.
 *
 * @param {PointLight | SpotLight} shining
 * @param {Lamp} lamp
 */
function lightLamp(shining, { light, place, aim }) {
  const { colour, strength } = brightness(light);
  const { constant = 1, linear = 0, quadratic = 0 } = light.attenuation ?? {};
  const loss = Math.max(constant + linear * LAMP_M + quadratic * LAMP_M ** 2, 0.05);
  shining.color.copy(colour);
  shining.intensity = (SUN.strength * strength * LAMP_M ** 2) / loss;
  shining.distance = light.range ?? 0;
  shining.position.copy(place);
  if (!(shining instanceof SpotLight)) return;
  const outer = Math.min((light.spot?.outer_angle ?? 1) / 2, 1.5);
  const inner = Math.min((light.spot?.inner_angle ?? 0) / 2, outer);
  shining.angle = outer;
  shining.penumbra = 1 - inner / outer;
  shining.target.position.copy(aim);
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

const scratch = new Matrix4();
