// @ts-check
/**
 * The page, put together: messages go to its parts, and what users do goes to the run.
 *
 * @module main
 */

import { Raycaster, Vector2, Vector3, Box3 } from './vendor/three.module.min.js';
import { Assets } from './assets.js';
import { categoryColour, niceCeiling, speedColour } from './colours.js';
import { Connection, socketUrl } from './connection.js';
import { isDefaultLevel, isPlaying, readRun, readScene } from './contract.js';
import { Controls } from './controls.js';
import { byId, element, setText } from './dom.js';
import { Drive } from './drive.js';
import { duration, fixed, times, whole } from './format.js';
import { GROUPS_TOPIC } from './groups.js';
import { Inspector } from './inspector.js';
import { Keys } from './keys.js';
import { Lights } from './lights.js';
import { LimbClock } from './limbs.js';
import { LookPanel } from './look_panel.js';
import { Materials } from './materials.js';
import { readOptions, writeOptions } from './options.js';
import { OVERLAYS, Overlays } from './overlays.js';
import { PerformersPanel } from './performers_panel.js';
import { PoseTrack, readPoses } from './poses.js';
import { RunPanel } from './run_panel.js';
import { WorldScene } from './scene.js';
import { Sensors } from './sensors.js';
import { Shell } from './shell.js';
import { Stage } from './stage.js';
import { readJson } from './wire.js';

/** Time between two updates of panels [ms]. */
const PANEL_MS = 250;
/** Distance that a pointer may move during a click [px]. */
const CLICK_PX = 5;
/** Height of levels that is shown above and below what is in them [m]. */
const LEVEL_ROOM_M = 2;
/** Part of the fastest speed below which the scale of speeds shrinks. */
const SCALE_SHRINK = 0.3;

/** Time without poses after which a run's own time counts [ms]. */
const POSES_SILENT_MS = 500;

/** States of a run in words, with the colour of their pill. */
const STATES = /** @type {Record<string, string>} */ ({
  running: 'running',
  playing: 'running',
  paused: 'paused',
  waiting: 'waiting for secondaries',
  connecting: 'connecting',
  recovering: 'recovering',
  stopping: 'stopping',
  ended: 'ended',
  lost: 'run lost',
});

class Page {
  options = readOptions(location.hash);
  shell = new Shell(this.options.theme, this.options.panel, this.options.bare);
  stage = new Stage(
    /** @type {HTMLCanvasElement} */ (byId('canvas')),
    this.options.quality,
    this.options.bare,
  );
  connection = new Connection(socketUrl(location, this.options.token));
  track = new PoseTrack();
  assets = new Assets(this.options.token, () => this.stage.invalidate());
  materials = new Materials(this.assets, this.stage.isSoftware, () => this.stage.invalidate());
  lights = new Lights(!this.stage.isSoftware);
  scene = new WorldScene(this.materials, this.assets, this.track, () => this.onSceneChange());
  overlays = new Overlays(this.scene, this.track, byId('labels'), () => this.stage.invalidate());
  sensors = new Sensors(this.connection, this.scene, this.track, this.overlays, () =>
    this.stage.invalidate(),
  );
  say = (/** @type {string} */ text, /** @type {string} */ kind = 'note') =>
    this.shell.say(text, kind);
  controls = new Controls(this.connection, this.say);
  drive = new Drive(this.connection, this.say, () => this.onDrive());
  inspector = new Inspector(
    this.connection,
    {
      follow: () => this.follow(),
      drive: () => this.toggleDrive(),
      close: () => this.select(null),
    },
    (model) => this.drive.canDrive(model),
  );
  runPanel = new RunPanel();
  performers = new PerformersPanel((name) => this.selectByName(name, true));
  figures = element('p', { class: 'quiet number frames' });
  /** @type {import('./colours.js').ColourMode} */
  colourMode = this.options.colour;
  /** @type {import('./contract.js').RunMessage | null} */
  run = null;
  /** @type {import('./contract.js').SceneMessage | null} */
  message = null;
  worldName = this.options.world;
  /** @type {import('./scene.js').ModelEntry | null} */
  selected = null;
  /** @type {Map<string, number>} */
  levelIndex = new Map();
  fastest = 1;
  #shownWorld = '';
  #awaitsPoses = false;
  /** Simulated time by which limbs of actors move, and how far that of their scripts is ahead [s]. */
  #limbClock = new LimbClock();
  #limbsAheadS = 0;
  /** Time at which poses came last [ms]. */
  #posesAt = -Infinity;
  /** True until the meshes of a world that is shown anew are there. */
  #awaitsMeshes = false;
  #panelsAt = 0;
  /** Names of owners and levels, by whose places they are coloured. */
  #names = '';
  /** Frames since anything changed in the picture. */
  #quiet = 0;
  /** @type {number[]} */
  #colourKeys = [];
  #isRecoloured = false;
  /** Ends to hear of groups. @type {(() => void) | null} */
  #unhearGroups = null;
  look = new LookPanel({
    setColour: (mode) => this.setColour(mode),
    toggleOverlay: (overlay) => this.toggleOverlay(overlay),
    shown: this.overlays.shown,
    switches: this.switches(),
    copyLink: () => this.copyLink(),
    saveLayout: () => this.saveLayout(),
    figures: this.figures,
  });
  keys = new Keys(this);

