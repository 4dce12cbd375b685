// @ts-check
/**
 * The models of a world as instanced meshes: from `/phalanx/scene` to three.js objects, moved by a
 * track of poses and coloured by instance.
 *
 * @module scene
 */

import {
  Box3,
  Color,
  Group,
  InstancedMesh,
  Matrix4,
  Quaternion,
  SRGBColorSpace,
  Vector3,
} from './vendor/three.module.min.js';
import { report } from './assets.js';
import { categoryColour } from './colours.js';
import { Lean, prepare } from './lean.js';
import { Skin } from './limbs.js';
import { chooseDetail, geometryOf, matrixOf, unitShape } from './shapes.js';

/** @typedef {import('./contract.js').World} World */
/** @typedef {import('./contract.js').Model} Model */
/** @typedef {import('./contract.js').Link} Link */
/** @typedef {import('./contract.js').Shape} Shape */
/** @typedef {import('./vendor/three.module.min.js').BufferGeometry} BufferGeometry */
/** @typedef {import('./vendor/three.module.min.js').Material} ThreeMaterial */

/**
 * @typedef {object} Batch instances of one geometry with one material
 * @property {BufferGeometry} geometry
 * @property {ThreeMaterial} material
 * @property {boolean} castsShadows
 * @property {boolean} isPlane
 * @property {boolean} isCollision
 * @property {boolean} isMesh
 * @property {{ slot: number, local: Matrix4, colour: Color }[]} instances
 * @property {InstancedMesh | null} mesh
 */

/**
 * @typedef {object} ModelEntry
 * @property {string} name as reports have it: with its world, where a run has several
 * @property {Model} model
 * @property {number[]} slots of its links
 * @property {Box3[]} bounds of its links, each in the link's frame; empty where nothing is drawn
 * @property {number} slot of the link that stands for it
 * @property {Matrix4} origin of the model, in the frame of that link
 */

/** Opacity above which a surface casts a shadow. */
const SHADOW_OPACITY_MIN = 0.6;
/** Colour of collision shapes. */
const COLLISION = { diffuse: [0.9, 0.55, 0.1, 0.45] };
/** Colours of models that say nothing of their look. */
const SOFT_COLOURS = 7;
const scratch = new Matrix4();

export class WorldScene {
  /** The objects, to be added to a three.js scene. */
  root = new Group();
  /** Chooses what is drawn, where a processor draws. @type {Lean | null} */
  #lean = null;
  /** @type {ModelEntry[]} */
  entries = [];
  /** @type {Map<string, ModelEntry>} */
  byName = new Map();
  /** Entries by slot of a link. @type {ModelEntry[]} */
  entryOfSlot = [];
  /** Names of links as `MODEL::LINK`, to their slots. @type {Map<string, number>} */
  slotOfFrame = new Map();
  /** Shown links, in the order of slots. @type {Link[]} */
  links = [];
  /** @type {Map<string, Batch>} */
  #batches = new Map();
  /** Instances of each slot. @type {[Batch, number][][]} */
  #ofSlot = [];
  #materials;
  #assets;
  #onChange;
  #track;
  #showsCollisions = false;
  /** Skins of each slot. @type {Map<number, Skin[]>} */
  #skins = new Map();
  /** Elapsed simulated time at which skins are shown [s]. */
  #elapsedS = 0;
  /** Batches with instances that came after they were built. @type {Set<Batch>} */
  #grown = new Set();
  #generation = 0;
  /** @type {((slot: number) => import('./colours.js').Rgb | null) | null} */
  #colourOf = null;

