// Each display of the page is drawn: a picture with it differs from one without it, in its colour
// where it has one.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { categoryColour, speedColour } from '../../colours.js';
import { launch, open, settled } from '../browser.mjs';
import { load } from '../modules.mjs';
import { StandIn } from '../stand_in/server.mjs';
import { acting, still, tower } from '../stand_in/worlds.mjs';

const { PNG } = load('pngjs');

/** Difference of a colour from which a pixel has changed, 0 to 255. */
const CHANGED = 24;
/** Angle between two colours up to which they have one hue, as its cosine. */
const SAME_HUE = 0.93;
/** Time that something that is on its way has [ms]. */
const PATIENCE_MS = 60_000;
/** The world alone, from a camera that sees all of it, with nothing but what is named. */
const VIEW = 'bare=true&camera=0,-7,7,0,0,0&show=';

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** Shows the world of three robots that stand, and calls what checks it. */
async function shown(fragment, check, { state = 'paused', world = still() } = {}) {
  const server = new StandIn(world);
  server.state = state;
  const address = await server.listen();
  const view = await open(browser, `${address}#quality=low&${fragment}`, {
    width: 640,
    height: 400,
  });
  await view.page.waitForFunction(() => document.querySelector('#veil').hidden);
  try {
    await check({ page: view.page, server, world });
    assert.deepEqual(view.problems, []);
  } finally {
    await view.page.close();
    await server.close();
  }
}

/** Returns the picture of the world, once nothing moves in it. */
async function picture(page) {
  await settled(page);
  return pictureNow(page);
}

async function pictureNow(page) {
  const canvas = await page.$('#canvas');
  return PNG.sync.read(Buffer.from(await canvas.screenshot()));
}

/** Returns the colours of a picture where it differs from another one. */
function changes(one, other) {
  assert.equal(one.data.length, other.data.length);
  const colours = [];
  for (let at = 0; at < one.data.length; at += 4) {
    const differs = [0, 1, 2].some(
      (part) => Math.abs(one.data[at + part] - other.data[at + part]) > CHANGED,
    );
    if (differs) colours.push([...other.data.subarray(at, at + 3)]);
  }
  return colours;
}

/** Counts colours that have the hue of another one, whatever the light. */
function ofHue(colours, wanted) {
  const away = (rgb) => {
    const grey = (rgb[0] + rgb[1] + rgb[2]) / 3;
    return rgb.map((part) => part - grey);
  };
  const along = away(wanted);
  return colours.filter((rgb) => {
    const own = away(rgb);
    const dot = own.reduce((sum, part, index) => sum + part * along[index], 0);
    return dot > SAME_HUE * Math.hypot(...own) * Math.hypot(...along) && Math.hypot(...own) > 12;
  }).length;
}

/** Presses a key and returns what it changes in the picture. */
async function changedBy(page, key, prepare = async () => {}) {
  const before = await picture(page);
  const frame = () => page.evaluate(() => Number(document.documentElement.dataset.frame));
  const last = await frame();
  await page.keyboard.press(key);
  await until('a frame', async () => (await frame()) > last + 1);
  await prepare();
  return changes(before, await picture(page));
}

