//! `<collision>` and `<visual>`: names, poses, and what `<gazebo>` elements add to them.

use super::super::extension::{Extension, Extensions, put};
use super::super::link::Shape;
use super::super::lump::LUMPED;
use super::super::number::{self, show, show_all};
use super::super::origin;
use crate::problem::Problem;
use crate::tree::{Element, Node};

/// The most elements that `<gazebo>` elements may add, counted with every look at one of them.
const ADDED_MAX: usize = 1_000_000;

/// Number of elements that `<gazebo>` elements may still add, since each goes into all shapes of
/// its link.
pub(super) struct Budget {
    left: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: ADDED_MAX }
    }
}

impl Budget {
    /// Takes a number of elements from what is left.
    pub(super) fn spend(&mut self, at: &Element, count: usize) -> Result<(), Problem> {
        let Some(left) = self.left.checked_sub(1 + count) else {
            let message = format!("<gazebo> elements add more than {ADDED_MAX} elements");
            return Err(at.problem(number::UNREADABLE, message));
        };
        self.left = left;
        Ok(())
    }
}

/// Returns the name of a shape, the `index`th of its link: it tells which link it came from.
pub(super) fn name(link: &str, shape: &Shape<'_>, suffix: &str, index: usize) -> String {
    let own = if shape.name.is_empty() {
        link
    } else {
        &shape.name
    };
    let number = if index == 0 {
        String::new()
    } else {
        format!("_{index}")
    };
    let name = format!("{own}{suffix}{number}");
    if name.starts_with(link) {
        name
    } else {
        format!("{link}{LUMPED}{name}")
    }
}

/// Returns the element of a shape.
pub(super) fn element(kind: &str, name: &str, shape: &Shape<'_>) -> Element {
    let mut element = Element::new_at(kind, shape.element);
    element.set_attribute("name", name);
    put(&mut element, "pose", &origin::show_angles(&shape.origin));
    element.nodes.push(Node::Element(shape.geometry.clone()));
    element
}

/// Adds to a collision of a link what `<gazebo>` elements say of it.
pub(super) fn extend_collision(
    collision: &mut Element,
    link: &str,
    extensions: &Extensions<'_>,
    budget: &mut Budget,
) -> Result<(), Problem> {
    for extension in extensions.of(link) {
        budget.spend(extension.element, 0)?;
        if !is_meant(collision, link, extension, "_collision") {
            continue;
        }
        add(collision, &extension.in_collisions, "surface", budget)?;
        let mut put_at = |path: &[&str], tag: &str, setting: &str| {
            if let Some(value) = extension.numbers.get(setting) {
                put(at_path(collision, path), tag, &show(*value));
            }
        };
        let friction = ["surface", "friction", "ode"];
        let contact = ["surface", "contact", "ode"];
        put_at(&friction, "mu", "mu1");
        put_at(&friction, "mu2", "mu2");
        put_at(&contact, "kp", "kp");
        put_at(&contact, "kd", "kd");
        put_at(&contact, "max_vel", "maxVel");
        put_at(&contact, "min_depth", "minDepth");
        put_at(&[], "laser_retro", "laserRetro");
        if !extension.fdir1.is_empty() {
            put(at_path(collision, &friction), "fdir1", &extension.fdir1);
        }
        if let Some(count) = extension.numbers.get("maxContacts") {
            put(collision, "max_contacts", &(*count as i32).to_string());
        }
    }
    Ok(())
}

/// Adds to a visual of a link what `<gazebo>` elements say of it.
pub(super) fn extend_visual(
    visual: &mut Element,
    link: &str,
    extensions: &Extensions<'_>,
    budget: &mut Budget,
) -> Result<(), Problem> {
    for extension in extensions.of(link) {
        budget.spend(extension.element, 0)?;
        if !is_meant(visual, link, extension, "_visual") {
            continue;
        }
        add(visual, &extension.in_visuals, "material", budget)?;
        if !extension.material.is_empty() {
            let script = at_path(visual, &["material", "script"]);
            put(script, "name", &extension.material);
            put(
                script,
                "uri",
                "file://media/materials/scripts/gazebo.material",
            );
        }
    }
    Ok(())
}

/// Gives a visual the colour of its URDF material, unless a `<gazebo>` element gives it one.
pub(super) fn color(visual: &mut Element, shape: &Shape<'_>) {
    let Some(material) = &shape.material else {
        return;
    };
    let target = at_path(visual, &["material"]);
    if target.child("diffuse").is_some() || target.child("ambient").is_some() {
        return;
    }
    let [red, green, blue, alpha] = material.color;
    let light = |part: f64| (part / 0.8).clamp(0.0, 1.0);
    let color = show_all(&[light(red), light(green), light(blue), alpha]);
    put(target, "diffuse", &color);
    put(target, "ambient", &color);
}

/// Tells whether a `<gazebo>` element, which may have come from a merged link, means this shape.
fn is_meant(shape: &Element, link: &str, extension: &Extension<'_>, suffix: &str) -> bool {
    let name = shape.attribute("name").unwrap_or_default();
    if extension.reference == link {
        !name.contains(LUMPED)
    } else {
        name.contains(&format!("{LUMPED}{}{suffix}", extension.reference))
    }
}

/// Adds elements to a shape; the one that is `single` takes the place of another of its name.
fn add(
    shape: &mut Element,
    elements: &[&Element],
    single: &str,
    budget: &mut Budget,
) -> Result<(), Problem> {
    for element in elements {
        budget.spend(element, element.element_count())?;
        if element.name == single {
            shape.take_child(single);
        }
        shape.nodes.push(Node::Element((*element).clone()));
    }
    Ok(())
}

/// Returns the element at the end of a path of first children, which are made where they are
/// missing.
pub(super) fn at_path<'e>(element: &'e mut Element, path: &[&str]) -> &'e mut Element {
    let Some((name, rest)) = path.split_first() else {
        return element;
    };
    if element.child(name).is_none() {
        let child = Element::new_at(name, element);
        element.nodes.push(Node::Element(child));
    }
    let child = element
        .child_mut(name)
        .expect("the child was made above where it was missing");
    at_path(child, rest)
}
