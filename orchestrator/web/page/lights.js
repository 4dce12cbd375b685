// @ts-check
/**
 * Lights of a world, as far as they matter: its suns, the first with shadows around what is looked
 * at, lamps, of which the nearest shine, each of the world or of a link, and light from everywhere.
 * A world without any light has a sun of the page's own.
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

/**
 * @typedef {object} Sun
 * @property {DirectionalLight} shining
 * @property {number} strength by day
 * @property {number | undefined} slot of the link that carries it
 * @property {Matrix4} local pose in the frame of its link, or of the world
 * @property {Vector3} along direction in its own frame
 * @property {Vector3} aim direction in which it shines, world frame
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
/** Strength of the light from everywhere in a world that says nothing of it. */
const SKY_STRENGTH = 1.65;
/** Light from everywhere of such a world, and the part that more of it than that adds. */
const AMBIENT = { usual: 0.4, beyond: 0.5 };
/** Colours of the light from above and from below. */
const SKY_COLOURS = { above: 0xffffff, below: 0xc6cbd2 };
/** Half the width of the area with shadows at least and at most [m]. */
const SHADOW_HALF_M = { min: 4, max: 60 };
/** Distance at which lamps are as bright as their attenuation says [m]. */
const LAMP_M = 3;
/** Cone of a lamp that shines to all sides: cosines that any angle passes. */
const EVERYWHERE = /** @type {[number, number]} */ ([-3, -2]);