/** Waits until something is so, which is looked at again and again. */
async function until(what, look) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    if (await look()) return;
    assert.ok(Date.now() < end, `${what} did not come`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits until the page has heard of the run as it is. */
async function heard(page, server) {
  await page.waitForFunction(
    (wanted) => document.querySelector('#iteration').dataset.value === String(wanted),
    {},
    server.iteration,
  );
}

/** Returns where the camera is and what it looks at. */
async function cameraOf(page) {
  const link = await page.evaluate(async () => {
    let copied = '';
    Object.defineProperty(navigator, 'clipboard', {
      configurable: true,
      value: { writeText: async (text) => (copied = text) },
    });
    const buttons = [...document.querySelectorAll('#view-look button')];
    buttons.find((one) => one.textContent === 'Copy link to this view').click();
    await Promise.resolve();
    return copied;
  });
  const camera = new URLSearchParams(link.split('#')[1]).get('camera');
  return camera.split(',').map(Number);
}

test('levels and buffers are drawn in the colours of their levels', async () => {
  await shown(VIEW, async ({ page }) => {
    const levels = await changedBy(page, 'l');
    const buffers = await changedBy(page, 'b');
    for (const index of [0, 1]) {
      assert.ok(ofHue(levels, categoryColour(index)) > 300, `level ${index}`);
      assert.ok(ofHue(buffers, categoryColour(index)) > 30, `buffer ${index}`);
    }
  });
});

test('robots have the colours of their owners, levels and speeds', async () => {
  await shown(VIEW, async ({ page }) => {
    for (const [key, wanted] of [
      ['2', [categoryColour(0), categoryColour(1)]],
      ['3', [categoryColour(0), categoryColour(1)]],
      ['4', [speedColour(0, 2), speedColour(2, 2)]],
    ]) {
      const found = await changedBy(page, key);
      for (const colour of wanted) assert.ok(ofHue(found, colour) > 60, `${key}: ${colour}`);
      await page.keyboard.press('1');
    }
  });
});

test('a ghost is a shell in the colour of the level that has the copy', async () => {
  await shown(VIEW, async ({ page, server }) => {
    await heard(page, server);
    const found = await changedBy(page, 'g');
    assert.ok(ofHue(found, categoryColour(1)) > 150, `${found.length}`);
    // The robot has left the buffer of the other level.
    await page.keyboard.press('g');
  });
});

test('members of a group are framed and tied together', async () => {
  await shown(VIEW, async ({ page, server }) => {
    server.groups = () => [{ performers: ['rover_2', 'rover_3'] }];
    const isTold = () =>
      page.waitForFunction(() => document.documentElement.dataset.groups === '1');
    const found = await changedBy(page, 'u', isTold);
    assert.ok(found.length > 200, `${found.length}`);
    const two = await picture(page);
    server.groups = () => [{ performers: ['rover_1', 'rover_2', 'rover_3'] }];
    await until('the larger group', async () => {
      return changes(two, await pictureNow(page)).length > 100;
    });
  });
});

test('a ring tells of a hand-off as it happens, in the colour of the new level', async () => {
  await shown(`${VIEW}handOffs`, async ({ page, server }) => {
    await heard(page, server);
    const before = await picture(page);
    let level = 0;
    await until('the ring', async () => {
      // It is handed to and fro until it is seen, however slow the machine.
      level = 1 - level;
      server.handed.set(0, level);
      for (let look = 0; look < 4; look += 1) {
        const found = changes(before, await pictureNow(page));
        if (ofHue(found, categoryColour(level)) > 60) return true;
      }
      return false;
    });
    // It goes as it came.
    await until('the end of the ring', async () => {
      return changes(before, await pictureNow(page)).length === 0;
    });
  });
});

test('a robot leaves a trail behind itself', async () => {
  await shown(VIEW, async ({ page, server, world }) => {
    for (let step = 0; step < 24; step += 1) {
      world.places[0] = [-0.6 - step * 0.1, -step * 0.05, 0, 0, 0, 0, 1];
      server.iteration += 1;
      await page.waitForFunction(
        (wanted) => Number(document.querySelector('#iteration').dataset.value) >= wanted,
        {},
        server.iteration,
      );
      await settled(page);
    }
    const found = await changedBy(page, 't');
    assert.ok(ofHue(found, categoryColour(0)) > 40, `${found.length}`);
  });
});

test('frames, names, the grid and collision shapes are drawn', async () => {
  await shown(VIEW, async ({ page }) => {
    const frames = await changedBy(page, 'x');
    for (const axis of [
      [0.86, 0.2, 0.18],
      [0.2, 0.6, 0.2],
      [0.15, 0.4, 0.9],
    ])
      assert.ok(ofHue(frames, axis) > 20, `${axis}`);
    await page.keyboard.press('n');
    await settled(page);
    const names = await page.$$eval('#labels .label', (all) =>
      all.filter((one) => !one.hidden).map((one) => one.textContent),
    );
    assert.deepEqual(names.sort(), ['rover_1', 'rover_2', 'rover_3']);
    assert.ok((await changedBy(page, 'i')).length > 300);
    assert.ok((await changedBy(page, 'r')).length > 100);
  });
});

test('contacts are drawn while they are told', async () => {
  const running = { state: 'running' };
  const check = async ({ page, server }) => {
    server.pace = 0.1;
    await until('contacts', async () => {
      const before = await pictureNow(page);
      await page.keyboard.press('c');
      await page.waitForFunction(() => document.documentElement.dataset.settled);
      const found = changes(before, await pictureNow(page));
      await page.keyboard.press('c');
      // Their lines have a colour of their own.
      return ofHue(found, [0.82, 0, 0.36]) > 8;
    });
  };
  await shown(VIEW, check, running);
});

test('scans and points are drawn where their sensor is', async () => {
  const check = async ({ page, server }) => {
    await page.waitForFunction(() => document.querySelectorAll('.sensor').length === 3);
    const box = (kind) =>
      page.evaluateHandle(
        (wanted) =>
          [...document.querySelectorAll('.sensor')]
            .find((row) => row.querySelector('.kind').textContent === wanted)
            .querySelector('input'),
        kind,
      );
    const click = async (kind) => (await box(kind)).evaluate((input) => input.click());
    // Scans are shown at first, points are not.
    const told = (count) =>
      page.waitForFunction(
        (wanted) =>
          [...document.querySelectorAll('.sensor > .number')].some((note) =>
            note.textContent.startsWith(wanted),
          ),
        {},
        `${count} points`,
      );
    await told(221);
    server.state = 'paused';
    const withScan = await picture(page);
    await click('scan');
    const without = await picture(page);
    assert.ok(changes(withScan, without).length > 300, 'the scan');
    server.state = 'running';
    await click('points');
    await told(2000);
    server.state = 'paused';
    const withPoints = await picture(page);
    assert.ok(changes(without, withPoints).length > 300, 'the points');
  };
  await shown(VIEW, check, { state: 'running' });
});

test('a depth image is drawn, what is near in light', async () => {
  const check = async ({ page }) => {
    await page.waitForFunction(() => document.querySelectorAll('.sensor').length === 3);
    await page.$$eval('.sensor', (rows) =>
      rows
        .find((row) => row.querySelector('.kind').textContent === 'image')
        .querySelector('input')
        .click(),
    );
    await page.waitForFunction(() => {
      const canvas = document.querySelector('.sensor canvas:not([hidden])');
      if (!canvas || canvas.width !== 96) return false;
      const { data } = canvas.getContext('2d').getImageData(0, 0, 96, 64);
      const levels = new Set();
      for (let at = 0; at < data.length; at += 4) levels.add(data[at]);
      // A disc before a wall that goes away from it.
      return levels.size > 20 && Math.max(...levels) > 200 && Math.min(...levels) < 60;
    });
  };
  await shown('panel=sensors', check, { state: 'running' });
});

test('skins of actors are bent as their time says', async () => {
  const check = async ({ page, server }) => {
    // The middle of what is red, from the left and from above.
    const plate = async () => {
      const { data, width } = await picture(page);
      let [across, down, count] = [0, 0, 0];
      for (let at = 0; at < data.length; at += 4) {
        const [red, green, blue] = data.subarray(at, at + 3);
        if (red < 120 || green > red / 2 || blue > red / 2) continue;
        across += (at / 4) % width;
        down += Math.floor(at / 4 / width);
        count += 1;
      }
      return count > 200 ? [across / count, down / count] : [NaN, NaN];
    };
    const isNear = (wanted) => async () => Math.abs((await plate())[0] - wanted) < 6;
    const at = async (iteration) => {
      server.iteration = iteration;
      await heard(page, server);
    };
    await at(2000);
    await until('the plate', async () => (await plate())[0] < 300);
    const [left] = await plate();
    await at(3000);
    await until('the plate on the right', async () => (await plate())[0] > 640 - left - 30);
    const [right, row] = await plate();
    assert.ok(right - left > 120, `${left} ${right}`);
    // Half way, on its way back; then a whole turn later.
    for (const iteration of [3500, 5500]) {
      await at(iteration);
      await until(`the plate in the middle at ${iteration}`, isNear((left + right) / 2));
    }
    // It is picked where it is, and not where it was drawn without bones.
    await at(7000);
    await until('the plate on the right again', isNear(right));
    const selected = () => page.$eval('#inspector', (inspector) => inspector.textContent);
    await page.mouse.click((left + right) / 2, row);
    assert.doesNotMatch(await selected(), /walker/);
    await page.mouse.click(right, row);
    await until('the actor in the inspector', async () => /walker/.test(await selected()));
  };
  await shown(VIEW, check, { world: acting() });
});

test('a time to run to and a pace reach the run', async () => {
  await shown('panel=run', async ({ page, server }) => {
    await page.waitForFunction(() => !document.querySelector('#run-to button').disabled);
    await page.type('#run-to-time', '4.5');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelector('#sim-time').dataset.value === '4.5');
    await page.select('#pace', '2');
    await until('the pace', async () => server.pace === 2);
    assert.deepEqual(
      server.calls.filter(({ service }) => service === 'run_to').map(({ request }) => request),
      [{ sim_time_s: 4.5 }],
    );
  });
});

