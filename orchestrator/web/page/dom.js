// @ts-check
/**
 * Elements of the page: made and found in one call each.
 *
 * @module dom
 */

/**
 * Makes an element.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [properties] attributes; those that begin with `on` are
 *   listeners, `text` is its text
 * @param {...(Node | string | null)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === 'text') made.textContent = String(value);
    else if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children) if (child !== null) made.append(child);
  return made;
}

/**
 * Returns the element with an id that the page has for certain.
 *
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @returns {T}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element ${id}`);
  return /** @type {T} */ (found);
}

/**
 * Sets a text where it differs, so that screen readers hear only changes.
 *
 * @param {Element} target
 * @param {string} text
 */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/**
 * Makes a line with a checkbox.
 *
 * @param {string} label
 * @param {boolean} isOn
 * @param {(isOn: boolean) => void} onChange
 * @param {string} [key] that does the same
 */
export function toggle(label, isOn, onChange, key) {
  const box = element('input', { type: 'checkbox', onchange: () => onChange(box.checked) });
  box.checked = isOn;
  const row = element(
    'label',
    { class: 'toggle' },
    box,
    element('span', { text: label }),
    key ? element('kbd', { text: key }) : null,
  );
  return { row, box };
}

/**
 * Makes a button.
 *
 * @param {string} text
 * @param {() => void} onClick
 * @param {Record<string, any>} [properties]
 */
export function button(text, onClick, properties = {}) {
  return element('button', {
    type: 'button',
    class: 'button',
    text,
    onclick: onClick,
    ...properties,
  });
}

/**
 * Makes an icon of the page's sprite.
 *
 * @param {string} name
 */
export function icon(name) {
  const space = 'http://www.w3.org/2000/svg';
  const made = document.createElementNS(space, 'svg');
  const use = document.createElementNS(space, 'use');
  use.setAttribute('href', `#i-${name}`);
  made.append(use);
  return made;
}
