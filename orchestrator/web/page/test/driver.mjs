// Drives a browser by orders: one JSON object a line on standard input, one answer a line on
// standard output, `{"value": ...}` or `{"error": "..."}`.

import { createInterface } from 'node:readline';
import { launch, open } from './browser.mjs';
import { compare } from './compare.mjs';

const browser = await launch();
let shown = null;

const orders = {
  async open({ address, width, height }) {
    await shown?.page.close();
    shown = await open(browser, address, { width, height });
  },
  value: ({ expression }) => shown.page.evaluate(expression),
  async wait({ expression, timeout_ms: timeout }) {
    try {
      await shown.page.waitForFunction(expression, { timeout, polling: 50 });
    } catch (error) {
      const text = await shown.page.evaluate(() => document.body.innerText);
      throw new Error(`${error.message}; the page has ${JSON.stringify(text)}`);
    }
  },
  click: ({ selector }) => shown.page.$eval(selector, (element) => element.click()),
  // A click of the mouse at a part of an element, from its left and its top.
  async point({ selector, across, down }) {
    const { x, y, width, height } = await (await shown.page.$(selector)).boundingBox();
    await shown.page.mouse.click(x + across * width, y + down * height);
  },
  press: ({ key }) => shown.page.keyboard.press(key),
  hold: ({ key }) => shown.page.keyboard.down(key),
  release: ({ key }) => shown.page.keyboard.up(key),
  focus: ({ selector }) => shown.page.focus(selector),
  async type({ selector, text }) {
    await shown.page.$eval(selector, (element) => element.focus());
    await shown.page.keyboard.type(text);
  },
  // Colours and motion as the system wants them: `{ "prefers-color-scheme": "dark" }`.
  prefer: ({ features }) =>
    shown.page.emulateMediaFeatures(
      Object.entries(features).map(([name, value]) => ({ name, value })),
    ),
  // What screen readers are told: `role name` of everything that has both.
  async names() {
    const names = [];
    const visit = ({ role, name, children = [] }) => {
      if (name) names.push(`${role} ${name}`);
      children.forEach(visit);
    };
    visit(await shown.page.accessibility.snapshot({ interestingOnly: false }));
    return names;
  },
  async picture({ selector, path }) {
    const element = await shown.page.$(selector);
    await element.screenshot({ path });
  },
  compare: ({ found, kept }) => compare(found, kept),
  problems() {
    const away = shown.requests.filter(
      (one) => !/^(http:\/\/127\.0\.0\.1:|ws:\/\/127\.0\.0\.1:|blob:|data:)/.test(one),
    );
    const found = [...shown.problems, ...away.map((one) => `asked for ${one}`)];
    shown.problems.length = 0;
    shown.requests.length = 0;
    return found;
  },
  async close() {
    await browser.close();
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { op, ...order } = JSON.parse(line);
  try {
    const value = await orders[op](order);
    console.log(JSON.stringify({ value: value ?? null }));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error.message ?? error).split('\n')[0] }));
  }
  if (op === 'close') break;
}
await browser.close();
