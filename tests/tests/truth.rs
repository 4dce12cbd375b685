//! Shows that small scenes end as mechanics says: each case of `tests::truth` whose closed form is
//! cheap is run once, for a short time, and every quantity must be within its tolerance.

use tests::truth::{self, Effort, Quantity};

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
fn what_falls_freely_falls_by_half_g_t_squared() {
    check("free-fall");
}

#[test]
fn what_is_pushed_beyond_friction_slides_as_coulomb_says() {
    check("slide-threshold");
}

#[test]
fn spheres_cylinders_and_rings_roll_downhill_at_their_part_of_g() {
    check("wheel-rolling");
}

#[test]
fn fixed_walls_let_no_bullet_through() {
    check("bullet-fixed-wall");
}
