//! `Hydrodynamics`: damping, added mass and Coriolis forces of water on a link.
//!
//! Coefficients are named as by SNAME (1950) with Fossen's signs: those that damp are negative.
//! Forces act at the origin of the link, in its axes. Source: gz-sim, `hydrodynamics`; T. I.
//! Fossen, Guidance and Control of Ocean Vehicles, 1994, pages 37 and 43, whose signs count where
//! the source of Gazebo has others. Gazebo feeds the acceleration of the last step back as it is,
//! which diverges where added mass exceeds mass; here it settles at the same motion always.

mod added_mass;

use messages::Vector3d;
use physics::math::Vector;
use physics::na::{Matrix6, Vector6};
use protocol::TopicMessage;
use serde::{Deserialize, Serialize};

use self::added_mass::AddedMass;
use super::{Configuration, ConfigureError, Configured, Context, System, TopicSpec};

/// The letters of forces and moments, and of velocities.
const FORCES: [&str; 6] = ["x", "y", "z", "k", "m", "n"];
const VELOCITIES: [&str; 6] = ["U", "V", "W", "P", "Q", "R"];

struct Hydrodynamics {
    link: usize,
    linear: Matrix6<f64>,
    quadratic: Vec<Quadratic>,
    added_mass: Matrix6<f64>,
    has_added_mass: bool,
    has_coriolis: bool,
    state: State,
}

/// A force by the product of two velocities.
struct Quadratic {
    force: usize,
    velocities: [usize; 2],
    /// True if the second of them counts without its sign.
    is_absolute: bool,
    coefficient: f64,
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    /// World frame \[m/s\].
    current: [f64; 3],
    added_mass: AddedMass,
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    for name in ["lookup_current_x", "lookup_current_y", "lookup_current_z"] {
        if configuration.text(name).is_some() {
            let message = format!("<{name}>: currents from files are not supported");
            return Err(ConfigureError(message));
        }
    }
    let matrix = |infix: &str| {
        let mut matrix = Matrix6::zeros();
        for (row, force) in FORCES.iter().enumerate() {
            for (column, velocity) in VELOCITIES.iter().enumerate() {
                let name = format!("{force}{infix}{velocity}");
                matrix[(row, column)] = configuration.number(&name, 0.0)?;
            }
        }
        Ok::<_, ConfigureError>(matrix)
    };
    let topic = match configuration.text("namespace") {
        Some(namespace) => format!("/model/{namespace}/ocean_current"),
        None => "/ocean_current".to_owned(),
    };
    Ok(Configured {
        subscriptions: vec![TopicSpec::of::<Vector3d>(configuration.topic(&topic))],
        publications: Vec::new(),
        system: Box::new(Hydrodynamics {
            link: configuration.link(&configuration.required("link_name")?)?,
            linear: matrix("")?,
            quadratic: quadratic(configuration)?,
            added_mass: matrix("Dot")?,
            has_added_mass: !configuration.flag("disable_added_mass", false)?,
            has_coriolis: !configuration.flag("disable_coriolis", false)?,
            state: State {
                current: configuration.vector("default_current", [0.0; 3])?,
                added_mass: AddedMass::default(),
            },
        }),
    })
}

fn quadratic(configuration: &Configuration<'_>) -> Result<Vec<Quadratic>, ConfigureError> {
    let mut found = Vec::new();
    for (force, prefix) in FORCES.iter().enumerate() {
        for (first, letter) in VELOCITIES.iter().enumerate() {
            for (second, last) in VELOCITIES.iter().enumerate() {
                for (infix, is_absolute) in [("", false), ("abs", true)] {
                    let name = format!("{prefix}{letter}{infix}{last}");
                    let coefficient = configuration.number(&name, 0.0)?;
                    if coefficient != 0.0 {
                        found.push(Quadratic {
                            force,
                            velocities: [first, second],
                            is_absolute,
                            coefficient,
                        });
                    }
                }
            }
        }
    }
    Ok(found)
}

impl Hydrodynamics {
    fn damping(&self, velocity: &Vector6<f64>) -> Vector6<f64> {
        let mut forces = self.linear * velocity;
        for term in &self.quadratic {
            let [first, second] = term.velocities.map(|index| velocity[index]);
            let second = if term.is_absolute {
                second.abs()
            } else {
                second
            };
            forces[term.force] += term.coefficient * first * second;
        }
        forces
    }

