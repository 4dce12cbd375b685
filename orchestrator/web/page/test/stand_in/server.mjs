// A stand-in for `phalanx web`: it serves the page and a world that is generated, by the same
// protocol.

import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { checker, pyramid, walker } from './assets.mjs';
import { load } from '../modules.mjs';
import { buffersAt, levelAt } from './worlds.mjs';

const { WebSocketServer } = load('ws');

const PAGE = new URL('../../', import.meta.url);
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
  "connect-src 'self' blob:; manifest-src 'self'; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'none'";

/** Channels of the stand-in. */
const CHANNELS = [
  { id: 1, topic: '/phalanx/scene', encoding: 'json', schemaName: 'phalanx.Scene' },
  { id: 2, topic: '/phalanx/run', encoding: 'json', schemaName: 'phalanx.Run' },
  { id: 3, topic: '/phalanx/poses', encoding: 'phalanx', schemaName: 'phalanx.Poses' },
  { id: 8, topic: '/phalanx/groups', encoding: 'json', schemaName: 'phalanx.Groups' },
  { id: 4, topic: '/model/rover_1/scan', encoding: 'json', schemaName: 'foxglove.LaserScan' },
  { id: 5, topic: '/model/rover_1/points', encoding: 'json', schemaName: 'foxglove.PointCloud' },
  { id: 6, topic: '/model/rover_1/depth', encoding: 'json', schemaName: 'foxglove.RawImage' },
  { id: 7, topic: '/world/warehouse/contacts', encoding: 'json', schemaName: 'gz.msgs.Contacts' },
];
const SERVICES = ['play', 'pause', 'step', 'run_to', 'pace', 'show', 'seek'];

export class StandIn {
  /** What clients published, newest last. */
  published = [];
  /** What services were called with. */
  calls = [];
  state = 'running';
  iteration = 0;
  pace = 1;
  #world;
  #http;
  #sockets;
  #clients = new Set();
  #timers = [];
  #hands = [];
  #levels = [];
  #handOffs = [];
  #events = [];
  #recording;
  #token;

  /** Levels of performers that do not follow from where they are, by their numbers. */
  handed = new Map();
  /** What requests for meshes wait for. */
  meshes = Promise.resolve();
  /** True to refuse all that controls, as a run does to a key that may only watch. */
  isReadOnly = false;
  #hasRefused = false;

  constructor(world, { recording = null, token = '' } = {}) {
    this.#world = world;
    this.#recording = recording;
    this.#token = token;
  }

