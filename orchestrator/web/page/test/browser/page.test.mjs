// The page in a real browser, with a generated world: what it shows, what keys do, and what it
// survives.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, open, settled } from '../browser.mjs';
import { StandIn } from '../stand_in/server.mjs';
import { crowd, shapes } from '../stand_in/worlds.mjs';

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** Shows a world and calls what checks it. */
async function shown(world, options, check, size = {}) {
  const server = new StandIn(world, options);
  const address = await server.listen();
  const view = await open(browser, `${address}#quality=low&${options?.fragment ?? ''}`, size);
  await view.page.waitForFunction(() => document.querySelector('#veil').hidden);
  try {
    await check({ ...view, server, address });
    assert.deepEqual(view.problems, []);
    assert.ok(
      view.requests.every((one) => /^(http:\/\/127\.0\.0\.1:|blob:)/.test(one)),
      view.requests.join('\n'),
    );
  } finally {
    await view.page.close();
    await server.close();
  }
}

const text = (page, selector) => page.$eval(selector, (element) => element.textContent);

test('a thousand performers are few draw calls, each in the table', async () => {
  await shown(crowd(1000), { fragment: 'panel=performers' }, async ({ page }) => {
    await page.waitForFunction(
      () => document.querySelector('#view-performers p').textContent === '1000 performers',
    );
    // Few rows are in the page at once.
    assert.ok((await page.$$('tr[data-performer]')).length < 60);
    await page.keyboard.press('/');
    await page.keyboard.type('rover_77');
    await page.waitForFunction(
      () => document.querySelector('#view-performers p').textContent === '11 of 1000 performers',
    );
    await page.waitForFunction(() =>
      /in \d+ draw calls/.test(document.querySelector('.frames').textContent),
    );
    const [, shapes, calls] = /(\d+) shapes in (\d+) draw calls/.exec(await text(page, '.frames'));
    assert.ok(Number(shapes) > 7000 && Number(calls) < 250, `${shapes} ${calls}`);
  });
});

test('keys play, pause, step, change the pace and colours', async () => {
  await shown(crowd(20), {}, async ({ page, server }) => {
    // Who does not know yet whether time runs would let it run.
    await page.waitForFunction(() => document.querySelector('#state').textContent === 'running');
    await page.focus('#canvas');
    await page.keyboard.press('Space');
    await page.waitForFunction(() => document.querySelector('#state').textContent === 'paused');
    const before = server.iteration;
    await page.keyboard.press('.');
    await page.waitForFunction(
      (wanted) => document.querySelector('#iteration').dataset.value === String(wanted),
      {},
      before + 1,
    );
    await page.keyboard.press('>');
    await page.waitForFunction(() => document.querySelector('#pace').value === '2');
    await page.keyboard.press('2');
    await page.waitForFunction(() => document.querySelector('#legend').textContent === 'owners1s2');
    await page.keyboard.press('4');
    await page.waitForFunction(() => document.querySelector('#legend').dataset.mode === 'speed');
    await page.keyboard.press('Space');
    await page.waitForFunction(() => document.querySelector('#state').textContent === 'running');
  });
});

test('what the run refuses is told', async () => {
  await shown(shapes(), {}, async ({ page }) => {
    await page.$eval('#step', (button) => {
      button.disabled = false;
      button.click();
    });
    await page.waitForFunction(() =>
      /pause it to step/.test(document.querySelector('#toasts').textContent),
    );
  });
});

test('who may only watch is told so, with the reason', async () => {
  await shown(crowd(5), {}, async ({ page, server }) => {
    server.isReadOnly = true;
    await page.click('#play');
    await page.waitForFunction(() =>
      /role observer may not command/.test(document.querySelector('#toasts').textContent),
    );
    await page.waitForFunction(() => !document.querySelector('#watch-only').hidden);
    for (const id of ['play', 'step', 'pace', 'run-to-time'])
      assert.ok(await page.$eval(`#${id}`, (control) => control.disabled), id);
  });
});

