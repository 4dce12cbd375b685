// @ts-check
/**
 * A client of the Foxglove protocol that outlives its connections: subscriptions are kept by topic
 * and made again after each reconnection, with a delay that grows from try to try.
 *
 * @module connection
 */

import { SUBPROTOCOLS, readBinary, readJson, writeMessage, writeServiceRequest } from './wire.js';

/** First delay before a new try [ms]; it doubles from try to try. */
const RETRY_FIRST_MS = 250;
/** Longest delay before a new try [ms]. */
const RETRY_MAX_MS = 8000;
/** Time after which an open connection without any message is given up [ms]. */
const SILENCE_MAX_MS = 10_000;
/** Time after which a call of a service without an answer fails [ms]. */
const CALL_MAX_MS = 30_000;

/** @typedef {'connecting' | 'open' | 'waiting'} ConnectionState */
/** @typedef {{ id: number, topic: string, encoding: string, schemaName: string }} Channel */
/** @typedef {{ id: number, name: string }} Service */
/** @typedef {(payload: DataView, channel: Channel, timestampNs: bigint) => void} MessageHandler */
/**
 * @typedef {object} PendingCall
 * @property {(answer: any) => void} resolve
 * @property {(error: Error) => void} reject
 * @property {any} timer
 */

/** Reason why a call of a service brought no answer. */
export class CallError extends Error {}

export class Connection extends EventTarget {
  /** @type {ConnectionState} */
  state = 'waiting';
  /** Name of the server, once it is known. */
  serverName = '';
  /** @type {Map<number, Channel>} */
  channels = new Map();
  /** @type {Map<string, Service>} */
  services = new Map();

  /** @type {Map<string, Set<MessageHandler>>} */
  #wanted = new Map();
  /** @type {Map<number, { channel: Channel, topic: string }>} */
  #subscriptions = new Map();
  /** @type {Map<string, number>} */
  #published = new Map();
  /** @type {Map<number, PendingCall>} */
  #calls = new Map();
  /** @type {WebSocket | null} */
  #socket = null;
  #next = 1;
  #tries = 0;
  /** @type {any} */
  #timer = null;
  /** @type {any} */
  #watchdog = null;
  #heardAt = 0;
  #url;
  #makeSocket;

  /**
   * @param {string} url
   * @param {(url: string, protocols: string[]) => WebSocket} [makeSocket]
   */
  constructor(url, makeSocket = (address, protocols) => new WebSocket(address, protocols)) {
    super();
    this.#url = url;
    this.#makeSocket = makeSocket;
  }

