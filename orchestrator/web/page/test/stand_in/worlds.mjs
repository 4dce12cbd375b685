// Worlds that the stand-in shows, with motions that follow from the time alone.

const AT = (x, y, z = 0, yaw = 0) => [x, y, z, 0, 0, Math.sin(yaw / 2), Math.cos(yaw / 2)];
const ORIGIN = AT(0, 0);
const PALETTE = [
  [0.85, 0.87, 0.9],
  [0.27, 0.33, 0.42],
  [0.93, 0.72, 0.32],
  [0.55, 0.68, 0.8],
  [0.75, 0.42, 0.36],
];
const material = ([red, green, blue], more = {}) => ({
  diffuse: [red, green, blue, 1],
  specular: [0, 0, 0, 1],
  emissive: [0, 0, 0, 1],
  metalness: 0,
  roughness: 0.7,
  transparency: 0,
  texture: null,
  texture_repeat: [1, 1],
  double_sided: false,
  lighting: true,
  ...more,
});
const visual = (name, geometry, pose = ORIGIN, look = material(PALETTE[0])) => ({
  name,
  pose,
  geometry,
  material: look,
  transparency: 0,
  cast_shadows: true,
});

/** Quaternion that turns an axis from z to y. */
const ASIDE = [0, 0, 0, Math.SQRT1_2, 0, 0, Math.SQRT1_2];

function rover(colour) {
  const dark = material([0.16, 0.17, 0.19]);
  const wheel = (x, y) =>
    visual(
      'wheel',
      { type: 'cylinder', radius: 0.14, length: 0.08 },
      [x, y, 0.14, ...ASIDE.slice(3)],
      dark,
    );
  return [
    visual('body', { type: 'box', size: [0.8, 0.46, 0.2] }, AT(0, 0, 0.27), material(colour)),
    visual('mast', { type: 'cylinder', radius: 0.05, length: 0.2 }, AT(0.18, 0, 0.46), dark),
    visual('eye', { type: 'sphere', radius: 0.09 }, AT(0.18, 0, 0.6), material([0.93, 0.94, 0.95])),
    wheel(0.26, 0.27),
    wheel(0.26, -0.27),
    wheel(-0.26, 0.27),
    wheel(-0.26, -0.27),
  ];
}

function ground(side) {
  return {
    id: 0,
    name: 'ground',
    performer: false,
    static: true,
    pose: ORIGIN,
    canonical_link: 0,
    links: [
      {
        id: 0,
        name: 'link',
        pose: ORIGIN,
        collisions: [],
        visuals: [
          visual(
            'plane',
            { type: 'plane', normal: [0, 0, 1], size: [side, side] },
            ORIGIN,
            material([0.86, 0.87, 0.88]),
          ),
        ],
      },
    ],
  };
}

