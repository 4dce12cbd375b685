// @ts-check
/**
 * Sensors of a run: scans and point clouds in the world, images in the panel, contacts for their
 * overlay. A topic is subscribed to while it is shown.
 *
 * @module sensors
 */

import {
  BufferAttribute,
  BufferGeometry,
  Color,
  DoubleSide,
  Group,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  Points,
  PointsMaterial,
} from './vendor/three.module.min.js';
import { categoryColour } from './colours.js';
import { byId, element, setText, toggle } from './dom.js';
import { readContacts, readCloud, readImage, readScan } from './sensor_data.js';
import { matrixOf } from './shapes.js';
import { readJson } from './wire.js';

/** @typedef {import('./connection.js').Channel} Channel */

/** Kinds of messages that are shown, with their titles. */
const KINDS = /** @type {Record<string, string>} */ ({
  'foxglove.LaserScan': 'scan',
  'foxglove.PointCloud': 'points',
  'foxglove.RawImage': 'image',
  'foxglove.CompressedImage': 'image',
});
/** Ending of topics with compressed images. */
const COMPRESSED = '/compressed';
/** Kind of messages with contacts. */
const CONTACTS = 'gz.msgs.Contacts';
/** Time of what has not been seen [s]. */
const NEVER_S = -Infinity;
/** Inexactness of times that are written in two ways [s]. */
const TIME_STEP_S = 1e-6;
/** Scans that are shown until somebody decides. */
const SHOWN_FIRST = 4;

/**
 * @typedef {object} Sensor
 * @property {Channel} channel
 * @property {boolean} isShown
 * @property {(() => void) | null} end ends its subscription
 * @property {Group} group its points in the world
 * @property {string} frame name of the link that it is on
 * @property {Matrix4} pose in that link's frame
 * @property {HTMLElement} row
 * @property {HTMLInputElement} box
 * @property {HTMLElement} note
 * @property {HTMLCanvasElement | null} canvas
 * @property {number} timeS simulated time of what is shown; that of nothing is long ago
 * @property {boolean} isDrawing while an image is decoded
 * @property {(() => void) | null} next draws the newest of those that came meanwhile
 */

