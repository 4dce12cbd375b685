//! SDF text of small worlds: bodies of one shape, joints between them, models of both.

use std::fmt::{self, Display, Formatter};

use super::GRAVITY;

/// Friction of grounds: so high that the body's own is the lesser.
pub const ROUGH: f64 = 100.0;

/// Shape of a body's only collision.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Sizes along x, y and z \[m\].
    Box([f64; 3]),
    /// Radius \[m\].
    Sphere(f64),
    /// Radius and length along z \[m\].
    Cylinder(f64, f64),
    /// Radius and length along y \[m\].
    Wheel(f64, f64),
}

impl Shape {
    /// Returns the moments of a homogeneous body about x, y and z \[kg m^2\].
    pub fn moments(self, mass: f64) -> [f64; 3] {
        let round = |radius: f64, length: f64| {
            let across = (3.0 * radius * radius + length * length) / 12.0;
            [across, radius * radius / 2.0]
        };
        let of_unit = match self {
            Self::Box([x, y, z]) => {
                [y * y + z * z, x * x + z * z, x * x + y * y].map(|sum| sum / 12.0)
            }
            Self::Sphere(radius) => [0.4 * radius * radius; 3],
            Self::Cylinder(radius, length) => {
                let [across, along] = round(radius, length);
                [across, across, along]
            }
            Self::Wheel(radius, length) => {
                let [across, along] = round(radius, length);
                [across, along, across]
            }
        };
        of_unit.map(|moment| moment * mass)
    }
}

impl Display for Shape {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Box([x, y, z]) => write!(out, "<box><size>{x} {y} {z}</size></box>"),
            Self::Sphere(radius) => write!(out, "<sphere><radius>{radius}</radius></sphere>"),
            Self::Cylinder(radius, length) | Self::Wheel(radius, length) => write!(
                out,
                "<cylinder><radius>{radius}</radius><length>{length}</length></cylinder>"
            ),
        }
    }
}

/// A link with at most one collision.
#[derive(Clone, Debug)]
pub struct Body {
    name: String,
    pose: [f64; 6],
    mass: f64,
    moments: [f64; 3],
    center: [f64; 3],
    collision: Option<Shape>,
    friction: String,
    restitution: f64,
    feet: Vec<[f64; 3]>,
}

/// Radius of the balls that bodies stand on where they have feet \[m\].
pub const FOOT: f64 = 0.01;

impl Body {
    /// Makes a homogeneous body that collides, with a friction of 1.
    pub fn new(name: &str, position: [f64; 3], mass: f64, shape: Shape) -> Self {
        let [x, y, z] = position;
        Self {
            name: name.to_owned(),
            pose: [x, y, z, 0.0, 0.0, 0.0],
            mass,
            moments: shape.moments(mass),
            center: [0.0; 3],
            collision: Some(shape),
            friction: String::new(),
            restitution: 0.0,
            feet: Vec::new(),
        }
    }

    /// Makes a body that touches nothing.
    pub fn ethereal(name: &str, position: [f64; 3], mass: f64, moments: [f64; 3]) -> Self {
        Self {
            moments,
            collision: None,
            ..Self::new(name, position, mass, Shape::Sphere(1.0))
        }
    }

    /// Turns it by roll, pitch and yaw \[rad\].
    #[must_use]
    pub fn turned(mut self, [roll, pitch, yaw]: [f64; 3]) -> Self {
        self.pose[3..].copy_from_slice(&[roll, pitch, yaw]);
        self
    }

    /// Puts its centre of mass beside its origin \[m\].
    #[must_use]
    pub fn centered(mut self, center: [f64; 3]) -> Self {
        self.center = center;
        self
    }

    /// Gives it other moments about x, y and z \[kg m^2\].
    #[must_use]
    pub fn with_moments(mut self, moments: [f64; 3]) -> Self {
        self.moments = moments;
        self
    }