  start() {
    const { stage, connection } = this;
    stage.world.add(this.scene.root, this.lights.root, this.overlays.root, this.sensors.root);
    stage.beforeFrame((nowMs) => this.beforeFrame(nowMs));
    stage.whenDrawn((heightPx) => {
      this.materials.plain.update(this.lights, stage.scene.fog);
      this.scene.choose(stage.rig.camera, heightPx);
    });
    stage.addEventListener('frame', () => {
      this.overlays.placeLabels(stage.rig.camera);
      document.documentElement.dataset.frame = String(stage.drawn);
    });
    this.shell.addEventListener('theme', () => this.applyTheme());
    this.shell.addEventListener('tab', () => this.updatePanels());
    this.applyTheme();
    connection.addEventListener('state', () => this.onConnection());
    connection.addEventListener('status', (event) =>
      this.onStatus(/** @type {CustomEvent} */ (event).detail),
    );
    this.hear('/phalanx/scene', (payload) => this.onScene(readScene(readJson(payload))));
    this.hear('/phalanx/run', (payload) => this.onRun(readRun(readJson(payload), this.run)));
    this.hear('/phalanx/poses', (payload) => this.onPoses(payload));
    connection.addEventListener('channels', () => this.onChannels());
    this.listen();
    if (this.options.show) {
      for (const [name] of OVERLAYS) this.overlays.toggle(name, this.options.show.includes(name));
    }
    for (const [name] of OVERLAYS) this.look.mark(name, this.overlays.shown.has(name));
    this.sensors.wantsContacts = this.overlays.shown.has('contacts');
    this.hearGroups();
    this.look.markColour(this.colourMode);
    this.onConnection();
    connection.open();
    stage.start();
  }

  /**
   * Takes the messages of a topic; their time counts as work for the next frame.
   *
   * @param {string} topic
   * @param {(payload: DataView) => void} take
   */
  hear(topic, take) {
    this.connection.subscribe(topic, (payload) => {
      const begun = performance.now();
      take(payload);
      this.stage.spentMs += performance.now() - begun;
    });
  }

  applyTheme() {
    this.stage.setTheme(this.shell.theme);
    this.lights.setStrength(this.shell.theme === 'dark' ? 0.62 : 1);
  }

  listen() {
    const { rig } = this.stage;
    byId('veil-retry').addEventListener('click', () => this.connection.retry());
    byId('camera-fit').addEventListener('click', () => this.fit());
    byId('camera-above').addEventListener('click', () => rig.toggleAbove());
    byId('camera-orbit').addEventListener('click', () => rig.orbit());
    byId('camera-follow').addEventListener('click', () => this.follow());
    byId('camera-fly').addEventListener('click', () => this.toggleFly());
    byId('drive-button').addEventListener('click', () => this.toggleDrive());
    rig.addEventListener('mode', () => {
      for (const mode of ['orbit', 'follow', 'fly'])
        byId(`camera-${mode}`).setAttribute('aria-pressed', String(rig.mode === mode));
    });
    const world = /** @type {HTMLSelectElement} */ (byId('world'));
    world.addEventListener('change', () => {
      this.worldName = world.value;
      this.showWorld(true);
    });
    this.listenForClicks();
    addEventListener('keydown', (event) => this.keys.press(event));
  }