export class Lights {
  root = new Group();
  /** Lights from far away; the first has the shadows. @type {Sun[]} */
  #suns = [];
  #half = 0;
  #sky = new HemisphereLight(SKY_COLOURS.above, SKY_COLOURS.below, SKY_STRENGTH);
  #skyStrength = SKY_STRENGTH;
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
    this.#showAmbient(world.ambient);
    const hasShadows = this.#hasShadows && world.shadows !== false;
    const slotOfLight = (/** @type {Light} */ { link }) =>
      link === null || link === undefined ? undefined : slotOf(link);
    const suns = world.lights.filter((light) => light.type === 'directional');
    this.#suns = suns.slice(0, LAMPS_MAX).map((light) => sunOf(light, slotOfLight(light)));
    if (world.lights.length === 0) this.#suns = [sunOf(null, undefined)];
    this.#suns.forEach(({ shining }, nth) => {
      shining.castShadow = hasShadows && nth === 0 && (!suns[0] || casts(suns[0]));
      this.root.add(shining, shining.target);
    });
    this.setStrength(this.#strength);
    const lamps = world.lights.filter((light) => light.type !== 'directional');
    this.#lamps = lamps.map((light) => lampOf(light, slotOfLight(light)));
    this.#shining = [];
    // The renderer compiles for a number of lights of each kind, which stays as it is.
    const spots = lamps.filter((light) => light.type === 'spot').length;
    const points = lamps.length - spots;
    const spotShare = Math.min(spots, Math.max(LAMPS_MAX - points, LAMPS_MAX / 2));
    const shadows = { spot: 0, point: 0 };
    if (hasShadows) {
      for (const kind of /** @type {const} */ (['spot', 'point'])) {
        const casting = lamps.filter((light) => light.type === kind && casts(light)).length;
        shadows[kind] = Math.min(casting, SHADOWS_MAX[kind]);
      }
    }
    for (let nth = 0; nth < spotShare; nth += 1) this.#addLamp(makeSpot(nth < shadows.spot));
    const pointShare = Math.min(points, LAMPS_MAX - spotShare);
    for (let nth = 0; nth < pointShare; nth += 1) this.#addLamp(makePoint(nth < shadows.point));
  }

  /** @param {import('./contract.js').Triple | undefined} ambient */
  #showAmbient(ambient) {
    const parts = ambient ?? [AMBIENT.usual, AMBIENT.usual, AMBIENT.usual];
    const most = Math.max(...parts);
    const { usual, beyond } = AMBIENT;
    this.#skyStrength = SKY_STRENGTH * (most > usual ? 1 + beyond * (most - usual) : most / usual);
    const [red, green, blue] = parts.map((part) => (most > 0 ? part / most : 1));
    const tint = new Color().setRGB(red, green, blue, SRGBColorSpace);
    this.#sky.color.set(SKY_COLOURS.above).multiply(tint);
    this.#sky.groundColor.set(SKY_COLOURS.below).multiply(tint);
  }

  /** @param {PointLight | SpotLight} lamp */
  #addLamp(lamp) {
    this.#shining.push(lamp);
    this.root.add(lamp);
    if (lamp instanceof SpotLight) this.root.add(lamp.target);
  }

  /**
   * Moves lights with their links, and has those lamps shine that are nearest to what is looked at.
   *
   * @param {ArrayLike<number>} shown poses, seven numbers per slot
   * @param {Vector3} target
   */
  move(shown, target) {
    for (const sun of this.#suns) aimSun(sun, shown);
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
   * Makes suns and the light from everywhere weaker or stronger: at night the page is dark.
   *
   * @param {number} strength
   */
  setStrength(strength) {
    this.#strength = strength;
    this.#sky.intensity = this.#skyStrength * strength;
    for (const sun of this.#suns) sun.shining.intensity = sun.strength * strength;
  }

  /**
   * Puts shadows around what is looked at.
   *
   * @param {Vector3} target
   * @param {number} distance of the camera [m]
   */
  follow(target, distance) {
    const [sun] = this.#suns;
    if (!sun) return;
    const wanted = Math.min(Math.max(distance * 0.9, SHADOW_HALF_M.min), SHADOW_HALF_M.max);
    // In steps, so that edges of shadows do not crawl while the camera moves.
    const side = 2 ** (Math.ceil(Math.log2(wanted) * 2) / 2);
    const grain = (2 * side) / 64;
    const place = target.clone().divideScalar(grain).round().multiplyScalar(grain);
    sun.shining.target.position.copy(place);
    sun.shining.position.copy(place).addScaledVector(sun.aim, -4 * side);
    if (side === this.#half) return;
    this.#half = side;
    const { camera } = sun.shining.shadow;
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
    uniforms.suns.value = this.#suns.length;
    this.#suns.forEach(({ shining, aim }, index) => {
      give(uniforms.sunLights.value[index], shining.color, shining.intensity);
      uniforms.sunWays.value[index].copy(aim).negate();
    });
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

/**
 * Makes a light from far away, of the world, of a link, or of the page's own.
 *
 * @param {Light | null} light
 * @param {number | undefined} slot
 * @returns {Sun}
 */
function sunOf(light, slot) {
  const { colour, strength } = light
    ? brightness(light)
    : { colour: new Color(0xffffff), strength: 1 };
  const shining = new DirectionalLight(colour);
  shining.shadow.mapSize.set(2048, 2048);
  shining.shadow.bias = -0.0004;
  shining.shadow.normalBias = 0.02;
  const along = new Vector3(...(light ? light.direction : SUN.direction));
  if (along.lengthSq() < 1e-12) along.set(...SUN.direction);
  const local = light ? matrixOf(light.pose) : new Matrix4();
  const sun = {
    shining,
    strength: SUN.strength * Math.min(strength, 1.5),
    slot,
    local,
    along,
    aim: new Vector3(),
  };
  aimSun({ ...sun, slot: undefined }, []);
  return sun;
}

/**
 * Turns a light from far away with its link.
 *
 * @param {Sun} sun
 * @param {ArrayLike<number>} shown
 */
function aimSun({ shining, slot, local, along, aim }, shown) {
  const pose = slot === undefined ? local : matrixOf(shown, slot * 7, scratch).multiply(local);
  aim.copy(along).transformDirection(pose);
  shining.position.copy(shining.target.position).sub(aim);
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
