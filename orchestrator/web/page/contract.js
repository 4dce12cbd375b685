// @ts-check
/**
 * Types of the messages between page and server, as docs/web.md describes them, and readers that
 * give every part that may be absent its default.
 *
 * @module contract
 */

/** @typedef {[number, number, number]} Triple */
/**
 * @typedef {[number, number, number, number, number, number, number]} Pose position [m], quaternion
 *   x, y, z, w
 */

/**
 * @typedef {object} Geometry
 * @property {string} type `box`, `sphere`, `cylinder`, `capsule`, `ellipsoid`, `cone`, `plane`,
 *   `mesh`, `heightmap` or `empty`
 * @property {number[]} [size] edge lengths [m]
 * @property {number} [radius] [m]
 * @property {number} [length] [m]
 * @property {Triple} [radii] half axes [m]
 * @property {Triple} [normal] unit vector
 * @property {string} [asset] address of a GLB
 * @property {Triple} [scale] factors of a mesh
 */

/**
 * @typedef {object} Ground layers over a texture
 * @property {string} shares image of what each layer covers: red, green and blue of the first three
 * @property {[number, number, number, number]} shares_at factors of coordinates, and what is added
 * @property {{ texture: string, repeat: number }[]} layers the lowest first
 */

/**
 * @typedef {object} Material
 * @property {number[]} diffuse red, green, blue, alpha, 0 to 1
 * @property {number[]} [emissive]
 * @property {number[]} [specular] factors of highlights
 * @property {number} [shininess] exponent of highlights; 0 where roughness says how wide they are
 * @property {number} [metalness]
 * @property {number} [roughness]
 * @property {number} [transparency]
 * @property {string | null} [texture]
 * @property {[number, number]} [texture_repeat]
 * @property {string | null} [normal_map]
 * @property {string | null} [roughness_map]
 * @property {string | null} [metalness_map]
 * @property {string | null} [emissive_map]
 * @property {boolean} [double_sided]
 * @property {boolean} [lighting]
 * @property {Ground | null} [ground] layers over the texture
 */

/**
 * @typedef {object} Shape
 * @property {string} name
 * @property {Pose} pose link frame
 * @property {Geometry} geometry
 * @property {Material | null} [material]
 * @property {number} [transparency]
 * @property {boolean} [cast_shadows]
 */

/**
 * @typedef {object} Link
 * @property {number} id
 * @property {string} name
 * @property {Pose} pose world frame, at the start
 * @property {Shape[]} visuals
 * @property {Shape[]} [collisions]
 */

/**
 * @typedef {object} Model
 * @property {number} id
 * @property {string} name
 * @property {boolean} performer
 * @property {boolean} static
 * @property {Pose} [pose] of its origin at the start, world frame
 * @property {number} [canonical_link] index of the link that its origin is attached to
 * @property {Link[]} links
 * @property {Motion | null} [motion] of an actor
 */

/** @typedef {{ time_s: number, pose: { position: number[] } }} Waypoint */

/** @typedef {{ animation: string, waypoints: Waypoint[] }} Trajectory */

/**
 * @typedef {object} Script
 * @property {boolean} is_loop
 * @property {number} delay_s
 * @property {boolean} starts_by_itself
 * @property {Trajectory[]} trajectories
 */

/**
 * @typedef {object} Motion
 * @property {Script} script
 * @property {string[]} by_distance names of animations that go on with the way and not with time
 * @property {number} scale of the mesh that limbs move
 */

/** @typedef {{ name: string, pose: Pose, size: Triple, buffer: number, default: boolean }} Level */

/**
 * @typedef {object} Light
 * @property {string} name
 * @property {'directional' | 'point' | 'spot'} type
 * @property {number | null} [link]
 * @property {Pose} pose frame of its link, or world frame
 * @property {Triple} diffuse
 * @property {Triple} [specular] amounts of light in highlights
 * @property {Triple} direction
 * @property {number} [intensity]
 * @property {number} [range] [m]
 * @property {{ inner_angle: number, outer_angle: number } | null} [spot]
 * @property {{ constant?: number, linear?: number, quadratic?: number }} [attenuation]
 * @property {boolean} [cast_shadows]
 */

/** @typedef {{ type: string, color: Triple, start: number, end: number, density: number }} Fog */

/**
 * @typedef {object} World
 * @property {string} world
 * @property {Triple} [gravity]
 * @property {Triple} [ambient]
 * @property {Triple} [background]
 * @property {boolean} [shadows]
 * @property {Fog | null} [fog]
 * @property {{ time: number, sunrise: number, sunset: number } | null} [sky] hours of the day
 * @property {Light[]} lights
 * @property {Model[]} models
 * @property {Level[]} levels
 */

/** @typedef {{ frame?: string, worlds: World[], problems?: string[] }} SceneMessage */

/**
 * @typedef {object} Secondary
 * @property {string} name
 * @property {string} [state]
 * @property {number} [physics_us]
 * @property {number} [systems_us]
 * @property {number} [sensors_us]
 * @property {number} [busy_us]
 * @property {number} [wait_us]
 * @property {number} [blocked_us]
 * @property {number} [last_share]
 * @property {boolean} [blocking]
 * @property {number} [cpu]
 * @property {number} [memory_bytes]
 * @property {string[] | number} [performers]
 * @property {string} [host] the machine that it runs on
 * @property {HostLoad | null} [host_load]
 */

