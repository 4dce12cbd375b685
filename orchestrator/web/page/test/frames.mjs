// Counts frames per second with 50 and 1,000 performers, drawn without a GPU: `node frames.mjs`.
//
// One JSON line each. The world is generated and moves at 30 Hz, so more is never drawn.

import { launch, open } from './browser.mjs';
import { StandIn } from './stand_in/server.mjs';
import { crowd } from './stand_in/worlds.mjs';

/** Time until frames are counted, and for which they are [ms]. */
const TIMES_MS = { before: 4000, counted: 10_000 };

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const browser = await launch();
for (const performers of [50, 1000]) {
  const server = new StandIn(crowd(performers));
  const { page } = await open(browser, `${await server.listen()}#panel=none`);
  await page.waitForFunction(() => document.querySelector('#veil').hidden);
  await wait(TIMES_MS.before);
  const frames = await page.evaluate(
    (counted) =>
      new Promise((resolve) => {
        // A frame is drawn where the picture's time stamp of the last one changes.
        let count = 0;
        const begun = performance.now();
        const watch = new MutationObserver(() => {
          count += 1;
        });
        watch.observe(document.documentElement, { attributeFilter: ['data-frame'] });
        setTimeout(() => resolve(count / ((performance.now() - begun) / 1000)), counted);
      }),
    TIMES_MS.counted,
  );
  const script = await page.$eval('.frames', (figures) => Number(figures.dataset.costMs));
  console.log(
    JSON.stringify({
      performers,
      frames_per_s: Math.round(frames * 10) / 10,
      script_ms_per_frame: Math.round(script * 10) / 10,
      width: 1280,
      height: 752,
    }),
  );
  await page.close();
  await server.close();
}
await browser.close();
