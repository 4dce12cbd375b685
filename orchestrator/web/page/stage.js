// @ts-check
/**
 * The stage: renderer, frame loop and the ground. Frames are drawn only while something changes,
 * and with less detail where the machine has no GPU.
 *
 * @module stage
 */

import {
  Color,
  Fog,
  FogExp2,
  Group,
  LineBasicMaterial,
  LineSegments,
  BufferGeometry,
  Float32BufferAttribute,
  PCFShadowMap,
  Scene,
  SRGBColorSpace,
  WebGLRenderer,
} from './vendor/three.module.min.js';
import { CameraRig } from './camera.js';
import { Sky } from './sky.js';

/** @typedef {import('./contract.js').World} World */

/** Colours of the two themes: background, and lines of the grid. */
const THEMES = {
  light: { background: '#e9edf1', grid: '#7d8894' },
  dark: { background: '#12161c', grid: '#75818f' },
};
/** Frame time above which the picture is drawn with fewer pixels [ms]. */
const SLOW_MS = 45;
/** Frame time below which more pixels are tried again [ms]. */
const FAST_MS = 24;
/** Time between two changes of the number of pixels before more are tried [ms]. */
const TRY_MS = { min: 3000, max: 60_000 };
/** Least part of pixels along an edge that is drawn. */
const SCALE_MIN = 0.5;
/** Frames over which times are averaged. */
const FRAMES_KEPT = 30;
/** Time without a frame after which times are counted anew [ms]. */
const PAUSE_MS = 2000;
/** Distances between lines of the grid [m]. */
const GRID_STEPS_M = [0.25, 1, 5, 10, 50, 100];

