// @ts-check
/**
 * Hosts of a run in its panel: what they have to do, and which secondaries they run.
 *
 * @module hosts_panel
 */

import { byHost } from './contract.js';
import { element, setText } from './dom.js';
import { bytes, fixed } from './format.js';

export class HostsPanel {
  /** Its elements, hidden where nothing is known of hosts. */
  root = element('section', { class: 'hosts', hidden: true });
  #list = element('div', { class: 'secondaries' });
  /** @type {Map<string, ReturnType<typeof hostCard>>} */
  #cards = new Map();

  constructor() {
    this.root.append(element('h2', { text: 'Hosts' }), this.#list);
  }

  /** @param {import('./contract.js').RunMessage} run */
  setRun(run) {
    const hosts = byHost(run.secondaries);
    this.root.hidden = hosts.length === 0;
    const names = new Set(hosts.map(({ host }) => host));
    for (const [name, { card }] of this.#cards) {
      if (names.has(name)) continue;
      card.remove();
      this.#cards.delete(name);
    }
    for (const one of hosts) {
      let found = this.#cards.get(one.host);
      if (!found) {
        found = hostCard(one.host);
        this.#cards.set(one.host, found);
        this.#list.append(found.card);
      }
      found.set(one);
    }
  }
}

/**
 * Makes the card of a host: its name, its load as a bar, and its memory.
 *
 * @param {string} name
 */
function hostCard(name) {
  const state = element('span', { class: 'quiet' });
  const load = element('span', { class: 'number' });
  const level = element('i', {});
  const bar = element('div', { class: 'bar', role: 'img' }, level);
  const facts = element('p', { class: 'quiet number' });
  const card = element(
    'article',
    { class: 'secondary host', 'data-host': name },
    element('header', {}, element('strong', { text: name }), state, load),
    bar,
    facts,
  );
  /** @param {import('./contract.js').HostFigures} one */
  const set = ({ secondaries, load: figures }) => {
    const count = secondaries.length;
    const running = `${count} ${count === 1 ? 'secondary' : 'secondaries'}`;
    bar.hidden = !figures;
    card.classList.toggle('is-held', figures !== null && figures.load_average > figures.cores);
    if (!figures) {
      setText(state, '');
      setText(load, '–');
      setText(facts, running);
      return;
    }
    const { load_average: waiting, cores, memory_bytes: memory, available_bytes: left } = figures;
    setText(state, waiting > cores ? 'crowded' : '');
    const of = `${cores} ${cores === 1 ? 'core' : 'cores'}`;
    setText(load, `${fixed(waiting, 1)} of ${of}`);
    level.style.width = `${(Math.min(waiting / Math.max(cores, 1), 1) * 100).toFixed(1)}%`;
    bar.setAttribute('aria-label', `load ${fixed(waiting, 1)} of ${of}`);
    setText(facts, `${running} · ${bytes(memory - left)} of ${bytes(memory)} used`);
  };
  return { card, set };
}
