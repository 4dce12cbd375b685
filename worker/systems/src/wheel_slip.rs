//! `WheelSlip`: wheels slip in proportion to the force on them and to how fast they turn.
//!
//! The slip of a wheel's surface per force is a compliance without unit, times the speed of its
//! rim, over the normal force that the wheel is said to bear. Source: gz-sim,
//! `wheel_slip/WheelSlip.hh`.

use sdf::Content;

use super::configuration::number_of;
use super::{Configuration, ConfigureError, Configured, Context, System};

struct WheelSlip {
    wheels: Vec<Wheel>,
}

struct Wheel {
    link: usize,
    /// The joint that it turns by.
    joint: usize,
    /// Slip along both directions of friction per speed of the rim \[1/N\].
    compliance: [f64; 2],
    /// \[m\]
    radius: f64,
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let wheels: Vec<&Content> = configuration.elements("wheel").collect();
    if wheels.is_empty() {
        return Err(ConfigureError("it needs a <wheel>".to_owned()));
    }
    // As in Gazebo, wheels that cannot be are left out.
    let mut found = Vec::new();
    let mut missing = Vec::new();
    for wheel in wheels {
        match Wheel::read(wheel, configuration) {
            Ok(wheel) => found.push(wheel),
            Err(error) => missing.push(error),
        }
    }
    if let Some(first) = missing.first().filter(|_| found.is_empty()) {
        return Err(first.clone());
    }
    let notes = missing
        .iter()
        .map(|error| format!("{error}; it works without"));
    configuration.notes.borrow_mut().extend(notes);
    Ok(Configured {
        system: Box::new(WheelSlip { wheels: found }),
        subscriptions: Vec::new(),
        publications: Vec::new(),
    })
}

impl Wheel {
    fn read(wheel: &Content, configuration: &Configuration<'_>) -> Result<Self, ConfigureError> {
        let name = wheel.attribute("link_name").unwrap_or_default();
        let link = configuration.link(name)?;
        let model = configuration.model()?;
        let of_wheel = |what: String| ConfigureError(format!("the wheel {name:?} {what}"));
        let collisions = model.links[link].collisions.len();
        if collisions != 1 {
            return Err(of_wheel(format!(
                "has {collisions} collisions, and not one"
            )));
        }
        let joints = model.joints.iter().enumerate();
        let mut holding = joints.filter(|(_, joint)| joint.child == link);
        let (Some((joint, held)), None) = (holding.next(), holding.next()) else {
            return Err(of_wheel("is not the child of one joint".to_owned()));
        };
        if held.kind.axes().is_empty() {
            return Err(of_wheel("does not turn by its joint".to_owned()));
        }
        let number = |parameter: &str| Ok(number_of(wheel, parameter)?.unwrap_or(0.0));
        let positive = |parameter: &str| match number(parameter)? {
            number if number > 0.0 => Ok(number),
            number => Err(of_wheel(format!("has a <{parameter}> of {number}"))),
        };
        let (radius, force) = (positive("wheel_radius")?, positive("wheel_normal_force")?);
        let of_force = |parameter: &str| match number(parameter)? {
            number if number >= 0.0 => Ok(number / force),
            number => Err(of_wheel(format!("has a <{parameter}> of {number}"))),
        };
        Ok(Self {
            link,
            joint,
            compliance: [
                of_force("slip_compliance_lateral")?,
                of_force("slip_compliance_longitudinal")?,
            ],
            radius,
        })
    }
}

impl System for WheelSlip {
    fn before_step(&mut self, context: &mut Context<'_>) {
        let (cell, model) = (&mut *context.cell, context.model);
        for wheel in &self.wheels {
            let speed = wheel.radius * cell.joint_velocity(model, wheel.joint, 0).abs();
            let slip = wheel.compliance.map(|compliance| compliance * speed);
            cell.slip_link(model, wheel.link, slip);
        }
    }

