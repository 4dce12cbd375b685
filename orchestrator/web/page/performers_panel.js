// @ts-check
/**
 * The table of performers: filtered, sorted, and drawn only as far as it is seen.
 *
 * @module performers_panel
 */

import { categoryColour, css } from './colours.js';
import { byId, element, setText } from './dom.js';
import { fixed } from './format.js';

/** Height of a row [px]. */
const ROW_PX = 28;
/** Rows beyond what is seen, above and below. */
const MARGIN = 8;

/** @typedef {import('./contract.js').PerformerFigures} Performer */

/** @typedef {(a: Performer, b: Performer) => number} Order */
/** @typedef {(one: Performer) => string} Text */
/** @typedef {[string, string, Text, Order]} Column title, class, text, order */

/** Compares names, numbers in them by their value; a thousand are sorted with each message. */
const NAMES = new Intl.Collator('en', { numeric: true });

/** Columns of the table. */
const COLUMNS = /** @type {Column[]} */ ([
  ['name', '', (one) => one.name, (a, b) => NAMES.compare(a.name, b.name)],
  ['level', '', (one) => one.level, (a, b) => NAMES.compare(a.level, b.level)],
  ['owner', '', (one) => one.owner ?? '', (a, b) => NAMES.compare(a.owner ?? '', b.owner ?? '')],
  ['m/s', 'number', (one) => fixed(one.speed, 2), (a, b) => (b.speed ?? 0) - (a.speed ?? 0)],
]);

export class PerformersPanel {
  #view = byId('view-performers');
  #filter = element('input', {
    type: 'search',
    placeholder: 'Filter by name, level or owner',
    'aria-label': 'Filter performers (/)',
  });
  #count = element('p', { class: 'quiet', role: 'status' });
  #body = element('tbody');
  #before = element(
    'tr',
    { class: 'gap', 'aria-hidden': 'true' },
    element('td', { colspan: COLUMNS.length }),
  );
  #after = element(
    'tr',
    { class: 'gap', 'aria-hidden': 'true' },
    element('td', { colspan: COLUMNS.length }),
  );
  #scroller = element('div', { class: 'table-scroll' });
  /** @type {Performer[]} */
  #all = [];
  /** @type {Performer[]} */
  #rows = [];
  #sort = 0;
  #selected = '';
  #onSelect;
  /** @type {(level: string) => number} */
  #levelOf = () => -1;
  /** @type {HTMLTableCellElement[]} */
  #heads = [];

  /** @param {(name: string) => void} onSelect */
  constructor(onSelect) {
    this.#onSelect = onSelect;
    const head = element('tr');
    COLUMNS.forEach(([title, kind], index) => {
      const cell = element('th', { scope: 'col', class: kind });
      cell.append(
        element('button', {
          type: 'button',
          text: title,
          'aria-label': `Sort by ${title}`,
          onclick: () => this.#sortBy(index),
        }),
      );
      this.#heads.push(cell);
      head.append(cell);
    });
    const table = element('table', { class: 'performers' }, element('thead', {}, head), this.#body);
    this.#scroller.append(table);
    this.#scroller.addEventListener('scroll', () => this.#draw());
    this.#filter.addEventListener('input', () => this.#refresh());
    this.#view.append(this.#filter, this.#count, this.#scroller);
    this.#markSort();
  }

  /** Puts the cursor into the filter. */
  focusFilter() {
    this.#filter.focus();
    this.#filter.select();
  }

  /** @param {string} name */
  select(name) {
    this.#selected = name;
    this.#draw();
  }

  /**
   * @param {import('./contract.js').RunMessage} run
   * @param {Map<string, number>} levelIndex
   */
  setRun(run, levelIndex) {
    this.#all = run.performers;
    this.#levelOf = (level) => levelIndex.get(level) ?? -1;
    if (!this.#view.hidden) this.#refresh();
  }

  /** @param {number} column */
  #sortBy(column) {
    this.#sort = column;
    this.#markSort();
    this.#refresh();
  }

  #markSort() {
    this.#heads.forEach((cell, index) => {
      cell.setAttribute(
        'aria-sort',
        index === this.#sort ? (index === 3 ? 'descending' : 'ascending') : 'none',
      );
    });
  }

  #refresh() {
    const wanted = this.#filter.value.trim().toLowerCase();
    const passes = (/** @type {Performer} */ one) =>
      `${one.name} ${one.level} ${one.owner ?? ''}`.toLowerCase().includes(wanted);
    this.#rows = this.#all.filter(passes).sort(COLUMNS[this.#sort][3]);
    const all = this.#all.length;
    setText(
      this.#count,
      this.#rows.length === all
        ? `${all} ${all === 1 ? 'performer' : 'performers'}`
        : `${this.#rows.length} of ${all} performers`,
    );
    this.#draw();
  }

  #draw() {
    const top = this.#scroller.scrollTop;
    const height = this.#scroller.clientHeight || 400;
    const first = Math.max(Math.floor(top / ROW_PX) - MARGIN, 0);
    const last = Math.min(Math.ceil((top + height) / ROW_PX) + MARGIN, this.#rows.length);
    gap(this.#before, first * ROW_PX);
    gap(this.#after, (this.#rows.length - last) * ROW_PX);
    const rows = [];
    // Rows are reused by place, so that focus stays where it is.
    const old = [...this.#body.rows].filter((row) => !row.classList.contains('gap'));
    for (let index = first; index < last; index += 1) {
      const row = old[index - first] ?? this.#makeRow();
      this.#fill(row, this.#rows[index]);
      rows.push(row);
    }
    const wanted = [this.#before, ...rows, this.#after];
    const isSame =
      wanted.length === this.#body.rows.length &&
      wanted.every((row, index) => row === this.#body.rows[index]);
    if (!isSame) this.#body.replaceChildren(...wanted);
  }

  #makeRow() {
    const row = element('tr');
    const choose = () => this.#onSelect(row.dataset.performer ?? '');
    const name = element(
      'button',
      { type: 'button', class: 'link' },
      element('i', { class: 'swatch' }),
      element('span'),
    );
    row.append(element('th', { scope: 'row' }, name));
    for (const [, kind] of COLUMNS.slice(1)) row.append(element('td', { class: kind }));
    row.addEventListener('click', choose);
    return row;
  }

  /**
   * @param {HTMLTableRowElement} row
   * @param {Performer} performer
   */
  #fill(row, performer) {
    row.dataset.performer = performer.name;
    row.classList.toggle('is-selected', performer.name === this.#selected);
    if (performer.name === this.#selected) row.setAttribute('aria-current', 'true');
    else row.removeAttribute('aria-current');
    const swatch = /** @type {HTMLElement} */ (row.querySelector('.swatch'));
    swatch.style.background = css(categoryColour(this.#levelOf(performer.level)));
    COLUMNS.forEach(([, , text], index) => {
      const cell =
        index === 0 ? /** @type {Element} */ (row.querySelector('.link span')) : row.cells[index];
      setText(cell, text(performer));
    });
  }
}

/**
 * @param {HTMLTableRowElement} row
 * @param {number} height [px]
 */
function gap(row, height) {
  row.hidden = height <= 0;
  row.cells[0].style.height = `${Math.max(height, 0)}px`;
}
