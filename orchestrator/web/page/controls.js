// @ts-check
/**
 * Controls of time: play, pause, step, run to a time, pace, and the time line of recordings.
 *
 * @module controls
 */

import { isPlaying } from './contract.js';
import { byId, setText } from './dom.js';
import { fixed } from './format.js';

/** Time between two seeks while the time line is dragged [ms]. */
const SEEK_MS = 120;

export class Controls {
  #connection;
  #say;
  /** @type {import('./contract.js').RunMessage | null} */
  #run = null;
  #play = /** @type {HTMLButtonElement} */ (byId('play'));
  #step = /** @type {HTMLButtonElement} */ (byId('step'));
  #count = /** @type {HTMLSelectElement} */ (byId('step-count'));
  #time = /** @type {HTMLInputElement} */ (byId('run-to-time'));
  #pace = /** @type {HTMLSelectElement} */ (byId('pace'));
  #range = /** @type {HTMLInputElement} */ (byId('timeline-range'));
  #soughtAt = 0;
  #isSeeking = false;
  /** @type {any} */
  #lastSeek = null;
  #iconState = '';

  /**
   * @param {import('./connection.js').Connection} connection
   * @param {(text: string, kind?: string) => void} say tells the user something
   */
  constructor(connection, say) {
    this.#connection = connection;
    this.#say = say;
    this.#play.addEventListener('click', () => this.toggle());
    this.#step.addEventListener('click', () => this.step());
    byId('run-to').addEventListener('submit', (event) => {
      event.preventDefault();
      const seconds = this.#time.valueAsNumber;
      if (Number.isFinite(seconds)) this.#runTo(seconds);
      else this.#say('Give the simulated time to run to, in seconds.', 'error');
    });
    this.#pace.addEventListener('change', () =>
      this.call('/phalanx/pace', { factor: Number(this.#pace.value) }),
    );
    this.#range.addEventListener('input', () => this.#seek(this.#range.valueAsNumber));
    this.#range.addEventListener('change', () => {
      this.#isSeeking = false;
    });
  }

  /** Lets time run, or stops it. */
  toggle() {
    if (!this.#run) return;
    this.call(isPlaying(this.#run.state) ? '/phalanx/pause' : '/phalanx/play', {});
  }

  /** Advances as many iterations as are chosen. */
  step() {
    this.call('/phalanx/step', { count: Number(this.#count.value) });
  }

  /**
   * Makes the run faster or slower.
   *
   * @param {number} factor
   */
  changePace(factor) {
    if (!this.#run) return;
    const now = this.#run.pace || 1;
    this.call('/phalanx/pace', { factor: Math.min(Math.max(now * factor, 1 / 64), 64) });
  }

  /**
   * Calls a service and tells the user what it refuses.
   *
   * @param {string} service
   * @param {unknown} request
   */
  async call(service, request) {
    try {
      const answer = await this.#connection.call(service, request);
      if (answer.ok === false) this.#say(answer.message || `${service} was refused`, 'error');
      return answer;
    } catch (error) {
      this.#say(/** @type {Error} */ (error).message, 'error');
      return null;
    }
  }

  /** @param {number} seconds */
  #runTo(seconds) {
    if (this.#run?.recording) this.#seek(seconds);
    else this.call('/phalanx/run_to', { sim_time_s: seconds });
  }

  /** @param {number} seconds */
  #seek(seconds) {
    this.#isSeeking = true;
    setText(byId('timeline-now'), fixed(seconds, 2));
    clearTimeout(this.#lastSeek);
    const wait = this.#soughtAt + SEEK_MS - performance.now();
    this.#lastSeek = setTimeout(
      () => {
        this.#soughtAt = performance.now();
        this.call('/phalanx/seek', { sim_time_s: seconds });
      },
      Math.max(wait, 0),
    );
    setTimeout(() => {
      if (performance.now() - this.#soughtAt > 400) this.#isSeeking = false;
    }, 500);
  }

  /**
   * Shows the state of a run.
   *
   * @param {import('./contract.js').RunMessage} run
   */
  setRun(run) {
    this.#run = run;
    const plays = isPlaying(run.state);
    const isOver = ['lost', 'ended', 'stopping', 'waiting', 'connecting'].includes(run.state);
    const isLocked = run.read_only || isOver;
    byId('watch-only').hidden = !run.read_only;
    this.#showPlaying(plays);
    this.#play.disabled = isLocked;
    this.#step.disabled = isLocked || plays;
    this.#count.disabled = isLocked;
    this.#time.disabled = isLocked;
    this.#pace.disabled = isLocked;
    for (const button of byId('run-to').querySelectorAll('button'))
      button.disabled = isLocked || (plays && !run.recording);
    this.#showPace(run.pace);
    this.#showTimeline(run);
  }

  /** @param {boolean} plays */
  #showPlaying(plays) {
    const state = plays ? 'pause' : 'play';
    if (state === this.#iconState) return;
    this.#iconState = state;
    const label = plays ? 'Pause (Space)' : 'Play (Space)';
    this.#play.setAttribute('aria-label', label);
    this.#play.title = label;
    this.#play.querySelector('use')?.setAttribute('href', `#i-${state}`);
  }

  /** @param {number} pace */
  #showPace(pace) {
    if (document.activeElement === this.#pace && Number(this.#pace.value) === pace) return;
    const value = String(pace);
    if (![...this.#pace.options].some((option) => option.value === value)) {
      this.#pace.append(new Option(`${fixed(pace, pace < 1 ? 3 : 1)}×`, value));
    }
    if (this.#pace.value !== value) this.#pace.value = value;
  }

  /** @param {import('./contract.js').RunMessage} run */
  #showTimeline(run) {
    const { recording } = run;
    byId('timeline').hidden = !recording;
    byId('dock').classList.toggle('is-recording', recording !== null);
    if (!recording) return;
    this.#range.min = String(recording.start_s);
    this.#range.max = String(recording.end_s);
    this.#range.disabled = run.state === 'lost';
    setText(byId('timeline-end'), fixed(recording.end_s, 2));
    if (this.#isSeeking) return;
    this.#range.value = String(run.sim_time_s);
    this.#range.setAttribute(
      'aria-valuetext',
      `${fixed(run.sim_time_s, 2)} of ${fixed(recording.end_s, 2)} seconds`,
    );
    setText(byId('timeline-now'), fixed(run.sim_time_s, 2));
  }
}
