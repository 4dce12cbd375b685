// @ts-check
/**
 * The camera: it orbits a point, follows a model, or flies.
 *
 * @module camera
 */

import {
  Box3,
  Euler,
  OrbitControls,
  PerspectiveCamera,
  Vector3,
} from './vendor/three.module.min.js';

/** @typedef {'orbit' | 'follow' | 'fly'} CameraMode */

/**
 * @typedef {object} Move move of the camera that is under way
 * @property {number} begun
 * @property {Vector3} fromPosition
 * @property {Vector3} fromTarget
 * @property {Vector3} position
 * @property {Vector3} target
 */

/** Time that a move of the camera takes [ms]. */
const MOVE_MS = 450;
/** Direction from which a world is shown first. */
const FIRST_DIRECTION = new Vector3(-0.62, -0.95, 0.72).normalize();
/** The same where the picture is taller than wide: steeper, and along the longer edge of a world. */
const FIRST_DIRECTION_TALL = {
  x: new Vector3(-0.85, -0.3, 1).normalize(),
  y: new Vector3(-0.3, -0.85, 1).normalize(),
};
/** Part of the picture that a box fills which is shown as a whole. */
const FILLED = 0.88;
/** Speeds of flying [m/s], slow and with Shift. */
const FLY_M_S = { slow: 4, fast: 20 };
/** Turn of the flying camera per pixel [rad]. */
const LOOK_RAD = 0.0035;
/** Turn of the orbiting camera per press of an arrow key [rad]. */
const TURN_RAD = 0.12;

export class CameraRig extends EventTarget {
  camera = new PerspectiveCamera(45, 1, 0.05, 4000);
  /** @type {CameraMode} */
  mode = 'orbit';
  /** True once the user has moved it. */
  isTouched = false;
  #controls;
  #element;
  /** @type {(() => Vector3 | null) | null} */
  #followed = null;
  /** @type {Vector3 | null} */
  #last = null;
  /** @type {Move | null} */
  #move = null;
  /** @type {Set<string>} */
  #keys = new Set();
  /** @type {{ x: number, y: number } | null} */
  #look = null;

