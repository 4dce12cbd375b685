// Counts frames per second with 50 and 1,000 performers: `node frames.mjs` without a GPU, and
// `node frames.mjs --gpu` on one, by Vulkan, at the pace of a display and as fast as it can.
// Arguments behind `--` are for Chromium.
//
// One JSON line each. The world is generated, moves at 30 Hz and is drawn in between, too.

import { launch, open } from './browser.mjs';
import { StandIn } from './stand_in/server.mjs';
import { crowd } from './stand_in/worlds.mjs';

const [own, others] = split(process.argv.slice(2));
const gpu = own.includes('--gpu');
/** Time until frames are counted, and for which they are [ms]. */
const TIMES_MS = gpu ? { before: 2500, counted: 4000 } : { before: 4000, counted: 8000 };
/** Windows in which they are [px]. */
const SIZES = gpu
  ? [
      [1280, 800],
      [1920, 1080],
    ]
  : [[1280, 800]];
/** Arguments by which a browser draws as fast as it can. */
const UNLIMITED = ['--disable-frame-rate-limit', '--disable-gpu-vsync'];

/** Splits arguments where a `--` stands. */
function split(all) {
  const end = all.includes('--') ? all.indexOf('--') : all.length;
  return [all.slice(0, end), all.slice(end + 1)];
}

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Counts the frames that are drawn, per second. */
function count(counted) {
  return new Promise((resolve) => {
    // A frame is drawn where the number of the last one changes.
    let frames = 0;
    const begun = performance.now();
    const watch = new MutationObserver(() => {
      frames += 1;
    });
    watch.observe(document.documentElement, { attributeFilter: ['data-frame'] });
    setTimeout(() => resolve(frames / ((performance.now() - begun) / 1000)), counted);
  });
}

/** Returns the name of what draws. */
function rendererOf() {
  const context = document.createElement('canvas').getContext('webgl2');
  const named = context?.getExtension('WEBGL_debug_renderer_info');
  return named ? context.getParameter(named.UNMASKED_RENDERER_WEBGL) : 'unknown';
}

async function measure(browser, performers, [width, height], more) {
  const server = new StandIn(crowd(performers));
  const address = `${await server.listen()}#panel=none`;
  const { page, problems } = await open(browser, address, { width, height });
  await page.waitForFunction(() => document.querySelector('#veil').hidden);
  await wait(TIMES_MS.before);
  const frames = await page.evaluate(count, TIMES_MS.counted);
  const rounded = (value) => Math.round(value * 10) / 10;
  const figures = await page.$eval('.frames', ({ dataset, textContent }) => ({
    cost: Number(dataset.costMs),
    work: Number(dataset.workMs),
    said: textContent,
  }));
  const canvas = await page.$eval('#canvas', (one) => [one.width, one.height]);
  console.log(
    JSON.stringify({
      performers,
      frames_per_s: rounded(frames),
      script_ms_per_frame: rounded(figures.cost),
      without_drawing_ms: rounded(figures.work),
      page_says: figures.said,
      pixels: canvas,
      renderer: await page.evaluate(rendererOf),
      ...more,
      ...(problems.length > 0 ? { problems } : {}),
    }),
  );
  await page.close();
  await server.close();
}

for (const limited of gpu ? [true, false] : [true]) {
  const browser = await launch({ gpu, more: [...others, ...(limited ? [] : UNLIMITED)] });
  for (const size of SIZES) {
    for (const performers of [50, 1000])
      await measure(browser, performers, size, { at_pace_of_display: limited });
  }
  await browser.close();
}