    /// Gives it a coefficient of friction.
    #[must_use]
    pub fn rubbing(self, friction: f64) -> Self {
        self.surfaced(&format!("<mu>{friction}</mu><mu2>{friction}</mu2>"))
    }

    /// Gives it the content of SDF's `<ode>` of friction.
    #[must_use]
    pub fn surfaced(mut self, friction: &str) -> Self {
        friction.clone_into(&mut self.friction);
        self
    }

    /// Puts it on balls of radius [`FOOT`] at points of a plane below its origin \[m\].
    #[must_use]
    pub fn on_feet(mut self, points: &[[f64; 2]], below: f64) -> Self {
        self.feet = points.iter().map(|[x, y]| [*x, *y, -below]).collect();
        self
    }

    /// Gives it a coefficient of restitution.
    #[must_use]
    pub fn bouncing(mut self, restitution: f64) -> Self {
        self.restitution = restitution;
        self
    }
}

impl Display for Body {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let [xx, yy, zz] = self.moments;
        let [cx, cy, cz] = self.center;
        write!(
            out,
            "<link name='{}'><pose>{}</pose><inertial><pose>{cx} {cy} {cz} 0 0 0</pose>\
             <mass>{}</mass><inertia><ixx>{xx}</ixx><iyy>{yy}</iyy><izz>{zz}</izz>\
             <ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial>",
            self.name,
            numbers(&self.pose),
            self.mass
        )?;
        if let Some(shape) = self.collision {
            let pose = match shape {
                Shape::Wheel(..) => [0.0, 0.0, 0.0, std::f64::consts::FRAC_PI_2, 0.0, 0.0],
                _ => [0.0; 6],
            };
            write!(
                out,
                "<collision name='collision'><pose>{}</pose><geometry>{shape}</geometry>{}\
                 </collision>",
                numbers(&pose),
                surface(&self.friction, self.restitution)
            )?;
        }
        for (index, foot) in self.feet.iter().enumerate() {
            write!(
                out,
                "<collision name='foot_{index}'><pose>{} 0 0 0</pose><geometry>{}</geometry>{}\
                 </collision>",
                numbers(foot),
                Shape::Sphere(FOOT),
                surface(&self.friction, self.restitution)
            )?;
        }
        write!(out, "</link>")
    }
}

/// A joint that begins where its child is.
#[derive(Clone, Debug)]
pub struct Joint {
    name: String,
    kind: &'static str,
    parent: String,
    child: String,
    position: [f64; 3],
    axis: Option<[f64; 3]>,
    limit: String,
}

impl Joint {
    /// Makes one at the origin of its child.
    pub fn new(name: &str, kind: &'static str, [parent, child]: [&str; 2]) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            parent: parent.to_owned(),
            child: child.to_owned(),
            position: [0.0; 3],
            axis: None,
            limit: String::new(),
        }
    }

    /// Gives it an axis in the frame of its child.
    #[must_use]
    pub fn about(mut self, axis: [f64; 3]) -> Self {
        self.axis = Some(axis);
        self
    }

    /// Puts it elsewhere in the frame of its child \[m\].
    #[must_use]
    pub fn at(mut self, position: [f64; 3]) -> Self {
        self.position = position;
        self
    }

    /// Gives it the content of SDF's `<limit>`.
    #[must_use]
    pub fn limited(mut self, limit: &str) -> Self {
        limit.clone_into(&mut self.limit);
        self
    }
}

impl Display for Joint {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            kind,
            parent,
            child,
            limit,
            ..
        } = self;
        write!(
            out,
            "<joint name='{name}' type='{kind}'><pose>{} 0 0 0</pose><parent>{parent}</parent>\
             <child>{child}</child>",
            numbers(&self.position)
        )?;
        if let Some(axis) = self.axis {
            write!(out, "<axis><xyz>{}</xyz>", numbers(&axis))?;
            if !limit.is_empty() {
                write!(out, "<limit>{limit}</limit>")?;
            }
            write!(out, "</axis>")?;
        }
        write!(out, "</joint>")
    }
}

