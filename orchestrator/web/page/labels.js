// @ts-check
/**
 * Names beside what they belong to, as text above the canvas.
 *
 * @module labels
 */

import { Vector3 } from './vendor/three.module.min.js';

/** @typedef {{ text: string, kind: string, place: (out: Vector3) => Vector3 | null }} Label */

/** Labels that are shown at most. */
const LABELS_MAX = 60;
/** Least distance between two labels, across and down [px]. */
const ROOM_PX = { across: 70, down: 15 };

export class Labels {
  /** @type {{ label: Label, element: HTMLElement }[]} */
  #shown = [];
  #layer;
  #point = new Vector3();
  #size = { width: 0, height: 0 };

  /** @param {HTMLElement} layer */
  constructor(layer) {
    this.#layer = layer;
    // To ask for the size in each frame would have the page laid out each time.
    new ResizeObserver(() => {
      this.#size = { width: layer.clientWidth, height: layer.clientHeight };
    }).observe(layer);
  }

  /**
   * Shows labels instead of the present ones, those that come first before others.
   *
   * @param {Label[]} labels
   */
  set(labels) {
    this.#layer.replaceChildren();
    this.#shown = labels.slice(0, LABELS_MAX).map((label) => {
      const element = document.createElement('span');
      element.className = `label label-${label.kind}`;
      element.textContent = label.text;
      this.#layer.append(element);
      return { label, element };
    });
  }

  /**
   * Puts each label where it belongs; one that would cover another is hidden.
   *
   * @param {import('./vendor/three.module.min.js').Camera} camera
   */
  place(camera) {
    const { width, height } = this.#size;
    /** @type {{ x: number, y: number }[]} */
    const taken = [];
    for (const { label, element } of this.#shown) {
      const point = label.place(this.#point)?.project(camera);
      const isSeen = point && point.z < 1 && Math.abs(point.x) < 1 && Math.abs(point.y) < 1;
      const x = isSeen ? ((point.x + 1) / 2) * width : 0;
      const y = isSeen ? ((1 - point.y) / 2) * height : 0;
      const isFree = !taken.some(
        (other) => Math.abs(other.x - x) < ROOM_PX.across && Math.abs(other.y - y) < ROOM_PX.down,
      );
      const isHidden = !isSeen || !isFree;
      if (element.hidden !== isHidden) element.hidden = isHidden;
      if (isHidden) continue;
      taken.push({ x, y });
      const place = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
      element.style.transform = `${place} translate(-50%, -100%)`;
    }
  }
}
