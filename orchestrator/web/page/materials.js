// @ts-check
/**
 * Materials of a scene, each kind made once. The colour of a surface is that of its instance, so
 * that surfaces which differ in colour alone share a material.
 *
 * @module materials
 */

import {
  Color,
  DoubleSide,
  FrontSide,
  MeshBasicMaterial,
  MeshLambertMaterial,
  MeshPhongMaterial,
  MeshStandardMaterial,
  SRGBColorSpace,
  Texture,
  Vector4,
} from './vendor/three.module.min.js';
import { PlainShading } from './plain_shading.js';

/** @typedef {import('./contract.js').Material} Material */
/** @typedef {import('./contract.js').Ground} Ground */
/** @typedef {import('./vendor/three.module.min.js').Material} ThreeMaterial */
/** @typedef {{ key: string, make: () => ThreeMaterial, colour: Color, opacity: number }} Surface */

/** Colour of shapes without a material. */
const PLAIN = [0.72, 0.74, 0.77, 1];
/** Opacity below which nothing is drawn. */
const OPACITY_MIN = 0.004;
/** Least roughness of what has no highlights. */
const DULL = 0.8;
/** Parts of the image of shares of layers. */
const LAYER_PARTS = ['r', 'g', 'b'];
/** Place in the shaders of three.js where a texture is applied. */
const MAP = '#include <map_fragment>';
/** Part of the metalness that is shown. */
const METAL_SHOWN = 0.4;

export class Materials {
  /** @type {Map<string, ThreeMaterial>} */
  #made = new Map();
  #assets;
  #onLoaded;
  /** True for shading that a processor without GPU can do in time. */
  isSimple;
  /** That shading. */
  plain = new PlainShading();
  /** Brightness of highlights in the light of the world, as a part of that of dull surfaces. */
  gloss = 1;

  /**
   * @param {import('./assets.js').Assets} assets
   * @param {boolean} isSimple
   * @param {() => void} onLoaded called when a texture has come
   */
  constructor(assets, isSimple, onLoaded) {
    this.#assets = assets;
    this.isSimple = isSimple;
    this.#onLoaded = onLoaded;
  }

  /**
   * Takes how brightly things shine in the lights of a world.
   *
   * @param {import('./contract.js').Light[]} lights
   */
  takeLights(lights) {
    const parts = lights.map(({ diffuse, specular }) => {
      const { r, g, b } = new Color().setRGB(...diffuse, SRGBColorSpace);
      return Math.max(...(specular ?? diffuse)) / Math.max(r, g, b, 0.01);
    });
    this.gloss = parts.length > 0 ? parts.reduce((sum, part) => sum + part, 0) / parts.length : 1;
  }