export class Sensors {
  root = new Group();
  #connection;
  #scene;
  #track;
  #overlays;
  #onChange;
  /** @type {Map<string, Sensor>} */
  #sensors = new Map();
  /** @type {Map<string, boolean>} */
  #decided = new Map();
  /** @type {Map<string, () => void>} */
  #contacts = new Map();
  #list = element('div', { class: 'sensors' });
  #empty = element('p', {
    class: 'quiet',
    text: 'No sensor of this run has scans, points or images.',
  });
  #wantsContacts = false;

  /**
   * @param {import('./connection.js').Connection} connection
   * @param {import('./scene.js').WorldScene} scene
   * @param {import('./poses.js').PoseTrack} track
   * @param {import('./overlays.js').Overlays} overlays
   * @param {() => void} onChange
   */
  constructor(connection, scene, track, overlays, onChange) {
    this.#connection = connection;
    this.#scene = scene;
    this.#track = track;
    this.#overlays = overlays;
    this.#onChange = onChange;
    byId('view-sensors').append(this.#empty, this.#list);
    connection.addEventListener('channels', () => this.#takeChannels());
  }

  /** Listens to contacts, or ceases to. */
  set wantsContacts(/** @type {boolean} */ wants) {
    this.#wantsContacts = wants;
    this.#takeContacts();
  }

  /** Shows all scans and points, or hides them if any is shown. */
  toggleAll() {
    const isShown = ![...this.#sensors.values()].some((sensor) => sensor.isShown);
    for (const sensor of this.#sensors.values()) this.#set(sensor, isShown);
    return isShown;
  }

  #takeChannels() {
    // While the connection is lost, what was shown stays.
    if (this.#connection.channels.size === 0) return;
    const all = [...this.#connection.channels.values()].filter(
      (channel) => KINDS[channel.schemaName],
    );
    // Of an image that is offered in both forms, the compressed one has a tenth of the bytes.
    const offered = new Set(all.map((channel) => channel.topic));
    const channels = all.filter(
      ({ schemaName, topic }) =>
        schemaName !== 'foxglove.RawImage' ||
        !offered.has(`${topic.replace(/^\/foxglove\//, '/')}${COMPRESSED}`),
    );
    const topics = new Set(channels.map((channel) => channel.topic));
    for (const [topic, sensor] of this.#sensors) {
      if (topics.has(topic)) continue;
      this.#hide(sensor);
      sensor.row.remove();
      this.#sensors.delete(topic);
    }
    let scans = 0;
    for (const channel of channels.sort((a, b) => a.topic.localeCompare(b.topic))) {
      const isScan = KINDS[channel.schemaName] === 'scan';
      if (isScan) scans += 1;
      if (this.#sensors.has(channel.topic)) continue;
      const sensor = this.#makeSensor(channel);
      this.#sensors.set(channel.topic, sensor);
      this.#list.append(sensor.row);
      const isShown = this.#decided.get(channel.topic) ?? (isScan && scans <= SHOWN_FIRST);
      if (isShown) this.#show(sensor);
    }
    this.#empty.hidden = this.#sensors.size > 0;
    this.#takeContacts();
  }

  #takeContacts() {
    const channels = [...this.#connection.channels.values()].filter(
      (channel) => channel.schemaName === CONTACTS,
    );
    for (const { topic } of this.#wantsContacts ? channels : []) {
      if (this.#contacts.has(topic)) continue;
      const end = this.#connection.subscribe(topic, (payload) => {
        this.#overlays.setContacts(topic, readContacts(readJson(payload)));
      });
      this.#contacts.set(topic, end);
    }
    if (this.#wantsContacts) return;
    for (const [topic, end] of this.#contacts) {
      end();
      this.#overlays.setContacts(topic, []);
    }
    this.#contacts.clear();
  }

  /**
   * @param {Channel} channel
   * @returns {Sensor}
   */
  #makeSensor(channel) {
    const kind = KINDS[channel.schemaName];
    const note = element('span', { class: 'quiet number' });
    const { row: line, box } = toggle(shortName(channel.topic), false, (isOn) => {
      this.#decided.set(channel.topic, isOn);
      this.#set(sensor, isOn);
    });
    line.title = channel.topic;
    line.append(element('span', { class: 'kind quiet', text: kind }));
    const row = element('div', { class: 'sensor' }, line, note);
    const canvas =
      kind === 'image'
        ? element('canvas', {
            hidden: true,
            role: 'img',
            'aria-label': `Image of ${channel.topic}`,
          })
        : null;
    if (canvas) row.append(canvas);
    const group = new Group();
    group.matrixAutoUpdate = false;
    /** @type {Sensor} */
    const sensor = {
      channel,
      isShown: false,
      end: null,
      group,
      frame: '',
      pose: new Matrix4(),
      row,
      box,
      note,
      canvas,
      timeS: NEVER_S,
      isDrawing: false,
      next: null,
    };
    return sensor;
  }

  /**
   * @param {Sensor} sensor
   * @param {boolean} isShown
   */
  #set(sensor, isShown) {
    if (isShown && !sensor.isShown) this.#show(sensor);
    else if (!isShown && sensor.isShown) this.#hide(sensor);
    this.#onChange();
  }

  /** @param {Sensor} sensor */
  #show(sensor) {
    sensor.isShown = true;
    sensor.box.checked = true;
    this.root.add(sensor.group);
    if (sensor.canvas) sensor.canvas.hidden = false;
    sensor.end = this.#connection.subscribe(sensor.channel.topic, (payload, channel, timeNs) => {
      sensor.timeS = Number(timeNs) / 1e9;
      try {
        this.#take(sensor, readJson(payload), channel.schemaName);
      } catch (error) {
        setText(sensor.note, `not understood: ${/** @type {Error} */ (error).message}`);
      }
      this.#onChange();
    });
  }

  /** @param {Sensor} sensor */
  #hide(sensor) {
    sensor.isShown = false;
    sensor.box.checked = false;
    sensor.end?.();
    sensor.end = null;
    sensor.next = null;
    this.root.remove(sensor.group);
    if (sensor.canvas) sensor.canvas.hidden = true;
    setText(sensor.note, '');
  }

  /**
   * Forgets what sensors saw later than the time that is shown: a recording has gone back, and at
   * that time they had seen nothing, or it is told behind this.
   *
   * @param {number} nowS simulated time
   */
  forgetLaterThan(nowS) {
    for (const sensor of this.#sensors.values()) {
      if (sensor.timeS <= nowS + TIME_STEP_S) continue;
      sensor.timeS = NEVER_S;
      sensor.next = null;
      for (const drawn of /** @type {(Points | Mesh)[]} */ (sensor.group.children))
        drawn.geometry.setDrawRange(0, 0);
      const { canvas } = sensor;
      canvas?.getContext('2d')?.clearRect(0, 0, canvas.width, canvas.height);
      setText(sensor.note, '');
      this.#onChange();
    }
  }

  /**
   * @param {Sensor} sensor
   * @param {any} message
   * @param {string} schemaName
   */
  #take(sensor, message, schemaName) {
    if (schemaName === 'foxglove.RawImage' || schemaName === 'foxglove.CompressedImage') {
      void this.#drawNewest(sensor, message, schemaName);
      return;
    }
    sensor.frame = message.frame_id ?? '';
    const { position: p = {}, orientation: q = {} } = message.pose ?? {};
    matrixOf(
      [p.x ?? 0, p.y ?? 0, p.z ?? 0, q.x ?? 0, q.y ?? 0, q.z ?? 0, q.w ?? 1],
      0,
      sensor.pose,
    );
    const isScan = schemaName === 'foxglove.LaserScan';
    const data = isScan ? readScan(message) : readCloud(message);
    const index = [...this.#sensors.keys()].indexOf(sensor.channel.topic);
    const colour = new Color().setRGB(...categoryColour(index + 5));
    setPoints(sensor.group, data, colour, isScan);
    this.#place(sensor);
    const count = data.points.length / 3;
    setText(sensor.note, `${count} ${count === 1 ? 'point' : 'points'}`);
  }

  /**
   * Draws an image once that before it is drawn, unless a newer one has come by then.
   *
   * @param {Sensor} sensor
   * @param {any} message
   * @param {string} schemaName
   */
  async #drawNewest(sensor, message, schemaName) {
    if (sensor.isDrawing) {
      sensor.next = () => void this.#drawNewest(sensor, message, schemaName);
      return;
    }
    sensor.isDrawing = true;
    try {
      await this.#drawImage(sensor, message, schemaName);
    } catch (error) {
      setText(sensor.note, `not understood: ${/** @type {Error} */ (error).message}`);
    }
    sensor.isDrawing = false;
    const { next } = sensor;
    sensor.next = null;
    next?.();
  }

  /**
   * @param {Sensor} sensor
   * @param {any} message
   * @param {string} schemaName
   */
  async #drawImage(sensor, message, schemaName) {
    const { canvas } = sensor;
    const context = canvas?.getContext('2d');
    if (!canvas || !context) return;
    const image = await readImage(message, schemaName);
    if (!sensor.isShown || sensor.timeS === NEVER_S) return;
    if (canvas.width !== image.width) canvas.width = image.width;
    if (canvas.height !== image.height) canvas.height = image.height;
    if (image.pixels)
      context.putImageData(new ImageData(image.pixels, image.width, image.height), 0, 0);
    else if (image.bitmap) context.drawImage(image.bitmap, 0, 0);
    setText(sensor.note, `${image.width} × ${image.height}${image.note ? `, ${image.note}` : ''}`);
  }

  /**
   * Returns the slot of the link that a frame is on: itself, or that of `MODEL::LINK::SENSOR`.
   *
   * @param {string} frame
   */
  #slotOf(frame) {
    const { slotOfFrame } = this.#scene;
    return slotOfFrame.get(frame) ?? slotOfFrame.get(frame.slice(0, frame.lastIndexOf('::')));
  }

  /** Moves what sensors see with the links that they are on. */
  move() {
    for (const sensor of this.#sensors.values()) if (sensor.isShown) this.#place(sensor);
  }

  /** @param {Sensor} sensor */
  #place(sensor) {
    const slot = this.#slotOf(sensor.frame);
    sensor.group.visible = slot !== undefined || sensor.frame === 'world' || sensor.frame === '';
    if (slot === undefined) sensor.group.matrix.copy(sensor.pose);
    else matrixOf(this.#track.shown, slot * 7, sensor.group.matrix).multiply(sensor.pose);
    sensor.group.matrixWorldNeedsUpdate = true;
  }
}