test('the camera orbits, looks from above, flies and follows', async () => {
  await shown(`${VIEW}&select=rover_1`, async ({ page, server, world }) => {
    await settled(page);
    await page.focus('#canvas');
    const moved = async (what, act) => {
      const [before, pictured] = [await cameraOf(page), await picture(page)];
      await act();
      await until(what, async () => {
        const now = await cameraOf(page);
        return now.some((part, index) => Math.abs(part - before[index]) > 0.05);
      });
      await settled(page);
      assert.ok(changes(pictured, await picture(page)).length > 500, what);
    };
    await moved('a turn by keys', () => page.keyboard.press('ArrowLeft'));
    await moved('a turn by dragging', async () => {
      await page.mouse.move(320, 200);
      await page.mouse.down();
      await page.mouse.move(420, 230, { steps: 4 });
      await page.mouse.up();
    });
    await moved('a zoom', () => page.mouse.wheel({ deltaY: -400 }));
    await moved('the view from above', () => page.keyboard.press('v'));
    await until('the end of that move', async () => {
      const [x, y, z, ...target] = await cameraOf(page);
      return Math.hypot(x - target[0], y - target[1]) < 0.05 * (z - target[2]);
    });
    await moved('following', () => page.keyboard.press('f'));
    // The camera goes along with what it follows.
    await new Promise((resolve) => setTimeout(resolve, 600));
    await until('the target', async () => {
      const [, , , x, y] = await cameraOf(page);
      return Math.hypot(x - world.places[0][0], y - world.places[0][1]) < 0.1;
    });
    await moved('the robot that is followed', async () => {
      world.places[0] = [-1.4, 0.6, 0, 0, 0, 0, 1];
      server.iteration += 1;
    });
    await until('the target', async () => {
      const [, , , x, y] = await cameraOf(page);
      return Math.hypot(x + 1.4, y - 0.6) < 0.1;
    });
    await page.keyboard.press('Escape');
    await moved('flying', async () => {
      await page.keyboard.press('y');
      await page.keyboard.down('w');
    });
    await page.keyboard.up('w');
    assert.equal(
      await page.$eval('#camera-fly', (one) => one.getAttribute('aria-pressed')),
      'true',
    );
  });
});

test('a world is shown as a whole once its meshes are there, unless the camera was moved', async () => {
  for (const touches of [false, true]) {
    const server = new StandIn(tower());
    let come;
    server.meshes = new Promise((resolve) => {
      come = resolve;
    });
    const address = await server.listen();
    const { page, problems } = await open(browser, `${address}#quality=low&panel=none`);
    await page.waitForFunction(() => document.querySelector('#veil').hidden);
    await page.waitForFunction(() => document.documentElement.dataset.frame > 0);
    const empty = await cameraOf(page);
    if (touches) {
      await page.focus('#canvas');
      await page.keyboard.press('ArrowLeft');
    }
    const height = ([, , z]) => z;
    const before = touches ? await cameraOf(page) : empty;
    come();
    await settled(page);
    await page.waitForFunction(() => /^[1-9]/.test(document.querySelector('.frames').textContent));
    const now = await cameraOf(page);
    if (touches) assert.deepEqual(now, before);
    else assert.ok(height(now) > 5 * height(before), `${before} ${now}`);
    assert.deepEqual(problems, []);
    await page.close();
    await server.close();
  }
});
