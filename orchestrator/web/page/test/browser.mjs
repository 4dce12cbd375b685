// Starts a Chromium that renders in software, or on a GPU if it is asked to, and reaches nothing but
// this machine.

import { existsSync } from 'node:fs';
import { load } from './modules.mjs';

const puppeteer = load('puppeteer-core');

/** Places where Chromium is looked for, after the variable `CHROMIUM`. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export function findChromium() {
  const named = process.env.CHROMIUM;
  return named ?? PLACES.find((place) => existsSync(place)) ?? null;
}

/** Time that anything may take where the processor draws, and has other things to do [ms]. */
const PATIENCE_MS = 300_000;

/** Arguments by which pictures are computed by the processor, the same on every machine. */
const SOFTWARE = ['--use-angle=swiftshader', '--enable-unsafe-swiftshader'];
/** Arguments by which a GPU computes them, also where there is no display. */
const GPU = ['--use-angle=vulkan', '--enable-features=Vulkan', '--disable-vulkan-surface'];

/**
 * Starts it.
 *
 * @param {{ gpu?: boolean, more?: string[] }} [options] `more` are arguments of Chromium
 */
export async function launch({ gpu = false, more = [] } = {}) {
  const executablePath = findChromium();
  if (!executablePath) throw new Error('no Chromium is installed: apt-get install chromium');
  return puppeteer.launch({
    executablePath,
    headless: true,
    timeout: PATIENCE_MS,
    protocolTimeout: 2 * PATIENCE_MS,
    args: [
      '--no-sandbox',
      ...(gpu ? GPU : SOFTWARE),
      '--ignore-gpu-blocklist',
      // The network is forbidden: no name resolves but that of this machine.
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
      '--disable-background-networking',
      '--disable-component-update',
      '--no-first-run',
      '--hide-scrollbars',
      '--force-color-profile=srgb',
      '--disable-lcd-text',
      '--disable-dev-shm-usage',
      ...more,
    ],
  });
}

/** Opens a page that fails on anything that a user would not want in the console. */
export async function open(browser, address, { width = 1280, height = 800, scale = 1 } = {}) {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.setViewport({ width, height, deviceScaleFactor: scale });
  const problems = [];
  page.on('console', (message) => {
    const text = message.text();
    if (
      ['error', 'warn'].includes(message.type()) &&
      !/GPU stall|GL Driver Message|software WebGL/.test(text)
    )
      problems.push(text);
  });
  page.on('pageerror', (error) => problems.push(String(error.stack ?? error)));
  const requests = [];
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(address);
  return { page, problems, requests };
}

/** Waits until nothing moves in the picture and no file is on its way. */
export async function settled(page, timeout = PATIENCE_MS) {
  await page.waitForFunction(() => document.documentElement.dataset.settled === 'true', {
    timeout,
  });
}