/**
 * Shortens a topic to the model and the sensor; what it tells of these is said beside its name.
 *
 * @param {string} topic
 */
export function shortName(topic) {
  const plain = topic.replace(/^\/foxglove\//, '/').replace(/\/compressed(Depth)?$/, '');
  const named = /\/model\/(.+?)\/link\/.+?\/sensor\/(.+)$/.exec(plain);
  if (!named) return plain;
  return `${named[1]} ${named[2].replace(/\/(scan\/points|scan|points|image|depth_image)$/, '')}`;
}

/**
 * Replaces the points of a group, and for a scan the area that its rays swept. Objects are kept from
 * message to message: with a new material, its shaders would be compiled again.
 *
 * @param {Group} group
 * @param {import('./sensor_data.js').PointData} data
 * @param {Color} colour
 * @param {boolean} isScan
 */
function setPoints(group, data, colour, isScan) {
  if (group.children.length === 0) group.add(...makeObjects(data, colour, isScan));
  const [points, fan] = /** @type {(Points | Mesh)[]} */ (group.children);
  setAttribute(points.geometry, 'position', data.points);
  if (data.colours) setAttribute(points.geometry, 'color', data.colours);
  if (data.fan) setAttribute(fan.geometry, 'position', data.fan);
}

/**
 * @param {import('./sensor_data.js').PointData} data
 * @param {Color} colour
 * @param {boolean} isScan
 */
function makeObjects(data, colour, isScan) {
  const points = new Points(
    new BufferGeometry(),
    new PointsMaterial({
      color: data.colours ? 0xffffff : colour,
      vertexColors: data.colours !== null,
      size: isScan ? 2.5 : 2,
      sizeAttenuation: false,
    }),
  );
  const swept = new MeshBasicMaterial({
    color: colour,
    transparent: true,
    opacity: 0.12,
    depthWrite: false,
    side: DoubleSide,
  });
  const fan = new Mesh(new BufferGeometry(), swept);
  points.frustumCulled = false;
  fan.frustumCulled = false;
  return data.fan ? [points, fan] : [points];
}

/**
 * Writes numbers into an attribute, which grows where it is too small.
 *
 * @param {BufferGeometry} geometry
 * @param {string} name
 * @param {Float32Array} values three each
 */
function setAttribute(geometry, name, values) {
  let attribute = geometry.getAttribute(name);
  if (!attribute || attribute.array.length < values.length) {
    // What the GPU has of the smaller one is released.
    geometry.dispose();
    attribute = new BufferAttribute(new Float32Array(Math.ceil(values.length / 2.4) * 3), 3);
    geometry.setAttribute(name, attribute);
  }
  attribute.array.set(values);
  attribute.needsUpdate = true;
  if (name === 'position') geometry.setDrawRange(0, values.length / 3);
}
