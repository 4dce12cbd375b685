// A connection speaks the protocol, outlives its sockets, and fails calls that nobody answers.

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { CallError, Connection, socketUrl } from '../../connection.js';
import { readBinary, readBytes, readJson, writeMessage, writeServiceRequest } from '../../wire.js';

class Socket {
  sent = [];
  send(data) {
    this.sent.push(typeof data === 'string' ? JSON.parse(data) : data);
  }
  close() {}
  tell(message) {
    this.onmessage({ data: JSON.stringify(message) });
  }
}

function connect() {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const sockets = [];
  const connection = new Connection('ws://here/', (url, protocols) => {
    assert.deepEqual(protocols, ['foxglove.sdk.v1', 'phalanx.all-channels']);
    const socket = new Socket();
    sockets.push(socket);
    return socket;
  });
  connection.open();
  sockets[0].onopen();
  return { connection, sockets };
}

function done(connection) {
  connection.close();
  mock.timers.reset();
}

function data(subscription, text) {
  const payload = new TextEncoder().encode(text);
  const bytes = new Uint8Array(13 + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, 1);
  view.setUint32(1, subscription, true);
  view.setBigUint64(5, 42n, true);
  bytes.set(payload, 13);
  return bytes.buffer;
}

test('subscriptions are made when channels come, and again after a loss', () => {
  const { connection, sockets } = connect();
  const heard = [];
  connection.subscribe('/a', (payload, channel, timestampNs) =>
    heard.push([readJson(payload), channel.id, timestampNs]),
  );
  sockets[0].tell({
    op: 'advertise',
    channels: [
      { id: 5, topic: '/a' },
      { id: 6, topic: '/b' },
    ],
  });
  const { subscriptions } = sockets[0].sent[0];
  assert.deepEqual(
    subscriptions.map((one) => one.channelId),
    [5],
  );
  sockets[0].onmessage({ data: data(subscriptions[0].id, '{"x":1}') });
  assert.deepEqual(heard, [[{ x: 1 }, 5, 42n]]);

  sockets[0].onclose();
  assert.equal(connection.state, 'waiting');
  mock.timers.tick(249);
  assert.equal(sockets.length, 1);
  mock.timers.tick(1);
  assert.equal(sockets.length, 2);
  sockets[1].onopen();
  sockets[1].tell({ op: 'advertise', channels: [{ id: 9, topic: '/a' }] });
  assert.equal(sockets[1].sent[0].subscriptions[0].channelId, 9);
  done(connection);
});

test('delays grow from try to try and begin again after a success', () => {
  const { connection, sockets } = connect();
  sockets[0].onclose();
  for (const delay of [250, 500, 1000, 2000, 4000, 8000, 8000]) {
    const before = sockets.length;
    mock.timers.tick(delay - 1);
    assert.equal(sockets.length, before, `after ${delay}`);
    mock.timers.tick(1);
    assert.equal(sockets.length, before + 1);
    sockets.at(-1).onclose();
  }
  mock.timers.tick(8000);
  sockets.at(-1).onopen();
  sockets.at(-1).onclose();
  const before = sockets.length;
  mock.timers.tick(250);
  assert.equal(sockets.length, before + 1);
  done(connection);
});

test('what is no longer wanted is unsubscribed', () => {
  const { connection, sockets } = connect();
  sockets[0].tell({ op: 'advertise', channels: [{ id: 5, topic: '/a' }] });
  const end = connection.subscribe('/a', () => {});
  const { id } = sockets[0].sent[0].subscriptions[0];
  end();
  assert.deepEqual(sockets[0].sent[1], { op: 'unsubscribe', subscriptionIds: [id] });
  done(connection);
});

test('calls are answered, refused, or fail with the connection', async () => {
  const { connection, sockets } = connect();
  await assert.rejects(connection.call('/none'), CallError);
  sockets[0].tell({ op: 'advertiseServices', services: [{ id: 3, name: '/do' }] });
  const answered = connection.call('/do', { n: 1 });
  const request = sockets[0].sent[0];
  const view = new DataView(request.buffer);
  assert.equal(view.getUint8(0), 2);
  assert.equal(view.getUint32(1, true), 3);
  const answer = writeServiceRequest(3, view.getUint32(5, true), { ok: true });
  answer[0] = 3;
  sockets[0].onmessage({ data: answer.buffer });
  assert.deepEqual(await answered, { ok: true });

  const refused = connection.call('/do');
  const call = new DataView(sockets[0].sent[1].buffer).getUint32(5, true);
  sockets[0].tell({ op: 'serviceCallFailure', serviceId: 3, callId: call, message: 'no' });
  await assert.rejects(refused, /no/);

  const lost = connection.call('/do');
  sockets[0].onclose();
  await assert.rejects(lost, /lost/);
  done(connection);
});

test('a call without an answer fails in time', async () => {
  const { connection, sockets } = connect();
  sockets[0].tell({ op: 'advertiseServices', services: [{ id: 3, name: '/do' }] });
  const late = connection.call('/do');
  mock.timers.tick(30_000);
  await assert.rejects(late, /no answer/);
  done(connection);
});

test('a topic is offered once per connection before it is published on', () => {
  const { connection, sockets } = connect();
  assert.ok(connection.publish('/cmd_vel', 'gz.msgs.Twist', { linear: { x: 1 } }));
  assert.ok(connection.publish('/cmd_vel', 'gz.msgs.Twist', { linear: { x: 0 } }));
  const [offer, first, second] = sockets[0].sent;
  assert.equal(offer.channels[0].schemaName, 'gz.msgs.Twist');
  assert.equal(new DataView(first.buffer).getUint32(1, true), offer.channels[0].id);
  assert.deepEqual(readJson(new DataView(second.buffer, 5)), { linear: { x: 0 } });
  sockets[0].onclose();
  assert.ok(!connection.publish('/cmd_vel', 'gz.msgs.Twist', {}));
  done(connection);
});

test('messages of the wire are read and written', () => {
  assert.equal(readBinary(new Uint8Array([9]).buffer).kind, 'unknown');
  assert.throws(() => readBinary(new Uint8Array([1, 0]).buffer), RangeError);
  assert.equal(writeMessage(258, {})[1], 2);
  assert.deepEqual([...readBytes('AQID')], [1, 2, 3]);
  assert.deepEqual([...readBytes([4, 5])], [4, 5]);
});

test('the token goes into the address of the socket', () => {
  assert.equal(socketUrl({ protocol: 'http:', host: 'h:1' }, ''), 'ws://h:1/');
  assert.equal(socketUrl({ protocol: 'https:', host: 'h' }, 'a&b'), 'wss://h/?token=a%26b');
});
