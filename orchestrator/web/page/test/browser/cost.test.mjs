// The page's own work for a frame with a thousand performers, as processor time of its thread: it
// leaves room for 30 frames a second, whatever draws them.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, open } from '../browser.mjs';
import { StandIn } from '../stand_in/server.mjs';
import { crowd } from '../stand_in/worlds.mjs';

/** The most work for a frame, of 33 ms, on a machine that multiplies matrices in `REFERENCE_MS` [ms]. */
const MOST_MS = 24;
/** Time of `multiply` on such a machine, so that a slow one is not blamed for what it is [ms]. */
const REFERENCE_MS = 60;
/** Frames in which it is measured. */
const FRAMES = 60;
/** Time in which messages alone are measured [ms]. */
const MESSAGES_MS = 2_000;

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

/** Returns the processor time of scripts for messages alone, for each millisecond [ms]. */
async function ofMessages(page, spent) {
  // Frames that are asked for wait; messages come all the same.
  await page.evaluate(() => {
    const ask = window.requestAnimationFrame.bind(window);
    const held = [];
    window.requestAnimationFrame = (frame) => held.push(frame);
    window.goOnDrawing = () => {
      window.requestAnimationFrame = ask;
      held.forEach(ask);
    };
  });
  const look = async () => [await spent(), await page.evaluate(() => performance.now())];
  const [begun, since] = await look();
  await page.waitForFunction((end) => performance.now() >= end, { polling: 100 }, since + MESSAGES_MS);
  const [ended, until] = await look();
  await page.evaluate(() => window.goOnDrawing());
  return (ended - begun) / (until - since);
}

/**
 * Returns the processor time of scripts for a frame and the messages of a thirtieth of a second,
 * over many [ms]. However slowly they are drawn, messages come at their own rate.
 */
async function perFrame(page) {
  const spent = await meter(page);
  const messages = await ofMessages(page, spent);
  const look = async () => [
    await spent(),
    ...(await page.evaluate(() => [
      Number(document.documentElement.dataset.frame),
      performance.now(),
    ])),
  ];
  const [begun, first, since] = await look();
  await page.waitForFunction(
    (last) => Number(document.documentElement.dataset.frame) >= last,
    { timeout: 240_000 },
    first + FRAMES,
  );
  const [ended, last, until] = await look();
  const frame = (ended - begun - messages * (until - since)) / (last - first);
  return { frame, script: frame + messages * (1000 / 30), rate: (last - first) / (until - since) };
}

for (const [what, fragment] of [
  ['as the page opens', 'panel=none'],
  [
    'with all that can be shown',
    'panel=performers&colour=speed&show=' +
      'levels,buffers,ghosts,groups,handOffs,trails,contacts,frames,names',
  ],
]) {
  test(`a thousand performers leave time for 30 frames a second ${what}`, async (t) => {
    const server = new StandIn(crowd(1000));
    // Also after a failure: a server that listens keeps the process from ending.
    t.after(() => server.close());
    const address = `${await server.listen()}#quality=low&${fragment}`;
    const { page } = await open(browser, address, { width: 640, height: 400 });
    await page.waitForFunction(() => document.querySelector('#veil').hidden);
    await page.waitForFunction(() => Number(document.documentElement.dataset.frame) > 30);
    const { frame, script, rate } = await perFrame(page);
    await page.waitForFunction(() => Number(document.querySelector('.frames').dataset.workMs) > 0);
    const work = await page.$eval('.frames', ({ dataset }) => Number(dataset.workMs));
    const slow = await slowness();
    console.log(
      `${what}: ${script.toFixed(1)} ms of processor time for a frame and the messages of a ` +
        `thirtieth of a second, ${frame.toFixed(1)} ms for the frame, ${work.toFixed(1)} ms by the ` +
        `clock without drawing; ${(rate * 1000).toFixed(1)} frames/s, slowness ${slow.toFixed(2)}`,
    );
    const most = MOST_MS * Math.max(slow, 1);
    assert.ok(script > 0 && script < most, `${script} ms of ${most}`);
    await page.close();
  });
}
