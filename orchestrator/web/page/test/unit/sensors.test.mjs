// Topics of sensors are shown by what tells them apart.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shortName } from '../../sensors.js';

test('a sensor is named by its model and itself', () => {
  const base = '/foxglove/world/w/model/robot_1/link/base/sensor/lidar';
  assert.equal(shortName(`${base}/scan`), 'robot_1 lidar');
  assert.equal(shortName(`${base}/scan/points`), 'robot_1 lidar');
  assert.equal(shortName('/foxglove/front/scan'), '/front/scan');
  assert.equal(shortName('/scan'), '/scan');
});