/**
 * @typedef {object} HostLoad
 * @property {number} load_average processes that run or wait for a core
 * @property {number} cores
 * @property {number} memory_bytes
 * @property {number} available_bytes memory that programs can have without swapping
 */

/** @typedef {{ host: string, secondaries: string[], load: HostLoad | null }} HostFigures */

/**
 * @typedef {object} LevelFigures
 * @property {string} name
 * @property {string} [world]
 * @property {boolean} active
 * @property {boolean} [suspended]
 * @property {string | null} owner
 * @property {string[] | number} [performers]
 * @property {string[]} [ghosts]
 * @property {number} [hand_offs]
 * @property {number} [physics_us]
 */

/**
 * @typedef {object} PerformerFigures
 * @property {string} name
 * @property {string} [world]
 * @property {string | null} owner
 * @property {string} level
 * @property {string[]} [levels]
 * @property {string[] | null} [ghosts]
 * @property {number} [hand_offs]
 * @property {number} [speed] [m/s]
 */

/**
 * @typedef {object} RunEvent
 * @property {number} [number]
 * @property {number} iteration
 * @property {string} [severity]
 * @property {string} kind
 * @property {string} text
 */

/**
 * @typedef {object} RunMessage
 * @property {string} run
 * @property {string} state
 * @property {number} iteration
 * @property {number} sim_time_s
 * @property {number | null} elapsed_s time by which actors move, where it is another one
 * @property {number} real_time_factor
 * @property {number} steps_per_second
 * @property {number} pace real-time factor asked for, 0 is as fast as possible
 * @property {{ peer: string, reason?: string } | null} holder
 * @property {string[]} owners
 * @property {boolean} read_only
 * @property {{ start_s: number, end_s: number, speed?: number } | null} recording
 * @property {{ model: string, topic: string }[]} drive
 * @property {string} digest
 * @property {Secondary[]} secondaries
 * @property {LevelFigures[]} levels
 * @property {PerformerFigures[]} performers
 * @property {RunEvent[]} events
 * @property {{ outcome: string, cause: string } | null} end of a run that ended
 * @property {string} problem reason why the run does not let the server in; empty if there is none
 */

/**
 * Reads a run message. Where there are many performers, not every message tells them.
 *
 * @param {any} raw
 * @param {RunMessage | null} [before] the message before
 * @returns {RunMessage}
 */
export function readRun(raw, before = null) {
  const number = (/** @type {any} */ value) => (Number.isFinite(value) ? value : 0);
  const list = (/** @type {any} */ value) => (Array.isArray(value) ? value : []);
  return {
    run: String(raw.run ?? ''),
    state: String(raw.state ?? 'waiting'),
    iteration: number(raw.iteration),
    sim_time_s: number(raw.sim_time_s),
    elapsed_s: Number.isFinite(raw.elapsed_s) ? raw.elapsed_s : null,
    real_time_factor: number(raw.real_time_factor),
    steps_per_second: number(raw.steps_per_second),
    pace: number(raw.pace),
    holder: raw.holder ?? null,
    owners: list(raw.owners),
    read_only: raw.read_only === true,
    recording: raw.recording ?? null,
    drive: list(raw.drive),
    digest: String(raw.digest ?? ''),
    secondaries: list(raw.secondaries),
    levels: list(raw.levels),
    performers: raw.performers === undefined && before ? before.performers : list(raw.performers),
    end: raw.end ?? null,
    problem: typeof raw.problem === 'string' ? raw.problem : '',
    events: list(raw.events),
  };
}

/**
 * Reads a scene message.
 *
 * @param {any} raw
 * @returns {SceneMessage}
 */
export function readScene(raw) {
  const worlds = Array.isArray(raw.worlds) ? raw.worlds : [];
  return {
    worlds: worlds.map((/** @type {any} */ world) => ({
      ...world,
      lights: world.lights ?? [],
      models: world.models ?? [],
      levels: world.levels ?? [],
    })),
    problems: raw.problems ?? [],
  };
}

/**
 * Returns how many a field counts that is either a number or a list of names.
 *
 * @param {string[] | number | undefined} value
 */
export function countOf(value) {
  return Array.isArray(value) ? value.length : (value ?? 0);
}

/**
 * Returns the hosts of secondaries by name, each with its load as it was heard last.
 *
 * @param {Secondary[]} secondaries
 * @returns {HostFigures[]}
 */
export function byHost(secondaries) {
  /** @type {Map<string, HostFigures>} */
  const hosts = new Map();
  for (const { name, host, host_load: load } of secondaries) {
    if (!host) continue;
    const one = hosts.get(host) ?? { host, secondaries: [], load: null };
    one.secondaries.push(name);
    one.load = load ?? one.load;
    hosts.set(host, one);
  }
  return [...hosts.values()].toSorted((a, b) => (a.host < b.host ? -1 : 1));
}

/**
 * Tells whether time runs in a state of a run.
 *
 * @param {string} state
 */
export function isPlaying(state) {
  return state === 'running' || state === 'playing';
}

/**
 * Tells whether a level stands for performers that are in none, of the only world or of one of
 * several, or for a part of these.
 *
 * @param {string} name
 */
export function isDefaultLevel(name) {
  return /^(.*::)?default(\/+\d+)?$/.test(name);
}