test('a robot is driven by keys and stops when they are released or focus is lost', async () => {
  await shown(crowd(5), {}, async ({ page, server }) => {
    const heard = async (count) => {
      const end = Date.now() + 300_000;
      while (server.published.length < count) {
        assert.ok(Date.now() < end, `heard ${server.published.length} of ${count}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return server.published[count - 1].message;
    };
    await page.waitForFunction(() => !document.querySelector('#drive-button').disabled);
    await page.focus('#canvas');
    await page.keyboard.press('d');
    await page.keyboard.down('w');
    assert.equal((await heard(1)).linear.x, 0.6);
    await page.keyboard.down('a');
    assert.ok((await heard(2)).angular.z > 0);
    await page.keyboard.up('w');
    await page.keyboard.up('a');
    assert.deepEqual(await heard(4), {
      linear: { x: 0, y: 0, z: 0 },
      angular: { x: 0, y: 0, z: 0 },
    });
    await page.keyboard.down('w');
    await heard(5);
    await page.evaluate(() => window.dispatchEvent(new Event('blur')));
    assert.equal((await heard(6)).linear.x, 0);
    await page.keyboard.up('w');
    await page.keyboard.press('Escape');
    assert.ok(await page.$eval('#drive', (panel) => panel.hidden));
  });
});

test('a click selects a model, and the card tells of it', async () => {
  await shown(
    shapes(),
    { fragment: 'camera=0,0.001,9,0,0,0.5&panel=run' },
    async ({ page, server }) => {
      server.state = 'paused';
      await settled(page);
      const area = await page.$eval('#canvas', (canvas) => {
        const { left, top, width, height } = canvas.getBoundingClientRect();
        return { x: left + width / 2, y: top + height / 2 };
      });
      await page.mouse.click(area.x, area.y);
      await page.waitForFunction(
        () => document.querySelector('#inspector h2')?.textContent === 'ellipsoid',
      );
      await page.waitForFunction(() =>
        /DiffDrive/.test(document.querySelector('#inspector .answer').textContent),
      );
      await page.focus('#canvas');
      await page.keyboard.press('Escape');
      assert.ok(await page.$eval('#inspector', (card) => card.hidden));
    },
  );
});

test('a link to a view selects a model and follows it', async () => {
  const fragment = 'panel=run&select=rover_2&follow=true';
  await shown(crowd(20), { fragment }, async ({ page }) => {
    await page.waitForFunction(
      () => document.querySelector('#camera-follow').getAttribute('aria-pressed') === 'true',
    );
    // It stays so once poses have come; which robots can be driven is told after the world.
    await page.waitForFunction(() => {
      const buttons = [...document.querySelectorAll('#inspector .actions button')];
      return buttons.some((one) => one.textContent === 'Drive' && !one.hidden);
    });
    await page.waitForFunction(() => document.querySelector('[data-fact=speed]').textContent);
    assert.equal(
      await page.$eval('#camera-follow', (one) => one.getAttribute('aria-pressed')),
      'true',
    );
  });
});

test('hosts are told with their load and their secondaries', async () => {
  await shown(crowd(220), { fragment: 'panel=run' }, async ({ page }) => {
    await page.waitForFunction(() => document.querySelectorAll('[data-host]').length === 2);
    const cards = await page.$$eval('[data-host]', (all) => all.map((one) => one.textContent));
    assert.deepEqual(cards, [
      'lab-13.4 of 8 cores2 secondaries · 13.0 GB of 34.0 GB used',
      'lab-2crowded9.2 of 8 cores2 secondaries · 30.0 GB of 34.0 GB used',
    ]);
  });
});

test('groups are heard while they are shown', async () => {
  await shown(crowd(50), {}, async ({ page, server }) => {
    await page.focus('#canvas');
    assert.ok(!server.isHeard(8));
    await page.keyboard.press('u');
    await page.waitForFunction(() => document.documentElement.dataset.groups === '2');
    assert.ok(server.isHeard(8));
    await page.keyboard.press('u');
    const end = Date.now() + 300_000;
    while (server.isHeard(8)) {
      assert.ok(Date.now() < end, 'groups are heard although nobody sees them');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  });
});

test('sensors are subscribed to while they are shown', async () => {
  await shown(crowd(20), { fragment: 'panel=sensors' }, async ({ page }) => {
    await page.waitForFunction(() => document.querySelectorAll('.sensor').length === 3);
    await page.evaluate(() =>
      document.querySelectorAll('.sensor input').forEach((box) => box.checked || box.click()),
    );
    await page.waitForFunction(() =>
      /^96 × 64, 1\.50 to/.test(document.querySelector('.sensor > .number').textContent),
    );
    await page.waitForFunction(() =>
      [...document.querySelectorAll('.sensor > .number')].some(
        (note) => note.textContent === '2000 points',
      ),
    );
    await page.evaluate(() =>
      document.querySelectorAll('.sensor input').forEach((box) => box.click()),
    );
    await page.waitForFunction(() =>
      [...document.querySelectorAll('.sensor > .number')].every((note) => note.textContent === ''),
    );
  });
});

test('a recording has a time line', async () => {
  await shown(shapes(), { recording: { start_s: 0, end_s: 60 } }, async ({ page, server }) => {
    server.state = 'paused';
    await page.waitForFunction(() => !document.querySelector('#timeline').hidden);
    await page.$eval('#timeline-range', (range) => {
      range.value = '42';
      range.dispatchEvent(new Event('input'));
      range.dispatchEvent(new Event('change'));
    });
    await page.waitForFunction(
      () => document.querySelector('#iteration').dataset.value === '42000',
    );
  });
});

test('the page comes back by itself when its server does', async () => {
  const first = new StandIn(shapes());
  const address = await first.listen();
  const { page } = await open(browser, address);
  await page.waitForFunction(() => document.querySelector('#veil').hidden);
  await first.close();
  await page.waitForFunction(
    () =>
      document.querySelector('#veil-title').textContent === 'Connection lost' &&
      !document.querySelector('#veil').hidden,
  );
  const second = new StandIn(shapes());
  await second.listen(Number(new URL(address).port));
  await page.waitForFunction(() => document.querySelector('#veil').hidden);
  await page.waitForFunction(() => document.querySelector('#state').textContent === 'running');
  await page.close();
  await second.close();
});

test('a token is in the address of the socket and in requests for files', async () => {
  const options = { token: '0123456789abcdef', fragment: 'token=0123456789abcdef' };
  await shown(shapes(), options, async ({ page, server }) => {
    server.state = 'paused';
    await settled(page);
  });
});

test('the layout for Foxglove is saved, also where a token is wanted', async () => {
  const options = { token: '0123456789abcdef', fragment: 'token=0123456789abcdef&panel=look' };
  await shown(shapes(), options, async ({ page }) => {
    const saved = await page.evaluate(async () => {
      const link = new Promise((resolve) => {
        HTMLAnchorElement.prototype.click = function () {
          resolve([this.download, this.href]);
        };
      });
      const buttons = [...document.querySelectorAll('#view-look button')];
      buttons.find((one) => one.textContent === 'Layout for Foxglove').click();
      const [name, address] = await link;
      return [name, await (await fetch(address)).json()];
    });
    assert.deepEqual(saved, ['phalanx-foxglove.json', { configById: {} }]);
  });
});

test('everything has a name, and focus goes through it in order', async () => {
  await shown(crowd(20), { fragment: 'panel=look' }, async ({ page }) => {
    const nameless = await page.evaluate(() => {
      const named = (element) =>
        element.getAttribute('aria-label') || element.textContent.trim() || element.labels?.length;
      return [...document.querySelectorAll('button, input, select, [role=tab], canvas[role]')]
        .filter((element) => !named(element))
        .map((element) => element.outerHTML);
    });
    assert.deepEqual(nameless, []);
    const ids = await page.evaluate(() =>
      [...document.querySelectorAll('[id]')].map((element) => element.id),
    );
    assert.equal(new Set(ids).size, ids.length);
    const seen = new Set();
    for (let step = 0; step < 60; step += 1) {
      await page.keyboard.press('Tab');
      seen.add(
        await page.evaluate(() => document.activeElement.id || document.activeElement.textContent),
      );
    }
    for (const id of [
      'canvas',
      'theme-button',
      'help-button',
      'camera-fit',
      'play',
      'pace',
      'tab-look',
    ])
      assert.ok(seen.has(id), `${id} of ${[...seen]}`);
  });
});

test('help opens and closes by its key and has every key once', async () => {
  await shown(shapes(), {}, async ({ page }) => {
    await page.focus('#canvas');
    await page.keyboard.press('?');
    assert.ok(await page.$eval('#help', (dialog) => dialog.open));
    const keys = await page.$$eval('#help dt', (terms) => terms.map((term) => term.textContent));
    assert.equal(new Set(keys).size, keys.length);
    await page.keyboard.press('?');
    assert.ok(!(await page.$eval('#help', (dialog) => dialog.open)));
  });
});

test('nothing stands before the legend, nor before the world of a run that is lost', async () => {
  for (const [recording, width] of [
    [null, 1000],
    [{ start_s: 0, end_s: 60 }, 1000],
    [{ start_s: 0, end_s: 60 }, 1280],
  ]) {
    const options = { recording, fragment: 'colour=level&panel=run' };
    const check = async ({ page, server }) => {
      await page.waitForFunction(() => !document.querySelector('#legend').hidden);
      if (recording) await page.waitForFunction(() => !document.querySelector('#timeline').hidden);
      const [legend, dock] = await page.evaluate(() =>
        ['#legend', '#dock'].map((one) => {
          const { left, right, top, bottom } = document.querySelector(one).getBoundingClientRect();
          return { left, right, top, bottom };
        }),
      );
      const areApart = legend.bottom <= dock.top || legend.right <= dock.left;
      assert.ok(areApart, JSON.stringify([width, legend, dock]));
      server.state = 'lost';
      await page.waitForFunction(() => !document.querySelector('#veil').hidden);
      const under = await page.evaluate(() => document.elementFromPoint(300, 400)?.id);
      assert.equal(under, 'canvas');
    };
    await shown(crowd(20), options, check, { width, height: 600 });
  }
});

test('nothing is wider than a small phone', async () => {
  await shown(
    crowd(20),
    { fragment: 'colour=speed&panel=none' },
    async ({ page }) => {
      await page.waitForFunction(() => !document.querySelector('#legend').hidden);
      const outside = await page.evaluate(() =>
        [...document.querySelectorAll('body *')]
          .filter(
            (element) =>
              !element.closest('#labels, #panel, .sprite, .unseen, .skip, dialog') &&
              element.getClientRects().length > 0,
          )
          .filter((element) => {
            const { left, right } = element.getBoundingClientRect();
            return left < -0.5 || right > innerWidth + 0.5;
          })
          .map((element) => element.id || element.outerHTML.slice(0, 80)),
      );
      assert.deepEqual(outside, []);
      const overlaps = await page.evaluate(() => {
        const [legend, dock] = ['#legend', '#dock'].map((one) =>
          document.querySelector(one).getBoundingClientRect(),
        );
        return legend.bottom > dock.top;
      });
      assert.ok(!overlaps);
    },
    { width: 360, height: 640 },
  );
});
