//! `LiftDrag`: lift and drag of a wing, fin or blade that is a part of a link.
//!
//! Both act at the centre of pressure and follow from the flow in the plane across the span; wind
//! counts. As in Gazebo, the moment of `cma` and `cma_stall` is not applied. Source: gz-sim,
//! `lift_drag/LiftDrag.hh` and `.cc`.

use std::f64::consts::{FRAC_PI_2, PI};

use physics::math::Vector;

use super::{Configuration, ConfigureError, Configured, Context, System};

/// Below this speed nothing happens \[m/s\].
const SPEED_MIN: f64 = 0.01;

struct LiftDrag {
    link: usize,
    joint: Option<usize>,
    foil: Foil,
    /// Link frame \[m\].
    center_of_pressure: Vector,
    /// Change of lift per radian of the joint.
    joint_lift: f64,
}

/// The shape of a foil.
struct Foil {
    /// Slopes of lift and drag per radian, before stall.
    slopes: [f64; 2],
    /// The same after it.
    stalled_slopes: [f64; 2],
    /// \[rad\]
    stall: f64,
    /// Angle of attack without lift, negative \[rad\].
    zero: f64,
    /// \[m²\]
    area: f64,
    /// \[kg/m³\]
    density: f64,
    is_radial: bool,
    /// Unit vectors, link frame.
    forward: Vector,
    upward: Vector,
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let number = |name: &str, default| configuration.number(name, default);
    let unit = |name: &str, default: [f64; 3]| {
        let vector = Vector::from(configuration.vector(name, default)?);
        let is_zero = || ConfigureError(format!("<{name}> has no direction"));
        vector.try_normalize().ok_or_else(is_zero)
    };
    let joint = match configuration.text("control_joint_name") {
        Some(name) => Some(configuration.joint(&name)?),
        None => None,
    };
    // They are read so that they are checked.
    number("cma", 0.01)?;
    number("cma_stall", 0.0)?;
    let foil = Foil {
        slopes: [number("cla", 1.0)?, number("cda", 0.01)?],
        stalled_slopes: [number("cla_stall", 0.0)?, number("cda_stall", 1.0)?],
        stall: number("alpha_stall", FRAC_PI_2)?,
        zero: number("a0", 0.0)?,
        area: number("area", 1.0)?,
        density: number("air_density", 1.2041)?,
        is_radial: configuration.flag("radial_symmetry", false)?,
        forward: unit("forward", [1.0, 0.0, 0.0])?,
        upward: unit("upward", [0.0, 0.0, 1.0])?,
    };
    Ok(Configured {
        system: Box::new(LiftDrag {
            link: configuration.link(&configuration.required("link_name")?)?,
            joint,
            foil,
            center_of_pressure: configuration.vector("cp", [0.0; 3])?.into(),
            joint_lift: number("control_joint_rad_to_cl", 4.0)?,
        }),
        subscriptions: Vec::new(),
        publications: Vec::new(),
    })
}

impl System for LiftDrag {
    fn before_step(&mut self, context: &mut Context<'_>) {
        let (cell, model) = (&mut *context.cell, context.model);
        let pose = cell.link_pose(model, self.link);
        let [linear, angular] = cell.link_velocity(model, self.link).map(Vector::from);
        let arm = Vector::from(pose.rotate(self.center_of_pressure.into()));
        let flow = linear + angular.cross(arm) - Vector::from(cell.wind());
        let extra = self.joint.map_or(0.0, |joint| {
            self.joint_lift * cell.joint_position(model, joint, 0)
        });
        let forward = pose.rotate(self.foil.forward.into()).into();
        let upward = pose.rotate(self.foil.upward.into()).into();
        if let Some(force) = self.foil.force(flow, forward, upward, extra) {
            let at = Vector::from(pose.position) + arm;
            cell.add_force_at(model, self.link, force.into(), at.into());
        }
    }

    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut (), bytes)
    }
}

impl Foil {
    /// Returns the force of a foil that moves through the air with a velocity \[m/s\] \[N\].
    fn force(
        &self,
        velocity: Vector,
        forward: Vector,
        upward: Vector,
        extra_lift: f64,
    ) -> Option<Vector> {
        let speed = velocity.length();
        if speed <= SPEED_MIN || !speed.is_finite() {
            return None;
        }
        let upward = if self.is_radial {
            forward.cross(forward.cross(velocity)).try_normalize()?
        } else {
            upward
        };
        let span = forward.cross(upward).try_normalize()?;
        let sweep = (span.dot(velocity) / speed).clamp(-1.0, 1.0);
        let sweep_factor = 1.0 - sweep * sweep;
        let in_plane = velocity - span * velocity.dot(span);
        let lift_direction = span.cross(in_plane).try_normalize()?;
        let between = libm::acos(lift_direction.dot(upward).clamp(-1.0, 1.0));
        let alpha = if lift_direction.dot(forward) >= 0.0 {
            self.zero + between
        } else {
            self.zero - between
        };
        let alpha = folded(alpha)?;
        let lift = self.lift(alpha) * sweep_factor + extra_lift;
        let drag = (self.coefficient(1, alpha) * sweep_factor).abs();
        let pressure = 0.5 * self.density * in_plane.length_squared();
        let drag_direction = -in_plane.try_normalize()?;
        let force = (lift_direction * lift + drag_direction * drag) * (pressure * self.area);
        force.is_finite().then_some(force)
    }

    fn lift(&self, alpha: f64) -> f64 {
        let lift = self.coefficient(0, alpha);
        if alpha > self.stall {
            lift.max(0.0)
        } else if alpha < -self.stall {
            lift.min(0.0)
        } else {
            lift
        }
    }

