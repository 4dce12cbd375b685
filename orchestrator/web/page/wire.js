// @ts-check
/**
 * Binary messages of the Foxglove protocol `foxglove.sdk.v1`: pure readers and writers.
 *
 * @module wire
 */

/**
 * Sub-protocols that are offered: the one that client and server agree on, and the wish for channels
 * that other viewers cannot read.
 */
export const SUBPROTOCOLS = ['foxglove.sdk.v1', 'phalanx.all-channels'];

/** Operation codes of binary messages of the server. */
const FROM_SERVER = { data: 1, time: 2, serviceResponse: 3 };
/** Operation codes of binary messages of a client. */
const FROM_CLIENT = { data: 1, serviceRequest: 2 };

/**
 * @typedef {{ kind: 'data', subscription: number, timestampNs: bigint, payload: DataView }
 *   | { kind: 'time', timestampNs: bigint }
 *   | { kind: 'response', service: number, call: number, encoding: string, payload: DataView }
 *   | { kind: 'unknown', code: number }} ServerMessage
 */

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/**
 * Reads a binary message of the server; throws a RangeError where it ends too early.
 *
 * @param {ArrayBuffer} buffer
 * @returns {ServerMessage}
 */
export function readBinary(buffer) {
  const view = new DataView(buffer);
  const code = view.getUint8(0);
  switch (code) {
    case FROM_SERVER.data:
      return {
        kind: 'data',
        subscription: view.getUint32(1, true),
        timestampNs: view.getBigUint64(5, true),
        payload: new DataView(buffer, 13),
      };
    case FROM_SERVER.time:
      return { kind: 'time', timestampNs: view.getBigUint64(1, true) };
    case FROM_SERVER.serviceResponse: {
      const length = view.getUint32(9, true);
      return {
        kind: 'response',
        service: view.getUint32(1, true),
        call: view.getUint32(5, true),
        encoding: decoder.decode(new Uint8Array(buffer, 13, length)),
        payload: new DataView(buffer, 13 + length),
      };
    }
    default:
      return { kind: 'unknown', code };
  }
}

/**
 * Writes a call of a service, with its request as JSON.
 *
 * @param {number} service
 * @param {number} call
 * @param {unknown} request
 */
export function writeServiceRequest(service, call, request) {
  const encoding = encoder.encode('json');
  const payload = encoder.encode(JSON.stringify(request));
  const bytes = new Uint8Array(13 + encoding.length + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, FROM_CLIENT.serviceRequest);
  view.setUint32(1, service, true);
  view.setUint32(5, call, true);
  view.setUint32(9, encoding.length, true);
  bytes.set(encoding, 13);
  bytes.set(payload, 13 + encoding.length);
  return bytes;
}

/**
 * Writes a message on a channel of the client, as JSON.
 *
 * @param {number} channel
 * @param {unknown} message
 */
export function writeMessage(channel, message) {
  const payload = encoder.encode(JSON.stringify(message));
  const bytes = new Uint8Array(5 + payload.length);
  new DataView(bytes.buffer).setUint8(0, FROM_CLIENT.data);
  new DataView(bytes.buffer).setUint32(1, channel, true);
  bytes.set(payload, 5);
  return bytes;
}

/**
 * Reads JSON out of bytes.
 *
 * @param {DataView} view
 * @returns {any}
 */
export function readJson(view) {
  return JSON.parse(decoder.decode(view));
}

/**
 * Reads base64, as JSON has bytes; an array of numbers is taken, too.
 *
 * @param {string | number[]} value
 */
export function readBytes(value) {
  if (Array.isArray(value)) return Uint8Array.from(value);
  const text = atob(value);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) bytes[index] = text.charCodeAt(index);
  return bytes;
}