  /**
   * @param {import('./materials.js').Materials} materials
   * @param {import('./assets.js').Assets} assets
   * @param {import('./poses.js').PoseTrack} track
   * @param {() => void} onChange called when something has to be drawn again
   */
  constructor(materials, assets, track, onChange) {
    this.#materials = materials;
    this.#assets = assets;
    this.#track = track;
    this.#onChange = onChange;
    if (!materials.isSimple) return;
    this.#lean = new Lean();
    this.root.add(this.#lean.root);
  }

  /**
   * Shows a world instead of the present one.
   *
   * @param {World} world
   */
  show(world) {
    this.#clear();
    this.#generation += 1;
    this.links = world.models.flatMap((model) => model.links);
    const count = this.links.reduce((sum, link) => sum + link.visuals.length, 0);
    chooseDetail(count, this.#materials.isSimple);
    this.#materials.takeLights(world.lights);
    this.#track.reset(this.links);
    let slot = 0;
    for (const model of world.models) {
      /** @type {ModelEntry} */
      const entry = {
        name: model.name,
        model,
        slots: [],
        bounds: [],
        slot,
        origin: originOf(model),
      };
      const hasVisuals = model.links.some((link) => link.visuals.length > 0);
      model.links.forEach((link, index) => {
        if (index === (model.canonical_link ?? 0)) entry.slot = slot;
        entry.slots.push(slot);
        entry.bounds.push(new Box3());
        this.entryOfSlot[slot] = entry;
        this.slotOfFrame.set(`${entry.name}::${link.name}`, slot);
        this.#ofSlot[slot] = [];
        this.#addLink(entry, link, index, slot, hasVisuals);
        slot += 1;
      });
      this.entries.push(entry);
      this.byName.set(entry.name, entry);
    }
    for (const batch of this.#batches.values()) this.#build(batch);
    this.#lean?.makeRoom();
  }

  /**
   * Chooses what is drawn of it, where a processor draws.
   *
   * @param {import('./vendor/three.module.min.js').PerspectiveCamera} camera
   * @param {number} heightPx of the picture
   */
  choose(camera, heightPx) {
    this.#lean?.choose(camera, heightPx);
  }

  /** Shows collision shapes, or hides them. */
  set showsCollisions(/** @type {boolean} */ shows) {
    this.#showsCollisions = shows;
    for (const batch of this.#batches.values()) {
      if (batch.mesh && batch.isCollision) batch.mesh.visible = shows;
    }
    this.#onChange();
  }

  get showsCollisions() {
    return this.#showsCollisions;
  }

  /**
   * Adds the shapes of a link; a model without visuals is shown by its collisions.
   *
   * @param {ModelEntry} entry
   * @param {Link} link
   * @param {number} index of the link in its model
   * @param {number} slot
   * @param {boolean} hasVisuals
   */
  #addLink(entry, link, index, slot, hasVisuals) {
    const bounds = entry.bounds[index];
    const collisions = link.collisions ?? [];
    const motion = entry.model.motion ?? null;
    for (const visual of hasVisuals ? link.visuals : collisions) {
      const material =
        visual.material ?? (hasVisuals || entry.model.static ? null : softMaterial(entry.model.id));
      this.#addShape(visual, slot, bounds, { isCollision: false, material, motion });
    }
    if (!hasVisuals) return;
    for (const collision of collisions) {
      const options = { isCollision: true, material: COLLISION, motion: null };
      this.#addShape(collision, slot, new Box3(), options);
    }
  }

  /**
   * @param {Shape} shape
   * @param {number} slot
   * @param {Box3} bounds
   * @param {{ isCollision: boolean, material: import('./contract.js').Material | null,
   *   motion: import('./contract.js').Motion | null }} options
   */
  #addShape(shape, slot, bounds, options) {
    const { geometry } = shape;
    const transparency = shape.transparency ?? 0;
    const pose = matrixOf(shape.pose);
    const unit = unitShape(geometry);
    const castsShadows = shape.cast_shadows !== false && !options.isCollision;
    const isPlane = geometry.type === 'plane';
    if (unit) {
      const surface = this.#materials.surface(options.material, transparency, { isPlane });
      if (!surface) return;
      const local = pose.multiply(unit.matrix);
      const shared = geometryOf(unit);
      if (!isPlane) growBounds(bounds, shared, local);
      const { isCollision } = options;
      const casts = castsShadows && surface.opacity > SHADOW_OPACITY_MIN;
      const key = `${unit.key} ${surface.key} ${casts} ${isCollision}`;
      const material = this.#materials.of(surface);
      this.#addInstance(
        key,
        { geometry: shared, material, castsShadows: casts, isPlane, isCollision, isMesh: false },
        {
          slot,
          local,
          colour: surface.colour,
        },
      );
    } else if (geometry.asset) {
      if (geometry.scale) pose.scale(new Vector3(...geometry.scale));
      const more = { ...options, transparency, castsShadows };
      const { motion } = options;
      if (motion) this.#addSkin(geometry.asset, pose, slot, bounds, { ...more, motion });
      else this.#addMesh(geometry.asset, pose, slot, bounds, more);
    }
  }