  /**
   * Returns the surface of a shape, or null if it is invisible.
   *
   * @param {Material | null | undefined} material
   * @param {number} transparency of the shape, besides that of its material
   * @param {{ isPlane?: boolean, isMesh?: boolean }} [options]
   * @returns {Surface | null}
   */
  surface(material, transparency, options = {}) {
    const diffuse = material?.diffuse ?? PLAIN;
    const opacity = (diffuse[3] ?? 1) * (1 - transparency);
    if (opacity < OPACITY_MIN) return null;
    const look = {
      opacity: Math.round(opacity * 100) / 100,
      emissive: (material?.emissive ?? [0, 0, 0]).slice(0, 3),
      // There is nothing to reflect: bare metal would be black.
      metalness: (material?.metalness ?? 0) * METAL_SHOWN,
      roughness: material ? roughnessOf(material) : 0.7,
      shine: material ? shineOf(material) : null,
      texture: material?.texture ?? null,
      repeat: material?.texture_repeat,
      maps: [
        material?.normal_map,
        material?.roughness_map,
        material?.metalness_map,
        material?.emissive_map,
      ],
      isDouble: material?.double_sided === true || options.isPlane === true,
      isLit: material?.lighting !== false,
      isPlane: options.isPlane === true,
      isMesh: options.isMesh === true,
      ground: material?.ground ?? null,
    };
    const colour = new Color().setRGB(diffuse[0], diffuse[1], diffuse[2], SRGBColorSpace);
    return { key: JSON.stringify(look), make: () => this.#make(look, material), colour, opacity };
  }

  /**
   * Returns the shared material of a surface.
   *
   * @param {Surface} surface
   */
  of(surface) {
    let material = this.#made.get(surface.key);
    if (!material) {
      material = surface.make();
      this.#made.set(surface.key, material);
    }
    return material;
  }

  /**
   * @param {any} look
   * @param {Material | null | undefined} material
   * @returns {ThreeMaterial}
   */
  #make(look, material) {
    const common = {
      side: look.isDouble ? DoubleSide : FrontSide,
      transparent: look.opacity < 1,
      opacity: look.opacity,
      depthWrite: look.opacity >= 1,
      // Lines of the grid and shapes that lie on a plane are seen before it.
      polygonOffset: look.isPlane,
      polygonOffsetFactor: 1,
      polygonOffsetUnits: 4,
      map: look.texture ? this.#texture(look.texture, true, look) : null,
    };
    if (!look.isLit) return new MeshBasicMaterial(common);
    const emissive = new Color().setRGB(
      look.emissive[0],
      look.emissive[1],
      look.emissive[2],
      SRGBColorSpace,
    );
    if (look.ground && !common.map) common.map = new Texture();
    if (this.isSimple) return this.#grown(this.#makeSimple(common, emissive, look), look);
    if (look.shine) {
      const { exponent, specular } = look.shine;
      return new MeshPhongMaterial({
        ...common,
        emissive,
        shininess: exponent,
        // So that the middle of a highlight has the colour that the world says.
        specular: new Color(...specular).multiplyScalar((8 / (exponent + 2)) * this.gloss),
      });
    }
    const standard = new MeshStandardMaterial({
      ...common,
      emissive,
      metalness: look.metalness,
      roughness: look.roughness,
    });
    if (material?.normal_map) standard.normalMap = this.#texture(material.normal_map, false, look);
    if (material?.roughness_map)
      standard.roughnessMap = this.#texture(material.roughness_map, false, look);
    if (material?.metalness_map)
      standard.metalnessMap = this.#texture(material.metalness_map, false, look);
    if (material?.emissive_map) {
      standard.emissiveMap = this.#texture(material.emissive_map, true, look);
      standard.emissive.set(0xffffff);
    }
    return this.#grown(standard, look);
  }

  /**
   * Has a material with a texture show layers over that, where it has some.
   *
   * @param {ThreeMaterial} material
   * @param {any} look
   */
  #grown(material, look) {
    if (!look.ground) return material;
    const { shares, shares_at: place, layers } = /** @type {Ground} */ (look.ground);
    const shown = layers.slice(0, LAYER_PARTS.length);
    /** @type {Record<string, { value: any }>} */
    const uniforms = {
      groundShares: { value: this.#texture(shares, false, look) },
      groundPlace: { value: new Vector4(...place) },
    };
    shown.forEach(({ texture, repeat }, nth) => {
      uniforms[`groundLayer${nth}`] = { value: this.#texture(texture, true, look) };
      uniforms[`groundRepeat${nth}`] = { value: repeat };
    });
    material.onBeforeCompile = (shader) => {
      Object.assign(shader.uniforms, uniforms);
      const { fragmentShader } = shader;
      shader.fragmentShader =
        groundUniforms(shown.length) + fragmentShader.replace(MAP, groundOver(shown.length));
    };
    material.customProgramCacheKey = () => `ground ${shown.length}`;
    return material;
  }

  /**
   * @param {any} common
   * @param {Color} glow
   * @param {any} look
   */
  #makeSimple(common, glow, { opacity, isDouble, isPlane }) {
    if (common.map) return new MeshLambertMaterial({ ...common, emissive: glow });
    return this.plain.material({ opacity, glow, isDouble, isPlane });
  }

