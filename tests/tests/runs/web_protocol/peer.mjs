// A client of Foxglove's WebSocket protocol by its own package, told by lines of JSON on stdin.
// Each line is answered with one on stdout.

import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const require = createRequire(`${process.env.PHALANX_MODULES}/package.json`);
const { FoxgloveClient } = require('@foxglove/ws-protocol');
const WebSocket = require('ws');

const TIME_MAX = 300_000;
let client;
let socket;
let facts;

/** Waits until something is so. */
async function until(what, find) {
  const end = Date.now() + TIME_MAX;
  for (;;) {
    const found = find();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`${what} did not come`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function decoded(channel, data) {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (channel.encoding === 'json') return JSON.parse(bytes.toString());
  const count = bytes.readUInt32LE(16);
  const links = [];
  for (let at = 20; at < bytes.length; at += 60) {
    links.push({
      link: bytes.readUInt32LE(at),
      owner: bytes.readUInt16LE(at + 4),
      level: bytes.readUInt16LE(at + 6),
      position: [20, 28, 36].map((offset) => bytes.readDoubleLE(at + offset)),
      orientation: [44, 48, 52, 56].map((offset) => bytes.readFloatLE(at + offset)),
    });
  }
  return { iteration: Number(bytes.readBigUInt64LE(8)), count, links };
}

/**
 * Throws where Foxglove Studio and Lichtblick do when they make data types of a JSON schema: they
 * want the fields of each object, and lists of objects or plain values.
 */
function checkFields(path, schema) {
  if (schema.type !== 'object') throw new Error(`${path}: expected an object, got ${schema.type}`);
  for (const [name, field] of Object.entries(schema.properties)) {
    const at = `${path}.${name}`;
    const { type, contentEncoding, items } = field;
    if (type === 'object') checkFields(at, field);
    else if (type === 'array') {
      if (items.type === 'object') checkFields(at, items);
      else if (!['boolean', 'string', 'number', 'integer'].includes(items.type))
        throw new Error(`${at}: unsupported item ${items.type}`);
      else if (items.contentEncoding !== undefined) throw new Error(`${at}: encoded items`);
    } else if (type === 'string') {
      if (![undefined, 'base64'].includes(contentEncoding)) throw new Error(`${at}: encoding`);
    } else if (!['boolean', 'number', 'integer'].includes(type))
      throw new Error(`${at}: unsupported type ${type}`);
  }
}

const actions = {
  async connect({ url, protocols, options }) {
    facts = { channels: new Map(), services: [], statuses: [], last: new Map(), answers: new Map(), times: new Map(), all: new Map(), errors: [] };
    const own = facts;
    // The package alone offers its own version.
    const offered = protocols ?? [FoxgloveClient.SUPPORTED_SUBPROTOCOL];
    socket = new WebSocket(url, offered, options ?? {});
    const refused = new Promise((resolve) => {
      socket.on('unexpected-response', (_, response) => resolve({ refused: response.statusCode }));
      socket.on('error', (error) => resolve({ refused: error.message }));
    });
    client = new FoxgloveClient({ ws: socket });
    const opened = new Promise((resolve) => {
      client.on('serverInfo', (info) => {
        own.info = info;
        resolve({ info, protocol: client.protocol ?? socket.protocol });
      });
    });
    client.on('error', (error) => own.errors.push(String(error?.message ?? error)));
    client.on('close', () => (own.closed = true));
    client.on('status', (status) => own.statuses.push(status));
    client.on('advertise', (list) => list.forEach((one) => own.channels.set(one.id, one)));
    client.on('unadvertise', (list) => list.forEach((id) => own.channels.delete(id)));
    client.on('advertiseServices', (list) => own.services.push(...list));
    client.on('time', ({ timestamp }) => (own.time = Number(timestamp)));
    client.on('parameterValues', ({ parameters }) => (own.parameters = parameters));
    client.on('connectionGraphUpdate', (graph) => (own.graph = graph));
    client.on('serviceCallResponse', ({ callId, data }) => {
      own.answers.set(callId, JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength)));
    });
    client.on('serviceCallFailure', ({ callId, message }) => own.answers.set(callId, { failure: message }));
    client.on('message', ({ subscriptionId, timestamp, data }) => {
      const channel = own.subscriptions?.get(subscriptionId);
      if (channel) {
        const times = own.times.get(channel.topic) ?? [];
        own.times.set(channel.topic, times);
        times.push(Number(timestamp));
        const all = own.all.get(channel.topic) ?? [];
        own.all.set(channel.topic, all);
        const message = decoded(channel, data);
        if (all.length < 1000) all.push(message);
        const count = (own.last.get(channel.topic)?.count ?? 0) + 1;
        own.last.set(channel.topic, { count, time: Number(timestamp), message });
      }
    });
    return await Promise.race([opened, refused]);
  },
  async channel({ topic }) {
    return await until(topic, () => [...facts.channels.values()].find((one) => one.topic === topic));
  },
  /** All channels, once there are more than `above`. */
  async channels({ above }) {
    await until('channels', () => facts.channels.size > (above ?? 0));
    return [...facts.channels.values()];
  },
  async services() {
    return await until('services', () => facts.services.length > 0 && facts.services);
  },
  async subscribe({ topic }) {
    const channel = await actions.channel({ topic });
    facts.subscriptions ??= new Map();
    facts.subscriptions.set(client.subscribe(channel.id), channel);
    return {};
  },
  /** The last message of a topic, once more than `after` of them came. */
  async last({ topic, after }) {
    return await until(topic, () => {
      const last = facts.last.get(topic);
      return last && last.count > (after ?? 0) && last;
    });
  },
  /** Ends the subscription to a topic. */
  async unsubscribe({ topic }) {
    for (const [id, channel] of facts.subscriptions) {
      if (channel.topic !== topic) continue;
      client.unsubscribe(id);
      facts.subscriptions.delete(id);
    }
    facts.last.delete(topic);
    return {};
  },
  /** The times of all messages of a topic so far [ns]. */
  async times({ topic }) {
    return facts.times.get(topic) ?? [];
  },
  /** The messages of a topic so far. */
  async all({ topic }) {
    return facts.all.get(topic) ?? [];
  },
  /** The topics on which anything was heard. */
  async heard() {
    return [...facts.last.keys()];
  },
  async info() {
    return facts.info;
  },
  /** Errors of the package, which viewers show. */
  async errors() {
    return facts.errors;
  },
  /** Why viewers could not read what is offered, by topic. */
  async unreadable({ above }) {
    await actions.services();
    await actions.channels({ above });
    const found = {};
    const check = (name, { encoding, schemaEncoding, schema }) => {
      try {
        if (encoding !== 'json') throw new Error(`unsupported encoding ${encoding}`);
        if ((schemaEncoding ?? 'jsonschema') !== 'jsonschema') throw new Error('unsupported schema');
        checkFields(name, JSON.parse(schema));
      } catch (error) {
        found[name] = error.message;
      }
    };
    for (const channel of facts.channels.values()) check(channel.topic, channel);
    for (const service of facts.services) {
      check(`${service.name} request`, service.request);
      check(`${service.name} response`, service.response);
    }
    return found;
  },
  async call({ service, request, encoding }) {
    const found = await until(service, () => facts.services.find((one) => one.name === service));
    const callId = (facts.calls = (facts.calls ?? 0) + 1);
    const bytes = new TextEncoder().encode(typeof request === 'string' ? request : JSON.stringify(request));
    const data = new DataView(bytes.buffer);
    client.sendServiceCallRequest({ serviceId: found.id, callId, encoding: encoding ?? 'json', data });
    return await until('an answer', () => facts.answers.get(callId));
  },
  async publish({ topic, kind, message }) {
    facts.own ??= new Map();
    if (!facts.own.has(topic)) {
      facts.own.set(topic, client.advertise({ topic, encoding: 'json', schemaName: kind }));
    }
    client.sendMessage(facts.own.get(topic), new TextEncoder().encode(JSON.stringify(message)));
    return {};
  },
  async parameters({ set }) {
    facts.parameters = undefined;
    if (set) client.setParameters(set, 'set');
    else client.getParameters([], 'get');
    return await until('parameters', () => facts.parameters);
  },
  async graph() {
    client.subscribeConnectionGraph();
    return await until('a graph', () => facts.graph);
  },
  async asset({ uri }) {
    const answer = new Promise((resolve) => client.on('fetchAssetResponse', resolve));
    client.fetchAsset(uri, 7);
    const { status, data, error } = await answer;
    const magic = data?.byteLength > 3 ? Buffer.from(data.buffer, data.byteOffset, 4).toString() : '';
    return { status, error, bytes: data?.byteLength, magic };
  },
  /** Asks for an asset many times at once; returns how many answers have it. */
  async assets({ uri, count }) {
    let found = 0;
    client.on('fetchAssetResponse', ({ status }) => (found += status === 0 ? 1 : 0));
    for (let id = 100; id < 100 + count; id += 1) client.fetchAsset(uri, id);
    await until('the assets', () => found >= count || facts.closed);
    return found;
  },
  async raw({ text, base64, bytes }) {
    socket.send(text ?? (bytes ? Buffer.from(bytes) : Buffer.from(base64, 'base64')));
    return {};
  },
  async status({ part }) {
    return await until(part, () => facts.statuses.find((one) => one.message.includes(part)));
  },
  async closed() {
    return await until('the end', () => facts.closed);
  },
  async close() {
    socket.close();
    return {};
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { action, ...rest } = JSON.parse(line);
  let answer;
  try {
    answer = { ok: await actions[action](rest) };
  } catch (error) {
    answer = { error: error.stack };
  }
  const plain = (_, value) => (typeof value === 'bigint' ? Number(value) : value);
  process.stdout.write(`${JSON.stringify(answer, plain)}\n`);
}
process.exit(0);