  /**
   * Adds a mesh of an actor when its file has come, which bones may move.
   *
   * @param {string} asset
   * @param {Matrix4} pose
   * @param {number} slot
   * @param {Box3} bounds
   * @param {{ isCollision: boolean, material: import('./contract.js').Material | null,
   *   transparency: number, castsShadows: boolean,
   *   motion: import('./contract.js').Motion }} options
   */
  #addSkin(asset, pose, slot, bounds, options) {
    const generation = this.#generation;
    const place = async () => {
      const file = await this.#assets.skin(asset);
      if (generation !== this.#generation) return;
      if (!file) {
        this.#addMesh(asset, pose, slot, bounds, options);
        return;
      }
      const { material, transparency, castsShadows } = options;
      const surface = material && this.#materials.surface(material, transparency, { isMesh: true });
      const skin = new Skin(file, options.motion, pose);
      for (const mesh of skin.meshes) {
        mesh.material = this.#materials.ofSkin(mesh.material, surface);
        mesh.castShadow = castsShadows;
        mesh.receiveShadow = true;
        mesh.frustumCulled = false;
        mesh.userData.slot = slot;
        growBounds(bounds, mesh.geometry, pose.clone());
      }
      skin.place(matrixOf(this.#track.shown, slot * 7, scratch));
      skin.bend(this.#elapsedS);
      this.root.add(skin.root);
      const known = this.#skins.get(slot) ?? [];
      this.#skins.set(slot, [...known, skin]);
      this.#onChange();
    };
    place().catch(report(asset));
  }

  /**
   * Bends skins as they are at an elapsed simulated time [s]; tells whether there are any that are
   * shown at another one.
   *
   * @param {number} elapsedS
   */
  bend(elapsedS) {
    if (elapsedS === this.#elapsedS) return false;
    this.#elapsedS = elapsedS;
    for (const skins of this.#skins.values()) {
      for (const skin of skins) skin.bend(elapsedS);
    }
    return this.#skins.size > 0;
  }

  /**
   * Adds a mesh when its file has come.
   *
   * @param {string} asset
   * @param {Matrix4} pose
   * @param {number} slot
   * @param {Box3} bounds
   * @param {{ isCollision: boolean, material: import('./contract.js').Material | null,
   *   transparency: number, castsShadows: boolean }} options
   */
  #addMesh(asset, pose, slot, bounds, options) {
    const generation = this.#generation;
    const place = async () => {
      const parts = await this.#assets.mesh(asset);
      if (generation !== this.#generation) return;
      parts.forEach((part, index) => {
        const { material: given, transparency } = options;
        const surface = given && this.#materials.surface(given, transparency, { isMesh: true });
        const own = surface ? this.#materials.of(surface) : part.material;
        const material = surface ? own : this.#materials.ofPart(own);
        const colour = surface ? surface.colour : part.colour;
        const kind = `${options.castsShadows} ${options.isCollision}`;
        const key = `${asset} ${index} ${surface?.key ?? 'own'} ${kind}`;
        const local = pose.clone().multiply(part.matrix);
        growBounds(bounds, part.geometry, local);
        const batch = this.#addInstance(
          key,
          {
            geometry: part.geometry,
            material,
            castsShadows: options.castsShadows,
            isPlane: false,
            isCollision: options.isCollision,
            isMesh: true,
          },
          { slot, local, colour },
        );
        // Many models have the same mesh: all are built at once, before the next frame.
        this.#grown.add(batch);
      });
      this.#onChange();
    };
    place().catch(report(asset));
  }

  /**
   * @param {string} key
   * @param {Omit<Batch, 'instances' | 'mesh'>} kind
   * @param {Batch['instances'][number]} instance
   */
  #addInstance(key, kind, instance) {
    let batch = this.#batches.get(key);
    if (!batch) {
      batch = { ...kind, instances: [], mesh: null };
      this.#batches.set(key, batch);
    }
    this.#ofSlot[instance.slot].push([batch, batch.instances.length]);
    batch.instances.push(instance);
    return batch;
  }

  /**
   * Makes the instanced mesh of a batch, anew if it has grown.
   *
   * @param {Batch} batch
   */
  #build(batch) {
    if (batch.mesh) {
      this.root.remove(batch.mesh);
      batch.mesh.dispose();
    }
    const mesh = new InstancedMesh(batch.geometry, batch.material, batch.instances.length);
    prepare(mesh);
    mesh.castShadow = batch.castsShadows && !batch.isPlane;
    mesh.receiveShadow = !batch.isCollision;
    mesh.visible = !batch.isCollision || this.#showsCollisions;
    mesh.userData.batch = batch;
    batch.mesh = mesh;
    this.#lean?.add(batch);
    batch.instances.forEach((instance, index) => {
      this.#place(batch, index);
      this.#paint(batch, index, this.#colourFor(instance));
    });
    this.root.add(mesh);
  }

  /**
   * @param {Batch} batch
   * @param {number} index
   */
  #place(batch, index) {
    const { slot, local } = batch.instances[index];
    matrixOf(this.#track.shown, slot * 7, scratch).multiply(local);
    if (this.#lean) this.#lean.place(batch, index, scratch);
    else batch.mesh?.setMatrixAt(index, scratch);
  }

  /**
   * @param {Batch} batch
   * @param {number} index
   * @param {Color} colour
   */
  #paint(batch, index, colour) {
    if (this.#lean) this.#lean.colour(batch, index, colour);
    else batch.mesh?.setColorAt(index, colour);
  }

  /** Builds what came since the last call; tells whether anything did. */
  grow() {
    if (this.#grown.size === 0) return false;
    for (const batch of this.#grown) this.#build(batch);
    this.#grown.clear();
    this.#lean?.makeRoom();
    return true;
  }

  /** Moves what has changed in the track; returns the slots. */
  move() {
    const changed = this.#track.takeChanged();
    for (const slot of changed) {
      for (const [batch, index] of this.#ofSlot[slot] ?? []) {
        if (!batch.mesh) continue;
        this.#place(batch, index);
        batch.mesh.instanceMatrix.needsUpdate = true;
      }
      for (const skin of this.#skins.get(slot) ?? []) {
        skin.place(matrixOf(this.#track.shown, slot * 7, scratch));
      }
    }
    return changed;
  }

  /**
   * Colours performers by meaning, or all by their materials.
   *
   * @param {((slot: number) => import('./colours.js').Rgb | null) | null} colourOf
   */
  colour(colourOf) {
    this.#colourOf = colourOf;
    for (const batch of this.#batches.values()) {
      if (!batch.mesh || batch.isCollision) continue;
      batch.instances.forEach((instance, index) => {
        this.#paint(batch, index, this.#colourFor(instance));
      });
      if (batch.mesh.instanceColor) batch.mesh.instanceColor.needsUpdate = true;
    }
    this.#onChange();
  }

  /** @param {Batch['instances'][number]} instance */
  #colourFor(instance) {
    const entry = this.entryOfSlot[instance.slot];
    if (!this.#colourOf) return instance.colour;
    if (entry.model.static) return mixed.copy(instance.colour).lerp(GREY, 0.6);
    const wanted = this.#colourOf(instance.slot);
    if (!wanted) return instance.colour;
    mixed.setRGB(wanted[0], wanted[1], wanted[2], SRGBColorSpace);
    // Dark parts stay darker, so that wheels are told from bodies.
    const light = 0.45 + 0.55 * Math.min(1, luminance(instance.colour) * 2.2);
    return mixed.multiplyScalar(light);
  }

  /**
   * Returns the entry that a ray hits first, and where.
   *
   * @param {import('./vendor/three.module.min.js').Raycaster} raycaster
   */
  pick(raycaster) {
    const meshes = [...this.#batches.values()].flatMap((batch) =>
      batch.mesh?.visible && !batch.isPlane ? [batch.mesh] : [],
    );
    meshes.push(...(this.#lean?.boxMeshes() ?? []));
    for (const mesh of meshes) mesh.computeBoundingSphere();
    const skins = [...this.#skins.values()].flat().flatMap((skin) => skin.meshes);
    for (const mesh of skins) mesh.computeBoundingSphere();
    const [hit] = raycaster.intersectObjects([...meshes, ...skins], false);
    if (!hit) return null;
    const ofSkin = hit.object.userData.slot;
    if (ofSkin !== undefined) {
      return { entry: this.entryOfSlot[ofSkin], slot: ofSkin, point: hit.point };
    }
    if (hit.instanceId === undefined) return null;
    const [batch, index] = this.#instanceAt(hit.object, hit.instanceId);
    const { slot } = batch.instances[index];
    return { entry: this.entryOfSlot[slot], slot, point: hit.point };
  }

  /**
   * @param {any} mesh
   * @param {number} instance
   * @returns {[Batch, number]}
   */
  #instanceAt(mesh, instance) {
    return this.#lean?.find(mesh, instance) ?? [mesh.userData.batch, instance];
  }

  /**
   * Returns the box around what is shown of a model, world frame; its origin where that is nothing.
   *
   * @param {ModelEntry} entry
   * @param {Box3} [out]
   */
  boundsOf(entry, out = new Box3()) {
    out.makeEmpty();
    entry.slots.forEach((slot, index) => {
      if (entry.bounds[index].isEmpty()) return;
      matrixOf(this.#track.shown, slot * 7, scratch);
      out.union(linkBox.copy(entry.bounds[index]).applyMatrix4(scratch));
    });
    if (out.isEmpty()) out.expandByPoint(this.positionOf(entry.slot));
    return out;
  }

  /**
   * Returns the shown position of a link.
   *
   * @param {number} slot
   * @param {Vector3} [out]
   */
  positionOf(slot, out = new Vector3()) {
    const { shown } = this.#track;
    return out.set(shown[slot * 7], shown[slot * 7 + 1], shown[slot * 7 + 2]);
  }

  /**
   * Returns the shown pose of a model's origin.
   *
   * @param {ModelEntry} entry
   */
  poseOf(entry) {
    const position = new Vector3();
    const orientation = new Quaternion();
    const matrix = matrixOf(this.#track.shown, entry.slot * 7).multiply(entry.origin);
    matrix.decompose(position, orientation, new Vector3());
    return { position, orientation };
  }

  /** Counts what is drawn: batches are draw calls. */
  counts() {
    const batches = [...this.#batches.values()];
    return {
      batches: batches.length,
      instances: batches.reduce((sum, batch) => sum + batch.instances.length, 0),
    };
  }

  #clear() {
    for (const batch of this.#batches.values()) {
      if (!batch.mesh) continue;
      this.root.remove(batch.mesh);
      batch.mesh.dispose();
    }
    for (const skin of [...this.#skins.values()].flat()) {
      this.root.remove(skin.root);
      skin.dispose();
    }
    this.#skins.clear();
    this.#batches.clear();
    this.#grown.clear();
    this.#lean?.clear();
    this.#ofSlot = [];
    this.entries = [];
    this.byName.clear();
    this.entryOfSlot = [];
    this.slotOfFrame.clear();
  }
}

/**
 * Returns the origin of a model in the frame of the link that stands for it.
 *
 * @param {Model} model
 */
function originOf(model) {
  const link = model.links[model.canonical_link ?? 0];
  if (!link || !model.pose) return new Matrix4();
  return matrixOf(link.pose).invert().multiply(matrixOf(model.pose));
}

/**
 * Returns the material of a model that moves and says nothing of its look: models are told apart.
 *
 * @param {number} id
 */
function softMaterial(id) {
  const rgb = categoryColour(id % SOFT_COLOURS).map((part) => 0.25 + part * 0.62);
  return { diffuse: [...rgb, 1] };
}

const mixed = new Color();
const GREY = new Color().setRGB(0.8, 0.82, 0.85, SRGBColorSpace);
const linkBox = new Box3();

/** @param {Color} colour */
function luminance(colour) {
  return 0.2126 * colour.r + 0.7152 * colour.g + 0.0722 * colour.b;
}

/**
 * @param {Box3} bounds
 * @param {BufferGeometry} geometry
 * @param {Matrix4} local
 */
function growBounds(bounds, geometry, local) {
  if (!geometry.boundingBox) geometry.computeBoundingBox();
  if (geometry.boundingBox) bounds.union(linkBox.copy(geometry.boundingBox).applyMatrix4(local));
}