  listenForClicks() {
    const canvas = byId('canvas');
    /** @type {{ x: number, y: number } | null} */
    let pressed = null;
    canvas.addEventListener('pointerdown', (event) => {
      pressed = { x: event.clientX, y: event.clientY };
    });
    canvas.addEventListener('pointerup', (event) => {
      if (!pressed || event.button !== 0) return;
      const isClick = Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) < CLICK_PX;
      pressed = null;
      if (isClick) this.select(this.pick(event.clientX, event.clientY));
    });
    canvas.addEventListener('dblclick', (event) => {
      const entry = this.pick(event.clientX, event.clientY);
      if (!entry) return;
      this.select(entry);
      this.stage.rig.isTouched = true;
      this.stage.rig.fit(this.scene.boundsOf(entry).expandByScalar(1));
    });
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  pick(x, y) {
    const area = byId('canvas').getBoundingClientRect();
    const pointer = new Vector2(
      ((x - area.left) / area.width) * 2 - 1,
      1 - ((y - area.top) / area.height) * 2,
    );
    const ray = new Raycaster();
    ray.setFromCamera(pointer, this.stage.rig.camera);
    return this.scene.pick(ray)?.entry ?? null;
  }

  onConnection() {
    const { state } = this.connection;
    document.documentElement.dataset.connection = state;
    if (state === 'open') {
      this.updateVeil();
      return;
    }
    setText(byId('state'), state === 'connecting' ? 'connecting' : 'disconnected');
    byId('state').dataset.state = 'lost';
    this.updateVeil();
  }

  /** @param {{ level: number, message: string }} status */
  onStatus(status) {
    this.say(status.message, status.level >= 1 ? 'error' : 'note');
  }

  updateVeil() {
    const { state } = this.connection;
    const isFirst = this.message === null;
    if (state !== 'open') {
      this.shell.veil({
        title: isFirst ? 'Connecting' : 'Connection lost',
        text: isFirst
          ? 'The world appears as soon as the server answers.'
          : 'What is shown is the last that was heard. It is tried again by itself.',
        isSolid: isFirst,
        canRetry: state === 'waiting',
      });
    } else if (isFirst) {
      const text = this.run?.problem || 'Connected. The run has not told its world yet.';
      this.shell.veil({ title: 'Waiting for the world', text, isSolid: true, canRetry: false });
    } else if (this.run?.state === 'lost') {
      const text =
        this.run.problem ||
        'The server has no connection to the run. It goes on here when the run is back.';
      this.shell.veil({ title: 'Run lost', text, isSolid: false, canRetry: false });
    } else if (this.run?.state === 'ended') {
      const text = this.run.end
        ? `${this.run.end.outcome}: ${this.run.end.cause}`
        : 'What is shown is its end.';
      this.shell.veil({ title: 'Run ended', text, isSolid: false, canRetry: false });
    } else {
      this.shell.veil(null);
    }
  }

  /** @param {import('./contract.js').SceneMessage} message */
  onScene(message) {
    const isFirst = this.message === null;
    this.message = message;
    const names = message.worlds.map((world) => world.world);
    const select = /** @type {HTMLSelectElement} */ (byId('world'));
    select.hidden = names.length < 2;
    select.replaceChildren(...names.map((name) => new Option(name, name)));
    if (!names.includes(this.worldName)) this.worldName = names[0] ?? '';
    select.value = this.worldName;
    this.runPanel.setProblems(message.problems ?? []);
    const links = message.worlds.flatMap((world) => world.models.flatMap((model) => model.links));
    this.track.keepOnly(new Set(links.map((link) => link.id)));
    this.showWorld(isFirst);
    this.updateVeil();
  }

  /** @param {boolean} isFirst */
  showWorld(isFirst) {
    const worlds = this.message?.worlds ?? [];
    const world = worlds.find((one) => one.world === this.worldName);
    if (!world) return;
    const isOther = this.#shownWorld !== world.world;
    this.#shownWorld = world.world;
    const selected = this.selected?.name ?? this.options.select;
    this.scene.show(world);
    this.lights.show(world, (link) => this.track.slots.get(link));
    this.stage.show(world);
    this.#colourKeys = [];
    this.#isRecoloured = true;
    this.overlays.setWorld(world);
    this.select(this.scene.byName.get(selected) ?? null);
    if (isOther && !isFirst) {
      this.options.camera = null;
      this.stage.rig.isTouched = false;
    }
    if (isFirst || isOther) {
      this.#awaitsPoses = true;
      this.#awaitsMeshes = true;
      this.firstView();
    }
    document.documentElement.dataset.world = world.world;
    this.shell.announce(`World ${world.world} with ${world.models.length} models`);
  }

