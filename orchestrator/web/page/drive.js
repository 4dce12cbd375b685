// @ts-check
/**
 * Driving a robot by keys or by buttons: a twist is published when it changes, and a stop as soon
 * as keys are released, the page loses focus, or driving ends.
 *
 * @module drive
 */

import { byId, setText } from './dom.js';
import { fixed } from './format.js';

/** Directions of keys. */
const KEYS = /** @type {Record<string, Direction>} */ ({
  w: 'forward',
  arrowup: 'forward',
  s: 'back',
  arrowdown: 'back',
  a: 'left',
  arrowleft: 'left',
  d: 'right',
  arrowright: 'right',
});
/** Turn rate for a speed of 1 m/s [rad/s]. */
const TURN_PER_SPEED = 1.6;

/** @typedef {'forward' | 'back' | 'left' | 'right'} Direction */
/** @typedef {{ forward: number, turn: number }} Twist [m/s], [rad/s] */

/**
 * Returns the twist of directions that are held.
 *
 * @param {Set<Direction>} held
 * @param {number} speed [m/s]
 * @returns {Twist}
 */
export function twistOf(held, speed) {
  const sign = (/** @type {Direction} */ plus, /** @type {Direction} */ minus) =>
    Number(held.has(plus)) - Number(held.has(minus));
  const forward = sign('forward', 'back') * speed;
  // Backwards, the robot turns to the side that is pressed, as a car does.
  const turn = sign('left', 'right') * speed * TURN_PER_SPEED * (forward < 0 ? -1 : 1);
  return { forward, turn: turn === 0 ? 0 : turn };
}

export class Drive {
  isActive = false;
  #connection;
  #say;
  #onChange;
  /** @type {Set<Direction>} */
  #held = new Set();
  /** @type {Twist} */
  #sent = { forward: 0, turn: 0 };
  /** @type {{ model: string, topic: string }[]} */
  #robots = [];
  #panel = byId('drive');
  #topic = /** @type {HTMLSelectElement} */ (byId('drive-topic'));
  #speed = /** @type {HTMLInputElement} */ (byId('drive-speed'));

  /**
   * @param {import('./connection.js').Connection} connection
   * @param {(text: string, kind?: string) => void} say
   * @param {() => void} onChange called when driving begins, ends or changes its robot
   */
  constructor(connection, say, onChange) {
    this.#connection = connection;
    this.#say = say;
    this.#onChange = onChange;
    byId('drive-close').addEventListener('click', () => this.leave());
    this.#topic.addEventListener('change', () => {
      // The stop goes to the robot that was driven.
      this.#held.clear();
      this.#onChange();
    });
    this.#topic.addEventListener('pointerdown', () => this.stop());
    this.#speed.addEventListener('input', () => this.#update());
    connection.addEventListener('state', () => {
      // The server stops the robot of a page that it lost; keys have to be pressed anew.
      if (connection.state !== 'open') this.#forget();
    });
    window.addEventListener('blur', () => this.stop());
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) this.stop();
    });
    window.addEventListener('pagehide', () => this.stop());
    window.addEventListener('keyup', (event) => this.#release(event.key));
    for (const pad of /** @type {NodeListOf<HTMLElement>} */ (
      this.#panel.querySelectorAll('[data-drive]')
    )) {
      const direction = /** @type {Direction} */ (pad.dataset.drive);
      pad.addEventListener('pointerdown', (event) => {
        pad.setPointerCapture(event.pointerId);
        this.#hold(direction);
      });
      for (const end of ['pointerup', 'pointercancel', 'lostpointercapture']) {
        pad.addEventListener(end, () => this.#let(direction));
      }
      pad.addEventListener('keydown', (event) => {
        if (event.key === 'Enter' || event.key === ' ') this.#hold(direction);
      });
      pad.addEventListener('keyup', () => this.#let(direction));
      pad.addEventListener('blur', () => this.#let(direction));
      pad.addEventListener('contextmenu', (event) => event.preventDefault());
    }
  }

  /** The robot that is driven, if any. */
  get robot() {
    return this.isActive
      ? (this.#robots.find((one) => one.topic === this.#topic.value) ?? null)
      : null;
  }

  /** @param {{ model: string, topic: string }[]} robots */
  setRobots(robots) {
    if (JSON.stringify(robots) === JSON.stringify(this.#robots)) return;
    this.#robots = robots;
    const before = this.#topic.value;
    this.#topic.replaceChildren(...robots.map(({ model, topic }) => new Option(model, topic)));
    if (robots.some((one) => one.topic === before)) this.#topic.value = before;
    byId('drive-button').toggleAttribute('disabled', robots.length === 0);
    if (robots.length === 0 && this.isActive) this.leave();
  }

  /**
   * Tells whether a model can be driven.
   *
   * @param {string} model
   */
  canDrive(model) {
    return this.#robots.some((one) => one.model === model);
  }

  /**
   * Begins to drive a model, or the one chosen last.
   *
   * @param {string | null} model
   */
  begin(model) {
    if (this.#robots.length === 0) {
      this.#say('No robot of this world listens to a Twist.', 'error');
      return;
    }
    const found = this.#robots.find((one) => one.model === model);
    if (found) this.#topic.value = found.topic;
    this.isActive = true;
    this.#panel.hidden = false;
    this.#update();
    this.#onChange();
  }

  /** Stops the robot and leaves. */
  leave() {
    if (!this.isActive) return;
    this.stop();
    this.isActive = false;
    this.#panel.hidden = true;
    this.#onChange();
  }

  #forget() {
    this.#held.clear();
    this.#sent = { forward: 0, turn: 0 };
  }

  /** Stops the robot. */
  stop() {
    this.#held.clear();
    this.#update();
  }

  /**
   * Takes a key that is pressed; returns true if it was one of driving.
   *
   * @param {KeyboardEvent} event
   */
  press(event) {
    if (!this.isActive) return false;
    if (event.key === '+' || event.key === '-') {
      this.#speed.value = String(this.#speed.valueAsNumber + (event.key === '+' ? 0.1 : -0.1));
      this.#update();
      return true;
    }
    if (event.key === ' ') {
      this.stop();
      return true;
    }
    const direction = KEYS[event.key.toLowerCase()];
    if (!direction) return false;
    this.#hold(direction);
    return true;
  }

  /** @param {string} key */
  #release(key) {
    const direction = KEYS[key.toLowerCase()];
    if (direction) this.#let(direction);
  }

  /** @param {Direction} direction */
  #hold(direction) {
    this.#held.add(direction);
    this.#update();
  }

  /** @param {Direction} direction */
  #let(direction) {
    if (this.#held.delete(direction)) this.#update();
  }

  /** Publishes the twist if it differs from the last. */
  #update() {
    const speed = this.#speed.valueAsNumber;
    setText(byId('drive-speed-text'), `${fixed(speed, 1)} m/s`);
    const wanted = twistOf(this.#held, speed);
    setText(
      byId('drive-twist'),
      `${fixed(wanted.forward, 2)} m/s   ${fixed(wanted.turn, 2)} rad/s`,
    );
    if (
      !this.isActive ||
      (wanted.forward === this.#sent.forward && wanted.turn === this.#sent.turn)
    )
      return;
    const message = {
      linear: { x: wanted.forward, y: 0, z: 0 },
      angular: { x: 0, y: 0, z: wanted.turn },
    };
    if (!this.#connection.publish(this.#topic.value, 'gz.msgs.Twist', message)) {
      this.#say('Not connected: the robot cannot be driven.', 'error');
      return;
    }
    this.#sent = wanted;
  }
}
