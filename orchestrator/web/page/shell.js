// @ts-check
/**
 * The frame of the page: theme, panel with its tabs, help, and what is told to the user.
 *
 * @module shell
 */

import { byId, element, setText } from './dom.js';

/** Time for which a message is shown [ms]. */
const TOAST_MS = 5000;
/** Messages that are shown at once at most. */
const TOASTS_MAX = 3;
/** Width from which the panel is open at first [px]. */
const WIDE_PX = 900;

/** @typedef {{ keys: string, text: string }} HelpLine */

export class Shell extends EventTarget {
  #panel = byId('panel');
  #panelButton = byId('panel-button');
  #help = /** @type {HTMLDialogElement} */ (byId('help'));
  #tabs = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('[role=tab]')]);
  #system = matchMedia('(prefers-color-scheme: dark)');
  /** @type {'light' | 'dark' | null} */
  #chosen;

  /**
   * @param {'light' | 'dark' | null} theme
   * @param {string | null} panel
   * @param {boolean} isBare
   */
  constructor(theme, panel, isBare) {
    document.documentElement.classList.toggle('is-bare', isBare);
    super();
    this.#chosen = theme ?? stored('theme', ['light', 'dark']);
    this.#system.addEventListener('change', () => this.#applyTheme());
    byId('theme-button').addEventListener('click', () => this.toggleTheme());
    byId('help-button').addEventListener('click', () => this.toggleHelp());
    byId('help-close').addEventListener('click', () => this.#help.close());
    this.#help.addEventListener('click', (event) => {
      if (event.target === this.#help) this.#help.close();
    });
    this.#panelButton.addEventListener('click', () => this.togglePanel());
    this.#tabs.forEach((tab, index) => {
      tab.addEventListener('click', () => this.openTab(tab.id.slice(4)));
      tab.addEventListener('keydown', (event) => {
        const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
        if (step === 0) return;
        const next = this.#tabs[(index + step + this.#tabs.length) % this.#tabs.length];
        this.openTab(next.id.slice(4));
        next.focus();
      });
    });
    const tab =
      panel ??
      stored(
        'tab',
        this.#tabs.map((one) => one.id.slice(4)),
      );
    if (tab && tab !== 'none') this.openTab(tab);
    this.#setPanel(!isBare && (panel ? panel !== 'none' : innerWidth >= WIDE_PX));
    this.#applyTheme();
  }

  /** @returns {'light' | 'dark'} */
  get theme() {
    return this.#chosen ?? (this.#system.matches ? 'dark' : 'light');
  }

  toggleTheme() {
    this.#chosen = this.theme === 'dark' ? 'light' : 'dark';
    store('theme', this.#chosen);
    this.#applyTheme();
  }

  #applyTheme() {
    document.documentElement.dataset.theme = this.theme;
    this.dispatchEvent(new Event('theme'));
  }

  togglePanel() {
    this.#setPanel(this.#panel.classList.contains('is-closed'));
  }

  /** @param {boolean} isOpen */
  #setPanel(isOpen) {
    this.#panel.classList.toggle('is-closed', !isOpen);
    this.#panel.inert = !isOpen;
    document.documentElement.classList.toggle('has-panel', isOpen);
    this.#panelButton.setAttribute('aria-expanded', String(isOpen));
  }

  /** Opens the panel where it is closed. */
  openPanel() {
    this.#setPanel(true);
  }

  /** @param {string} name */
  openTab(name) {
    if (!this.#tabs.some((tab) => tab.id === `tab-${name}`)) return;
    for (const tab of this.#tabs) {
      const isChosen = tab.id === `tab-${name}`;
      tab.setAttribute('aria-selected', String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      byId(tab.getAttribute('aria-controls') ?? '').hidden = !isChosen;
    }
    store('tab', name);
    this.dispatchEvent(new Event('tab'));
  }

  /** @param {HelpLine[]} lines */
  setHelp(lines) {
    const list = element('dl', { class: 'keys' });
    for (const { keys, text } of lines) {
      const keyed = element('dt');
      for (const key of keys.split(' ')) keyed.append(element('kbd', { text: key }));
      list.append(keyed, element('dd', { text }));
    }
    byId('help-body').replaceChildren(list);
  }

  toggleHelp() {
    if (this.#help.open) this.#help.close();
    else this.#help.showModal();
  }

  get hasHelp() {
    return this.#help.open;
  }

  /**
   * Tells the user something.
   *
   * @param {string} text
   * @param {string} [kind] `error` or nothing
   */
  say(text, kind = 'note') {
    const toasts = byId('toasts');
    const same = [...toasts.children].find((one) => one.textContent === text);
    same?.remove();
    const toast = element('p', { class: `toast toast-${kind}`, text });
    toasts.append(toast);
    while (toasts.children.length > TOASTS_MAX) toasts.firstElementChild?.remove();
    setTimeout(() => toast.remove(), TOAST_MS);
  }

  /**
   * Tells screen readers something that others see.
   *
   * @param {string} text
   */
  announce(text) {
    setText(byId('announcer'), text);
  }

  /**
   * Covers the world with the reason why it is not live, or uncovers it.
   *
   * @param {{ title: string, text: string, isSolid: boolean, canRetry: boolean } | null} reason
   */
  veil(reason) {
    const veil = byId('veil');
    veil.hidden = reason === null;
    if (!reason) return;
    veil.classList.toggle('is-solid', reason.isSolid);
    setText(byId('veil-title'), reason.title);
    setText(byId('veil-text'), reason.text);
    byId('veil-retry').hidden = !reason.canRetry;
  }
}

/**
 * @param {string} name
 * @param {string[]} values
 * @returns {any}
 */
function stored(name, values) {
  try {
    const value = localStorage.getItem(`phalanx.${name}`);
    return value !== null && values.includes(value) ? value : null;
  } catch {
    // A browser may forbid storage.
    return null;
  }
}

/**
 * @param {string} name
 * @param {string} value
 */
function store(name, value) {
  try {
    localStorage.setItem(`phalanx.${name}`, value);
  } catch {
    // A browser may forbid storage.
  }
}
