//! Text of worlds, piece by piece: floors, walls, moving bodies, levels, joints.
//!
//! Every moving body has a mass of 1 kg. Angles are in radians and lengths in metres.

use std::fmt::Write;

use sdf::World;

/// Friction and bounce of a surface.
#[derive(Clone, Copy, Debug)]
pub struct Surface {
    /// Coulomb's coefficient; of two surfaces the lesser counts.
    pub friction: f64,
    /// The part of the speed that comes back; of two surfaces the product counts.
    pub bounce: f64,
}

impl Surface {
    /// Without friction or bounce.
    pub const ICE: Self = Self {
        friction: 0.0,
        bounce: 0.0,
    };
    /// With this friction, without bounce.
    pub const fn rough(friction: f64) -> Self {
        Self {
            friction,
            bounce: 0.0,
        }
    }
    /// Without friction, with this bounce.
    pub const fn elastic(bounce: f64) -> Self {
        Self {
            friction: 0.0,
            bounce,
        }
    }

    fn text(self) -> String {
        format!(
            "<surface><friction><ode><mu>{}</mu></ode></friction><bounce>\
             <restitution_coefficient>{}</restitution_coefficient></bounce></surface>",
            self.friction, self.bounce
        )
    }
}

/// A world that is being written.
#[derive(Clone, Debug)]
pub struct Scene {
    name: String,
    gravity: [f64; 3],
    content: String,
    plugin: String,
}

impl Scene {
    /// Begins a world with this gravity \[m/s^2\].
    pub fn new(name: &str, gravity: [f64; 3]) -> Self {
        Self {
            name: name.to_owned(),
            gravity,
            content: String::new(),
            plugin: String::new(),
        }
    }

    /// Adds a box that never moves, with x, y, z, roll, pitch, yaw.
    pub fn fixed(&mut self, name: &str, pose: [f64; 6], size: [f64; 3], surface: Surface) {
        let geometry = box_text(size);
        let _ = write!(
            self.content,
            "<model name='{name}'><static>true</static>{}<link name='l'><collision name='c'>\
             {geometry}{}</collision></link></model>",
            pose_text(pose),
            surface.text()
        );
    }

    /// Adds a box that moves.
    pub fn cuboid(&mut self, name: &str, pose: [f64; 6], size: [f64; 3], surface: Surface) {
        let link = cuboid_link("l", [0.0; 6], size, surface);
        self.model(name, pose, &link);
    }

    /// Adds a box that moves and that gravity does not draw.
    pub fn floating_cuboid(
        &mut self,
        name: &str,
        [x, y, z]: [f64; 3],
        size: [f64; 3],
        surface: Surface,
    ) {
        let link = cuboid_link("l", [0.0; 6], size, surface);
        let link = link.replace("<collision", "<gravity>false</gravity><collision");
        self.model(name, [x, y, z, 0.0, 0.0, 0.0], &link);
    }

    /// Adds a ball that moves.
    pub fn ball(&mut self, name: &str, position: [f64; 3], radius: f64, surface: Surface) {
        let [x, y, z] = position;
        let link = ball_link("l", [0.0; 6], radius, surface);
        self.model(name, [x, y, z, 0.0, 0.0, 0.0], &link);
    }

    /// Adds a ball that a spring draws along x to and fro about `centre` \[m\], `rate` \[rad/s\].
    pub fn shuttle(&mut self, name: &str, position: [f64; 3], centre: f64, rate: f64) {
        let [x, y, z] = position;
        let link = ball_link("l", [0.0; 6], 0.1, Surface::ICE);
        let (reference, stiffness) = (centre - x, rate * rate);
        let joint = format!(
            "<joint name='rail' type='prismatic'><parent>world</parent><child>l</child><axis>\
             <xyz>1 0 0</xyz><dynamics><spring_reference>{reference}</spring_reference>\
             <spring_stiffness>{stiffness}</spring_stiffness></dynamics></axis></joint>"
        );
        self.model(name, [x, y, z, 0.0, 0.0, 0.0], &format!("{link}{joint}"));
    }

    /// Adds a robot on two wheels and a smooth caster, whose wheels stand on z = 0.
    pub fn robot(&mut self, name: &str, [x, y, yaw]: [f64; 3]) {
        let mut links = cuboid_link(
            "chassis",
            [0.0, 0.0, 0.12, 0.0, 0.0, 0.0],
            [0.4, 0.2, 0.08],
            Surface::ICE,
        );
        links += &ball_link(
            "caster",
            [-0.15, 0.0, 0.04, 0.0, 0.0, 0.0],
            0.04,
            Surface::ICE,
        );
        for (side, offset) in [("left", 0.15), ("right", -0.15)] {
            let _ = write!(
                links,
                "<link name='{side}'><pose>0.1 {offset} 0.1 -1.5707963267948966 0 0</pose>\
                 {}<collision name='c'><geometry><cylinder><radius>0.1</radius>\
                 <length>0.05</length></cylinder></geometry>{}</collision></link>\
                 <joint name='{side}_axle' type='revolute'><parent>chassis</parent>\
                 <child>{side}</child><axis><xyz>0 0 1</xyz></axis></joint>",
                inertial_text([0.0027, 0.0027, 0.005]),
                Surface::rough(1.0).text()
            );
        }
        links += "<joint name='swivel' type='ball'><parent>chassis</parent><child>caster</child>\
                  </joint>";
        self.model(name, [x, y, 0.0, 0.0, 0.0, yaw], &links);
    }

