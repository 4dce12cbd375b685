// @ts-check
/**
 * Keys of the page: one table, from which the help is made.
 *
 * @module keys
 */

import { MODES } from './colours.js';
import { OVERLAYS } from './overlays.js';

/** @typedef {import('./main.js').Page} Page */
/**
 * @typedef {object} Binding
 * @property {string[]} keys
 * @property {string} shown
 * @property {string} text
 * @property {(page: Page, key: string) => void} act
 */

/** @type {Binding[]} */
const BINDINGS = [
  { keys: [' '], shown: 'Space', text: 'play or pause', act: (page) => page.controls.toggle() },
  { keys: ['.'], shown: '.', text: 'step', act: (page) => page.controls.step() },
  { keys: ['<'], shown: '<', text: 'half the pace', act: (page) => page.controls.changePace(0.5) },
  { keys: ['>'], shown: '>', text: 'twice the pace', act: (page) => page.controls.changePace(2) },
  { keys: ['Home', 'h'], shown: 'Home h', text: 'show the whole world', act: (page) => page.fit() },
  { keys: ['v'], shown: 'v', text: 'look from above', act: (page) => page.stage.rig.toggleAbove() },
  { keys: ['f'], shown: 'f', text: 'follow the selected model', act: (page) => page.follow() },
  { keys: ['y'], shown: 'y', text: 'fly with w a s d q e', act: (page) => page.toggleFly() },
  {
    keys: ['d'],
    shown: 'd',
    text: 'drive a robot with w a s d or arrows',
    act: (page) => page.toggleDrive(),
  },
  { keys: ['Escape'], shown: 'Esc', text: 'one step back', act: (page) => page.back() },
  { keys: ['/'], shown: '/', text: 'filter performers', act: filterPerformers },
  ...MODES.map(([mode, label], index) => ({
    keys: [String(index + 1)],
    shown: String(index + 1),
    text: `colour by ${label.toLowerCase()}`,
    act: (/** @type {Page} */ page) => page.setColour(mode),
  })),
  ...OVERLAYS.map(([overlay, label, key]) => ({
    keys: [key],
    shown: key,
    text: `show or hide ${label.toLowerCase()}`,
    act: (/** @type {Page} */ page) => page.toggleOverlay(overlay),
  })),
  {
    keys: ['s'],
    shown: 's',
    text: 'show or hide what sensors see',
    act: (page) => page.sensors.toggleAll(),
  },
  {
    keys: ['r'],
    shown: 'r',
    text: 'show or hide the grid',
    act: (page) => page.setSwitch('grid', !page.stage.showsGrid),
  },
  {
    keys: ['i'],
    shown: 'i',
    text: 'show or hide collision shapes',
    act: (page) => page.setSwitch('collisions', !page.scene.showsCollisions),
  },
  {
    keys: ['p'],
    shown: 'p',
    text: 'open or close the panel',
    act: (page) => page.shell.togglePanel(),
  },
  { keys: ['k'], shown: 'k', text: 'light or dark', act: (page) => page.shell.toggleTheme() },
  { keys: ['?'], shown: '?', text: 'this help', act: (page) => page.shell.toggleHelp() },
];

/** Steps of the orbiting camera: across, up, nearer. */
const NUDGES = /** @type {Record<string, [number, number, number]>} */ ({
  ArrowLeft: [-1, 0, 0],
  ArrowRight: [1, 0, 0],
  ArrowUp: [0, 1, 0],
  ArrowDown: [0, -1, 0],
  '+': [0, 0, 1],
  '-': [0, 0, -1],
});

export class Keys {
  #page;

  /** @param {Page} page */
  constructor(page) {
    this.#page = page;
    page.shell.setHelp([
      { keys: '← → ↑ ↓', text: 'turn the view' },
      { keys: '+ -', text: 'nearer, farther' },
      ...BINDINGS.map(({ shown, text }) => ({ keys: shown, text })),
    ]);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const page = this.#page;
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = /** @type {HTMLElement} */ (event.target);
    if (isField(target)) {
      if (event.key === 'Escape') target.blur();
      return;
    }
    if (page.shell.hasHelp) {
      if (event.key === '?') page.shell.toggleHelp();
      return;
    }
    if (page.drive.isActive && !target.closest('[data-drive]') && page.drive.press(event)) {
      event.preventDefault();
      return;
    }
    // Buttons take Space and Enter themselves, tabs their arrows.
    if ((event.key === ' ' || event.key === 'Enter') && target.closest('button, summary')) return;
    const nudge = NUDGES[event.key];
    if (
      nudge &&
      (target.id === 'canvas' || target === document.body) &&
      page.stage.rig.mode !== 'fly'
    ) {
      page.stage.rig.nudge(...nudge);
      event.preventDefault();
      return;
    }
    const binding = BINDINGS.find((one) => one.keys.includes(event.key));
    if (!binding) return;
    event.preventDefault();
    binding.act(page, event.key);
  }
}

/** @param {Page} page */
function filterPerformers(page) {
  page.shell.openPanel();
  page.shell.openTab('performers');
  page.performers.focusFilter();
}

/**
 * Tells whether an element takes text or a choice.
 *
 * @param {HTMLElement} target
 */
function isField(target) {
  if (target instanceof HTMLInputElement) return !['checkbox', 'button'].includes(target.type);
  return (
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    target.isContentEditable
  );
}