  /** Connects, and again whenever the connection is lost, until `close`. */
  open() {
    clearTimeout(this.#timer);
    this.#setState('connecting');
    const socket = this.#makeSocket(this.#url, SUBPROTOCOLS);
    socket.binaryType = 'arraybuffer';
    this.#socket = socket;
    this.#heardAt = performance.now();
    socket.onopen = () => {
      if (socket !== this.#socket) return;
      this.#tries = 0;
      this.#setState('open');
    };
    socket.onmessage = (event) => {
      if (socket !== this.#socket) return;
      this.#heardAt = performance.now();
      if (typeof event.data === 'string') this.#onText(JSON.parse(event.data));
      else this.#onBinary(event.data);
    };
    socket.onclose = () => {
      if (socket === this.#socket) this.#onLost();
    };
    clearInterval(this.#watchdog);
    this.#watchdog = setInterval(() => {
      if (performance.now() - this.#heardAt > SILENCE_MAX_MS) this.retry();
    }, 1000);
  }

  /** Gives the present connection up and tries again at once. */
  retry() {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    this.#forget('the connection was lost');
    this.open();
  }

  /** Closes for good. */
  close() {
    clearTimeout(this.#timer);
    clearInterval(this.#watchdog);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    this.#forget('the connection was closed');
    this.#setState('waiting');
  }

  /**
   * Listens to a topic whenever the server has it.
   *
   * @param {string} topic
   * @param {MessageHandler} handler
   * @returns {() => void} ends it
   */
  subscribe(topic, handler) {
    const handlers = this.#wanted.get(topic) ?? new Set();
    handlers.add(handler);
    this.#wanted.set(topic, handlers);
    if (handlers.size === 1) {
      for (const channel of this.channels.values()) {
        if (channel.topic === topic) this.#sendSubscribe([channel]);
      }
    }
    return () => {
      handlers.delete(handler);
      if (handlers.size > 0) return;
      this.#wanted.delete(topic);
      const ids = [...this.#subscriptions]
        .filter(([, one]) => one.topic === topic)
        .map(([id]) => id);
      for (const id of ids) this.#subscriptions.delete(id);
      if (ids.length > 0) this.#sendText({ op: 'unsubscribe', subscriptionIds: ids });
    };
  }

  /**
   * Calls a service.
   *
   * @param {string} name
   * @param {unknown} [request]
   * @returns {Promise<any>} its answer; a CallError if there is none
   */
  call(name, request = {}) {
    const service = this.services.get(name);
    if (this.state !== 'open') return Promise.reject(new CallError('not connected'));
    if (!service) return Promise.reject(new CallError(`the server has no service ${name}`));
    const call = this.#next++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#calls.delete(call);
        reject(new CallError(`no answer to ${name} within ${CALL_MAX_MS / 1000} s`));
      }, CALL_MAX_MS);
      this.#calls.set(call, { resolve, reject, timer });
      this.#socket?.send(writeServiceRequest(service.id, call, request));
    });
  }

  /**
   * Publishes a message as JSON.
   *
   * @param {string} topic
   * @param {string} schemaName
   * @param {unknown} message
   * @returns {boolean} false if there is no connection
   */
  publish(topic, schemaName, message) {
    if (this.state !== 'open') return false;
    let id = this.#published.get(topic);
    if (id === undefined) {
      id = this.#next++;
      this.#published.set(topic, id);
      this.#sendText({ op: 'advertise', channels: [{ id, topic, encoding: 'json', schemaName }] });
    }
    this.#socket?.send(writeMessage(id, message));
    return true;
  }

  /** @param {any} message */
  #onText(message) {
    switch (message.op) {
      case 'serverInfo':
        this.serverName = message.name ?? '';
        this.dispatchEvent(new Event('server'));
        break;
      case 'advertise': {
        for (const channel of message.channels) this.channels.set(channel.id, channel);
        this.#sendSubscribe(
          message.channels.filter((/** @type {Channel} */ one) => this.#wanted.has(one.topic)),
        );
        this.dispatchEvent(new Event('channels'));
        break;
      }
      case 'unadvertise':
        for (const id of message.channelIds) this.channels.delete(id);
        for (const [id, one] of this.#subscriptions) {
          if (message.channelIds.includes(one.channel.id)) this.#subscriptions.delete(id);
        }
        this.dispatchEvent(new Event('channels'));
        break;
      case 'advertiseServices':
        for (const service of message.services) this.services.set(service.name, service);
        this.dispatchEvent(new Event('services'));
        break;
      case 'unadvertiseServices':
        for (const [name, service] of this.services) {
          if (message.serviceIds.includes(service.id)) this.services.delete(name);
        }
        this.dispatchEvent(new Event('services'));
        break;
      case 'serviceCallFailure':
        this.#settle(message.callId, (call) => call.reject(new CallError(message.message)));
        break;
      case 'status':
        this.dispatchEvent(new CustomEvent('status', { detail: message }));
        break;
      default:
        break;
    }
  }

  /** @param {ArrayBuffer} buffer */
  #onBinary(buffer) {
    const message = readBinary(buffer);
    if (message.kind === 'data') {
      const found = this.#subscriptions.get(message.subscription);
      const handlers = found && this.#wanted.get(found.topic);
      if (!found || !handlers) return;
      for (const handler of handlers) handler(message.payload, found.channel, message.timestampNs);
    } else if (message.kind === 'response') {
      this.#settle(message.call, (call) => {
        try {
          call.resolve(readJson(message.payload));
        } catch {
          call.reject(new CallError('the answer is no JSON'));
        }
      });
    }
  }

  /**
   * @param {number} id
   * @param {(call: PendingCall) => void} settle
   */
  #settle(id, settle) {
    const call = this.#calls.get(id);
    if (!call) return;
    this.#calls.delete(id);
    clearTimeout(call.timer);
    settle(call);
  }

  #onLost() {
    this.#socket = null;
    clearInterval(this.#watchdog);
    this.#forget('the connection was lost');
    const delay = Math.min(RETRY_FIRST_MS * 2 ** this.#tries, RETRY_MAX_MS);
    this.#tries += 1;
    this.#setState('waiting');
    this.#timer = setTimeout(() => this.open(), delay);
  }

  /** @param {string} reason */
  #forget(reason) {
    this.channels.clear();
    this.services.clear();
    this.#subscriptions.clear();
    this.#published.clear();
    for (const id of [...this.#calls.keys()]) {
      this.#settle(id, (call) => call.reject(new CallError(reason)));
    }
    this.dispatchEvent(new Event('channels'));
  }

  /** @param {Channel[]} channels */
  #sendSubscribe(channels) {
    if (channels.length === 0) return;
    const subscriptions = channels.map((channel) => {
      const id = this.#next++;
      this.#subscriptions.set(id, { channel, topic: channel.topic });
      return { id, channelId: channel.id };
    });
    this.#sendText({ op: 'subscribe', subscriptions });
  }

  /** @param {unknown} message */
  #sendText(message) {
    if (this.state === 'open') this.#socket?.send(JSON.stringify(message));
  }

  /** @param {ConnectionState} state */
  #setState(state) {
    if (this.state === state) return;
    this.state = state;
    this.dispatchEvent(new Event('state'));
  }
}

/**
 * Returns the address of the WebSocket that belongs to a page.
 *
 * @param {{ protocol: string, host: string }} location
 * @param {string} token empty where none is wanted
 */
export function socketUrl(location, token) {
  const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
  const query = token ? `?token=${encodeURIComponent(token)}` : '';
  return `${scheme}//${location.host}/${query}`;
}
