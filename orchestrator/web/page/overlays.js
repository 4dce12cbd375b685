// @ts-check
/**
 * What the simulation is beside what it looks like: levels with their buffers, ghosts, groups,
 * hand-offs as they happen, trails, frames, and names.
 *
 * @module overlays
 */

import {
  Box3,
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  Color,
  DoubleSide,
  EdgesGeometry,
  Float32BufferAttribute,
  Group,
  InstancedMesh,
  LineBasicMaterial,
  LineDashedMaterial,
  LineSegments,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  PlaneGeometry,
  RingGeometry,
  SphereGeometry,
  SRGBColorSpace,
  Vector3,
} from './vendor/three.module.min.js';
import { reducesMotion } from './camera.js';
import { categoryColour } from './colours.js';
import { Groups } from './groups.js';
import { Labels } from './labels.js';
import { matrixOf } from './shapes.js';
import { Trails } from './trails.js';

/**
 * @typedef {'levels' | 'buffers' | 'ghosts' | 'groups' | 'handOffs' | 'trails' | 'frames' | 'names'
 *   | 'contacts'} Overlay
 */

/** Overlays with their labels and keys, in the order in which they are offered. */
export const OVERLAYS = /** @type {[Overlay, string, string][]} */ ([
  ['levels', 'Levels', 'l'],
  ['buffers', 'Buffers', 'b'],
  ['ghosts', 'Ghosts', 'g'],
  ['groups', 'Groups', 'u'],
  ['handOffs', 'Hand-offs', 'o'],
  ['trails', 'Trails', 't'],
  ['contacts', 'Contacts', 'c'],
  ['frames', 'Frames', 'x'],
  ['names', 'Names', 'n'],
]);

/** Overlays that are shown until somebody decides. */
export const FIRST_SHOWN = /** @type {Overlay[]} */ (['levels', 'buffers', 'handOffs', 'names']);

/** Time for which a hand-off is seen [ms]. */
const PULSE_MS = 1400;
/** Pulses that are drawn at once at most. */
const PULSES_MAX = 64;
/** Contacts that are drawn at most. */
const CONTACTS_MAX = 500;
/** Time for which a contact that is not told again is seen [ms]. */
const CONTACT_MS = 250;
/** Models whose names are shown at most; beyond that, only those of levels. */
const NAMED_MAX = 24;

export class Overlays {
  root = new Group();
  /** @type {Set<Overlay>} */
  shown = new Set(FIRST_SHOWN);
  #scene;
  #track;
  #labels;
  #onChange;
  #levels = new Group();
  #buffers = new Group();
  #frames = new Group();
  #ghosts;
  /** Groups, which are told on a topic of their own. */
  groups;
  #contacts = segments(1, '#d1005b');
  /** @type {Mesh[]} */
  #pulses = [];
  /** @type {{ name: string, slot: number, begun: number, colour: Color }[]} */
  #handOffs = [];
  /** @type {Trails | null} */
  #trails = null;
  /** @type {import('./contract.js').World | null} */
  #world = null;
  /** @type {Map<string, number>} */
  #levelIndex = new Map();
  /** @type {import('./contract.js').RunMessage | null} */
  #run = null;
  /** Levels that a performer was in, to see hand-offs. @type {Map<string, string>} */
  #levelOf = new Map();
  /** @type {Map<string, { points: number[], at: number }>} */
  #contactPoints = new Map();
  /** @type {import('./scene.js').ModelEntry | null} */
  #selected = null;
  #selection = segments(1, '#0a84ff');
  #box = new Box3();

  /**
   * @param {import('./scene.js').WorldScene} scene
   * @param {import('./poses.js').PoseTrack} track
   * @param {HTMLElement} labelLayer
   * @param {() => void} onChange
   */
  constructor(scene, track, labelLayer, onChange) {
    this.#scene = scene;
    this.#track = track;
    this.#labels = new Labels(labelLayer);
    this.#onChange = onChange;
    this.#ghosts = ghostMesh(1);
    this.groups = new Groups(scene);
    this.#selection.renderOrder = 5;
    this.root.add(
      this.#levels,
      this.#buffers,
      this.#frames,
      this.groups.lines,
      this.#contacts,
      this.#selection,
    );
    const ring = new RingGeometry(0.82, 1, 48);
    for (let index = 0; index < PULSES_MAX; index += 1) {
      const material = new MeshBasicMaterial({
        transparent: true,
        depthWrite: false,
        side: DoubleSide,
      });
      const pulse = new Mesh(ring, material);
      pulse.visible = false;
      pulse.renderOrder = 4;
      this.#pulses.push(pulse);
      this.root.add(pulse);
    }
  }