export class Stage extends EventTarget {
  scene = new Scene();
  /** All that is in world coordinates. */
  world = new Group();
  renderer;
  rig;
  #sky = new Sky();
  /** True where pictures are computed by a processor. */
  isSoftware;
  /** @type {'light' | 'dark'} */
  #theme = 'light';
  /** @type {Color | null} */
  #worldBackground = null;
  #usesWorldBackground = false;
  #hasSky = false;
  /** @type {World['fog']} */
  #worldFog = null;
  /** @type {((nowMs: number, elapsedS: number) => boolean)[]} */
  #steps = [];
  /** @type {((heightPx: number) => void)[]} */
  #lastSteps = [];
  #isDirty = true;
  #last = 0;
  /** @type {number[]} */
  #frames = [];
  /** @type {number[]} */
  #costs = [];
  /** Time of the page's work for each frame, and for messages before it, without drawing [ms]. */
  #works = /** @type {number[]} */ ([]);
  /** Time that messages took since the frame before [ms]. */
  spentMs = 0;
  #scale = 1;
  #scaledAt = 0;
  #triedAt = 0;
  #tryMs = TRY_MS.min;
  #isFixedScale;
  /** @type {LineSegments | null} */
  #grid = null;
  #gridStep = 0;
  showsGrid = true;
  /** Number of frames so far. */
  drawn = 0;

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {'auto' | 'high' | 'low'} quality
   * @param {boolean} hasAllPixels however long a frame takes
   */
  constructor(canvas, quality, hasAllPixels) {
    super();
    this.isSoftware = quality === 'low' || (quality === 'auto' && isSoftware());
    const antialias = !this.isSoftware;
    this.renderer = new WebGLRenderer({ canvas, antialias, powerPreference: 'high-performance' });
    this.#isFixedScale = hasAllPixels || quality === 'high';
    this.renderer.shadowMap.enabled = !this.isSoftware;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.outputColorSpace = SRGBColorSpace;
    // To ask for errors makes every new shader wait for its compiler.
    this.renderer.debug.checkShaderErrors = false;
    this.rig = new CameraRig(canvas);
    this.rig.addEventListener('change', () => this.invalidate());
    this.scene.add(this.world, this.#sky.mesh);
    canvas.addEventListener('webglcontextrestored', () => this.invalidate());
    new ResizeObserver(() => this.#resize()).observe(/** @type {Element} */ (canvas.parentElement));
    this.#resize();
    this.setTheme('light');
  }

  /** Begins to draw. */
  start() {
    this.renderer.setAnimationLoop((nowMs) => this.#frame(nowMs));
  }

  /** Has the next frame drawn. */
  invalidate() {
    this.#isDirty = true;
  }

  /**
   * Adds something that is done before each frame and tells whether it must be drawn.
   *
   * @param {(nowMs: number, elapsedS: number) => boolean} step
   */
  beforeFrame(step) {
    this.#steps.push(step);
  }

  /**
   * Adds something that is done just before a frame is drawn.
   *
   * @param {(heightPx: number) => void} step
   */
  whenDrawn(step) {
    this.#lastSteps.push(step);
  }

  /** @param {number} nowMs */
  #frame(nowMs) {
    const begun = performance.now();
    const elapsedS = Math.min((nowMs - this.#last) / 1000, 0.5);
    this.#last = nowMs;
    let draws = this.rig.update(nowMs, elapsedS);
    for (const step of this.#steps) draws = step(nowMs, elapsedS) || draws;
    if (!draws && !this.#isDirty) return;
    this.#isDirty = false;
    this.#placeGrid();
    for (const step of this.#lastSteps) step(this.renderer.domElement.height);
    const work = performance.now() - begun + this.spentMs;
    this.spentMs = 0;
    this.renderer.render(this.scene, this.rig.camera);
    this.drawn += 1;
    this.dispatchEvent(new Event('frame'));
    this.#measure(nowMs, performance.now() - begun, work);
  }

  /**
   * @param {number} nowMs
   * @param {number} costMs
   * @param {number} workMs
   */
  #measure(nowMs, costMs, workMs) {
    const last = this.#frames.at(-1) ?? nowMs;
    if (nowMs - last > PAUSE_MS) {
      // Nothing had to be drawn for a while.
      this.#frames = [];
      this.#costs = [];
      this.#works = [];
    }
    this.#frames.push(nowMs);
    this.#costs.push(costMs);
    this.#works.push(workMs);
    if (this.#frames.length <= FRAMES_KEPT) return;
    this.#frames.shift();
    this.#costs.shift();
    this.#works.shift();
    const { frameMs } = this.figures();
    if (this.#isFixedScale) return;
    if (frameMs > SLOW_MS && this.#scale > SCALE_MIN) {
      // What was too much is tried again later each time.
      if (this.#triedAt > 0) this.#tryMs = Math.min(this.#tryMs * 2, TRY_MS.max);
      this.#rescale(Math.max(this.#scale * 0.85, SCALE_MIN), nowMs);
    } else if (frameMs < FAST_MS && this.#scale < 1 && nowMs - this.#scaledAt > this.#tryMs) {
      this.#triedAt = nowMs;
      this.#rescale(Math.min(this.#scale * 1.2, 1), nowMs);
    }
  }

  /**
   * @param {number} scale
   * @param {number} nowMs
   */
  #rescale(scale, nowMs) {
    this.#scale = scale;
    this.#scaledAt = nowMs;
    this.#frames = [];
    this.#costs = [];
    this.#works = [];
    this.#resize();
  }

  /** Returns frames per second, the mean time between the last frames, the median time that the
   * page's own work for one takes without that of the GPU, and that without drawing [ms]. */
  figures() {
    const count = this.#frames.length - 1;
    if (count < 1)
      return { framesPerS: 0, frameMs: 0, costMs: 0, workMs: 0, calls: 0, triangles: 0 };
    const frameMs = (this.#frames[count] - this.#frames[0]) / count;
    // The median: others may use the processor, too.
    const costMs = median(this.#costs);
    const workMs = median(this.#works);
    const { calls, triangles } = this.renderer.info.render;
    return { framesPerS: 1000 / frameMs, frameMs, costMs, workMs, calls, triangles };
  }

  #resize() {
    const parent = /** @type {HTMLElement} */ (this.renderer.domElement.parentElement);
    const width = Math.max(parent.clientWidth, 1);
    const height = Math.max(parent.clientHeight, 1);
    const ratio = this.isSoftware ? 1 : Math.min(devicePixelRatio, 2);
    this.renderer.setPixelRatio(ratio * this.#scale);
    this.renderer.setSize(width, height, false);
    this.rig.camera.aspect = width / height;
    this.rig.camera.updateProjectionMatrix();
    this.invalidate();
    this.dispatchEvent(new Event('resize'));
  }

  /**
   * Takes background and fog of a world.
   *
   * @param {World} world
   */
  show(world) {
    const { background, fog } = world;
    this.#worldBackground = background ? new Color().setRGB(...background, SRGBColorSpace) : null;
    this.#worldFog = fog ?? null;
    this.#hasSky = Boolean(world.sky);
    this.#sky.show(world.sky);
    this.#paintBackground();
  }

  /** @param {'light' | 'dark'} theme */
  setTheme(theme) {
    this.#theme = theme;
    this.#gridStep = 0;
    this.#paintBackground();
  }

  /** Shows the background of the world instead of that of the theme. */
  set usesWorldBackground(/** @type {boolean} */ uses) {
    this.#usesWorldBackground = uses;
    this.#paintBackground();
  }

  get usesWorldBackground() {
    return this.#usesWorldBackground;
  }

  #paintBackground() {
    const own = new Color(THEMES[this.#theme].background);
    const isWorlds = this.#usesWorldBackground && this.#worldBackground !== null;
    this.#sky.mesh.visible = isWorlds && this.#hasSky;
    const behind = this.#hasSky ? this.#sky.horizon : this.#worldBackground;
    const colour = isWorlds && behind ? behind : own;
    this.scene.background = colour;
    const fog = isWorlds ? this.#worldFog : null;
    if (fog?.type === 'linear') {
      this.scene.fog = new Fog(
        new Color().setRGB(...fog.color, SRGBColorSpace),
        fog.start,
        fog.end,
      );
    } else if (fog) {
      this.scene.fog = new FogExp2(
        new Color().setRGB(...fog.color, SRGBColorSpace).getHex(),
        fog.density,
      );
    } else {
      this.scene.fog = new Fog(colour, 60, 400);
    }
    this.invalidate();
  }

  /** Puts the grid below what is looked at, with lines as far apart as the distance wants. */
  #placeGrid() {
    const { distance, target } = this.rig;
    const step = GRID_STEPS_M.find((one) => one * 28 > distance) ?? 100;
    if (step !== this.#gridStep) {
      if (this.#grid) {
        this.world.remove(this.#grid);
        this.#grid.geometry.dispose();
      }
      this.#gridStep = step;
      this.#grid = grid(step, THEMES[this.#theme].grid);
      this.world.add(this.#grid);
    }
    if (!this.#grid) return;
    this.#grid.visible = this.showsGrid;
    const coarse = step * 5;
    this.#grid.position.set(
      Math.round(target.x / coarse) * coarse,
      Math.round(target.y / coarse) * coarse,
      0.002,
    );
    const fog = this.scene.fog;
    if (fog instanceof Fog && !this.#usesWorldBackground) {
      fog.near = Math.max(distance * 1.6, 25);
      fog.far = Math.max(distance * 7, 160);
    }
  }
}

/** @param {number[]} values */
function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}

/**
 * Makes a grid whose lines fade to its edge.
 *
 * @param {number} step [m]
 * @param {string} colour
 */
function grid(step, colour) {
  const half = 40;
  const positions = [];
  const colours = [];
  const rgb = new Color(colour);
  for (let index = -half; index <= half; index += 1) {
    const strength = (index % 5 === 0 ? 0.42 : 0.16) * (1 - Math.abs(index) / half);
    for (const [from, to] of [
      [-half, 0],
      [0, half],
    ]) {
      for (const along of [0, 1]) {
        for (const end of [from, to]) {
          const point = along ? [end * step, index * step, 0] : [index * step, end * step, 0];
          positions.push(...point);
          colours.push(rgb.r, rgb.g, rgb.b, end === 0 ? strength : 0);
        }
      }
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new Float32BufferAttribute(positions, 3));
  geometry.setAttribute('color', new Float32BufferAttribute(colours, 4));
  const lines = new LineSegments(
    geometry,
    new LineBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false }),
  );
  lines.renderOrder = 1;
  return lines;
}

/** Tells whether the browser draws without a GPU. */
function isSoftware() {
  const context = document.createElement('canvas').getContext('webgl2');
  if (!context) return true;
  const extension = context.getExtension('WEBGL_debug_renderer_info');
  const name = extension
    ? context.getParameter(extension.UNMASKED_RENDERER_WEBGL)
    : context.getParameter(context.RENDERER);
  context.getExtension('WEBGL_lose_context')?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(String(name));
}