  /**
   * Returns the material of a part of a mesh as it is drawn here.
   *
   * @param {any} own material that came with the mesh
   * @returns {ThreeMaterial}
   */
  ofPart(own) {
    if (!this.isSimple || own.isMeshBasicMaterial) return own;
    const look = {
      opacity: own.transparent ? own.opacity : 1,
      isDouble: own.side === DoubleSide,
      isPlane: false,
      glow: own.emissive?.getHexString() ?? '000000',
      map: own.map?.uuid ?? null,
    };
    const make = () => {
      const { side, transparent, depthWrite, map, alphaTest } = own;
      const common = { side, transparent, depthWrite, map, alphaTest, opacity: look.opacity };
      return this.#makeSimple(common, new Color(own.emissive ?? 0), look);
    };
    const key = `part ${JSON.stringify(look)}`;
    return this.of({ key, make, colour: new Color(), opacity: look.opacity });
  }

  /**
   * Returns a material of a skin as it is drawn here, of that alone: no instance has its colour.
   *
   * @param {any} own material that came with the mesh
   * @param {Surface | null} surface in its place
   * @returns {ThreeMaterial}
   */
  ofSkin(own, surface) {
    const given = surface && /** @type {any} */ (this.of(surface));
    const colour = surface?.colour ?? own.color ?? new Color(0xffffff);
    if (!this.isSimple) {
      const material = (given ?? own).clone();
      material.color?.copy(colour);
      if (material.metalness > METAL_SHOWN) material.metalness = METAL_SHOWN;
      return material;
    }
    const { side, transparent, opacity, depthWrite, alphaTest, map } = given ?? own;
    return new MeshLambertMaterial({
      color: colour,
      emissive: own.emissive,
      side,
      transparent,
      opacity: surface?.opacity ?? opacity,
      depthWrite,
      alphaTest,
      map: map ?? null,
    });
  }

  /**
   * @param {string} address
   * @param {boolean} isColour
   * @param {{ repeat?: [number, number], isMesh: boolean }} look
   */
  #texture(address, isColour, look) {
    const options = { isColour, repeat: look.repeat, isOfMesh: look.isMesh };
    return this.#assets.texture(address, options, this.#onLoaded);
  }

  /** Releases all. */
  dispose() {
    for (const material of this.#made.values()) material.dispose();
    this.#made.clear();
  }
}

/**
 * Returns the highlight of a material that has an exponent of its own, if it has any.
 *
 * @param {Material} material
 */
function shineOf({ shininess, specular }) {
  if (!shininess || !specular?.slice(0, 3).some((part) => part > 0)) return null;
  const exponent = Math.min(Math.max(shininess, 0.1), 1000);
  return { exponent, specular: specular.slice(0, 3) };
}

/** @param {Material} material */
function roughnessOf({ roughness, specular }) {
  const shines = !specular || specular.slice(0, 3).some((part) => part > 0);
  return shines ? (roughness ?? 0.7) : Math.max(roughness ?? DULL, DULL);
}

/** @param {number} count of layers */
function groundUniforms(count) {
  let text = 'uniform sampler2D groundShares;\nuniform vec4 groundPlace;\n';
  for (let nth = 0; nth < count; nth += 1)
    text += `uniform sampler2D groundLayer${nth};\nuniform float groundRepeat${nth};\n`;
  return text;
}

/** @param {number} count of layers */
function groundOver(count) {
  let text = `${MAP}
vec4 groundPart = texture2D(groundShares, vMapUv * groundPlace.xy + groundPlace.zw);
`;
  for (let nth = 0; nth < count; nth += 1) {
    const part = LAYER_PARTS[nth];
    const layer = `texture2D(groundLayer${nth}, vMapUv * groundRepeat${nth})`;
    text += `diffuseColor.rgb = mix(diffuseColor.rgb, ${layer}.rgb, groundPart.${part});\n`;
  }
  return text;
}
