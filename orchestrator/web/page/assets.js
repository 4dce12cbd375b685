// @ts-check
/**
 * Files that a scene names: meshes as GLB and textures, each fetched once.
 *
 * @module assets
 */

import {
  Color,
  GLTFLoader,
  RepeatWrapping,
  SRGBColorSpace,
  Texture,
} from './vendor/three.module.min.js';
import { keyOf } from './limbs.js';

/** @typedef {import('./vendor/three.module.min.js').BufferGeometry} BufferGeometry */
/** @typedef {import('./vendor/three.module.min.js').Material} ThreeMaterial */
/** @typedef {import('./vendor/three.module.min.js').Matrix4} Matrix4 */
/** @typedef {InstanceType<typeof Color>} Colour */
/**
 * @typedef {object} Part part of a mesh, in the mesh's frame
 * @property {BufferGeometry} geometry
 * @property {ThreeMaterial} material white
 * @property {Colour} colour of its material
 * @property {Matrix4} matrix
 */

/** Metalness that is shown at most: there is nothing to reflect, and bare metal would be black. */
const METAL_SHOWN = 0.4;

export class Assets {
  /** @type {Map<string, Promise<Part[]>>} */
  #meshes = new Map();
  /** @type {Map<string, Promise<import('./limbs.js').SkinFile | null>>} */
  #skins = new Map();
  /** @type {Map<string, Promise<ImageBitmap>>} */
  #images = new Map();
  #token;
  #pending = 0;
  #onSettled;

  /**
   * @param {string} token sent with each request; empty where none is wanted
   * @param {() => void} onSettled called whenever nothing is on its way any more
   */
  constructor(token, onSettled) {
    this.#token = token;
    this.#onSettled = onSettled;
  }

  /** Tells whether files are on their way. */
  get isLoading() {
    return this.#pending > 0;
  }

  /**
   * Returns the parts of a mesh.
   *
   * @param {string} address
   */
  mesh(address) {
    return this.#once(this.#meshes, address, async () => {
      const bytes = await (await this.#fetch(address)).arrayBuffer();
      const loaded = await new GLTFLoader().parseAsync(bytes, '');
      loaded.scene.updateMatrixWorld(true);
      /** @type {Part[]} */
      const parts = [];
      loaded.scene.traverse((/** @type {any} */ node) => {
        if (!node.isMesh) return;
        const { geometry, material, matrixWorld } = node;
        parts.push({ geometry, material, colour: takeColour(material), matrix: matrixWorld });
      });
      return parts;
    });
  }

  /**
   * Returns the file of a skin; null if no bones move the mesh.
   *
   * @param {string} address
   */
  skin(address) {
    return this.#once(this.#skins, address, async () => {
      const bytes = await (await this.#fetch(address)).arrayBuffer();
      const loaded = await new GLTFLoader().parseAsync(bytes, '');
      const { json } = loaded.parser;
      const root = json.skins?.[0]?.skeleton;
      if (root === undefined) return null;
      const bone = await loaded.parser.getDependency('node', root);
      const names = (json.animations ?? []).map((/** @type {any} */ clip) => clip.name ?? '');
      return { scene: loaded.scene, clips: loaded.animations, names, root: keyOf(bone) };
    });
  }

  /**
   * Returns a texture that is filled when its image has come.
   *
   * @param {string} address
   * @param {{ isColour: boolean, repeat?: [number, number], isOfMesh: boolean }} options glTF has v
   *   downwards, three.js upwards
   * @param {() => void} onLoaded
   */
  texture(address, options, onLoaded) {
    const texture = new Texture();
    texture.wrapS = RepeatWrapping;
    texture.wrapT = RepeatWrapping;
    texture.anisotropy = 4;
    if (options.isColour) texture.colorSpace = SRGBColorSpace;
    if (options.repeat) texture.repeat.set(...options.repeat);
    texture.flipY = false;
    const imageOrientation = options.isOfMesh ? 'from-image' : 'flipY';
    const image = this.#once(this.#images, `${imageOrientation} ${address}`, async () => {
      const blob = await (await this.#fetch(address)).blob();
      return createImageBitmap(blob, { imageOrientation });
    });
    image.then((bitmap) => {
      texture.image = bitmap;
      texture.needsUpdate = true;
      onLoaded();
    }, report(address));
    return texture;
  }

  /** @param {string} address */
  async #fetch(address) {
    /** @type {Record<string, string>} */
    const headers = this.#token ? { Authorization: `Bearer ${this.#token}` } : {};
    const response = await fetch(address, { headers });
    if (!response.ok) throw new Error(`${address}: ${response.status} ${response.statusText}`);
    return response;
  }

  /**
   * @template T
   * @param {Map<string, Promise<T>>} cache
   * @param {string} key
   * @param {() => Promise<T>} make
   * @returns {Promise<T>}
   */
  #once(cache, key, make) {
    const found = cache.get(key);
    if (found) return found;
    this.#pending += 1;
    const made = make().finally(() => {
      this.#pending -= 1;
      // After whoever waits for it has used it.
      if (this.#pending === 0) setTimeout(this.#onSettled, 0);
    });
    cache.set(key, made);
    // What failed is asked for again with the next scene.
    made.catch(() => cache.delete(key));
    return made;
  }
}

/**
 * Returns a handler that reports a file that could not be had.
 *
 * @param {string} address
 */
export function report(address) {
  return (/** @type {Error} */ error) => {
    console.warn(`cannot draw ${address}: ${error.message}`);
  };
}

/**
 * Takes the colour out of a material that instances will colour, and returns it.
 *
 * @param {ThreeMaterial} material
 */
function takeColour(material) {
  const metal = /** @type {any} */ (material);
  if (metal.metalness > METAL_SHOWN) metal.metalness = METAL_SHOWN;
  const own = /** @type {any} */ (material).color;
  if (!(own instanceof Color)) return new Color(0xffffff);
  // Parts may share a material: its colour is remembered with it.
  material.userData.colour ??= own.clone();
  own.set(0xffffff);
  return /** @type {Colour} */ (material.userData.colour);
}
