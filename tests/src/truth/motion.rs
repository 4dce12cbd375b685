//! Free motion: slow falls that no sleep ends, and bullets that no wall lets through.

use super::scene::{Body, Shape, model, single, world_under};
use super::simulation::Simulation;
use super::{COARSE, Case, Effort, FINE, GRAVITY, Quantity, zero};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "free-fall",
            source: "z = g t^2 / 2",
            run: |_| vec![fall(GRAVITY, 2.0, FINE), fall(GRAVITY, 2.0, COARSE)],
        },
        Case {
            name: "sleep-slow-fall",
            source: "z = g t^2 / 2 under 1e-3 m/s^2, which nothing that is free sleeps through",
            run: |_| vec![fall(1e-3, 20.0, FINE), fall(1e-3, 20.0, COARSE)],
        },
        Case {
            name: "bullet-fixed-wall",
            source: "what is solid lets nothing through",
            run: |_| {
                bullets(
                    Wall::Fixed,
                    &[(300.0, FINE), (100.0, FINE), (100.0, COARSE)],
                )
            },
        },
        Case {
            name: "bullet-free-wall",
            source: "what is solid lets nothing through; momentum is conserved",
            run: free_wall,
        },
    ]
}

fn fall(gravity: f64, duration_s: f64, step_s: f64) -> Quantity {
    let body = single(Body::new("body", [0.0; 3], 1.0, Shape::Sphere(0.1)));
    let mut simulation = Simulation::new(&world_under([0.0, 0.0, -gravity], &[body]), step_s);
    simulation.run(duration_s);
    let fallen = -simulation.position(simulation.body("body"))[2];
    let expected = 0.5 * gravity * duration_s * duration_s;
    Quantity::relative("fall", step_s, [expected, fallen]).within(0.005, "m")
}

#[derive(Clone, Copy, PartialEq)]
enum Wall {
    Fixed,
    Free,
}

fn free_wall(_: Effort) -> Vec<Quantity> {
    let shots = [(20.0, FINE), (100.0, FINE), (20.0, COARSE), (100.0, COARSE)];
    bullets(Wall::Free, &shots)
}

/// Shoots balls of 1 cm at walls of 1 cm, from distances that differ by parts of a step.
fn bullets(wall: Wall, shots: &[(f64, f64)]) -> Vec<Quantity> {
    let mut found = Vec::new();
    for (speed, step_s) in shots {
        let (mut passed, mut lost) = (0.0, 0.0_f64);
        for shot in 0..10 {
            let distance = 1.0 + 0.1 * f64::from(shot) * speed * step_s;
            let [position, momentum] = shoot(wall, *speed, distance, *step_s);
            passed += f64::from(u8::from(position > 0.0));
            lost = lost.max((momentum / (0.1 * speed) - 1.0).abs());
        }
        let name = format!("passed of 10 at {speed} m/s");
        found.push(zero(name, *step_s, passed).within(0.0, "1"));
        if wall == Wall::Free {
            let name = format!("momentum lost at {speed} m/s");
            found.push(zero(name, *step_s, lost).within(0.001, "1"));
        }
    }
    found
}

/// Returns how far a bullet is ahead of the wall in the end, and the momentum of both along x.
fn shoot(wall: Wall, speed: f64, distance: f64, step_s: f64) -> [f64; 2] {
    let bullet = single(Body::new(
        "bullet",
        [-distance, 0.0, 0.0],
        0.1,
        Shape::Sphere(0.005),
    ));
    let plate = Body::new("wall", [0.0; 3], 10.0, Shape::Box([0.01, 1.0, 1.0]));
    let plate = match wall {
        Wall::Free => single(plate),
        Wall::Fixed => model("wall", &[plate], &[]).replacen('>', "><static>true</static>", 1),
    };
    let mut simulation = Simulation::new(&world_under([0.0; 3], &[plate, bullet]), step_s);
    let bullet = simulation.body("bullet");
    simulation.set_velocity(bullet, [[speed, 0.0, 0.0], [0.0; 3]]);
    simulation.run(2.0 * distance / speed);
    let [of_bullet, of_wall] = match wall {
        Wall::Fixed => [simulation.position(bullet)[0], 0.0],
        Wall::Free => {
            let plate = simulation.body("wall");
            [
                simulation.position(bullet)[0],
                simulation.position(plate)[0],
            ]
        }
    };
    let momentum = match wall {
        Wall::Fixed => 0.0,
        Wall::Free => {
            let plate = simulation.body("wall");
            let [bullet, plate] = [bullet, plate].map(|link| simulation.velocity(link)[0][0]);
            0.1 * bullet + 10.0 * plate
        }
    };
    [of_bullet - of_wall, momentum]
}
