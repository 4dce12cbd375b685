// @ts-check
/**
 * The panel of the run: who holds the step, secondaries, hosts, levels and events.
 *
 * @module run_panel
 */

import { countOf } from './contract.js';
import { categoryColour, css } from './colours.js';
import { byId, element, setText } from './dom.js';
import { bytes, micros, whole } from './format.js';
import { HostsPanel } from './hosts_panel.js';

/** Events that are shown. */
const EVENTS_SHOWN = 60;
/** Parts of a secondary's step, as bars show them. */
const PARTS = /** @type {const} */ ([
  ['physics_us', 'physics'],
  ['systems_us', 'systems'],
  ['sensors_us', 'sensors'],
  ['wait_us', 'waits'],
]);

export class RunPanel {
  #view = byId('view-run');
  #holder = element('p', { class: 'holder', 'data-figure': 'holder' });
  #secondaries = element('div', { class: 'secondaries' });
  #hosts = new HostsPanel();
  #levels = element('tbody');
  #events = element('ol', { class: 'events' });
  #problems = element('details', { class: 'problems', hidden: true });
  /** @type {import('./contract.js').RunEvent[]} */
  #heard = [];
  #newest = -1;
  #run = '';
  #eventsShown = '';
  /** @type {Map<string, ReturnType<typeof secondaryCard>>} */
  #cards = new Map();

  constructor() {
    const key = element('p', { class: 'key quiet' });
    for (const [field, label] of PARTS) {
      key.append(element('i', { class: `swatch part-${field}` }), element('span', { text: label }));
    }
    const head = element('tr', {});
    for (const [text, kind] of [
      ['level', ''],
      ['owner', ''],
      ['here', 'number'],
      ['ghosts', 'number'],
    ])
      head.append(element('th', { scope: 'col', text, class: kind }));
    this.#view.append(
      heading('Step'),
      this.#holder,
      heading('Secondaries'),
      this.#secondaries,
      key,
      this.#hosts.root,
      heading('Levels'),
      element('table', { class: 'levels' }, element('thead', {}, head), this.#levels),
      heading('Events'),
      this.#events,
      this.#problems,
    );
  }

  /**
   * @param {import('./contract.js').RunMessage} run
   * @param {Map<string, number>} levelIndex
   */
  setRun(run, levelIndex) {
    if (this.#view.hidden) return;
    const holder = run.holder;
    setText(
      this.#holder,
      holder
        ? `${holder.peer} holds the step${holder.reason ? `: ${holder.reason}` : ''}`
        : 'No secondary holds the others back.',
    );
    this.#holder.classList.toggle('is-held', holder !== null);
    this.#showSecondaries(run);
    this.#hosts.setRun(run);
    this.#showLevels(run, levelIndex);
    this.#showEvents();
  }

  /** @param {string[]} problems of the scene */
  setProblems(problems) {
    this.#problems.hidden = problems.length === 0;
    this.#problems.replaceChildren(
      element('summary', {
        text: `${problems.length} ${problems.length === 1 ? 'file is' : 'files are'} not drawn`,
      }),
      ...problems.slice(0, 50).map((text) => element('p', { class: 'quiet', text })),
    );
  }