  /** Tells the camera what stands before the picture. */
  noteCovers() {
    const { rig } = this.stage;
    const canvas = byId('canvas').getBoundingClientRect();
    const [dock, rail, panel] = ['dock', 'rail', 'panel'].map((id) =>
      byId(id).getBoundingClientRect(),
    );
    const part = (/** @type {number} */ covered, /** @type {number} */ whole, most = 0.3) =>
      Math.min(Math.max(covered / (whole || 1), 0), most);
    rig.coveredBelow = dock.height > 0 ? part(canvas.bottom - dock.top, canvas.height) : 0;
    // On a phone the panel is a sheet that rises from below.
    const isSheet = !byId('panel').inert && panel.width >= canvas.width;
    if (isSheet) rig.coveredBelow = part(canvas.bottom - panel.top, canvas.height, 0.6);
    const isBeside = rail.height > rail.width;
    rig.coveredLeft = isBeside ? part(rail.right - canvas.left, canvas.width) : 0;
  }

  firstView() {
    this.noteCovers();
    const { camera } = this.options;
    if (camera) {
      this.stage.rig.moveTo(
        new Vector3(camera[0], camera[1], camera[2]),
        new Vector3(camera[3], camera[4], camera[5]),
        true,
      );
    } else {
      this.stage.rig.fit(this.worldBox(), { isFirst: true });
    }
    if (this.options.follow && this.selected) this.followSelected();
  }

  /** The box around all that is drawn but planes. */
  drawnBox() {
    const box = new Box3();
    for (const entry of this.scene.entries) {
      if (entry.bounds.some((bounds) => !bounds.isEmpty())) box.union(this.scene.boundsOf(entry));
    }
    return box;
  }

  /** The box around levels, or without these around models, but never planes. */
  worldBox() {
    const box = new Box3();
    const levels = (
      this.message?.worlds.find((one) => one.world === this.worldName)?.levels ?? []
    ).filter((level) => !level.default);
    if (levels.length > 0) {
      for (const { pose, size } of levels)
        box.union(
          new Box3().setFromCenterAndSize(
            new Vector3(pose[0], pose[1], pose[2]),
            new Vector3(...size),
          ),
        );
      // Levels may be far higher than what is in them.
      const drawn = this.drawnBox();
      if (drawn.isEmpty()) return box;
      box.min.z = Math.max(box.min.z, drawn.min.z - LEVEL_ROOM_M);
      box.max.z = Math.max(Math.min(box.max.z, drawn.max.z + LEVEL_ROOM_M), box.min.z);
      return box;
    }
    box.union(this.drawnBox());
    const performers = new Box3();
    for (const entry of this.scene.entries)
      if (entry.model.performer) performers.union(this.scene.boundsOf(entry));
    if (box.isEmpty())
      return performers.isEmpty()
        ? new Box3(new Vector3(-5, -5, 0), new Vector3(5, 5, 3))
        : performers;
    // A huge piece of ground would leave performers too small to see.
    const isHuge =
      !performers.isEmpty() &&
      box.getSize(new Vector3()).length() > 12 * performers.getSize(new Vector3()).length() + 60;
    return isHuge ? performers.expandByScalar(4) : box;
  }

