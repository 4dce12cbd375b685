// @ts-check
/**
 * The panel of the look: colours by meaning, overlays, and what else is drawn.
 *
 * @module look_panel
 */

import { MODES, css, legend } from './colours.js';
import { button, byId, element, toggle } from './dom.js';
import { OVERLAYS } from './overlays.js';

/** Entries of a legend at most. */
const LEGEND_MAX = 15;

/**
 * @typedef {object} Switch
 * @property {string} name
 * @property {string} label
 * @property {string} [key]
 * @property {() => boolean} get
 * @property {(isOn: boolean) => void} set
 */

export class LookPanel {
  /** @type {Map<string, HTMLInputElement>} */
  #boxes = new Map();
  /** @type {HTMLButtonElement[]} */
  #modes = [];
  #legend = byId('legend');
  #legendShown = '';

  /**
   * @param {{ setColour: (mode: import('./colours.js').ColourMode) => void,
   *   toggleOverlay: (overlay: import('./overlays.js').Overlay) => void,
   *   shown: Set<string>, switches: Switch[], copyLink: () => void, saveLayout: () => void,
   *   figures: HTMLElement }} page
   */
  constructor(page) {
    const modes = element('div', {
      class: 'segmented',
      role: 'radiogroup',
      'aria-label': 'Colour by',
    });
    MODES.forEach(([mode, label], index) => {
      const one = button(label, () => page.setColour(mode), {
        class: 'segment',
        role: 'radio',
        'aria-checked': 'false',
        'data-mode': mode,
        title: `${label} (${index + 1})`,
      });
      this.#modes.push(one);
      modes.append(one);
    });
    const overlays = element('div', { class: 'toggles' });
    for (const [name, label, key] of OVERLAYS) {
      const { row, box } = toggle(label, page.shown.has(name), () => page.toggleOverlay(name), key);
      box.dataset.overlay = name;
      this.#boxes.set(name, box);
      overlays.append(row);
    }
    const switches = element('div', { class: 'toggles' });
    for (const one of page.switches) {
      const { row, box } = toggle(one.label, one.get(), one.set, one.key);
      this.#boxes.set(one.name, box);
      switches.append(row);
    }
    byId('view-look').append(
      element('h2', { text: 'Colour' }),
      modes,
      element('h2', { text: 'Shown' }),
      overlays,
      element('h2', { text: 'World' }),
      switches,
      element(
        'div',
        { class: 'actions' },
        button('Copy link to this view', page.copyLink),
        button('Layout for Foxglove', page.saveLayout),
      ),
      page.figures,
    );
  }

  /**
   * @param {string} name of an overlay or a switch
   * @param {boolean} isOn
   */
  mark(name, isOn) {
    const box = this.#boxes.get(name);
    if (box) box.checked = isOn;
  }

  /**
   * Offers an overlay only where the run tells what it shows.
   *
   * @param {string} name
   * @param {boolean} isTold
   */
  offer(name, isTold) {
    const row = this.#boxes.get(name)?.closest('label');
    if (row) row.hidden = !isTold;
  }

  /** @param {import('./colours.js').ColourMode} mode */
  markColour(mode) {
    for (const one of this.#modes) {
      const isChosen = one.dataset.mode === mode;
      one.setAttribute('aria-checked', String(isChosen));
      one.tabIndex = isChosen ? 0 : -1;
    }
  }

  /**
   * Shows the legend of a mode.
   *
   * @param {import('./colours.js').ColourMode} mode
   * @param {{ owners: string[], levels: string[], fastest: number }} names
   */
  showLegend(mode, names) {
    const entries = legend(mode, names);
    const shown = JSON.stringify([mode, entries]);
    if (shown === this.#legendShown) return;
    this.#legendShown = shown;
    this.#legend.hidden = entries.length === 0;
    this.#legend.dataset.mode = mode;
    const items = entries.slice(0, LEGEND_MAX).map(({ colour, label }) => {
      const swatch = element('i', { class: 'swatch' });
      swatch.style.background = css(colour);
      return element('span', { class: 'legend-entry' }, swatch, element('span', { text: label }));
    });
    const more = entries.length - LEGEND_MAX;
    if (more > 0) items.push(element('span', { class: 'quiet', text: `${more} more` }));
    this.#legend.replaceChildren(element('span', { class: 'legend-title', text: mode }), ...items);
  }
}
