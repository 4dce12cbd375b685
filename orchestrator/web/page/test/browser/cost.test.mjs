// The page's own work for a frame with a thousand performers, as processor time of its thread: it
// leaves room for 30 frames a second, whatever draws them.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, open } from '../browser.mjs';
import { StandIn } from '../stand_in/server.mjs';
import { crowd } from '../stand_in/worlds.mjs';

/** The most work for a frame, on a machine that multiplies matrices as fast as `REFERENCE_MS` [ms]. */
const MOST_MS = 16;
/** Time of `multiply` on such a machine, so that a slow one is not blamed for what it is [ms]. */
const REFERENCE_MS = 530;
/** Frames in which it is measured. */
const FRAMES = 60;

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** Multiplies many matrices, in a page. */
function multiply() {
  const [one, other, product] = [0, 1, 2].map((seed) =>
    new Float64Array(16).map((_, index) => Math.sin(index + seed)),
  );
  for (let round = 0; round < 400_000; round += 1) {
    for (let row = 0; row < 4; row += 1) {
      for (let column = 0; column < 4; column += 1) {
        let sum = 0;
        for (let inner = 0; inner < 4; inner += 1)
          sum += one[row * 4 + inner] * other[inner * 4 + column];
        product[row * 4 + column] = sum;
      }
    }
    one[round % 16] = product[(round + 1) % 16] % 1;
  }
  return product[0];
}

/** Returns a function that tells the processor time of a page's scripts so far [ms]. */
async function meter(page) {
  const session = await page.createCDPSession();
  // Time of the processor and not of the clock: others use it, too.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find((one) => one.name === 'ScriptDuration').value * 1000;
  };
}

/** Returns how slow this machine is, where 1 is the one that the bound is for. */
async function slowness() {
  const page = await browser.newPage();
  const spent = await meter(page);
  // What is evaluated from outside does not count as a script, a timer does.
  const run = () =>
    page.evaluate(
      (text) =>
        new Promise((resolve) => {
          const work = new Function(`return (${text})()`);
          setTimeout(() => resolve(work()));
        }),
      multiply.toString(),
    );
  await run();
  const before = await spent();
  await run();
  const slow = ((await spent()) - before) / REFERENCE_MS;
  await page.close();
  return slow;
}

/** Returns the processor time of scripts for a frame, over many [ms]. */
async function perFrame(page) {
  const spent = await meter(page);
  const look = async () => [
    await spent(),
    await page.evaluate(() => Number(document.documentElement.dataset.frame)),
  ];
  const [begun, first] = await look();
  await page.waitForFunction(
    (last) => Number(document.documentElement.dataset.frame) >= last,
    { timeout: 240_000 },
    first + FRAMES,
  );
  const [ended, last] = await look();
  return (ended - begun) / (last - first);
}

for (const [what, fragment] of [
  ['as the page opens', 'panel=none'],
  [
    'with all that can be shown',
    'panel=performers&colour=speed&show=' +
      'levels,buffers,ghosts,groups,handOffs,trails,contacts,frames,names',
  ],
]) {
  test(`a thousand performers leave time for 30 frames a second ${what}`, async () => {
    const server = new StandIn(crowd(1000));
    const address = `${await server.listen()}#quality=low&${fragment}`;
    const { page } = await open(browser, address, { width: 640, height: 400 });
    await page.waitForFunction(() => document.querySelector('#veil').hidden);
    await page.waitForFunction(() => Number(document.documentElement.dataset.frame) > 30);
    const script = await perFrame(page);
    await page.waitForFunction(() => Number(document.querySelector('.frames').dataset.workMs) > 0);
    const work = await page.$eval('.frames', ({ dataset }) => Number(dataset.workMs));
    const slow = await slowness();
    console.log(
      `${what}: ${script.toFixed(1)} ms of processor time for a frame and the messages before it, ` +
        `${work.toFixed(1)} ms by the clock without drawing; slowness ${slow.toFixed(2)}`,
    );
    const most = MOST_MS * Math.max(slow, 1);
    assert.ok(script > 0 && script < most, `${script} ms of ${most}`);
    await page.close();
    await server.close();
  });
}