  /** @param {import('./contract.js').RunMessage} run */
  #showSecondaries(run) {
    const total = (/** @type {import('./contract.js').Secondary} */ one) =>
      PARTS.reduce((sum, [field]) => sum + (one[field] ?? 0), 0);
    const longest = Math.max(1, ...run.secondaries.map(total));
    const names = new Set(run.secondaries.map((one) => one.name));
    for (const [name, { card }] of this.#cards) {
      if (names.has(name)) continue;
      card.remove();
      this.#cards.delete(name);
    }
    for (const one of run.secondaries) {
      let found = this.#cards.get(one.name);
      if (!found) {
        found = secondaryCard(one.name);
        this.#cards.set(one.name, found);
        this.#secondaries.append(found.card);
      }
      found.set(one, run.holder?.peer === one.name, longest, run.owners.indexOf(one.name));
    }
  }

  /**
   * @param {import('./contract.js').RunMessage} run
   * @param {Map<string, number>} levelIndex
   */
  #showLevels(run, levelIndex) {
    const rows = this.#levels;
    while (rows.rows.length > run.levels.length) rows.deleteRow(-1);
    run.levels.forEach((level, index) => {
      let row = rows.rows[index];
      if (!row) {
        row = rows.insertRow();
        row.append(
          element(
            'th',
            { scope: 'row' },
            element('span', { class: 'named' }, element('i', { class: 'swatch' }), element('span')),
          ),
          element('td'),
          element('td', { class: 'number' }),
          element('td', { class: 'number' }),
        );
      }
      const [name, owner, here, ghosts] = row.cells;
      row.classList.toggle('is-idle', !level.active);
      row.dataset.level = level.name;
      const swatch = /** @type {HTMLElement} */ (name.querySelector('.swatch'));
      swatch.style.background = css(categoryColour(levelIndex.get(level.name) ?? -1));
      setText(/** @type {Element} */ (name.querySelector('span span')), level.name);
      setText(owner, level.owner ?? (level.active ? '' : 'idle'));
      setText(here, String(countOf(level.performers)));
      setText(ghosts, String(level.ghosts?.length ?? 0));
    });
  }

  /**
   * Takes the events of a message: each has new ones alone.
   *
   * @param {import('./contract.js').RunMessage} run
   */
  takeEvents(run) {
    if (run.run !== this.#run) {
      this.#run = run.run;
      this.#heard = [];
      this.#newest = -1;
    }
    const last = run.events.at(-1)?.number;
    if (run.recording && last !== undefined && last !== this.#newest) {
      // Each message has all up to the time that is shown, which may have gone back.
      this.#heard = [];
      this.#newest = -1;
    }
    for (const event of run.events) {
      const number = event.number ?? this.#newest + 1;
      if (number <= this.#newest) continue;
      this.#newest = number;
      this.#heard.push(event);
    }
    if (this.#heard.length > EVENTS_SHOWN) this.#heard = this.#heard.slice(-EVENTS_SHOWN);
  }

  #showEvents() {
    const shown = `${this.#run} ${this.#newest}`;
    if (shown === this.#eventsShown) return;
    this.#eventsShown = shown;
    const items = this.#heard
      .toReversed()
      .map((event) =>
        element(
          'li',
          { class: `event-${event.severity ?? 'info'}` },
          element('span', { class: 'number quiet', text: whole(event.iteration) }),
          element('span', { text: event.text }),
        ),
      );
    if (items.length === 0)
      items.push(element('li', { class: 'quiet', text: 'Nothing has happened yet.' }));
    this.#events.replaceChildren(...items);
  }
}

/** @param {string} text */
function heading(text) {
  return element('h2', { text });
}

/**
 * Makes the card of a secondary: its name, its step as a bar, and what it takes.
 *
 * @param {string} name
 */
function secondaryCard(name) {
  const swatch = element('i', { class: 'swatch' });
  const state = element('span', { class: 'quiet' });
  const step = element('span', { class: 'number' });
  const bars = PARTS.map(([field, label]) =>
    element('i', { class: `part-${field}`, title: label }),
  );
  const bar = element('div', { class: 'bar', role: 'img' }, ...bars);
  const facts = element('p', { class: 'quiet number' });
  const card = element(
    'article',
    { class: 'secondary', 'data-peer': name },
    element('header', {}, swatch, element('strong', { text: name }), state, step),
    bar,
    facts,
  );
  /**
   * @param {import('./contract.js').Secondary} one
   * @param {boolean} isHolder
   * @param {number} longest
   * @param {number} owner
   */
  const set = (one, isHolder, longest, owner) => {
    card.classList.toggle('is-held', isHolder);
    swatch.style.background = css(categoryColour(owner));
    setText(state, isHolder ? 'holds the step' : one.state === 'active' ? '' : (one.state ?? ''));
    setText(step, micros(one.busy_us));
    PARTS.forEach(([field], index) => {
      bars[index].style.width = `${(((one[field] ?? 0) / longest) * 100).toFixed(1)}%`;
    });
    bar.setAttribute(
      'aria-label',
      PARTS.map(([field, label]) => `${label} ${micros(one[field])}`).join(', '),
    );
    const count = countOf(one.performers);
    setText(
      facts,
      [
        `${count} ${count === 1 ? 'performer' : 'performers'}`,
        one.cpu === undefined ? '' : `${Math.round(one.cpu * 100)} % cpu`,
        one.memory_bytes ? bytes(one.memory_bytes) : '',
      ]
        .filter(Boolean)
        .join(' · '),
    );
  };
  return { card, set };
}
