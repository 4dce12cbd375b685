// @ts-check
/**
 * Options of the page, out of the address's fragment: `#token=...&world=...&colour=owner`. A link
 * with a fragment shows the same view again.
 *
 * @module options
 */

/**
 * @typedef {object} Options
 * @property {string} token
 * @property {string} world empty for the first
 * @property {import('./colours.js').ColourMode} colour
 * @property {string[] | null} show overlays, instead of those that are shown first
 * @property {number[] | null} camera position and target [m]
 * @property {string} select name of the model that is selected
 * @property {boolean} follow
 * @property {'light' | 'dark' | null} theme
 * @property {'auto' | 'high' | 'low'} quality
 * @property {boolean} bare true for the world alone, without bars and panels
 * @property {string | null} panel the panel that is open, `none` for none
 */

const COLOURS = ['material', 'owner', 'level', 'speed'];
const QUALITIES = ['auto', 'high', 'low'];

/**
 * Reads a fragment; what is not understood is as if it were absent.
 *
 * @param {string} fragment with or without its `#`
 * @returns {Options}
 */
export function readOptions(fragment) {
  const found = new URLSearchParams(fragment.replace(/^#/, ''));
  const one = (/** @type {string} */ name, /** @type {string[]} */ values) => {
    const value = found.get(name);
    return value !== null && values.includes(value) ? value : null;
  };
  const camera = (found.get('camera') ?? '').split(',').map(Number);
  return {
    token: found.get('token') ?? '',
    world: found.get('world') ?? '',
    colour: /** @type {any} */ (one('colour', COLOURS) ?? 'material'),
    show: found.has('show') ? (found.get('show') ?? '').split(',').filter(Boolean) : null,
    camera: camera.length === 6 && camera.every(Number.isFinite) ? camera : null,
    select: found.get('select') ?? '',
    follow: found.get('follow') === 'true',
    theme: /** @type {any} */ (one('theme', ['light', 'dark'])),
    quality: /** @type {any} */ (one('quality', QUALITIES) ?? 'auto'),
    bare: found.get('bare') === 'true',
    panel: found.get('panel'),
  };
}

/**
 * Writes a fragment without the token, for a link to give away.
 *
 * @param {Partial<Options>} options
 */
export function writeOptions(options) {
  const parts = new URLSearchParams();
  if (options.world) parts.set('world', options.world);
  if (options.colour && options.colour !== 'material') parts.set('colour', options.colour);
  if (options.show) parts.set('show', options.show.join(','));
  if (options.camera)
    parts.set('camera', options.camera.map((value) => value.toFixed(3)).join(','));
  if (options.select) parts.set('select', options.select);
  if (options.follow) parts.set('follow', 'true');
  return `#${parts}`.replaceAll('%2C', ',');
}