  async listen(port = 0) {
    this.#http = createServer((request, response) => this.#serve(request, response));
    this.#sockets = new WebSocketServer({
      server: this.#http,
      handleProtocols: (offered) => (offered.has('foxglove.sdk.v1') ? 'foxglove.sdk.v1' : false),
      verifyClient: ({ req }) => this.#isAllowed(req),
    });
    this.#sockets.on('connection', (socket) => this.#accept(socket));
    await new Promise((resolve) => this.#http.listen(port, '127.0.0.1', resolve));
    this.#timers.push(
      setInterval(() => this.#advance(), 33),
      setInterval(() => this.#sendRun(), 100),
      setInterval(() => this.#sendSensors(), 100),
      setInterval(() => this.#broadcast(8, () => JSON.stringify({ groups: this.groups() })), 100),
    );
    return `http://127.0.0.1:${this.#http.address().port}/`;
  }

  /** Cuts all connections, as a server that dies. */
  cut() {
    for (const client of this.#clients) client.socket.terminate();
  }

  async close() {
    this.#timers.forEach(clearInterval);
    this.cut();
    this.#sockets.close();
    const closed = new Promise((resolve) => this.#http.close(resolve));
    this.#http.closeAllConnections();
    await closed;
  }

  #isAllowed(request) {
    return (
      !this.#token ||
      new URL(request.url, 'http://stand.in').searchParams.get('token') === this.#token
    );
  }

  async #serve(request, response) {
    const path = new URL(request.url, 'http://stand.in').pathname;
    const headers = { 'Content-Security-Policy': POLICY, 'X-Content-Type-Options': 'nosniff' };
    const send = (status, type, body) =>
      response.writeHead(status, { ...headers, 'Content-Type': type }).end(body);
    if (
      (path.startsWith('/assets/') || path === '/foxglove.json') &&
      this.#token &&
      request.headers.authorization !== `Bearer ${this.#token}`
    )
      return send(401, 'text/plain', 'a token is wanted');
    if (path === '/foxglove.json') return send(200, 'application/json', '{"configById": {}}');
    if (path === '/assets/checker.png') return send(200, 'image/png', checker());
    if (path === '/assets/pyramid.glb') {
      await this.meshes;
      return send(200, 'model/gltf-binary', pyramid());
    }
    if (path === '/assets/walker.glb') return send(200, 'model/gltf-binary', walker());
    const name = path === '/' ? 'index.html' : path.replace(/^\/page\//, '');
    if (name.includes('..') || name.startsWith('test')) return send(404, 'text/plain', 'not found');
    try {
      return send(
        200,
        TYPES[extname(name)] ?? 'application/octet-stream',
        await readFile(new URL(name, PAGE)),
      );
    } catch {
      return send(404, 'text/plain', 'not found');
    }
  }

  #accept(socket) {
    const client = { socket, subscriptions: new Map(), hasAll: false, sentEvents: 0 };
    this.#clients.add(client);
    socket.on('close', () => this.#clients.delete(client));
    socket.on('message', (data, isBinary) =>
      isBinary ? this.#onBinary(client, data) : this.#onText(client, JSON.parse(data)),
    );
    socket.send(
      JSON.stringify({
        op: 'serverInfo',
        name: 'stand-in',
        capabilities: ['clientPublish', 'services', 'time'],
        supportedEncodings: ['json'],
        metadata: {},
        sessionId: '1',
      }),
    );
    socket.send(
      JSON.stringify({
        op: 'advertise',
        channels: this.#channels().map((one) => ({ ...one, schema: '' })),
      }),
    );
    socket.send(
      JSON.stringify({
        op: 'advertiseServices',
        services: SERVICES.map((name, index) => ({
          id: index + 1,
          name: `/phalanx/${name}`,
          type: 'phalanx',
        })),
      }),
    );
  }

  #channels() {
    return this.#world.hasSensors ? CHANNELS : CHANNELS.slice(0, 4);
  }

  #onText(client, message) {
    if (message.op === 'subscribe') {
      for (const { id, channelId } of message.subscriptions) {
        client.subscriptions.set(channelId, id);
        if (channelId === 1)
          this.#send(
            client,
            1,
            JSON.stringify({ frame: '', worlds: [this.#world.world], problems: [] }),
          );
        if (channelId === 3) client.hasAll = false;
      }
    } else if (message.op === 'unsubscribe') {
      for (const [channel, id] of client.subscriptions)
        if (message.subscriptionIds.includes(id)) client.subscriptions.delete(channel);
    } else if (message.op === 'advertise') {
      client.topics = new Map([
        ...(client.topics ?? []),
        ...message.channels.map((one) => [one.id, one.topic]),
      ]);
    }
  }

  #onBinary(client, data) {
    if (data[0] === 1) {
      this.published.push({
        topic: client.topics?.get(data.readUInt32LE(1)),
        message: JSON.parse(data.subarray(5)),
      });
      return;
    }
    const [service, call, length] = [
      data.readUInt32LE(1),
      data.readUInt32LE(5),
      data.readUInt32LE(9),
    ];
    const request = JSON.parse(data.subarray(13 + length));
    const answer = Buffer.from(JSON.stringify(this.#answer(SERVICES[service - 1], request)));
    const head = Buffer.alloc(17);
    head[0] = 3;
    head.writeUInt32LE(service, 1);
    head.writeUInt32LE(call, 5);
    head.writeUInt32LE(4, 9);
    head.write('json', 13);
    client.socket.send(Buffer.concat([head, answer]));
  }

  #answer(service, request) {
    this.calls.push({ service, request });
    if (this.isReadOnly && service !== 'show') {
      this.#hasRefused = true;
      return { ok: false, message: 'a key with the role observer may not command' };
    }
    if (service === 'play') this.state = 'running';
    else if (service === 'pause') this.state = 'paused';
    else if (service === 'step') {
      if (this.state !== 'paused')
        return { ok: false, message: 'the run is running: pause it to step' };
      this.iteration += request.count;
    } else if (service === 'pace') this.pace = request.factor;
    else if (service === 'seek') this.iteration = Math.round(request.sim_time_s * 1000);
    else if (service === 'run_to')
      this.iteration = Math.max(this.iteration, Math.round(request.sim_time_s * 1000));
    else if (service === 'show')
      return {
        ok: true,
        message: '',
        title: `performer ${request.name}`,
        lines: [
          ['owner', 's1'],
          ['systems', 'DiffDrive'],
          ['', 'Lidar'],
        ],
      };
    return { ok: true, message: '' };
  }

  #send(client, channel, payload) {
    const id = client.subscriptions.get(channel);
    if (id === undefined || client.socket.bufferedAmount > 8_000_000) return;
    const head = Buffer.alloc(13);
    head[0] = 1;
    head.writeUInt32LE(id, 1);
    head.writeBigUInt64LE(BigInt(this.iteration) * 1_000_000n, 5);
    client.socket.send(Buffer.concat([head, Buffer.from(payload)]));
  }

  #broadcast(channel, make) {
    const listeners = [...this.#clients].filter((client) => client.subscriptions.has(channel));
    if (listeners.length === 0) return;
    const payload = make();
    for (const client of listeners) this.#send(client, channel, payload);
  }

  #advance() {
    if (this.state === 'running') this.iteration += Math.round(33 * (this.pace || 1));
    const { performers, place, world, secondaries } = this.#world;
    const names = world.levels.map((one) => one.name);
    const time = this.iteration / 1000;
    const places = performers.map((_, index) => place(index, time));
    places.forEach(({ pose }, index) => {
      const level = this.handed.get(index) ?? levelAt(world.levels, pose[0], pose[1]);
      const before = this.#hands[index];
      this.#hands[index] = level;
      if (before === undefined || before === level) return;
      this.#handOffs[index] = (this.#handOffs[index] ?? 0) + 1;
      this.#events.push({
        number: this.#events.length,
        iteration: this.iteration,
        severity: 'info',
        kind: 'hand-off',
        text: `${performers[index].name} from ${names[before]} to ${names[level]}`,
      });
    });
    this.#levels = places.map(({ pose }) => buffersAt(world.levels, pose[0], pose[1]));
    const owner = (level) => (level === world.levels.length - 1 ? 0 : level % secondaries.length);
    for (const client of this.#clients) {
      if (
        !client.subscriptions.has(3) ||
        (client.hasAll && this.state !== 'running' && client.at === this.iteration)
      )
        continue;
      client.hasAll = true;
      client.at = this.iteration;
      this.#send(client, 3, this.#poses(places, owner));
    }
  }

  #poses(places, owner) {
    const bytes = Buffer.alloc(20 + places.length * 60);
    bytes.writeBigUInt64LE(BigInt(this.iteration) * 1_000_000n, 0);
    bytes.writeBigUInt64LE(BigInt(this.iteration), 8);
    bytes.writeUInt32LE(places.length, 16);
    places.forEach(({ pose, velocity }, index) => {
      const at = 20 + index * 60;
      bytes.writeUInt32LE(this.#world.performers[index].link, at);
      bytes.writeUInt16LE(owner(this.#hands[index]), at + 4);
      bytes.writeUInt16LE(this.#hands[index], at + 6);
      velocity.forEach((value, axis) => bytes.writeFloatLE(value, at + 8 + axis * 4));
      pose.slice(0, 3).forEach((value, axis) => bytes.writeDoubleLE(value, at + 20 + axis * 8));
      pose.slice(3).forEach((value, part) => bytes.writeFloatLE(value, at + 44 + part * 4));
    });
    return bytes;
  }

  #sendRun() {
    for (const client of this.#clients) {
      if (!client.subscriptions.has(2)) continue;
      const events = this.#events.slice(Math.max(client.sentEvents, this.#events.length - 200));
      client.sentEvents = this.#events.length;
      this.#send(client, 2, JSON.stringify(this.run(events)));
    }
  }

  /** Performers of the world in threes, of each forty. */
  groups() {
    const names = this.#world.performers.map(({ name }) => name);
    const groups = [];
    for (let first = 0; first + 2 < names.length; first += 40)
      groups.push({ performers: names.slice(first, first + 3) });
    return groups;
  }

  /** Tells whether anybody listens to a channel. */
  isHeard(channel) {
    return [...this.#clients].some((client) => client.subscriptions.has(channel));
  }

  run(events = []) {
    const { world, performers, place, secondaries } = this.#world;
    const time = this.iteration / 1000;
    const names = world.levels.map((level) => level.name);
    const ownerOf = (level) => (level === names.length - 1 ? 0 : level % secondaries.length);
    const inLevel = (level) =>
      performers.filter((_, index) => this.#hands[index] === level).map((one) => one.name);
    const plays = this.state === 'running';
    return {
      run: this.#world.name === 'crowd' ? 'warehouse-7' : 'shapes-1',
      state: this.state,
      iteration: this.iteration,
      sim_time_s: time,
      real_time_factor: plays ? this.pace * 0.998 : 0,
      steps_per_second: plays ? 998 * this.pace : 0,
      pace: this.pace,
      holder:
        secondaries.length > 1 && plays
          ? { peer: secondaries[1], reason: 'answers last in 71 % of the steps' }
          : null,
      owners: secondaries,
      recording: this.#recording,
      read_only: this.#hasRefused,
      digest: '5f0c2a91',
      drive: performers
        .slice(0, 3)
        .map(({ name }) => ({ model: name, topic: `/model/${name}/cmd_vel` })),
      secondaries: secondaries.map((name, index) => ({
        name,
        state: 'active',
        physics_us: 410 + 160 * (index === 1 ? 1.6 : Math.sin(index)),
        systems_us: 90 + 10 * index,
        sensors_us: index === 0 ? 120 : 30,
        busy_us: 640 + 90 * index,
        wait_us: index === 1 ? 20 : 330,
        blocked_us: 0,
        last_share: 0.3,
        blocking: index === 1,
        cpu: 0.62 + 0.08 * index,
        memory_bytes: 88e6 + index * 7e6,
        host: index < 2 ? 'lab-1' : 'lab-2',
        host_load: {
          load_average: index < 2 ? 3.4 : 9.2,
          cores: 8,
          memory_bytes: 34e9,
          available_bytes: index < 2 ? 21e9 : 4e9,
        },
        performers: performers
          .filter((_, at) => ownerOf(this.#hands[at] ?? 0) === index)
          .map((one) => one.name),
      })),
      levels: names.map((name, index) => ({
        name,
        world: world.world,
        active: name === 'default' || inLevel(index).length > 0,
        suspended: false,
        owner: secondaries[ownerOf(index)],
        performers: inLevel(index),
        ghosts: performers
          .filter((_, at) => this.#levels[at]?.includes(index))
          .map((one) => one.name),
        hand_offs: 0,
        physics_us: 100,
      })),
      performers: performers.map(({ name }, index) => ({
        name,
        level: names[this.#hands[index] ?? 0],
        owner: secondaries[ownerOf(this.#hands[index] ?? 0)],
        hand_offs: this.#handOffs[index] ?? 0,
        speed: Math.hypot(...place(index, time).velocity),
      })),
      events,
    };
  }

  #sendSensors() {
    if (!this.#world.hasSensors || this.state !== 'running') return;
    const time = this.iteration / 1000;
    const pose = { position: { x: 0.18, y: 0, z: 0.6 }, orientation: { x: 0, y: 0, z: 0, w: 1 } };
    const frame = 'rover_1::base';
    this.#broadcast(4, () =>
      JSON.stringify({
        timestamp: { sec: Math.floor(time), nsec: 0 },
        frame_id: frame,
        pose,
        start_angle: -2.2,
        end_angle: 2.2,
        ranges: Array.from(
          { length: 221 },
          (_, index) => 3.2 + 0.9 * Math.sin(index / 9 + time) + (index % 70 < 12 ? -1.2 : 0),
        ),
        intensities: [],
      }),
    );
    this.#broadcast(5, () => JSON.stringify(cloud(frame, pose, time)));
    this.#broadcast(6, () => JSON.stringify(depth(frame, time)));
    this.#broadcast(7, () =>
      JSON.stringify({
        contact: this.#world.performers.slice(0, 20).map((_, index) => {
          const {
            pose: [x, y],
          } = this.#world.place(index, time);
          // Beside the robot, where it is seen.
          return {
            position: [{ x: x + 0.6, y, z: 0 }],
            normal: [{ x: 0, y: 0, z: 1 }],
            depth: [0.001],
          };
        }),
      }),
    );
  }
}

function cloud(frame, pose, time) {
  const points = Buffer.alloc(2000 * 12);
  for (let index = 0; index < 2000; index += 1) {
    const [azimuth, height] = [
      ((index % 200) / 200) * Math.PI * 2,
      (Math.floor(index / 200) - 5) * 0.05,
    ];
    const range = 2.5 + 0.5 * Math.sin(azimuth * 5 + time);
    points.writeFloatLE(range * Math.cos(azimuth), index * 12);
    points.writeFloatLE(range * Math.sin(azimuth), index * 12 + 4);
    points.writeFloatLE(range * height, index * 12 + 8);
  }
  return {
    timestamp: { sec: 0, nsec: 0 },
    frame_id: frame,
    pose,
    point_stride: 12,
    fields: ['x', 'y', 'z'].map((name, index) => ({ name, offset: index * 4, type: 7 })),
    data: points.toString('base64'),
  };
}

function depth(frame, time) {
  const [width, height] = [96, 64];
  const data = Buffer.alloc(width * height * 4);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const disc = Math.hypot(x - 48 - 20 * Math.sin(time), y - 30) < 14;
      data.writeFloatLE(disc ? 1.5 : 2 + (height - y) * 0.06, (y * width + x) * 4);
    }
  }
  return {
    timestamp: { sec: 0, nsec: 0 },
    frame_id: frame,
    width,
    height,
    step: width * 4,
    encoding: '32FC1',
    data: data.toString('base64'),
  };
}
