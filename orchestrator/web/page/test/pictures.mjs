// Takes the pictures of docs/web.md of a server that runs: `node pictures.mjs ADDRESS FOLDER`.

import { join } from 'node:path';
import { launch, open } from './browser.mjs';

const [address, folder] = process.argv.slice(2);
if (!folder) {
  console.error('give the address of a server and a folder: node pictures.mjs ADDRESS FOLDER');
  process.exit(2);
}

/** Pictures: name, options of the page, and window. */
const PICTURES = [
  ['web', 'colour=level&theme=light&panel=run&show=levels,buffers,handOffs,names,trails', {}],
  [
    'web_dark',
    'colour=owner&theme=dark&panel=performers&show=levels,ghosts,handOffs,names&select=robot_1&follow=true',
    {},
  ],
  [
    'web_phone',
    'colour=speed&theme=light&panel=none&show=levels,names,trails',
    { width: 390, height: 780, scale: 1.5 },
  ],
];
/** Time in which trails grow and a world is drawn [ms]. */
const SHOWN_MS = 6000;

const browser = await launch();
for (const [name, options, size] of PICTURES) {
  const view = await open(browser, `${address}#quality=high&${options}`, size);
  const { page } = view;
  await page.waitForFunction(() => document.querySelector('#veil').hidden);
  await new Promise((resolve) => setTimeout(resolve, SHOWN_MS));
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await page.close();
  console.log(join(folder, `${name}.png`));
}
await browser.close();