  /** @param {HTMLElement} element that pointers act on */
  constructor(element) {
    super();
    this.#element = element;
    this.camera.up.set(0, 0, 1);
    this.camera.position.set(-8, -12, 9);
    this.#controls = new OrbitControls(this.camera, element);
    this.#controls.enableDamping = !reducesMotion();
    this.#controls.dampingFactor = 0.12;
    this.#controls.maxPolarAngle = Math.PI * 0.495;
    this.#controls.minDistance = 0.2;
    this.#controls.maxDistance = 1500;
    this.#controls.zoomToCursor = true;
    this.#controls.addEventListener('change', () => this.dispatchEvent(new Event('change')));
    this.#controls.addEventListener('start', () => {
      this.#move = null;
      this.isTouched = true;
    });
    this.#listenForFlying();
  }

  /** Point that the camera looks at. */
  get target() {
    return this.#controls.target;
  }

  /** Parts of the picture below and on the left that something stands before. */
  coveredBelow = 0;
  coveredLeft = 0;

  /** Distance from what is looked at [m]. */
  get distance() {
    return this.camera.position.distanceTo(this.#controls.target);
  }

  /**
   * Shows a box as a whole.
   *
   * @param {Box3} box
   * @param {{ isFirst?: boolean }} [options] with `isFirst` at once and from the first direction
   */
  fit(box, options = {}) {
    const centre = box.getCenter(new Vector3());
    const direction = options.isFirst
      ? firstDirection(box, this.camera.aspect)
      : this.camera.position.clone().sub(this.#controls.target).normalize();
    const distance = this.#distanceFor(box, centre, direction);
    // What stands before the lower part of the picture is passed by.
    const { across, up } = axesOf(direction);
    const half = Math.tan((this.camera.fov * Math.PI) / 360);
    const target = centre
      .clone()
      .addScaledVector(up, -distance * half * this.coveredBelow)
      .addScaledVector(across, -distance * half * this.camera.aspect * this.coveredLeft);
    const position = target.clone().addScaledVector(direction, distance);
    this.moveTo(position, target, options.isFirst === true);
  }

  /**
   * Returns the least distance from which all corners of a box are seen.
   *
   * @param {Box3} box
   * @param {Vector3} centre
   * @param {Vector3} direction from the centre to the camera
   */
  #distanceFor(box, centre, direction) {
    const { across, up } = axesOf(direction);
    const half = Math.tan((this.camera.fov * Math.PI) / 360) * FILLED;
    const high = half * (1 - this.coveredBelow);
    const wide = half * this.camera.aspect * (1 - this.coveredLeft);
    let distance = 1.5;
    for (let corner = 0; corner < 8; corner += 1) {
      const point = new Vector3(
        corner & 1 ? box.max.x : box.min.x,
        corner & 2 ? box.max.y : box.min.y,
        corner & 4 ? box.max.z : box.min.z,
      ).sub(centre);
      const ahead = point.dot(direction);
      const needed = Math.max(Math.abs(point.dot(across)) / wide, Math.abs(point.dot(up)) / high);
      distance = Math.max(distance, ahead + needed);
    }
    return distance;
  }

  /**
   * Moves the camera.
   *
   * @param {Vector3} position
   * @param {Vector3} target
   * @param {boolean} atOnce
   */
  moveTo(position, target, atOnce = false) {
    if (atOnce || reducesMotion()) {
      this.camera.position.copy(position);
      this.#controls.target.copy(target);
      this.#move = null;
      this.#controls.update();
      this.dispatchEvent(new Event('change'));
      return;
    }
    const fromPosition = this.camera.position.clone();
    const fromTarget = this.#controls.target.clone();
    this.#move = {
      begun: performance.now(),
      fromPosition,
      fromTarget,
      position: position.clone(),
      target: target.clone(),
    };
    this.dispatchEvent(new Event('change'));
  }

  /** Looks from above, or from the first direction if it does. */
  toggleAbove() {
    this.isTouched = true;
    const { target } = this.#controls;
    const isAbove = this.camera.position.clone().sub(target).normalize().z > 0.995;
    const direction = isAbove ? FIRST_DIRECTION : new Vector3(0, -0.001, 1);
    this.moveTo(target.clone().addScaledVector(direction, this.distance), target);
  }

  /**
   * Follows a place that moves, until `orbit`.
   *
   * @param {() => Vector3 | null} place
   */
  follow(place) {
    this.#followed = place;
    this.#last = null;
    const at = place();
    if (at) {
      const offset = this.camera.position.clone().sub(this.#controls.target);
      const length = Math.min(offset.length(), 14);
      this.moveTo(at.clone().addScaledVector(offset.normalize(), length), at);
    }
    this.#setMode('follow');
  }

  /** Orbits the point that is looked at. */
  orbit() {
    this.#followed = null;
    this.#setMode('orbit');
  }

  /** Flies: keys move the camera, dragging turns it. */
  fly() {
    this.isTouched = true;
    this.#followed = null;
    this.#move = null;
    this.#setMode('fly');
  }

  /**
   * Turns the orbiting camera, or moves nearer.
   *
   * @param {number} across steps to the right
   * @param {number} up steps
   * @param {number} nearer steps
   */
  nudge(across, up, nearer) {
    this.isTouched = true;
    const offset = this.camera.position.clone().sub(this.#controls.target);
    const length = offset.length() * 0.85 ** nearer;
    const azimuth = Math.atan2(offset.y, offset.x) + across * TURN_RAD;
    const height = Math.asin(offset.z / offset.length()) + up * TURN_RAD;
    const bounded = Math.min(Math.max(height, 0.02), Math.PI / 2 - 0.01);
    offset.set(
      Math.cos(azimuth) * Math.cos(bounded),
      Math.sin(azimuth) * Math.cos(bounded),
      Math.sin(bounded),
    );
    this.moveTo(
      this.#controls.target.clone().addScaledVector(offset, length),
      this.#controls.target,
      true,
    );
  }

  /**
   * Advances moves, following and flying; returns true while something goes on.
   *
   * @param {number} nowMs
   * @param {number} elapsedS since the frame before [s]
   */
  update(nowMs, elapsedS) {
    let isActive = this.#advanceMove(nowMs);
    if (this.mode === 'follow') this.#followStep();
    if (this.mode === 'fly') isActive = this.#flyStep(elapsedS) || isActive;
    else isActive = this.#controls.update() || isActive;
    const near = Math.min(Math.max(this.distance / 200, 0.02), 1);
    if (Math.abs(near - this.camera.near) > this.camera.near * 0.3) {
      this.camera.near = near;
      this.camera.updateProjectionMatrix();
    }
    return isActive;
  }

  /** @param {number} nowMs */
  #advanceMove(nowMs) {
    const move = this.#move;
    if (!move) return false;
    const part = Math.min((nowMs - move.begun) / MOVE_MS, 1);
    const eased = 1 - (1 - part) ** 3;
    this.camera.position.lerpVectors(move.fromPosition, move.position, eased);
    this.#controls.target.lerpVectors(move.fromTarget, move.target, eased);
    if (part === 1) this.#move = null;
    return true;
  }

  #followStep() {
    const place = this.#followed?.();
    if (!place) {
      this.orbit();
      return;
    }
    if (this.#last) {
      const step = place.clone().sub(this.#last);
      this.camera.position.add(step);
      this.#controls.target.add(step);
      for (const point of this.#move
        ? [this.#move.position, this.#move.target, this.#move.fromPosition, this.#move.fromTarget]
        : [])
        point.add(step);
    }
    this.#last = place.clone();
  }

  /** @param {number} elapsedS */
  #flyStep(elapsedS) {
    const held = (/** @type {string} */ key) => (this.#keys.has(key) ? 1 : 0);
    const forward = held('w') + held('arrowup') - held('s') - held('arrowdown');
    const right = held('d') + held('arrowright') - held('a') - held('arrowleft');
    const up = held('e') - held('q');
    if (forward === 0 && right === 0 && up === 0) return false;
    const speed = (held('shift') ? FLY_M_S.fast : FLY_M_S.slow) * Math.min(elapsedS, 0.1);
    const ahead = this.camera.getWorldDirection(new Vector3());
    const aside = ahead.clone().cross(this.camera.up).normalize();
    const step = ahead.multiplyScalar(forward).addScaledVector(aside, right);
    step.z += up;
    this.camera.position.addScaledVector(step.normalize(), speed);
    this.#aim();
    return true;
  }

  /** Puts the target in front of the flying camera. */
  #aim() {
    const ahead = this.camera.getWorldDirection(new Vector3());
    this.#controls.target.copy(this.camera.position).addScaledVector(ahead, 5);
    this.dispatchEvent(new Event('change'));
  }

  #listenForFlying() {
    const element = this.#element;
    element.addEventListener('keydown', (event) => {
      if (this.mode !== 'fly' || event.ctrlKey || event.metaKey || event.altKey) return;
      const key = event.key.toLowerCase();
      if (!['w', 'a', 's', 'd', 'q', 'e', 'shift'].includes(key) && !key.startsWith('arrow'))
        return;
      this.#keys.add(key);
      event.preventDefault();
      event.stopPropagation();
      this.dispatchEvent(new Event('change'));
    });
    window.addEventListener('keyup', (event) => this.#keys.delete(event.key.toLowerCase()));
    window.addEventListener('blur', () => this.#keys.clear());
    element.addEventListener('pointerdown', (event) => {
      if (this.mode === 'fly') this.#look = { x: event.clientX, y: event.clientY };
    });
    window.addEventListener('pointerup', () => {
      this.#look = null;
    });
    window.addEventListener('pointermove', (event) => {
      if (!this.#look || this.mode !== 'fly') return;
      const turn = new Euler().setFromQuaternion(this.camera.quaternion, 'ZXY');
      turn.z += (event.clientX - this.#look.x) * LOOK_RAD;
      turn.x = Math.min(
        Math.max(turn.x + (event.clientY - this.#look.y) * LOOK_RAD, 0.05),
        Math.PI - 0.05,
      );
      this.camera.quaternion.setFromEuler(turn);
      this.#look = { x: event.clientX, y: event.clientY };
      this.#aim();
    });
  }

  /** @param {CameraMode} mode */
  #setMode(mode) {
    this.mode = mode;
    this.#keys.clear();
    this.#controls.enabled = mode !== 'fly';
    this.dispatchEvent(new Event('mode'));
    this.dispatchEvent(new Event('change'));
  }
}

/** Tells whether the user wants little motion. */
export function reducesMotion() {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}

/**
 * Returns the directions to the right and upwards in a picture.
 *
 * @param {Vector3} direction from what is looked at to the camera
 */
function axesOf(direction) {
  const across = new Vector3(0, 0, 1).cross(direction);
  if (across.lengthSq() < 1e-6) across.set(1, 0, 0);
  across.normalize();
  return { across, up: direction.clone().cross(across) };
}

/**
 * Returns the direction from which a world is shown first.
 *
 * @param {Box3} box around it
 * @param {number} aspect width of the picture over its height
 */
function firstDirection(box, aspect) {
  if (aspect >= 1) return FIRST_DIRECTION.clone();
  const { x, y } = box.getSize(new Vector3());
  return FIRST_DIRECTION_TALL[x > y ? 'x' : 'y'].clone();
}
