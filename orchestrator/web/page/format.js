// @ts-check
/**
 * Figures as text for people.
 *
 * @module format
 */

/**
 * Writes a number with so many digits after the point.
 *
 * @param {number | null | undefined} value
 * @param {number} digits
 */
export function fixed(value, digits) {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const text = value.toFixed(digits);
  // Not "-0.00".
  return Number(text) === 0 ? text.replace('-', '') : text;
}

/**
 * Writes a whole number in groups of three.
 *
 * @param {number} value
 */
export function whole(value) {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

/**
 * Writes a time in seconds, beyond a minute with minutes and hours.
 *
 * @param {number} seconds
 */
export function duration(seconds) {
  if (seconds < 60) return `${fixed(seconds, 2)} s`;
  const minutes = Math.floor(seconds / 60) % 60;
  const hours = Math.floor(seconds / 3600);
  const rest = fixed(seconds % 60, 1).padStart(4, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

/**
 * Writes a time in microseconds, as ms beyond one.
 *
 * @param {number | undefined} us
 */
export function micros(us) {
  if (us === undefined || !Number.isFinite(us)) return '–';
  return us >= 1000 ? `${fixed(us / 1000, us >= 10_000 ? 1 : 2)} ms` : `${Math.round(us)} µs`;
}

/**
 * Writes a size in bytes.
 *
 * @param {number | undefined} bytes
 */
export function bytes(bytes) {
  if (!bytes) return '–';
  const units = ['B', 'kB', 'MB', 'GB'];
  const power = Math.min(Math.floor(Math.log(bytes) / Math.log(1000)), units.length - 1);
  return `${fixed(bytes / 1000 ** power, power > 2 ? 1 : 0)} ${units[power]}`;
}

/**
 * Writes a factor of real time.
 *
 * @param {number} factor
 */
export function times(factor) {
  return `${fixed(factor, factor >= 100 ? 0 : factor >= 10 ? 1 : 2)}×`;
}

/**
 * Returns roll, pitch and yaw of a quaternion [rad].
 *
 * @param {number} x
 * @param {number} y
 * @param {number} z
 * @param {number} w
 * @returns {[number, number, number]}
 */
export function rollPitchYaw(x, y, z, w) {
  const roll = Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y));
  const pitch = Math.asin(Math.min(Math.max(2 * (w * y - z * x), -1), 1));
  const yaw = Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z));
  return [roll, pitch, yaw];
}