  /**
   * Shows or hides an overlay.
   *
   * @param {Overlay} overlay
   * @param {boolean} isShown
   */
  toggle(overlay, isShown) {
    if (isShown) this.shown.add(overlay);
    else this.shown.delete(overlay);
    this.#apply();
  }

  /** @param {import('./contract.js').World} world */
  setWorld(world) {
    const isSame = this.#world?.world === world.world;
    this.#world = world;
    if (!isSame) {
      this.#levelOf.clear();
      this.#contactPoints.clear();
      this.#handOffs = [];
    }
    // Models have come or gone: those that stay keep what is shown of them.
    const { byName } = this.#scene;
    for (const name of this.#levelOf.keys()) if (!byName.has(name)) this.#levelOf.delete(name);
    this.#handOffs = this.#handOffs.filter((one) => byName.get(one.name)?.slot === one.slot);
    const performers = this.#scene.entries.filter((entry) => entry.model.performer);
    const before = isSame ? this.#trails : null;
    if (this.#trails) {
      this.root.remove(this.#trails.lines);
      this.#trails.dispose();
    }
    const moving = performers.map(({ slot, model }) => ({ slot, link: linkOf(model) }));
    this.#trails = new Trails(moving, before);
    this.root.add(this.#trails.lines);
    this.root.remove(this.#ghosts);
    this.#ghosts.dispose();
    this.#ghosts = ghostMesh(Math.max(performers.length * 8, 1));
    this.root.add(this.#ghosts);
    this.#buildLevels();
    this.#apply();
  }

  /**
   * Takes figures of the run.
   *
   * @param {import('./contract.js').RunMessage} run
   * @param {Map<string, number>} levelIndex numbers of levels, by which they are coloured
   */
  setRun(run, levelIndex) {
    this.#run = run;
    const key = [...levelIndex.keys()].join('\n');
    const isNew = key !== [...this.#levelIndex.keys()].join('\n');
    this.#levelIndex = levelIndex;
    if (isNew) this.#buildLevels();
    this.#paintLevels();
    for (const performer of run.performers) {
      const before = this.#levelOf.get(performer.name);
      this.#levelOf.set(performer.name, performer.level);
      if (before !== undefined && before !== performer.level) this.#pulse(performer);
    }
    this.#onChange();
  }

  /** @param {import('./scene.js').ModelEntry | null} entry */
  select(entry) {
    this.#selected = entry;
    this.#apply();
  }

  /**
   * Takes the contacts of a topic, world frame.
   *
   * @param {string} topic
   * @param {number[]} points start and end of a line for each contact
   */
  setContacts(topic, points) {
    this.#contactPoints.set(topic, { points, at: performance.now() });
    this.#onChange();
  }

  /** @param {import('./contract.js').PerformerFigures} performer */
  #pulse(performer) {
    const entry = this.#scene.byName.get(performer.name);
    if (!entry || reducesMotion()) return;
    const colour = rgbColour(categoryColour(this.#levelIndex.get(performer.level) ?? -1));
    this.#handOffs.push({
      name: performer.name,
      slot: entry.slot,
      begun: performance.now(),
      colour,
    });
    if (this.#handOffs.length > PULSES_MAX) this.#handOffs.shift();
  }

  #buildLevels() {
    this.#levels.clear();
    this.#buffers.clear();
    const hasGround = this.#world !== null && standsOnGround(this.#world);
    for (const level of this.#world?.levels ?? []) {
      if (level.default) continue;
      const colour = rgbColour(categoryColour(this.#levelIndex.get(level.name) ?? -1));
      const floor = floorOf(level, hasGround);
      this.#levels.add(levelBox(level, floor, colour));
      if (level.buffer > 0) this.#buffers.add(bufferOutline(level, floor, colour));
    }
    this.#buildLabels();
  }

  /** Levels that are not loaded are drawn faintly. */
  #paintLevels() {
    const active = new Map(this.#run?.levels.map((level) => [level.name, level.active]));
    for (const group of this.#levels.children) {
      const isActive = active.get(group.userData.level) !== false;
      const [fill, edges] = /** @type {any[]} */ (group.children);
      fill.material.opacity = isActive ? 0.13 : 0.04;
      edges.material.opacity = isActive ? 0.75 : 0.3;
    }
  }

  #buildLabels() {
    /** @type {import('./labels.js').Label[]} */
    const labels = [];
    if (this.#selected) labels.push(this.#modelLabel(this.#selected, 'selected'));
    if (this.shown.has('names')) {
      for (const level of this.shown.has('levels') ? (this.#world?.levels ?? []) : []) {
        if (level.default) continue;
        const top = new Vector3(
          level.pose[0],
          level.pose[1] - level.size[1] / 2,
          level.pose[2] + level.size[2] / 2,
        );
        labels.push({ text: level.name, kind: 'level', place: (out) => out.copy(top) });
      }
      const performers = this.#scene.entries.filter(
        (entry) => entry.model.performer && entry !== this.#selected,
      );
      if (performers.length <= NAMED_MAX) {
        labels.push(...performers.map((entry) => this.#modelLabel(entry, 'model')));
      }
    }
    this.#labels.set(labels);
  }

  /**
   * @param {import('./scene.js').ModelEntry} entry
   * @param {string} kind
   */
  #modelLabel(entry, kind) {
    return {
      text: entry.model.name,
      kind,
      place: (/** @type {Vector3} */ out) => {
        const box = this.#scene.boundsOf(entry, this.#box);
        box.getCenter(out);
        out.z = box.max.z;
        return out;
      },
    };
  }

  #apply() {
    this.#levels.visible = this.shown.has('levels');
    this.#buffers.visible = this.shown.has('buffers');
    this.#ghosts.visible = this.shown.has('ghosts');
    this.groups.lines.visible = this.shown.has('groups');
    this.#contacts.visible = this.shown.has('contacts');
    if (this.#trails) this.#trails.lines.visible = this.shown.has('trails');
    this.#buildFrames();
    this.#buildLabels();
    this.#onChange();
  }

  /** Axes of the links of the selected model, or of all performers while they are few. */
  #buildFrames() {
    this.#frames.clear();
    if (!this.shown.has('frames')) return;
    const few = this.#scene.entries.filter((entry) => entry.model.performer).slice(0, 60);
    const entries = this.#selected ? [this.#selected] : few;
    for (const entry of entries) {
      for (const slot of this.#selected ? entry.slots : [entry.slot]) {
        const axes = frameAxes();
        axes.userData.slot = slot;
        axes.matrixAutoUpdate = false;
        this.#frames.add(axes);
      }
    }
  }

  /**
   * Moves all with the poses; returns true while something is animated.
   *
   * @param {number} nowMs
   * @param {boolean} hasMoved
   * @param {(slot: number) => import('./colours.js').Rgb} colourOf
   */
  update(nowMs, hasMoved, colourOf) {
    const { shown } = this.#track;
    if (hasMoved) this.#trails?.grow(shown);
    if (this.shown.has('trails')) this.#trails?.draw(shown, colourOf);
    for (const axes of this.#frames.children) matrixOf(shown, axes.userData.slot * 7, axes.matrix);
    if (this.shown.has('ghosts')) this.#drawGhosts();
    if (this.shown.has('groups')) this.groups.draw();
    if (this.shown.has('contacts')) this.#drawContacts();
    this.#drawSelection();
    return this.#drawPulses(nowMs);
  }

  /** @param {import('./vendor/three.module.min.js').Camera} camera */
  placeLabels(camera) {
    this.#labels.place(camera);
  }

  #drawPulses(/** @type {number} */ nowMs) {
    this.#handOffs = this.#handOffs.filter((one) => nowMs - one.begun < PULSE_MS);
    const isShown = this.shown.has('handOffs');
    this.#pulses.forEach((pulse, index) => {
      const handOff = this.#handOffs[index];
      pulse.visible = isShown && handOff !== undefined;
      if (!handOff) return;
      const part = Math.max((nowMs - handOff.begun) / PULSE_MS, 0);
      const entry = this.#scene.entryOfSlot[handOff.slot];
      const box = this.#scene.boundsOf(entry, this.#box);
      const radius = Math.max(box.max.x - box.min.x, box.max.y - box.min.y, 0.3);
      box.getCenter(pulse.position);
      pulse.position.z = box.min.z + 0.03;
      pulse.scale.setScalar(radius * (0.5 + 1.6 * (1 - (1 - part) ** 3)));
      const material = /** @type {MeshBasicMaterial} */ (pulse.material);
      material.color.copy(handOff.colour);
      material.opacity = (1 - part) * 0.9;
    });
    return isShown && this.#handOffs.length > 0;
  }

  /** A ghost is a translucent shell around the performer for each other cell that has a copy. */
  #drawGhosts() {
    let count = 0;
    for (const level of this.#run?.levels ?? []) {
      if (!level.ghosts?.length) continue;
      const colour = rgbColour(categoryColour(this.#levelIndex.get(level.name) ?? -1));
      for (const name of level.ghosts) {
        const entry = this.#scene.byName.get(name);
        if (!entry || count >= this.#ghosts.instanceMatrix.count) continue;
        const box = this.#scene.boundsOf(entry, this.#box);
        box.getSize(shell).multiplyScalar(0.75).addScalar(0.06);
        ghost.makeScale(shell.x, shell.y, shell.z).setPosition(box.getCenter(shell));
        this.#ghosts.setMatrixAt(count, ghost);
        this.#ghosts.setColorAt(count, colour);
        count += 1;
      }
    }
    this.#ghosts.count = count;
    this.#ghosts.instanceMatrix.needsUpdate = true;
    if (this.#ghosts.instanceColor) this.#ghosts.instanceColor.needsUpdate = true;
  }

  #drawContacts() {
    const now = performance.now();
    /** @type {number[]} */
    const points = [];
    for (const [topic, { points: some, at }] of this.#contactPoints) {
      if (now - at > CONTACT_MS && this.#run && this.#run.state === 'running')
        this.#contactPoints.delete(topic);
      else points.push(...some);
    }
    setSegments(this.#contacts, points.slice(0, CONTACTS_MAX * 6));
  }

  /** Corners of the box around the selected model. */
  #drawSelection() {
    if (!this.#selected) {
      setSegments(this.#selection, []);
      return;
    }
    const box = this.#scene.boundsOf(this.#selected, this.#box).expandByScalar(0.04);
    const size = box.getSize(new Vector3());
    const arm = Math.min(size.x, size.y, size.z) * 0.28 + 0.05;
    /** @type {number[]} */
    const points = [];
    for (const x of [0, 1]) {
      for (const y of [0, 1]) {
        for (const z of [0, 1]) {
          const corner = [
            x ? box.max.x : box.min.x,
            y ? box.max.y : box.min.y,
            z ? box.max.z : box.min.z,
          ];
          [x, y, z].forEach((side, axis) => {
            const end = [...corner];
            end[axis] += side ? -arm : arm;
            points.push(...corner, ...end);
          });
        }
      }
    }
    setSegments(this.#selection, points);
  }
}

const shell = new Vector3();
const ghost = new Matrix4();

/**
 * @param {import('./colours.js').Rgb} rgb
 */
function rgbColour(rgb) {
  return new Color().setRGB(rgb[0], rgb[1], rgb[2], SRGBColorSpace);
}

/**
 * @param {import('./contract.js').Level} level
 * @param {number} height of its floor, in the frame of its box [m]
 * @param {Color} colour
 */
function levelBox({ name, size, pose }, height, colour) {
  const group = new Group();
  const geometry = new BoxGeometry(...size);
  const fill = new MeshBasicMaterial({
    color: colour,
    transparent: true,
    opacity: 0.13,
    depthWrite: false,
    polygonOffset: true,
    polygonOffsetFactor: -1,
    polygonOffsetUnits: -2,
    side: DoubleSide,
  });
  const edges = new LineBasicMaterial({ color: colour, transparent: true, opacity: 0.8 });
  const floor = new PlaneGeometry(size[0], size[1]).translate(0, 0, height);
  group.add(new Mesh(floor, fill), new LineSegments(new EdgesGeometry(geometry), edges));
  group.userData.level = name;
  group.matrixAutoUpdate = false;
  matrixOf(pose, 0, group.matrix);
  return group;
}

/**
 * Tells whether a world has a plane as its ground.
 *
 * @param {import('./contract.js').World} world
 */
function standsOnGround(world) {
  const shapes = world.models
    .filter((model) => model.static)
    .flatMap((model) =>
      model.links.flatMap((link) => [...link.visuals, ...(link.collisions ?? [])]),
    );
  return shapes.some((shape) => shape.geometry.type === 'plane');
}

/**
 * Returns the height at which a level's floor is drawn, in the frame of its box: its bottom, or the
 * ground if that is within the box.
 *
 * @param {import('./contract.js').Level} level
 * @param {boolean} hasGround
 */
function floorOf({ size, pose }, hasGround) {
  const half = size[2] / 2;
  return hasGround && Math.abs(pose[2]) < half ? -pose[2] + 0.004 : -half;
}

/**
 * Makes the outline of a buffer on the floor of its level.
 *
 * @param {import('./contract.js').Level} level
 * @param {number} height of its floor, in the frame of its box [m]
 * @param {Color} colour
 */
function bufferOutline({ size, buffer, pose }, height, colour) {
  const [x, y] = [size[0] / 2 + buffer, size[1] / 2 + buffer];
  const z = height + 0.01;
  const corners = [
    [-x, -y, z],
    [x, -y, z],
    [x, y, z],
    [-x, y, z],
  ];
  const points = corners.flatMap((corner, index) => [...corner, ...corners[(index + 1) % 4]]);
  const geometry = new BufferGeometry().setAttribute(
    'position',
    new Float32BufferAttribute(points, 3),
  );
  const material = new LineDashedMaterial({
    color: colour,
    transparent: true,
    opacity: 0.8,
    dashSize: 0.25,
    gapSize: 0.35,
  });
  const lines = new LineSegments(geometry, material);
  lines.computeLineDistances();
  lines.matrixAutoUpdate = false;
  matrixOf(pose, 0, lines.matrix);
  return lines;
}

/** @param {number} count */
function ghostMesh(count) {
  const material = new MeshBasicMaterial({ transparent: true, opacity: 0.3, depthWrite: false });
  const mesh = new InstancedMesh(new SphereGeometry(1, 24, 16), material, count);
  mesh.frustumCulled = false;
  mesh.count = 0;
  return mesh;
}

function frameAxes() {
  const geometry = new BufferGeometry();
  const length = 0.5;
  geometry.setAttribute(
    'position',
    new Float32BufferAttribute(
      [0, 0, 0, length, 0, 0, 0, 0, 0, 0, length, 0, 0, 0, 0, 0, 0, length],
      3,
    ),
  );
  const [x, y, z] = [
    [0.86, 0.2, 0.18],
    [0.2, 0.6, 0.2],
    [0.15, 0.4, 0.9],
  ];
  geometry.setAttribute(
    'color',
    new Float32BufferAttribute([...x, ...x, ...y, ...y, ...z, ...z], 3),
  );
  const lines = new LineSegments(
    geometry,
    new LineBasicMaterial({ vertexColors: true, depthTest: false }),
  );
  lines.renderOrder = 6;
  return lines;
}

/**
 * @param {number} opacity
 * @param {string} colour
 */
function segments(opacity, colour) {
  const material = new LineBasicMaterial({
    color: new Color(colour),
    transparent: opacity < 1,
    opacity,
  });
  const lines = new LineSegments(new BufferGeometry(), material);
  lines.frustumCulled = false;
  return lines;
}

/**
 * Replaces the lines of some segments.
 *
 * @param {LineSegments} lines
 * @param {number[]} points
 */
function setSegments(lines, points) {
  const attribute = lines.geometry.getAttribute('position');
  if (attribute && attribute.array.length >= points.length) {
    attribute.array.set(points);
    attribute.needsUpdate = true;
  } else if (points.length > 0) {
    lines.geometry.dispose();
    lines.geometry.setAttribute(
      'position',
      new BufferAttribute(new Float32Array(points.length * 2), 3),
    );
    lines.geometry.getAttribute('position').array.set(points);
  }
  lines.geometry.setDrawRange(0, points.length / 3);
}

/**
 * Returns the number of the link that a model's origin is attached to.
 *
 * @param {import('./contract.js').Model} model
 */
function linkOf(model) {
  return model.links[model.canonical_link ?? 0]?.id ?? -1;
}