    /// The forces of the diagonal of the added mass on what moves in a turning frame.
    fn coriolis(&self, velocity: &Vector6<f64>) -> Vector6<f64> {
        let momentum: Vector6<f64> = self.added_mass.diagonal().component_mul(velocity);
        let part = |of: &Vector6<f64>, at: usize| Vector::new(of[at], of[at + 1], of[at + 2]);
        let [linear, angular] = [0, 3].map(|at| part(velocity, at));
        let [push, spin] = [0, 3].map(|at| part(&momentum, at));
        joined(
            angular.cross(push),
            linear.cross(push) + angular.cross(spin),
        )
    }
}

fn joined(linear: Vector, angular: Vector) -> Vector6<f64> {
    Vector6::new(
        linear.x, linear.y, linear.z, angular.x, angular.y, angular.z,
    )
}

impl System for Hydrodynamics {
    fn on_message(&mut self, _: usize, message: &TopicMessage, _: &mut Context<'_>) {
        if let Ok(current) = messages::decode::<Vector3d>(&message.body) {
            let current: [f64; 3] = (&current).into();
            if current.iter().all(|speed| speed.is_finite()) {
                self.state.current = current;
                self.state.added_mass.forget_velocity();
            }
        }
    }

    fn before_step(&mut self, context: &mut Context<'_>) {
        let (cell, model, link) = (&mut *context.cell, context.model, self.link);
        let pose = cell.link_pose(model, link);
        let into_link = pose.inverse();
        let [linear, angular] = cell.link_velocity(model, link);
        let current = self.state.current;
        let linear = std::array::from_fn(|axis| linear[axis] - current[axis]);
        let [linear, angular] = [linear, angular].map(|part| into_link.rotate(part).into());
        let velocity = joined(linear, angular);
        let mut forces = self.damping(&velocity);
        if self.has_coriolis {
            forces += self.coriolis(&velocity);
        }
        if self.has_added_mass && self.added_mass != Matrix6::zeros() {
            let mass = added_mass::of_link(cell, model, link);
            let step_size_s = context.time.step_size_s;
            let state = &mut self.state.added_mass;
            forces += state.forces(&self.added_mass, &mass, &velocity, step_size_s);
        }
        let [force, torque] = [0, 3].map(|at| {
            let part = [forces[at], forces[at + 1], forces[at + 2]];
            pose.rotate(part)
        });
        cell.add_force_at(model, link, force, pose.position);
        cell.add_load(model, link, [0.0; 3], torque);
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut self.state, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_rig::SystemTestRig;

    /// A body of 4 kg that a force of 8 N draws along x.
    fn world(parameters: &str, force: &str) -> String {
        format!(
            "<gravity>0 0 0</gravity>
            <plugin name='gz::sim::systems::ApplyLinkWrench' filename='w'><persistent>
            <entity_name>body</entity_name><entity_type>model</entity_type>
            {force}</persistent></plugin>
            <model name='body'><link name='l'><inertial><mass>4</mass>
            <inertia><ixx>1</ixx><iyy>2</iyy><izz>3</izz></inertia></inertial></link>
            <plugin name='gz::sim::systems::Hydrodynamics' filename='h'><link_name>l</link_name>
            {parameters}</plugin></model>"
        )
    }

    fn bench(parameters: &str) -> SystemTestRig {
        SystemTestRig::new(&world(parameters, "<force>8 0 0</force>"))
    }

    fn speed(rig: &SystemTestRig) -> f64 {
        rig.cell.link_velocity(rig.model("body"), 0)[0][0]
    }

    #[test]
    fn damping_leads_to_the_terminal_velocity() {
        let mut linear = bench("<xU>-16</xU>");
        linear.run(0.1);
        linear.renew_systems();
        linear.run(0.15);
        let expected = 0.5 * (1.0 - (-4.0_f64 * 0.25).exp());
        assert!(
            (speed(&linear) / expected - 1.0).abs() < 2e-3,
            "{}",
            speed(&linear)
        );
        let mut quadratic = bench("<xUabsU>-2</xUabsU>");
        quadratic.run(0.5);
        // v = vt tanh(F t / (m vt)) with vt = sqrt(F / k) = 2 m/s.
        let expected = 2.0 * (8.0_f64 * 0.5 / 8.0).tanh();
        assert!(
            (speed(&quadratic) / expected - 1.0).abs() < 2e-3,
            "{}",
            speed(&quadratic)
        );
        quadratic.run(5.0);
        assert!(
            (speed(&quadratic) - 2.0).abs() < 1e-3,
            "{}",
            speed(&quadratic)
        );
    }

    #[test]
    fn a_current_takes_a_body_along() {
        let mut rig = bench("<xU>-160</xU><yV>-160</yV><default_current>0 3 0</default_current>");
        rig.run(1.0);
        let [linear, _] = rig.cell.link_velocity(rig.model("body"), 0);
        assert!(
            (linear[0] - 0.05).abs() < 1e-9 && (linear[1] - 3.0).abs() < 1e-9,
            "{linear:?}"
        );
        let current: Vector3d = [1.0, 0.0, 0.0].into();
        rig.publish("/ocean_current", &current);
        rig.run(1.0);
        let [linear, _] = rig.cell.link_velocity(rig.model("body"), 0);
        assert!(
            (linear[0] - 1.05).abs() < 1e-9 && linear[1].abs() < 1e-9,
            "{linear:?}"
        );
    }

    #[test]
    fn added_mass_slows_what_is_pushed_also_where_it_is_greater_than_the_mass() {
        for added in [1.0, 4.0, 36.0] {
            let parameters = format!("<xDotU>-{added}</xDotU><yDotV>-9</yDotV><nDotR>-20</nDotR>");
            let mut rig = bench(&parameters);
            rig.run(0.5);
            rig.renew_systems();
            rig.run(0.5);
            let expected = 8.0 / (4.0 + added);
            let found = speed(&rig);
            assert!(
                (found / expected - 1.0).abs() < 0.02,
                "{added}: {found} but {expected}"
            );
        }
    }

    #[test]
    fn added_inertia_slows_what_is_turned() {
        let world = world("<nDotR>-5</nDotR>", "<torque>0 0 4</torque>");
        let mut rig = SystemTestRig::new(&world);
        rig.run(1.0);
        let [_, angular] = rig.cell.link_velocity(rig.model("body"), 0);
        assert!((angular[2] - 0.5).abs() < 0.01, "{angular:?}");
    }

    #[test]
    fn coriolis_forces_do_no_work_and_turn_a_slanting_body_broadside() {
        let parameters = "<xDotU>-1</xDotU><yDotV>-3</yDotV><zDotW>-3</zDotW>";
        let mut rig = SystemTestRig::new(&world(parameters, ""));
        let model = rig.model("body");
        let velocity = [[2.0, 0.5, 0.0], [0.0, 0.0, 0.1]];
        rig.cell.set_link_velocity(model, 0, velocity);
        rig.run(0.001);
        let [after, turning] = rig.cell.link_velocity(model, 0);
        // Munk's moment: -(Y - X) u v with positive added masses X and Y.
        let moment = (turning[2] - 0.1) * 3.0 / 0.001;
        assert!(
            (moment - (1.0 - 3.0) * 2.0 * 0.5).abs() < 1e-3,
            "{moment} N m"
        );
        let work: f64 = (0..3)
            .map(|axis| 4.0 * (after[axis] - velocity[0][axis]) * velocity[0][axis])
            .sum::<f64>()
            + 3.0 * (turning[2] - 0.1) * 0.1;
        assert!(work.abs() < 1e-6, "{work} J");
    }

    #[test]
    fn cross_terms_push_where_their_names_say() {
        let mut rig = bench("<yU>-2</yU><nUabsU>3</nUabsU>");
        let model = rig.model("body");
        rig.cell
            .set_link_velocity(model, 0, [[-2.0, 0.0, 0.0], [0.0; 3]]);
        rig.run(0.001);
        let [linear, angular] = rig.cell.link_velocity(model, 0);
        assert!((linear[1] - 4.0 / 4.0 * 0.001).abs() < 1e-9, "{linear:?}");
        assert!(
            (angular[2] + 12.0 / 3.0 * 0.001).abs() < 1e-9,
            "{angular:?}"
        );
    }
}