    /// Adds a moving model from the text of its links and joints.
    pub fn model(&mut self, name: &str, pose: [f64; 6], parts: &str) {
        let pose = pose_text(pose);
        let _ = write!(self.content, "<model name='{name}'>{pose}{parts}</model>");
    }

    /// Joins two models at the origin of the second.
    pub fn joint(&mut self, kind: &str, parent: &str, child: &str, axis: Option<[f64; 3]>) {
        let axis = axis.map_or_else(String::new, |[x, y, z]| {
            format!("<axis><xyz>{x} {y} {z}</xyz></axis>")
        });
        let _ = write!(
            self.content,
            "<joint name='{parent}_{child}' type='{kind}'><parent>{parent}</parent>\
             <child>{child}</child>{axis}</joint>"
        );
    }

    /// Adds a level with the models that it refers to.
    pub fn level(
        &mut self,
        name: &str,
        center: [f64; 3],
        size: [f64; 3],
        buffer: f64,
        models: &[String],
    ) {
        let [x, y, z] = center;
        let mut references = String::new();
        for model in models {
            let _ = write!(references, "<ref>{model}</ref>");
        }
        let _ = write!(
            self.plugin,
            "<level name='{name}'><pose>{x} {y} {z} 0 0 0</pose>{}<buffer>{buffer}</buffer>\
             {references}</level>",
            box_text(size)
        );
    }

    /// Adds levels of `width` side by side along x, from `least` on, each with the models that the
    /// function names for it; they are wide and high without bound in practice.
    pub fn levels_along_x(
        &mut self,
        least: f64,
        width: f64,
        count: u32,
        buffer: f64,
        models: impl Fn(u32) -> Vec<String>,
    ) {
        for index in 0..count {
            let x = least + width * (f64::from(index) + 0.5);
            let name = format!("L{index}");
            let models = models(index);
            self.level(&name, [x, 0.0, 0.0], [width, 100.0, 100.0], buffer, &models);
        }
    }

    /// Declares a performer with a box of these edge lengths.
    pub fn performer(&mut self, model: &str, size: [f64; 3]) {
        let geometry = box_text(size);
        let _ = write!(
            self.plugin,
            "<performer name='{model}_performer'><ref>{model}</ref>{geometry}</performer>"
        );
    }

    /// Returns the world.
    ///
    /// # Panics
    /// Panics if the pieces do not make a valid world.
    pub fn build(&self) -> World {
        let [x, y, z] = self.gravity;
        let text = format!(
            "<sdf version='1.11'><world name='{}'><gravity>{x} {y} {z}</gravity>\
             <physics type='dart'><max_step_size>0.001</max_step_size>\
             <real_time_factor>0</real_time_factor></physics>{}\
             <plugin name='gz::sim' filename='none'>{}</plugin></world></sdf>",
            self.name, self.content, self.plugin
        );
        super::read(&text)
    }

    /// Returns the world without its levels and performers: one cell holds everything.
    ///
    /// # Panics
    /// Panics if the pieces do not make a valid world.
    pub fn build_without_levels(&self) -> World {
        let mut scene = self.clone();
        scene.plugin.clear();
        scene.build()
    }
}

/// Returns the text of a link that is a box.
pub fn cuboid_link(name: &str, pose: [f64; 6], size: [f64; 3], surface: Surface) -> String {
    let [x, y, z] = size.map(|edge| edge * edge / 12.0);
    format!(
        "<link name='{name}'>{}{}<collision name='c'>{}{}</collision></link>",
        pose_text(pose),
        inertial_text([y + z, x + z, x + y]),
        box_text(size),
        surface.text()
    )
}

/// Returns the text of a link that is a ball.
pub fn ball_link(name: &str, pose: [f64; 6], radius: f64, surface: Surface) -> String {
    format!(
        "<link name='{name}'>{}{}<collision name='c'><geometry><sphere><radius>{radius}</radius>\
         </sphere></geometry>{}</collision></link>",
        pose_text(pose),
        inertial_text([0.4 * radius * radius; 3]),
        surface.text()
    )
}

fn inertial_text([x, y, z]: [f64; 3]) -> String {
    format!(
        "<inertial><mass>1</mass><inertia><ixx>{x}</ixx><iyy>{y}</iyy><izz>{z}</izz></inertia>\
         </inertial>"
    )
}

fn pose_text([x, y, z, roll, pitch, yaw]: [f64; 6]) -> String {
    format!("<pose>{x} {y} {z} {roll} {pitch} {yaw}</pose>")
}

fn box_text([x, y, z]: [f64; 3]) -> String {
    format!("<geometry><box><size>{x} {y} {z}</size></box></geometry>")
}
