//! `<surface>`: friction, bounce and contact of a collision.
//!
//! Values are those under `<ode>`, which Gazebo reads for its own engine; those of `<bullet>` are
//! not read.

use super::part;
use crate::report::Report;
use crate::tree::Element;
use crate::value;
use crate::world::Surface;

/// The most friction: more makes no difference, and products with it must be finite.
const FRICTION_MAX: f64 = 1e12;

/// Reads the surface of a collision.
pub(super) fn read(collision: &Element, report: &mut Report) -> Surface {
    let mut surface = Surface::default();
    let Some(element) = collision.child("surface") else {
        return surface;
    };
    if let Some(friction) = element.child("friction") {
        read_friction(friction, &mut surface, report);
    }
    if let Some(bounce) = element.child("bounce") {
        let name = "restitution_coefficient";
        surface.restitution = value::number_from_zero(bounce, name, surface.restitution, report);
        let default = surface.restitution_threshold;
        surface.restitution_threshold = part::number(bounce, "threshold", default, report);
    }
    if let Some(contact) = element.child("contact") {
        read_contact(contact, &mut surface, report);
    }
    surface
}

fn read_friction(friction: &Element, surface: &mut Surface, report: &mut Report) {
    if let Some(ode) = friction.child("ode") {
        surface.friction = coefficient(ode, "mu", surface.friction, report);
        surface.friction2 = coefficient(ode, "mu2", surface.friction2, report);
        surface.slip = ["slip1", "slip2"].map(|name| part::number(ode, name, 0.0, report));
        let direction = value::numbers(ode, "fdir1", surface.friction_direction, report);
        let norm = direction.iter().map(|c| c * c).sum::<f64>().sqrt();
        if norm > 0.0 && norm.is_finite() {
            surface.friction_direction = direction.map(|coordinate| coordinate / norm);
            surface.friction_frame = frame_of_direction(ode);
        }
    }
    if let Some(torsional) = friction.child("torsional") {
        let default = surface.torsional_friction;
        surface.torsional_friction = coefficient(torsional, "coefficient", default, report);
        if value::truth(torsional, "use_patch_radius", true, report) {
            surface.patch_radius = coefficient(torsional, "patch_radius", 0.0, report);
        } else {
            surface.surface_radius = coefficient(torsional, "surface_radius", 0.0, report);
        }
    }
}

/// Returns the link in whose frame the first direction is, as gz-sim's `Physics` looks for it.
fn frame_of_direction(ode: &Element) -> Option<String> {
    let direction = ode.child("fdir1")?;
    let link = direction
        .filled_attribute("gz:expressed_in")
        .or_else(|| direction.filled_attribute("ignition:expressed_in"));
    link.map(str::to_owned)
}

fn coefficient(parent: &Element, name: &str, default: f64, report: &mut Report) -> f64 {
    let number = part::number(parent, name, default, report);
    if number < 0.0 {
        let element = parent.child(name).unwrap_or(parent);
        let message = format!("<{name}> must not be negative");
        report.error("ELEMENT_INVALID", element, message);
        return default;
    }
    number.min(FRICTION_MAX)
}

fn read_contact(contact: &Element, surface: &mut Surface, report: &mut Report) {
    let default = surface.clone();
    surface.collide_bitmask = bitmask(contact, "collide_bitmask", default.collide_bitmask);
    surface.category_bitmask = bitmask(contact, "category_bitmask", default.category_bitmask);
    surface.collide_without_contact =
        value::truth(contact, "collide_without_contact", false, report);
    if let Some(ode) = contact.child("ode") {
        surface.stiffness = part::number(ode, "kp", default.stiffness, report);
        surface.damping = part::number(ode, "kd", default.damping, report);
    }
}

/// Reads a whole number in decimal or, after `0x`, hexadecimal digits. As in libsdformat what comes
/// after the digits is not looked at, the lower 16 bits count, and a negative number is the
/// complement of two. Text without digits has been reported already.
fn bitmask(parent: &Element, name: &str, default: u16) -> u16 {
    let Some(text) = part::text(parent, name) else {
        return default;
    };
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.as_str()),
    };
    let hexadecimal = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
    let (radix, digits) = hexadecimal.map_or((10, digits), |digits| (16, digits));
    let values = digits.chars().map_while(|c| c.to_digit(radix));
    let number = values.fold(0_u32, |number, digit| {
        number.wrapping_mul(radix).wrapping_add(digit)
    });
    let mask = number as u16;
    if is_negative {
        mask.wrapping_neg()
    } else {
        mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::parse;

    fn surface(content: &str) -> Surface {
        let text = format!("<collision><surface>{content}</surface></collision>");
        let mut report = Report::default();
        let surface = read(&parse(&text, "f").unwrap(), &mut report);
        assert!(report.errors.is_empty(), "{content}: {report:?}");
        surface
    }

    fn check_mask(text: &str, expect: u16) {
        let content = format!("<contact><collide_bitmask>{text}</collide_bitmask></contact>");
        let found = surface(&content);
        assert_eq!(found.collide_bitmask, expect, "{text}");
    }

    #[test]
    fn masks_are_decimal_or_hexadecimal_and_have_16_bits() {
        check_mask("", 0xff);
        check_mask("171", 171);
        check_mask("0x10", 16);
        check_mask("65537", 1);
        check_mask("-1", 0xffff);
        check_mask("12 or so", 12);
        check_mask("99999999999", 59391);
        check_mask("0x", 0);
    }

    #[test]
    fn everything_about_friction_bounce_and_contact_is_read() {
        let found = surface(
            "<friction><ode><mu>0.1</mu><mu2>0.2</mu2><fdir1 \
             gz:expressed_in='chassis'>0 3 0</fdir1><slip1>0.3</slip1>\
             <slip2>0.4</slip2></ode><torsional><coefficient>0.5</coefficient>\
             <patch_radius>0.2</patch_radius></torsional></friction>\
             <bounce><restitution_coefficient>0.6</restitution_coefficient>\
             <threshold>7</threshold></bounce><contact><category_bitmask>2</category_bitmask>\
             <collide_without_contact>1</collide_without_contact>\
             <ode><kp>8</kp><kd>9</kd></ode></contact>",
        );
        let expect = Surface {
            friction: 0.1,
            friction2: 0.2,
            friction_direction: [0.0, 1.0, 0.0],
            friction_frame: Some("chassis".to_owned()),
            slip: [0.3, 0.4],
            torsional_friction: 0.5,
            patch_radius: 0.2,
            surface_radius: 0.0,
            restitution: 0.6,
            restitution_threshold: 7.0,
            collide_bitmask: 0xff,
            category_bitmask: 2,
            collide_without_contact: true,
            stiffness: 8.0,
            damping: 9.0,
        };
        assert_eq!(found, expect);
    }
}