    fn coefficient(&self, which: usize, alpha: f64) -> f64 {
        let (slope, stalled) = (self.slopes[which], self.stalled_slopes[which]);
        if alpha > self.stall {
            slope * self.stall + stalled * (alpha - self.stall)
        } else if alpha < -self.stall {
            -slope * self.stall + stalled * (alpha + self.stall)
        } else {
            slope * alpha
        }
    }
}

/// Returns an angle within a quarter turn of 0, half turns away \[rad\].
fn folded(angle: f64) -> Option<f64> {
    let folded = angle - PI * libm::round(angle / PI);
    folded.is_finite().then_some(folded)
}

#[cfg(test)]
mod tests {
    use crate::test_rig::SystemTestRig;

    fn world(parameters: &str, wind: &str) -> String {
        format!(
            "<gravity>0 0 0</gravity><wind><linear_velocity>{wind}</linear_velocity></wind>
            <model name='wing'><link name='l'><inertial><mass>10</mass></inertial></link>
            <plugin name='gz::sim::systems::LiftDrag' filename='w'><link_name>l</link_name>
            <area>2</area><air_density>1.2</air_density><cla>3</cla><cda>0.5</cda>
            <alpha_stall>0.3</alpha_stall><cla_stall>-1</cla_stall><cda_stall>2</cda_stall>
            {parameters}</plugin></model>"
        )
    }

    /// Returns the force after one step with a velocity in the wing's x-z plane.
    fn force(parameters: &str, velocity: [f64; 3]) -> [f64; 3] {
        let mut rig = SystemTestRig::new(&world(parameters, "0 0 0"));
        let model = rig.model("wing");
        rig.cell.set_link_velocity(model, 0, [velocity, [0.0; 3]]);
        rig.run(0.001);
        let after = rig.cell.link_velocity(model, 0)[0];
        std::array::from_fn(|axis| (after[axis] - velocity[axis]) * 10.0 / 0.001)
    }

    #[track_caller]
    fn check(found: [f64; 3], lift: f64, drag: f64, alpha: f64) {
        // Drag is against the velocity, which comes from below by the angle of attack.
        let expected = [
            lift * alpha.sin() - drag * alpha.cos(),
            0.0,
            lift * alpha.cos() + drag * alpha.sin(),
        ];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found} but {expected} N");
        }
    }

    #[test]
    fn lift_and_drag_grow_with_the_angle_of_attack() {
        let (alpha, pressure) = (0.1_f64, 0.5 * 1.2 * 400.0 * 2.0);
        let velocity = [20.0 * alpha.cos(), 0.0, -20.0 * alpha.sin()];
        let found = force("", velocity);
        check(found, 0.3 * pressure, 0.05 * pressure, alpha);
        let found = force("<a0>0.05</a0>", velocity);
        check(found, 0.45 * pressure, 0.075 * pressure, alpha);
    }

    #[test]
    fn a_stalled_wing_loses_lift_and_gains_drag() {
        let (alpha, pressure) = (0.5_f64, 0.5 * 1.2 * 400.0 * 2.0);
        let velocity = [20.0 * alpha.cos(), 0.0, -20.0 * alpha.sin()];
        check(force("", velocity), 0.7 * pressure, 0.55 * pressure, alpha);
    }

    #[test]
    fn sideways_flow_lifts_nothing() {
        assert_eq!(force("", [0.0, 20.0, 0.0]), [0.0; 3]);
    }

    #[test]
    fn wind_counts_as_flow_and_lift_off_the_centre_turns() {
        let mut rig = SystemTestRig::new(&world("<cp>0 3 0</cp><a0>0.1</a0>", "-10 0 0"));
        let model = rig.model("wing");
        rig.run(0.001);
        let [linear, angular] = rig.cell.link_velocity(model, 0);
        let lift = 0.5 * 1.2 * 100.0 * 2.0 * 3.0 * 0.1;
        assert!((linear[2] - lift * 0.001 / 10.0).abs() < 1e-9, "{linear:?}");
        assert!(
            (angular[0] - 3.0 * lift * 0.001).abs() < 1e-9,
            "{angular:?}"
        );
    }

    #[test]
    fn a_control_surface_adds_lift() {
        let mut rig = SystemTestRig::new(
            "<gravity>0 0 0</gravity><wind><linear_velocity>-10 0 0</linear_velocity></wind>
            <model name='wing'><link name='l'><inertial><mass>1000</mass>
              <inertia><ixx>1e6</ixx><iyy>1e6</iyy><izz>1e6</izz></inertia></inertial></link>
            <link name='flap'/><joint name='hinge' type='revolute'><parent>l</parent>
              <child>flap</child><axis><xyz>0 1 0</xyz></axis></joint>
            <plugin name='gz::sim::systems::LiftDrag' filename='w'><link_name>l</link_name>
            <air_density>1</air_density><control_joint_name>hinge</control_joint_name>
            <control_joint_rad_to_cl>2</control_joint_rad_to_cl></plugin></model>",
        );
        let model = rig.model("wing");
        rig.cell
            .set_link_velocity(model, 1, [[0.0; 3], [0.0, 0.2, 0.0]]);
        rig.run(1.0);
        let angle = rig.cell.joint_position(model, 0, 0);
        let before = rig.cell.link_velocity(model, 0)[0][2];
        rig.run(0.001);
        let gained = (rig.cell.link_velocity(model, 0)[0][2] - before) * 1001.0 / 0.001;
        let expected = 2.0 * angle * 50.0;
        assert!(
            angle > 0.1 && (gained / expected - 1.0).abs() < 0.02,
            "{gained} {expected}"
        );
    }
}
