// Measures the page's own work with a thousand performers, as processor time of its thread, whatever
// draws them: `node cost.mjs`.
//
// One JSON line each: the time for a frame with the messages of a thirtieth of a second, that for the
// frame alone, and their ratios to a reference in the same browser, which multiplies matrices.

import { launch, open } from './browser.mjs';
import { StandIn } from './stand_in/server.mjs';
import { crowd } from './stand_in/worlds.mjs';

/** Frames in which it is measured. */
const FRAMES = 60;
/** Frames before these. */
const FRAMES_BEFORE = 30;
/** Time in which messages alone are measured [ms]. */
const MESSAGES_MS = 2_000;
/** Messages per second that a frame's share is of. */
const RATE = 30;
/** What is shown, as fragments of the page's address. */
const SHOWN = {
  opening: 'panel=none',
  everything:
    'panel=performers&colour=speed&show=' +
    'levels,buffers,ghosts,groups,handOffs,trails,contacts,frames,names',
};

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

/** Returns the processor time of the reference [ms]. */
async function reference(browser) {
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
  const took = (await spent()) - before;
  await page.close();
  return took;
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
 * Returns the processor time of scripts for a frame, and that with its share of messages, over many
 * frames [ms]. However slowly they are drawn, messages come at their own rate.
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
  return { frame, script: frame + messages * (1000 / RATE), rate: (last - first) / (until - since) };
}

/** Rounds a figure to as many digits as it is worth. */
const round = (value) => Number(value.toPrecision(3));

async function measure(browser, shown) {
  const server = new StandIn(crowd(1000));
  try {
    const address = `${await server.listen()}#quality=low&${SHOWN[shown]}`;
    const { page } = await open(browser, address, { width: 640, height: 400 });
    await page.waitForFunction(() => document.querySelector('#veil').hidden);
    await page.waitForFunction(
      (frames) => Number(document.documentElement.dataset.frame) > frames,
      {},
      FRAMES_BEFORE,
    );
    const { frame, script, rate } = await perFrame(page);
    await page.close();
    const referenceMs = await reference(browser);
    return {
      shown,
      frame_ms: round(frame),
      frame_and_messages_ms: round(script),
      reference_ms: round(referenceMs),
      frame_over_reference: round(frame / referenceMs),
      frame_and_messages_over_reference: round(script / referenceMs),
      frames_per_s: round(rate * 1000),
    };
  } finally {
    // A server that listens keeps the process from ending.
    server.close();
  }
}

const browser = await launch();
try {
  for (const shown of Object.keys(SHOWN)) console.log(JSON.stringify(await measure(browser, shown)));
} finally {
  await browser.close();
}