    fn save(&self) -> Vec<u8> {
        super::save(&())
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut (), bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use crate::test_rig::SystemTestRig;

    /// A cart on four wheels that turn at 10 rad/s, with the slip given, on a slope to the side.
    fn cart(slip: &str, pull: f64) -> String {
        let mut text = format!(
            "<gravity>0 {pull} -10</gravity>\
             <model name='floor'><static>true</static><link name='l'><collision name='c'>\
             <geometry><plane><normal>0 0 1</normal></plane></geometry>\
             <surface><friction><ode><mu>100</mu><mu2>100</mu2></ode></friction></surface>\
             </collision></link></model>\
             <model name='cart'><pose>0 0 0.1 0 0 0</pose><link name='body'>\
             <inertial><mass>3.6</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz>\
             </inertia></inertial></link>"
        );
        let mut wheels = String::new();
        for (number, (x, y)) in [(0.5, 0.5), (0.5, -0.5), (-0.5, 0.5), (-0.5, -0.5)]
            .into_iter()
            .enumerate()
        {
            let _ = write!(
                text,
                "<link name='w{number}'><pose>{x} {y} 0 -1.5707963267948966 0 0</pose><inertial>\
                 <mass>0.1</mass><inertia><ixx>0.001</ixx><iyy>0.001</iyy><izz>0.001</izz>\
                 </inertia></inertial><collision name='c'><geometry><sphere><radius>0.1</radius>\
                 </sphere></geometry><surface><friction><ode><mu>100</mu><mu2>100</mu2>\
                 <fdir1>0 0 1</fdir1></ode></friction></surface></collision></link>\
                 <joint name='j{number}' type='revolute'><parent>body</parent>\
                 <child>w{number}</child><axis><xyz>0 0 1</xyz></axis></joint>\
                 <plugin name='gz::sim::systems::JointController' filename='none'>\
                 <joint_name>j{number}</joint_name><initial_velocity>10</initial_velocity>\
                 </plugin>"
            );
            let _ = write!(
                wheels,
                "<wheel link_name='w{number}'>{slip}<wheel_normal_force>10</wheel_normal_force>\
                 <wheel_radius>0.1</wheel_radius></wheel>"
            );
        }
        let plugin = if slip.is_empty() {
            String::new()
        } else {
            format!("<plugin name='gz::sim::systems::WheelSlip' filename='none'>{wheels}</plugin>")
        };
        format!("{text}{plugin}</model>")
    }

    /// Returns the velocity of the cart after two seconds \[m/s\].
    fn velocity(slip: &str, pull: f64) -> [f64; 3] {
        let mut rig = SystemTestRig::new(&cart(slip, pull));
        rig.run_steps(2000);
        rig.velocity("cart")[0]
    }

    #[test]
    fn a_cart_on_a_slope_drifts_by_its_lateral_compliance() {
        let lateral = "<slip_compliance_lateral>0.5</slip_compliance_lateral>";
        let [ahead, aside, _] = velocity(lateral, 1.0);
        // A tenth of the weight pulls aside: the rim's 1 m/s times 0.5 times 0.1.
        assert!((aside - 0.05).abs() < 1e-3, "{aside}");
        assert!((ahead - 1.0).abs() < 1e-2, "{ahead}");
        let [ahead, aside, _] = velocity("", 1.0);
        assert!(aside.abs() < 1e-4, "{aside}: without slip nothing drifts");
        assert!((ahead - 1.0).abs() < 1e-2, "{ahead}");
    }

    #[test]
    fn wheels_that_cannot_be_are_told_and_left_out() {
        let plugin = |wheels: &str| {
            format!(
                "<model name='m'><link name='body'/><link name='w'><collision name='c'><geometry>\
                 <sphere><radius>1</radius></sphere></geometry></collision></link>\
                 <joint name='j' type='revolute'><parent>body</parent><child>w</child><axis>\
                 <xyz>0 1 0</xyz></axis></joint><plugin name='gz::sim::systems::WheelSlip' \
                 filename='none'>{wheels}</plugin></model>"
            )
        };
        let sizes = "<wheel_radius>1</wheel_radius><wheel_normal_force>1</wheel_normal_force>";
        for (wheels, expected) in [
            (String::new(), "it needs a <wheel>"),
            (format!("<wheel>{sizes}</wheel>"), "no link \"\""),
            (
                format!("<wheel link_name='body'>{sizes}</wheel>"),
                "has 0 collisions",
            ),
            (
                "<wheel link_name='w'><wheel_radius>1</wheel_radius></wheel>".to_owned(),
                "has a <wheel_normal_force> of 0",
            ),
        ] {
            let problem = SystemTestRig::problem(&plugin(&wheels));
            assert!(problem.contains(expected), "{problem}");
        }
        let one = format!("<wheel link_name='w'>{sizes}</wheel><wheel link_name='x'/>");
        let problem = SystemTestRig::problem(&plugin(&one));
        assert!(problem.ends_with("it works without"), "{problem}");
    }
}
