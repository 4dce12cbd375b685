//! Worlds full of what could go wrong at borders, with few bodies and much going on: each makes
//! hand-offs through its whole run.

use sdf::World;

use super::scene::{Scene, Surface};

const GRAVITY: [f64; 3] = [0.0, 0.0, -9.8];

/// Two ramps that fall towards x = 0 and go on below each other, `slope` \[rad\].
fn valley(scene: &mut Scene, slope: f64, surface: Surface) -> Vec<String> {
    for (name, side) in [("west", -1.0), ("east", 1.0)] {
        // The upper face passes through the origin.
        let (sine, cosine) = slope.sin_cos();
        let (along, below) = (5.0 - 0.5 * sine, 0.5);
        let x = side * (along * cosine + below * sine);
        let z = along * sine - below * cosine;
        let pose = [x, 0.0, z, 0.0, -side * slope, 0.0];
        scene.fixed(name, pose, [10.0, 10.0, 1.0], surface);
    }
    vec!["west".to_owned(), "east".to_owned()]
}

/// A tower of boxes on the corner of four levels falls, and slides on over the borders of more.
pub fn piles() -> World {
    let mut scene = Scene::new("piles", [0.9, 0.4, -9.8]);
    scene.fixed(
        "floor",
        [0.0, 0.0, -0.5, 0.0, 0.0, 0.0],
        [20.0, 20.0, 1.0],
        Surface::rough(0.09),
    );
    for index in 0..8 {
        let height = f64::from(index);
        let pose = [
            0.08 * height,
            0.05 * height,
            0.15 + 0.301 * height,
            0.0,
            0.0,
            0.3 * height,
        ];
        let name = format!("box_{index}");
        scene.cuboid(&name, pose, [0.4, 0.3, 0.3], Surface::rough(0.4));
    }
    for (row, y) in [(0, -0.6), (1, 0.6)] {
        for column in 0..8 {
            let x = -0.5 + 0.8 * f64::from(column);
            let name = format!("L{row}_{column}");
            scene.level(&name, [x, y, 2.0], [0.8, 1.2, 5.0], 0.3, &[]);
        }
    }
    scene.build()
}

/// Robots on wheels roll down into a valley, past each other and up again.
pub fn robots() -> World {
    let mut scene = Scene::new("robots", [1.2, 0.0, -9.8]);
    let floors: Vec<String> = (0..6).map(|index| format!("floor_{index}")).collect();
    for (index, name) in floors.iter().enumerate() {
        let x = 1.5 * index as f64;
        let pose = [x, 0.0, -0.5, 0.0, 0.0, 0.0];
        scene.fixed(name, pose, [1.5, 8.0, 1.0], Surface::rough(1.0));
    }
    scene.fixed(
        "wall",
        [8.0, 0.0, 0.5, 0.0, 0.0, 0.0],
        [0.5, 8.0, 1.0],
        Surface::elastic(0.8),
    );
    for (index, y) in [-1.0, 0.0, 1.0].into_iter().enumerate() {
        let x = -0.3 + 0.4 * index as f64;
        scene.robot(&format!("robot_{index}"), [x, y, 0.02 * y]);
    }
    scene.levels_along_x(-0.75, 1.5, 6, 0.4, |index| {
        let index = index as usize;
        let range = index.saturating_sub(1)..(index + 2).min(floors.len());
        let mut models = floors[range].to_vec();
        if index >= 4 {
            models.push("wall".to_owned());
        }
        models
    });
    scene.build()
}

/// Models that joints of the world hold together slide to and fro through a valley.
pub fn joined() -> World {
    let mut scene = Scene::new("joined", GRAVITY);
    let floors = valley(&mut scene, 0.25, Surface::ICE);
    let place = |x: f64, y: f64| [x, y, 0.5 + 0.26 * x.abs(), 0.0, 0.0, 0.0];
    for (name, x, y) in [
        ("chain_0", -2.0, -1.0),
        ("chain_1", -1.6, -1.0),
        ("chain_2", -1.2, -1.0),
        ("pair_0", 1.0, 0.5),
        ("pair_1", 1.4, 0.5),
        ("arm_0", -0.8, 1.5),
        ("arm_1", -0.4, 1.5),
    ] {
        scene.cuboid(name, place(x, y), [0.2; 3], Surface::ICE);
    }
    scene.joint("ball", "chain_0", "chain_1", None);
    scene.joint("ball", "chain_1", "chain_2", None);
    scene.joint("revolute", "pair_0", "pair_1", Some([0.0, 1.0, 0.0]));
    scene.joint("fixed", "arm_0", "arm_1", None);
    scene.levels_along_x(-3.0, 1.0, 6, 0.3, |_| floors.clone());
    scene.build()
}