/// Writes a model that moves, at the origin of the world; nothing drives its joints.
pub fn model(name: &str, bodies: &[Body], joints: &[Joint]) -> String {
    with_system(name, bodies, joints, "")
}

/// Writes a model whose joints can be driven, and whose turns are counted.
pub fn driven_model(name: &str, bodies: &[Body], joints: &[Joint]) -> String {
    // Any system has its model's joints made for it.
    let system = "<plugin filename='gz-sim-joint-state-publisher-system' \
                  name='gz::sim::systems::JointStatePublisher'/>";
    with_system(name, bodies, joints, system)
}

fn with_system(name: &str, bodies: &[Body], joints: &[Joint], system: &str) -> String {
    let bodies: String = bodies.iter().map(ToString::to_string).collect();
    let joints: String = joints.iter().map(ToString::to_string).collect();
    format!("<model name='{name}'>{bodies}{joints}{system}</model>")
}

/// Writes a model of one body.
pub fn single(body: Body) -> String {
    let name = body.name.clone();
    model(&name, &[body], &[])
}

/// Writes a level plane at height 0 that bodies bounce off as they say themselves.
pub fn ground() -> String {
    ground_of(ROUGH, 1.0)
}

/// Writes a level plane at height 0 with a friction and a coefficient of restitution.
pub fn ground_of(friction: f64, restitution: f64) -> String {
    let friction = format!("<mu>{friction}</mu><mu2>{friction}</mu2>");
    format!(
        "<model name='ground'><static>true</static><link name='link'><collision name='collision'>\
         <geometry><plane><normal>0 0 1</normal><size>100 100</size></plane></geometry>{}\
         </collision></link></model>",
        surface(&friction, restitution)
    )
}

/// Writes a square slab of a width \[m\] whose top is at height 0, and which never moves.
pub fn fixed_slab(width: f64) -> String {
    fixed(Shape::Box([width, width, 1.0]))
}

/// Writes an upright cylinder of a radius \[m\] whose top is at height 0, and which never moves.
pub fn fixed_drum(radius: f64) -> String {
    fixed(Shape::Cylinder(radius, 1.0))
}

/// Writes a rough model that never moves, of a shape 1 m high whose top is at height 0.
fn fixed(shape: Shape) -> String {
    let friction = format!("<mu>{ROUGH}</mu><mu2>{ROUGH}</mu2>");
    format!(
        "<model name='slab'><static>true</static><pose>0 0 -0.5 0 0 0</pose><link name='link'>\
         <collision name='collision'><geometry>{shape}</geometry>{}</collision></link></model>",
        surface(&friction, 1.0)
    )
}

/// Writes a world with the usual gravity.
pub fn world(models: &[String]) -> String {
    world_under([0.0, 0.0, -GRAVITY], models)
}

/// Writes a world with a gravity of its own \[m/s^2\].
pub fn world_under(gravity: [f64; 3], models: &[String]) -> String {
    format!(
        "<sdf version='1.9'><world name='scene'><gravity>{}</gravity>{}</world></sdf>",
        numbers(&gravity),
        models.concat()
    )
}

/// Returns the gravity that a slope of an angle \[rad\] feels along its x axis, downhill.
pub fn slope(angle: f64) -> [f64; 3] {
    [GRAVITY * angle.sin(), 0.0, -GRAVITY * angle.cos()]
}

fn surface(friction: &str, restitution: f64) -> String {
    format!(
        "<surface><friction><ode>{friction}</ode></friction><bounce>\
         <restitution_coefficient>{restitution}</restitution_coefficient><threshold>0</threshold>\
         </bounce></surface>"
    )
}

fn numbers(values: &[f64]) -> String {
    let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
    texts.join(" ")
}