/** So many performers in a square of levels, with walls between. */
export function crowd(count) {
  const across = count > 200 ? 4 : 2;
  const side = count > 200 ? 22 : 14;
  const secondaries = across * across >= 16 ? ['s1', 's2', 's3', 's4'] : ['s1', 's2'];
  const half = (across * side) / 2;
  const models = [ground(across * side + 40)];
  const levels = [];
  for (let row = 0; row < across; row += 1) {
    for (let column = 0; column < across; column += 1) {
      const [x, y] = [(column + 0.5) * side - half, (row + 0.5) * side - half];
      levels.push({
        name: `hall_${row + 1}${'abcd'[column]}`,
        pose: AT(x, y, 1.5),
        size: [side, side, 3],
        buffer: 1.5,
        default: false,
      });
      const id = models.length;
      models.push({
        id,
        name: `shelf_${id}`,
        performer: false,
        static: true,
        pose: AT(x, y),
        canonical_link: 0,
        links: [
          {
            id,
            name: 'link',
            pose: AT(x, y, 0, (row + column) % 2 ? 0 : Math.PI / 2),
            collisions: [],
            visuals: [
              visual(
                'rack',
                { type: 'box', size: [4, 0.7, 1.8] },
                AT(0, 0, 0.9),
                material([0.62, 0.67, 0.72]),
              ),
              visual(
                'top',
                { type: 'box', size: [4.1, 0.8, 0.06] },
                AT(0, 0, 1.83),
                material([0.42, 0.47, 0.53]),
              ),
            ],
          },
        ],
      });
    }
  }
  const place = (index, time) => {
    const seed = index * 2.399963;
    const reach = half - 1.2;
    const speed = 0.05 + 0.08 * ((index * 0.618) % 1);
    const x = reach * Math.sin(seed * 1.7 + time * speed);
    const y = reach * Math.sin(seed * 2.9 + time * speed * 0.83 + 1);
    const vx = reach * speed * Math.cos(seed * 1.7 + time * speed);
    const vy = reach * speed * 0.83 * Math.cos(seed * 2.9 + time * speed * 0.83 + 1);
    return { pose: AT(x, y, 0, Math.atan2(vy, vx)), velocity: [vx, vy, 0] };
  };
  const performers = [];
  for (let index = 0; index < count; index += 1) {
    const id = models.length;
    const name = `rover_${index + 1}`;
    const { pose } = place(index, 0);
    performers.push({ name, link: id });
    models.push({
      id,
      name,
      performer: true,
      static: false,
      pose,
      canonical_link: 0,
      links: [
        { id, name: 'base', pose, collisions: [], visuals: rover(PALETTE[index % PALETTE.length]) },
      ],
    });
  }
  return {
    name: 'crowd',
    world: world('warehouse', models, levels),
    performers,
    place,
    secondaries,
    hasSensors: true,
  };
}

/** One of each shape, with materials. */
export function shapes() {
  const models = [ground(30)];
  const kinds = [
    ['box', { type: 'box', size: [0.8, 0.8, 0.8] }, material([0.8, 0.36, 0.3])],
    [
      'sphere',
      { type: 'sphere', radius: 0.45 },
      material([0.25, 0.5, 0.75], { metalness: 0.9, roughness: 0.25 }),
    ],
    ['cylinder', { type: 'cylinder', radius: 0.4, length: 0.9 }, material([0.35, 0.62, 0.45])],
    ['capsule', { type: 'capsule', radius: 0.3, length: 0.6 }, material([0.93, 0.72, 0.32])],
    ['ellipsoid', { type: 'ellipsoid', radii: [0.6, 0.35, 0.3] }, material([0.6, 0.45, 0.7])],
    ['cone', { type: 'cone', radius: 0.45, length: 0.9 }, material([0.3, 0.6, 0.65])],
    [
      'glass',
      { type: 'box', size: [0.8, 0.8, 0.8] },
      material([0.4, 0.6, 0.8], { diffuse: [0.4, 0.6, 0.8, 0.4] }),
    ],
    [
      'crate',
      { type: 'box', size: [0.8, 0.8, 0.8] },
      material([1, 1, 1], { texture: '/assets/checker.png' }),
    ],
    ['mesh', { type: 'mesh', asset: '/assets/pyramid.glb', scale: [1, 1, 1] }, null],
  ];
  const performers = [];
  kinds.forEach(([name, geometry, look], index) => {
    const id = models.length;
    performers.push({ name, link: id });
    const pose = AT((index % 3) * 1.8 - 1.8, Math.floor(index / 3) * 1.8 - 1.8, 0.6);
    models.push({
      id,
      name,
      performer: true,
      static: false,
      pose,
      canonical_link: 0,
      links: [
        {
          id,
          name: 'link',
          pose,
          visuals: [visual('visual', geometry, ORIGIN, look)],
          collisions: [
            { name: 'collision', pose: ORIGIN, geometry: { type: 'box', size: [1, 1, 1] } },
          ],
        },
      ],
    });
  });
  const place = (index, time) => ({
    pose: AT(
      (index % 3) * 1.8 - 1.8,
      Math.floor(index / 3) * 1.8 - 1.8,
      0.6,
      0.5 + time * 0.3 * (index % 2 ? 1 : -1),
    ),
    velocity: [0, 0, 0],
  });
  return {
    name: 'shapes',
    world: world('shapes', models, []),
    performers,
    place,
    secondaries: ['s1'],
  };
}