/// Boxes slide from both sides into each other exactly where two levels meet, and over a level so
/// narrow that a chain of them lies in three cells.
pub fn borders() -> World {
    let mut scene = Scene::new("borders", GRAVITY);
    let floors = valley(&mut scene, 0.3, Surface::elastic(0.9));
    for (index, x) in [-2.2_f64, -1.7, -0.9, 0.9, 1.6, 2.5]
        .into_iter()
        .enumerate()
    {
        let slope: f64 = if x < 0.0 { 0.3 } else { -0.3 };
        let z = 0.02 + x.abs() * 0.3_f64.tan() + 0.15 / 0.3_f64.cos();
        let pose = [x, 0.0, z, 0.0, slope, 0.0];
        let name = format!("box_{index}");
        scene.cuboid(&name, pose, [0.3; 3], Surface::elastic(0.9));
    }
    let sides = [
        ("west", -2.6, 5.0),
        ("middle", 0.0, 0.2),
        ("east", 2.6, 5.0),
    ];
    for (name, x, width) in sides {
        let center = [x, 0.0, 0.0];
        scene.level(name, center, [width, 10.0, 10.0], 0.2, &floors);
    }
    scene.build()
}

/// Balls in a bowl, over nine adjoining levels, that hit each other all the time.
pub fn motion(name: &str, balls: u32) -> World {
    let mut scene = Scene::new(name, GRAVITY);
    let mut floors = Vec::new();
    for index in 0..4 {
        let yaw = f64::from(index) * std::f64::consts::FRAC_PI_2;
        let (sine, cosine) = yaw.sin_cos();
        let (x, z) = (3.0 * 0.3_f64.cos(), 3.0 * 0.3_f64.sin() - 0.5);
        let name = format!("side_{index}");
        let pose = [x * cosine, x * sine, z, 0.0, -0.3, yaw];
        scene.fixed(&name, pose, [6.0, 8.0, 1.0], Surface::elastic(0.95));
        floors.push(name);
    }
    for index in 0..balls {
        let angle = 2.4 * f64::from(index);
        let radius = 0.5 + 0.11 * f64::from(index);
        let position = [
            radius * angle.cos(),
            radius * angle.sin(),
            1.0 + 0.3 * radius,
        ];
        let name = format!("ball_{index}");
        scene.ball(&name, position, 0.15, Surface::elastic(0.95));
    }
    for index in 0..9 {
        let [x, y] = [index % 3, index / 3].map(|part| f64::from(part - 1));
        let name = format!("L{index}");
        scene.level(&name, [x, y, 0.0], [1.0, 1.0, 20.0], 0.3, &floors);
    }
    scene.build()
}

/// A performer goes to and fro over levels whose own models only move while it is near.
pub fn suspended() -> World {
    let mut scene = Scene::new("suspended", GRAVITY);
    for index in 0..4 {
        let x = 2.0 * f64::from(index);
        for (side, slope) in [("a", -0.3), ("b", 0.3_f64)] {
            let y = if slope < 0.0 { -1.0 } else { 1.0 };
            let pose = [x, 0.95 * y, -0.2, slope.abs() * y, 0.0, 0.0];
            let name = format!("trough_{index}{side}");
            scene.fixed(&name, pose, [1.9, 2.2, 1.0], Surface::elastic(0.9));
        }
        for number in 0..2 {
            let y = 0.5 + 0.4 * f64::from(number);
            let name = format!("bound_{index}_{number}");
            scene.ball(&name, [x, y, 1.2], 0.15, Surface::elastic(0.9));
        }
    }
    scene.shuttle("shuttle", [-1.0, 0.0, 4.0], 3.0, 4.0);
    scene.performer("shuttle", [0.2, 0.2, 0.2]);
    scene.levels_along_x(-1.0, 2.0, 4, 0.2, |index| {
        let trough = ["a", "b"].map(|side| format!("trough_{index}{side}"));
        let bound = [0, 1].map(|number| format!("bound_{index}_{number}"));
        [trough, bound].concat()
    });
    scene.build()
}

/// A ball so fast that it passes several levels in one step, among slower ones.
pub fn bullet() -> World {
    let mut scene = Scene::new("bullet", [0.0; 3]);
    scene.shuttle("bullet", [-20.0, 0.0, 0.0], 0.0, 25.0);
    for index in 0..4 {
        let y = 0.5 + f64::from(index);
        let name = format!("slow_{index}");
        scene.shuttle(&name, [-0.7, y, 0.0], 0.1, 3.0 + f64::from(index));
    }
    scene.levels_along_x(-1.0, 0.2, 10, 0.1, |_| Vec::new());
    scene.build()
}
