//! `<link>`: what it weighs, what it collides with and what it looks like.

use super::inertial::Inertial;
use super::joint::Joint;
use super::{number, origin};
use crate::pose::Pose;
use crate::problem::Problem;
use crate::report::Report;
use crate::tree::Element;

/// A link, and the joint that holds it.
#[derive(Debug)]
pub(super) struct Link<'t> {
    pub(super) element: &'t Element,
    pub(super) name: &'t str,
    pub(super) inertial: Option<Inertial>,
    pub(super) visuals: Vec<Shape<'t>>,
    pub(super) collisions: Vec<Shape<'t>>,
    /// The joint to its parent, and the parent; the root has none.
    pub(super) joint: Option<(Joint<'t>, usize)>,
    /// Links that hang on it, by the names of their joints.
    pub(super) children: Vec<usize>,
}

/// A `<visual>` or `<collision>`.
#[derive(Debug)]
pub(super) struct Shape<'t> {
    pub(super) element: &'t Element,
    /// Its name; empty for one that follows from the link.
    pub(super) name: String,
    /// Pose, link frame.
    pub(super) origin: Pose,
    /// The `<geometry>` of SDF.
    pub(super) geometry: Element,
    /// The material of a visual.
    pub(super) material: Option<Material<'t>>,
}

/// A `<material>` by name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Material<'t> {
    pub(super) name: &'t str,
    /// Red, green, blue, alpha, 0 to 1; black where only a texture is given.
    pub(super) color: [f64; 4],
}

impl<'t> Link<'t> {
    /// Reads a link. As in urdfdom, a mistake in it ends the reading of this link alone.
    pub(super) fn read(element: &'t Element, report: &mut Report) -> Result<Self, Problem> {
        let name = element.attribute("name");
        let mut link = Self {
            element,
            name: name.ok_or_else(|| number::missing(element, "name"))?,
            inertial: None,
            visuals: Vec::new(),
            collisions: Vec::new(),
            joint: None,
            children: Vec::new(),
        };
        if let Err(problem) = link.fill() {
            let name = link.name;
            let message = format!(
                "{}; what follows in the link {name:?} is ignored",
                problem.message
            );
            let key = format!("{name} {}", element.line);
            let place = problem.place;
            report.warn_once("URDF_LINK_INCOMPLETE", &key, element, || message);
            if let Some(warning) = report.warnings.last_mut() {
                warning.place = place;
            }
        }
        Ok(link)
    }

    fn fill(&mut self) -> Result<(), Problem> {
        if let Some(inertial) = self.element.child("inertial") {
            self.inertial.insert(Inertial::default()).fill(inertial)?;
        }
        for visual in self.element.children_named("visual") {
            self.visuals.push(Shape::read(visual)?);
        }
        for collision in self.element.children_named("collision") {
            self.collisions.push(Shape::read(collision)?);
        }
        Ok(())
    }

    /// Tells whether it has no weight, so that it cannot be a body.
    pub(super) fn is_massless(&self) -> bool {
        self.inertial
            .as_ref()
            .is_none_or(|inertial| inertial.mass.is_nan() || inertial.mass <= 0.0)
    }
}

impl<'t> Shape<'t> {
    fn read(element: &'t Element) -> Result<Self, Problem> {
        let material = match element.child("material") {
            Some(material) if element.name == "visual" => {
                let name = material.attribute("name");
                let name = name.ok_or_else(|| number::missing(material, "name"))?;
                let color = color(material).unwrap_or(BLACK);
                Some(Material { name, color })
            }
            _ => None,
        };
        Ok(Self {
            element,
            name: element.attribute("name").unwrap_or_default().to_owned(),
            origin: origin::read(element)?,
            geometry: geometry(element)?,
            material,
        })
    }
}

/// The colour of a material without one.
pub(super) const BLACK: [f64; 4] = [0.0, 0.0, 0.0, 1.0];

/// Returns the colour that a `<material>` gives, in single precision as urdfdom has it.
pub(super) fn color(material: &Element) -> Option<[f64; 4]> {
    let rgba = material.child("color")?.attribute("rgba")?;
    let color: [f64; 4] = number::parse_vector(rgba)?;
    Some(color.map(|part| f64::from(part as f32)))
}

fn geometry(shape: &Element) -> Result<Element, Problem> {
    let holder = shape
        .child("geometry")
        .and_then(|geometry| geometry.children().next());
    let Some(holder) = holder else {
        let message = format!("the <{}> needs a <geometry> with a shape in it", shape.name);
        return Err(shape.problem(number::UNREADABLE, message));
    };
    let mut solid = Element::new_at(&holder.name, holder);
    let mut put = |name: &str, text: &str| {
        solid
            .nodes
            .push(crate::tree::Node::Element(Element::with_text_at(
                name, text, holder,
            )));
    };
    match holder.name.as_str() {
        "box" => {
            let size: Option<[f64; 3]> = number::optional_vector(holder, "size")?;
            let size = size.ok_or_else(|| number::missing(holder, "size"))?;
            put("size", &number::show_all(&size));
        }
        "sphere" => put("radius", &number::show(number::required(holder, "radius")?)),
        "cylinder" | "capsule" => {
            for name in ["length", "radius"] {
                put(name, &number::show(number::required(holder, name)?));
            }
        }
        "mesh" => {
            let file = holder.attribute("filename");
            let file = file.ok_or_else(|| number::missing(holder, "filename"))?;
            let scale = number::optional_vector(holder, "scale")?.unwrap_or([1.0; 3]);
            put("scale", &number::show_all(&scale.map(number::six_digits)));
            put("uri", file);
        }
        other => {
            let message = format!("<{other}> is no shape of URDF");
            return Err(holder.problem(number::UNREADABLE, message));
        }
    }
    let mut geometry = Element::new_at("geometry", holder);
    geometry.nodes.push(crate::tree::Node::Element(solid));
    Ok(geometry)
}
