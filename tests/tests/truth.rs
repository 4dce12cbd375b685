//! Shows that small scenes end as mechanics says: each case of `tests::truth` with a closed form is
//! run once, for a short time, and every quantity must be within its tolerance. Then real robots
//! fall on a floor.

use std::io::Write;

use tests::truth::robots::Peers;
use tests::truth::{self, Effort, Quantity, dart, drops};

/// Runs a case, and fails with all quantities of it that are off.
fn check(name: &str) {
    let case = truth::cases().into_iter().find(|case| case.name == name);
    let case = case.expect("there is a case of this name");
    let quantities = (case.run)(Effort::QUICK);
    assert!(!quantities.is_empty(), "{name} measures nothing");
    let off: Vec<String> = quantities
        .iter()
        .filter(|quantity| !quantity.is_passed())
        .map(tell)
        .collect();
    assert!(
        off.is_empty(),
        "{} ({}):\n{}",
        name,
        case.source,
        off.join("\n")
    );
}

fn tell(quantity: &Quantity) -> String {
    let Quantity {
        name,
        step_s,
        unit,
        expected,
        measured,
        tolerance,
        ..
    } = quantity;
    let error = quantity.error();
    format!(
        "  {name} at {step_s} s: {measured} {unit} for {expected}: off by {error:.2e}, \
         {tolerance} is allowed"
    )
}

#[test]
fn standing_bodies_stay_standing() {
    check("rest-table");
    check("rest-foot-10");
    check("rest-foot-50");
    check("rest-foot-50-revolute");
    check("rest-heavy-on-light");
    check("rest-weight");
}

#[test]
fn a_tower_of_thirty_boxes_stands() {
    check("rest-tower");
}

#[test]
fn a_cylinder_tips_over_its_rim_whichever_way_it_leans() {
    check("tip-on-plane");
    check("tip-on-box");
    check("tip-on-drum");
    check("overhang");
}

#[test]
fn landing_bodies_stay_and_gain_no_energy() {
    check("drop-foot");
    check("drop-table");
    check("land-flat");
}

#[test]
fn bounces_follow_restitution() {
    check("land-restitution");
}

#[test]
fn slanted_landings_slide_by_coulomb() {
    check("land-slanted");
}

#[test]
fn friction_acts_against_the_slip() {
    check("slide-oblong");
    check("slide-puck");
    check("slide-push");
}

#[test]
fn pushes_beyond_friction_slide_by_coulomb() {
    check("slide-threshold");
}

#[test]
fn wheels_slip_as_they_are_steered() {
    check("wheel-drawn-sideways");
    check("wheel-skid-steer");
}

#[test]
fn spheres_cylinders_and_rings_roll_downhill_at_their_part_of_g() {
    check("wheel-rolling");
}

#[test]
fn surfaces_have_directions_and_slip() {
    check("surface-second-friction");
    check("surface-slip");
    check("surface-torsion");
}

#[test]
fn limits_hold_together_with_speeds() {
    check("limit-slider");
    check("limit-revolute");
    check("limit-finger");
    check("limit-hip");
}

#[test]
fn chains_and_ropes_do_not_yield() {
    check("joint-fixed-chain");
    check("joint-rope");
}

#[test]
fn pendulums_keep_their_energy_and_period() {
    check("pendulum-energy");
    check("pendulum-period");
}

#[test]
fn a_level_top_goes_round_and_stays_level() {
    check("spinning-top");
}

#[test]
fn a_controller_acts_as_in_the_semi_implicit_method() {
    check("control-oscillator");
}

#[test]
fn free_fall_is_half_g_t_squared() {
    check("free-fall");
    check("sleep-slow-fall");
}

#[test]
fn walls_let_no_bullet_through() {
    check("bullet-fixed-wall");
    check("bullet-free-wall");
}

/// The robots are those that Pinocchio is tested with; they come from `PyPI`.
#[test]
fn real_robots_without_motors_gain_no_energy_and_keep_their_limits() {
    let peers = Peers::prepare().and_then(|peers| {
        peers.require_example_robots()?;
        Ok(peers)
    });
    let peers = match peers {
        Ok(peers) => peers,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "skipped without robots: {error}");
            return;
        }
    };
    let robots = drops::ROBOTS
        .iter()
        .filter(|(_, file)| file.starts_with("erd:"));
    let mut count = 0;
    for (name, file) in robots {
        let (world, _) = drops::above_ground(&peers, file).expect("the file is one of libsdformat");
        let quantities = drops::drop_one(world);
        let off: Vec<String> = quantities
            .iter()
            .filter(|quantity| !quantity.is_passed())
            .map(tell)
            .collect();
        assert!(off.is_empty(), "{name}:\n{}", off.join("\n"));
        count += 1;
    }
    assert!(count >= 20, "{count} robots");
}

/// DART, Gazebo's default engine, comes from `PyPI`.
#[test]
fn small_scenes_move_as_in_gazebos_engine() {
    let peers = Peers::prepare().and_then(|peers| peers.require_dart().map(|()| peers));
    let peers = match peers {
        Ok(peers) => peers,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "skipped without DART: {error}");
            return;
        }
    };
    for case in dart::cases::cases() {
        let quantities = (case.run)(&peers).expect("DART can compare it");
        let off: Vec<String> = quantities
            .iter()
            .filter(|quantity| !quantity.is_passed())
            .map(tell)
            .collect();
        assert!(off.is_empty(), "{}:\n{}", case.name, off.join("\n"));
    }
}