  /**
   * Takes the time of a run, where poses do not tell it.
   *
   * @param {import('./contract.js').RunMessage} run
   */
  hearTime(run) {
    const nowMs = performance.now();
    this.#limbsAheadS = run.elapsed_s === null ? 0 : run.elapsed_s - run.sim_time_s;
    if (nowMs - this.#posesAt > POSES_SILENT_MS) this.#limbClock.take(run.sim_time_s, nowMs);
  }

  /** @param {import('./contract.js').RunMessage} run */
  onRun(run) {
    const before = this.run;
    this.run = run;
    this.hearTime(run);
    this.levelIndex = new Map(
      run.levels
        .filter((level) => !isDefaultLevel(level.name))
        .map((level) => [level.name, run.levels.indexOf(level)]),
    );
    if (before?.state !== run.state)
      this.shell.announce(`Run is ${STATES[run.state] ?? run.state}`);
    const pill = byId('state');
    setText(pill, STATES[run.state] ?? run.state);
    pill.dataset.state = run.state;
    setText(byId('run-name'), run.run || 'Phalanx');
    document.title = run.run ? `${run.run} – Phalanx` : 'Phalanx';
    this.controls.setRun(run);
    this.drive.setRobots(run.drive);
    this.overlays.setRun(run, this.levelIndex);
    if (run.recording) this.sensors.forgetLaterThan(run.sim_time_s);
    const names = [...run.owners, '', ...run.levels.map((level) => level.name)].join('\n');
    if (names !== this.#names) {
      this.#names = names;
      this.#isRecoloured = true;
    }
    this.showFigures(run);
    this.updateVeil();
    this.runPanel.takeEvents(run);
    if (performance.now() - this.#panelsAt > PANEL_MS) this.updatePanels();
  }

  /** @param {import('./contract.js').RunMessage} run */
  showFigures(run) {
    const figure = (
      /** @type {string} */ id,
      /** @type {string} */ text,
      /** @type {number} */ value,
    ) => {
      setText(byId(id), text);
      byId(id).dataset.value = String(value);
    };
    figure('sim-time', duration(run.sim_time_s), run.sim_time_s);
    figure('factor', times(run.real_time_factor), run.real_time_factor);
    figure('steps', whole(run.steps_per_second), run.steps_per_second);
    figure('iteration', whole(run.iteration), run.iteration);
  }

  updatePanels() {
    this.#panelsAt = performance.now();
    const { run } = this;
    if (!run) return;
    this.runPanel.setRun(run, this.levelIndex);
    this.performers.setRun(run, this.levelIndex);
    this.inspector.update(
      this.scene,
      this.track,
      run,
      this.selected?.model.performer ? this.categoryOf(this.selected.slot) : null,
    );
    const { framesPerS, frameMs, costMs, workMs, calls } = this.stage.figures();
    const { instances } = this.scene.counts();
    const how = this.stage.isSoftware ? ', without GPU' : '';
    setText(
      this.figures,
      `${fixed(framesPerS, 0)} frames/s, ${instances} shapes in ${calls} draw calls${how}`,
    );
    this.figures.dataset.frameMs = String(frameMs);
    this.figures.dataset.costMs = String(costMs);
    this.figures.dataset.workMs = String(workMs);
    this.look.showLegend(this.colourMode, {
      owners: run.owners,
      levels: run.levels.map((level) => level.name).filter((name) => !isDefaultLevel(name)),
      fastest: this.fastest,
    });
  }

  /** Offers groups where the server has them: recordings have none. */
  onChannels() {
    const channels = [...this.connection.channels.values()];
    this.look.offer(
      'groups',
      channels.some(({ topic }) => topic === GROUPS_TOPIC),
    );
  }

  /** Hears of groups while they are shown, and only then: they cost the run some work. */
  hearGroups() {
    const isShown = this.overlays.shown.has('groups');
    if (isShown === (this.#unhearGroups !== null)) return;
    this.#unhearGroups?.();
    this.#unhearGroups = null;
    this.overlays.groups.take(null);
    if (!isShown) return;
    this.#unhearGroups = this.connection.subscribe(GROUPS_TOPIC, (payload) => {
      this.overlays.groups.take(readJson(payload));
      document.documentElement.dataset.groups = String(this.overlays.groups.count);
      this.stage.invalidate();
    });
  }

  /** @param {DataView} payload */
  onPoses(payload) {
    const poses = readPoses(payload);
    this.#posesAt = performance.now();
    this.track.take(poses, this.#posesAt);
    this.#limbClock.take(poses.timeS, this.#posesAt);
    if (!this.#awaitsPoses) return;
    // Models are elsewhere by now than they were at the start.
    this.#awaitsPoses = false;
    this.track.settle();
    if (!this.stage.rig.isTouched) this.firstView();
  }

  /** Shows the whole world again once its meshes are seen, unless the camera was moved. */
  onMeshes() {
    if (!this.#awaitsMeshes) return;
    this.#awaitsMeshes = this.assets.isLoading;
    const { rig } = this.stage;
    if (!rig.isTouched && rig.mode === 'orbit' && !this.options.camera) this.firstView();
  }

  onSceneChange() {
    this.stage.invalidate();
    document.documentElement.dataset.loading = String(this.assets.isLoading);
  }

  /** @param {number} nowMs */
  beforeFrame(nowMs) {
    this.track.advance(performance.now());
    const hasGrown = this.scene.grow();
    const changed = this.scene.move();
    const elapsedS = this.#limbClock.at(performance.now()) + this.#limbsAheadS;
    const hasBent = this.scene.bend(elapsedS);
    if (hasGrown) this.onMeshes();
    const hasMoved = changed.size > 0;
    const hasChanged = hasMoved || hasBent || this.#isRecoloured || this.assets.isLoading;
    if (hasMoved || this.#isRecoloured) this.recolour();
    if (hasMoved) this.sensors.move();
    const isAnimated = this.overlays.update(nowMs, hasMoved, (slot) => this.categoryOf(slot));
    this.lights.move(this.track.shown, this.stage.rig.target);
    this.lights.follow(this.stage.rig.target, this.stage.rig.distance);
    // Tests and recorders of pictures wait for this.
    this.#quiet = hasChanged || isAnimated ? 0 : this.#quiet + 1;
    const isSettled = this.message !== null && this.run !== null && this.#quiet > 2;
    document.documentElement.dataset.settled = String(isSettled);
    return hasMoved || hasBent || hasGrown || isAnimated;
  }

  /**
   * Returns the colour by which lines and swatches show a link: that of the mode, or of its level.
   *
   * @param {number} slot
   */
  categoryOf(slot) {
    if (this.colourMode === 'owner') return categoryColour(this.track.owner[slot]);
    if (this.colourMode === 'speed') return speedColour(this.track.speed[slot], this.fastest);
    return this.levelColour(slot);
  }

  /** @param {number} slot */
  levelColour(slot) {
    const level = this.run?.levels[this.track.level[slot]];
    return categoryColour(level && !isDefaultLevel(level.name) ? this.track.level[slot] : -1);
  }

  /** Colours links anew where the mode's figure of any has changed. */
  recolour() {
    if (this.colourMode === 'material' && !this.#isRecoloured) return;
    const { track } = this;
    if (this.colourMode === 'speed') this.scaleSpeeds();
    const key = (/** @type {number} */ slot) =>
      this.colourMode === 'owner'
        ? track.owner[slot]
        : this.colourMode === 'level'
          ? track.level[slot]
          : Math.round((track.speed[slot] / this.fastest) * 64);
    const keys = this.scene.links.map((_, slot) => key(slot));
    const isSame =
      keys.length === this.#colourKeys.length &&
      keys.every((one, slot) => one === this.#colourKeys[slot]);
    if (isSame && !this.#isRecoloured) return;
    this.#isRecoloured = false;
    this.#colourKeys = keys;
    this.scene.colour(this.colourMode === 'material' ? null : (slot) => this.categoryOf(slot));
  }

  scaleSpeeds() {
    const most = this.track.speed.reduce((sum, one) => Math.max(sum, one), 0);
    const nice = niceCeiling(most);
    if (most > this.fastest || most < this.fastest * SCALE_SHRINK) this.fastest = nice;
  }

  /** @param {import('./colours.js').ColourMode} mode */
  setColour(mode) {
    this.colourMode = mode;
    this.look.markColour(mode);
    this.#isRecoloured = true;
    this.recolour();
    this.updatePanels();
    this.stage.invalidate();
  }

  /** @param {import('./overlays.js').Overlay} overlay */
  toggleOverlay(overlay) {
    const isShown = !this.overlays.shown.has(overlay);
    this.overlays.toggle(overlay, isShown);
    this.look.mark(overlay, isShown);
    this.hearGroups();
    if (overlay === 'contacts') this.sensors.wantsContacts = isShown;
  }

  /** @returns {import('./look_panel.js').Switch[]} */
  switches() {
    const { stage, scene } = this;
    return [
      {
        name: 'grid',
        label: 'Grid',
        key: 'r',
        get: () => stage.showsGrid,
        set: (isOn) => this.setSwitch('grid', isOn),
      },
      {
        name: 'collisions',
        label: 'Collision shapes',
        key: 'i',
        get: () => scene.showsCollisions,
        set: (isOn) => this.setSwitch('collisions', isOn),
      },
      {
        name: 'background',
        label: 'Background of the world',
        get: () => stage.usesWorldBackground,
        set: (isOn) => this.setSwitch('background', isOn),
      },
    ];
  }

  /**
   * @param {string} name
   * @param {boolean} isOn
   */
  setSwitch(name, isOn) {
    if (name === 'grid') this.stage.showsGrid = isOn;
    else if (name === 'collisions') this.scene.showsCollisions = isOn;
    else this.stage.usesWorldBackground = isOn;
    this.look.mark(name, isOn);
    this.stage.invalidate();
  }

  /** @param {import('./scene.js').ModelEntry | null} entry */
  select(entry) {
    this.selected = entry;
    this.inspector.show(entry);
    this.overlays.select(entry);
    this.performers.select(entry?.name ?? '');
    if (entry) this.shell.announce(`${entry.name} selected`);
    else if (this.stage.rig.mode === 'follow') this.stage.rig.orbit();
    this.updatePanels();
    this.stage.invalidate();
  }

  /**
   * @param {string} name
   * @param {boolean} moves the camera to it
   */
  selectByName(name, moves) {
    const entry = this.scene.byName.get(name) ?? null;
    if (!entry) {
      this.say(`${name} is not in the world that is shown.`);
      return;
    }
    this.select(entry);
    if (!moves) return;
    const { rig } = this.stage;
    rig.isTouched = true;
    const place = this.scene.positionOf(entry.slot);
    const offset = rig.camera.position.clone().sub(rig.target);
    rig.moveTo(place.clone().add(offset.setLength(Math.min(offset.length(), 12))), place);
  }

  /** Follows the selected model, or ceases to. */
  follow() {
    const { rig } = this.stage;
    if (rig.mode === 'follow') {
      rig.orbit();
      return;
    }
    if (!this.selected) {
      this.say('Select a model to follow: click it, or choose it in Performers.');
      return;
    }
    this.followSelected();
  }

  followSelected() {
    this.stage.rig.follow(() => (this.selected ? this.scene.positionOf(this.selected.slot) : null));
  }

  toggleFly() {
    const { rig } = this.stage;
    if (rig.mode === 'fly') {
      rig.orbit();
      return;
    }
    rig.fly();
    byId('canvas').focus();
    this.say('Flying: w a s d move, q e down and up, drag to look, Shift is faster, Esc ends.');
  }

  toggleDrive() {
    if (this.drive.isActive) this.drive.leave();
    else this.drive.begin(this.selected?.name ?? null);
  }

  onDrive() {
    byId('drive-button').setAttribute('aria-pressed', String(this.drive.isActive));
    const { robot } = this.drive;
    if (!robot) return;
    byId('canvas').focus();
    const entry = this.scene.byName.get(robot.model);
    if (entry && this.selected !== entry) this.select(entry);
    if (entry && this.stage.rig.mode !== 'follow') this.follow();
  }

  /** Shows the whole world. */
  fit() {
    if (this.stage.rig.mode !== 'orbit') this.stage.rig.orbit();
    this.noteCovers();
    this.stage.rig.fit(this.worldBox());
  }

  /** Goes one step back: out of help, driving, flying or following, then the selection. */
  back() {
    const { rig } = this.stage;
    if (this.drive.isActive) this.drive.leave();
    else if (rig.mode !== 'orbit') rig.orbit();
    else if (this.selected) this.select(null);
  }

  async copyLink() {
    const { camera, target } = this.stage.rig;
    const fragment = writeOptions({
      world: (this.message?.worlds.length ?? 0) > 1 ? this.worldName : '',
      colour: this.colourMode,
      show: [...this.overlays.shown],
      camera: [...camera.position.toArray(), ...target.toArray()],
      select: this.selected?.name ?? '',
      follow: this.stage.rig.mode === 'follow',
    });
    try {
      await navigator.clipboard.writeText(`${location.origin}/${fragment}`);
      this.say('The link is copied, without the token.');
    } catch {
      this.say(`${location.origin}/${fragment}`);
    }
  }

  /** Saves the layout by which Foxglove shows what the run has. */
  async saveLayout() {
    const { token } = this.options;
    const headers = /** @type {Record<string, string>} */ (
      token ? { Authorization: `Bearer ${token}` } : {}
    );
    try {
      const response = await fetch('/foxglove.json', { headers });
      if (!response.ok) throw new Error(response.statusText);
      const address = URL.createObjectURL(await response.blob());
      element('a', { href: address, download: 'phalanx-foxglove.json' }).click();
      setTimeout(() => URL.revokeObjectURL(address), 1000);
    } catch (error) {
      this.say(`The layout cannot be had: ${/** @type {Error} */ (error).message}`, 'error');
    }
  }

  /** Tells whether time runs. */
  get plays() {
    return this.run !== null && isPlaying(this.run.state);
  }
}

new Page().start();

export { Page };