/**
 * Three robots that stand where `places` says, the first of them in one level and in the buffer of
 * another. Nothing moves by itself.
 */
export function still() {
  const levels = ['west', 'east'].map((name, index) => ({
    name,
    pose: AT(index * 6 - 3, 0, 1),
    size: [6, 6, 2],
    buffer: 1,
    default: false,
  }));
  const places = [AT(-0.6, 0), AT(2, 1.4), AT(2, -1.4)];
  const models = [ground(30)];
  const performers = places.map((pose, index) => {
    const [id, name] = [index + 1, `rover_${index + 1}`];
    const links = [
      {
        id,
        name: 'base',
        pose,
        collisions: [
          { name: 'hull', pose: AT(0, 0, 0.3), geometry: { type: 'sphere', radius: 0.6 } },
        ],
        visuals: rover([0.7, 0.7, 0.7]),
      },
    ];
    models.push({ id, name, performer: true, static: false, pose, canonical_link: 0, links });
    return { name, link: id };
  });
  return {
    name: 'still',
    world: world('yard', models, levels),
    performers,
    places,
    place: (index) => ({ pose: places[index], velocity: [index, 0, 0] }),
    secondaries: ['s1', 's2'],
    hasSensors: true,
  };
}

/** The same with an actor, whose limbs move with the time while it stands. */
export function acting() {
  const own = still();
  const pose = AT(0, -2);
  own.world.models.push({
    id: 9,
    name: 'walker',
    performer: false,
    static: false,
    pose,
    canonical_link: 0,
    links: [
      {
        id: 9,
        name: 'link',
        pose,
        collisions: [],
        visuals: [
          visual(
            'skin',
            { type: 'mesh', asset: '/assets/walker.glb', scale: [1, 1, 1] },
            ORIGIN,
            null,
          ),
        ],
      },
    ],
    motion: {
      origin: pose,
      script: { is_loop: true, delay_s: 0, starts_by_itself: true, trajectories: [] },
      by_distance: [],
      scale: 1,
    },
  });
  return own;
}

/** A world of one mesh that is far larger than what is known of it before its file comes. */
export function tower() {
  const links = [
    {
      id: 1,
      name: 'link',
      pose: AT(0, 0),
      collisions: [],
      visuals: [
        visual(
          'mesh',
          { type: 'mesh', asset: '/assets/pyramid.glb', scale: [40, 40, 90] },
          ORIGIN,
          null,
        ),
      ],
    },
  ];
  const model = { id: 1, name: 'tower', performer: false, static: true, canonical_link: 0 };
  return {
    name: 'tower',
    world: world('tower', [ground(30), { ...model, pose: ORIGIN, links }], []),
    performers: [],
    place: () => ({ pose: ORIGIN, velocity: [0, 0, 0] }),
    secondaries: ['s1'],
  };
}

function world(name, models, levels) {
  return {
    world: name,
    gravity: [0, 0, -9.8],
    ambient: [0.4, 0.4, 0.4],
    background: [0.7, 0.7, 0.7],
    sky: null,
    fog: null,
    grid: false,
    shadows: true,
    lights: [],
    models,
    levels: [
      ...levels,
      { name: 'default', pose: ORIGIN, size: [0, 0, 0], buffer: 0, default: true },
    ],
  };
}

/** Index of the level that a place is in; that of the default one if in none. */
export function levelAt(levels, x, y) {
  const found = levels.findIndex(
    (level) =>
      !level.default &&
      Math.abs(x - level.pose[0]) <= level.size[0] / 2 &&
      Math.abs(y - level.pose[1]) <= level.size[1] / 2,
  );
  return found === -1 ? levels.length - 1 : found;
}

/** Levels whose buffer a place is in. */
export function buffersAt(levels, x, y) {
  return levels.flatMap((level, index) => {
    const [dx, dy] = [
      Math.abs(x - level.pose[0]) - level.size[0] / 2,
      Math.abs(y - level.pose[1]) - level.size[1] / 2,
    ];
    const outside = Math.max(dx, dy);
    return !level.default && outside > 0 && outside <= level.buffer ? [index] : [];
  });
}
