// @ts-check
/**
 * Colours by meaning: of owners, levels and speeds, from palettes that colour-blind people can
 * read.
 *
 * @module colours
 */

import { NONE } from './poses.js';

/** @typedef {'material' | 'owner' | 'level' | 'speed'} ColourMode */
/** @typedef {[number, number, number]} Rgb red, green, blue, sRGB, 0 to 1 */

/** Modes with their labels, in the order in which they are offered. */
export const MODES = /** @type {const} */ ([
  ['material', 'Material'],
  ['owner', 'Owner'],
  ['level', 'Level'],
  ['speed', 'Speed'],
]);

/** Okabe and Ito's palette without black, then Tol's muted one: 15 that tell apart. */
const CATEGORIES = [
  '#0072b2',
  '#e69f00',
  '#009e73',
  '#cc79a7',
  '#56b4e9',
  '#d55e00',
  '#f0e442',
  '#332288',
  '#88ccee',
  '#44aa99',
  '#117733',
  '#999933',
  '#ddcc77',
  '#882255',
  '#aa4499',
].map(parse);

/** Colour of what belongs to nobody. */
const NOBODY = parse('#8a929b');

/** Points of a colour map from dark blue to light yellow; every step is lighter than the last. */
const SPEEDS = ['#2255a4', '#4f79b4', '#8096ad', '#a8a78a', '#cdb85e', '#f2d33c', '#fff07a'].map(
  parse,
);

/**
 * Reads a colour of the form `#rrggbb`.
 *
 * @param {string} text
 * @returns {Rgb}
 */
function parse(text) {
  const value = Number.parseInt(text.slice(1), 16);
  return [(value >> 16) / 255, ((value >> 8) & 255) / 255, (value & 255) / 255];
}

/**
 * Writes a colour for CSS.
 *
 * @param {Rgb} colour
 */
export function css(colour) {
  return `rgb(${colour.map((part) => Math.round(part * 255)).join(' ')})`;
}

/**
 * Returns the colour of a category; beyond the palette it begins again, lighter each time.
 *
 * @param {number} index
 * @returns {Rgb}
 */
export function categoryColour(index) {
  if (index === NONE || index < 0) return NOBODY;
  const round = Math.floor(index / CATEGORIES.length);
  const lighter = 1 - 0.65 ** round;
  const colour = CATEGORIES[index % CATEGORIES.length];
  return /** @type {Rgb} */ (colour.map((part) => part + (1 - part) * lighter));
}

/**
 * Returns the colour of a speed.
 *
 * @param {number} speed [m/s]
 * @param {number} fastest [m/s]
 * @returns {Rgb}
 */
export function speedColour(speed, fastest) {
  const place = Math.min(Math.max(speed / (fastest || 1), 0), 1) * (SPEEDS.length - 1);
  const index = Math.min(Math.floor(place), SPEEDS.length - 2);
  const part = place - index;
  return /** @type {Rgb} */ (
    SPEEDS[index].map((from, at) => from + (SPEEDS[index + 1][at] - from) * part)
  );
}

/**
 * Rounds a speed up to a number that reads well: 1, 2 or 5 times a power of ten.
 *
 * @param {number} speed [m/s]
 */
export function niceCeiling(speed) {
  if (!(speed > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(speed));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= speed * 0.999) ?? 10;
  return step * power;
}

/**
 * @typedef {object} LegendEntry
 * @property {Rgb} colour
 * @property {string} label
 */

/**
 * Returns the entries of a legend.
 *
 * @param {ColourMode} mode
 * @param {{ owners: string[], levels: string[], fastest: number }} names
 * @returns {LegendEntry[]}
 */
export function legend(mode, names) {
  if (mode === 'owner') {
    return names.owners.map((label, index) => ({ colour: categoryColour(index), label }));
  }
  if (mode === 'level') {
    return names.levels.map((label, index) => ({ colour: categoryColour(index), label }));
  }
  if (mode === 'speed') {
    const { fastest } = names;
    return [0, 0.25, 0.5, 0.75, 1].map((part) => ({
      colour: speedColour(part * fastest, fastest),
      label: part === 1 ? `${fastest} m/s` : part === 0 ? '0' : '',
    }));
  }
  return [];
}
