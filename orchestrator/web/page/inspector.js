// @ts-check
/**
 * The selected model: live figures, and what the terminal shows of it.
 *
 * @module inspector
 */

import { button, byId, element, icon, setText } from './dom.js';
import { css } from './colours.js';
import { fixed, rollPitchYaw } from './format.js';

/** Time between two questions to the server about the model [ms]. */
const ASK_MS = 1000;

/**
 * @typedef {object} Actions
 * @property {() => void} follow
 * @property {() => void} drive
 * @property {() => void} close
 */

export class Inspector {
  #connection;
  #actions;
  #canDrive;
  #panel = byId('inspector');
  /** @type {import('./scene.js').ModelEntry | null} */
  #entry = null;
  /** @type {Map<string, HTMLElement>} */
  #cells = new Map();
  #answer = element('details', { class: 'answer', open: true });
  #lines = element('dl', { class: 'facts' });
  #swatch = element('i', { class: 'swatch', 'aria-hidden': 'true' });
  #askedAt = -Infinity;
  #isAsking = false;
  #drive;

  /**
   * @param {import('./connection.js').Connection} connection
   * @param {Actions} actions
   * @param {(model: string) => boolean} canDrive
   */
  constructor(connection, actions, canDrive) {
    this.#connection = connection;
    this.#actions = actions;
    this.#canDrive = canDrive;
    this.#drive = button('Drive', actions.drive);
    this.#answer.append(element('summary', { text: 'As the terminal shows it' }), this.#lines);
  }

  /** @param {import('./scene.js').ModelEntry | null} entry */
  show(entry) {
    this.#entry = entry;
    this.#panel.hidden = entry === null;
    this.#cells.clear();
    this.#askedAt = -Infinity;
    this.#answer.hidden = true;
    this.#lines.replaceChildren();
    if (!entry) {
      this.#panel.replaceChildren();
      return;
    }
    const { model } = entry;
    const title = element('h2', {}, this.#swatch, element('span', { text: model.name }));
    const close = element('button', {
      type: 'button',
      class: 'icon small',
      'aria-label': 'Deselect (Esc)',
      onclick: this.#actions.close,
    });
    close.append(icon('close'));
    const kind = model.performer ? 'performer' : model.static ? 'static model' : 'model';
    const list = element('dl', { class: 'facts' });
    for (const name of model.performer
      ? ['position', 'turn', 'speed', 'level', 'owner', 'ghosts', 'hand-offs']
      : ['position', 'turn']) {
      const cell = element('dd', { 'data-fact': name });
      this.#cells.set(name, cell);
      list.append(element('dt', { text: name }), cell);
    }
    const follow = button('Follow', this.#actions.follow);
    const actions = element('div', { class: 'actions' }, follow, this.#drive);
    this.#drive.hidden = !this.#canDrive(entry.name);
    const links = `${kind}, ${model.links.length} ${model.links.length === 1 ? 'link' : 'links'}`;
    this.#panel.replaceChildren(
      element('header', {}, title, close),
      element('p', { class: 'quiet', text: links }),
      list,
      actions,
      this.#answer,
    );
  }

  /**
   * Shows present figures.
   *
   * @param {import('./scene.js').WorldScene} scene
   * @param {import('./poses.js').PoseTrack} track
   * @param {import('./contract.js').RunMessage | null} run
   * @param {import('./colours.js').Rgb | null} colour
   */
  update(scene, track, run, colour) {
    const entry = this.#entry;
    if (!entry) return;
    // Which robots can be driven may be told after the world.
    this.#drive.hidden = !this.#canDrive(entry.name);
    const { position, orientation } = scene.poseOf(entry);
    const { x, y, z } = position;
    const degrees = rollPitchYaw(...orientation.toArray()).map((angle) =>
      fixed((angle * 180) / Math.PI, 1),
    );
    this.#set('position', `${fixed(x, 3)}  ${fixed(y, 3)}  ${fixed(z, 3)} m`);
    this.#set('turn', `${degrees.join('  ')} °`);
    this.#swatch.style.background = colour ? css(colour) : '';
    this.#swatch.hidden = !colour;
    const performer = run?.performers.find((one) => one.name === entry.name);
    if (performer && run) {
      const ghosts =
        performer.ghosts ??
        run.levels
          .filter((level) => level.ghosts?.includes(performer.name))
          .map((level) => level.name);
      this.#set('speed', `${fixed(performer.speed ?? track.speed[entry.slot], 3)} m/s`);
      this.#set('level', performer.level);
      this.#set('owner', performer.owner ?? 'none');
      this.#set('ghosts', ghosts.length > 0 ? ghosts.join(', ') : 'none');
      this.#set('hand-offs', String(performer.hand_offs ?? 0));
    }
    this.#ask();
  }

  /**
   * @param {string} name
   * @param {string} text
   */
  #set(name, text) {
    const cell = this.#cells.get(name);
    if (cell) setText(cell, text);
  }

  /** Asks the server for what the terminal shows, now and then. */
  async #ask() {
    const entry = this.#entry;
    const now = performance.now();
    if (
      !entry ||
      this.#isAsking ||
      now - this.#askedAt < ASK_MS ||
      !this.#connection.services.has('/phalanx/show')
    )
      return;
    this.#isAsking = true;
    this.#askedAt = now;
    try {
      const subject = entry.model.performer ? 'performer' : 'model';
      const answer = await this.#connection.call('/phalanx/show', {
        subject,
        name: entry.name,
      });
      if (this.#entry === entry) this.#showAnswer(answer.ok === false ? [] : (answer.lines ?? []));
    } catch {
      // It is asked again; what is shown stays.
    } finally {
      this.#isAsking = false;
    }
  }

  /**
   * Shows what the terminal shows.
   *
   * @param {[string, string][]} lines a name and a value each; one without a name continues the one
   *   before
   */
  #showAnswer(lines) {
    this.#answer.hidden = lines.length === 0;
    const rows = this.#lines.children;
    while (rows.length > lines.length * 2) rows[rows.length - 1].remove();
    lines.forEach(([name, value], index) => {
      if (rows.length < (index + 1) * 2) this.#lines.append(element('dt'), element('dd'));
      setText(rows[index * 2], name);
      setText(rows[index * 2 + 1], value);
    });
  }
}
