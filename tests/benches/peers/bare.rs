//! The scene in rapier alone: its bodies, shapes and joints in one world, with the parameters that
//! Phalanx has, and nothing around it.

use std::time::Instant;

use rapier3d_f64::dynamics::{
    CoefficientCombineRule, GenericJointBuilder, ImpulseJointHandle, IntegrationParameters,
    JointAxesMask, JointAxis, MassProperties, MotorModel, RigidBodyBuilder, RigidBodyHandle,
    SpringCoefficients,
};
use rapier3d_f64::geometry::{ColliderBuilder, SharedShape, SolverFlags};
use rapier3d_f64::math::{Matrix, Pose, Rotation, Vector};
use rapier3d_f64::pipeline::{ActiveHooks, PairFilterContext, PhysicsHooks, PhysicsWorld};
use sdf::{Collision, Geometry, Joint, JointKind, JointParent, Link, Model, World};
use serde_json::json;
use tests::peers::Unsupported;
use tests::peers::drive::Motor;
use tests::peers::inertia::in_link_axes;
use tests::peers::mjcf;

use crate::measured::{Measured, STEP_SIZE_S, model_position};

/// Parameters that differ from rapier's defaults, so that contacts yield as little as in Phalanx:
/// substeps, and frequencies \[Hz\] and damping ratio of contacts.
const SUBSTEPS: usize = 4;
const CONTACT_FREQUENCY: f64 = 120.0;
const STATIC_CONTACT_FREQUENCY: f64 = 240.0;
const CONTACT_DAMPING_RATIO: f64 = 10.0;

/// Damping by which a motor's rate is held; more is no stiffer \[1/s\].
const MOTOR_DAMPING: f64 = 1e9;

/// Measures the steps of a scene.
///
/// # Errors
/// Fails if the scene has anything that not every engine is given.
pub(crate) fn run(
    world: &World,
    motors: &[Motor],
    iterations: u64,
) -> Result<Measured, Unsupported> {
    // It refuses all that is not built here.
    mjcf::write(world, motors, STEP_SIZE_S)?;
    let mut bare = Bare::new(world, motors);
    let ramp_s = motors.iter().map(Motor::ramp_s).fold(0.0, f64::max);
    let ramp = (ramp_s / STEP_SIZE_S).ceil() as u64;
    let begin = Instant::now();
    for iteration in 0..iterations {
        if iteration <= ramp {
            bare.drive(motors, (iteration + 1) as f64 * STEP_SIZE_S);
        }
        bare.physics.step_with_events(&Apart, &());
    }
    let seconds = begin.elapsed().as_secs_f64();
    Ok(Measured {
        seconds,
        positions: bare.positions(world),
        details: details(&bare.physics.integration_parameters),
        digest: None,
    })
}

fn details(parameters: &IntegrationParameters) -> serde_json::Value {
    json!({
        "settings": {
            "substeps": parameters.num_solver_iterations,
            "contact_frequency_hz": parameters.contact_softness.natural_frequency,
            "static_contact_frequency_hz": parameters.static_contact_softness.natural_frequency,
            "contact_damping_ratio": parameters.contact_softness.damping_ratio,
            "contact_recycling": parameters.contact_recycling,
            "warmstart_joints": parameters.warmstart_joints,
        },
    })
}

struct Bare {
    physics: PhysicsWorld,
    /// The bodies of each model, in the order of its links; none for static ones.
    bodies: Vec<Vec<RigidBodyHandle>>,
    /// In the order of the motors.
    motors: Vec<ImpulseJointHandle>,
}

impl Bare {
    fn new(world: &World, motors: &[Motor]) -> Self {
        let softness = |natural_frequency| SpringCoefficients {
            natural_frequency,
            damping_ratio: CONTACT_DAMPING_RATIO,
        };
        let mut physics = PhysicsWorld {
            gravity: Vector::from_array(world.gravity),
            integration_parameters: IntegrationParameters {
                dt: STEP_SIZE_S,
                num_solver_iterations: SUBSTEPS,
                contact_softness: softness(CONTACT_FREQUENCY),
                static_contact_softness: softness(STATIC_CONTACT_FREQUENCY),
                normalized_max_linear_velocity: f64::MAX,
                contact_recycling: false,
                warmstart_joints: true,
                ..IntegrationParameters::default()
            },
            ..PhysicsWorld::default()
        };
        let anchor = physics.insert_body(RigidBodyBuilder::fixed());
        let models = world.models.iter().enumerate();
        let insert = |(index, model)| insert(&mut physics, index, model, anchor);
        let inserted: Vec<Inserted> = models.map(insert).collect();
        let motors = motors.iter();
        Self {
            physics,
            motors: motors
                .map(|motor| inserted[motor.model].joints[motor.joint])
                .collect(),
            bodies: inserted.into_iter().map(|one| one.bodies).collect(),
        }
    }

    fn drive(&mut self, motors: &[Motor], time_s: f64) {
        for (motor, handle) in motors.iter().zip(&self.motors) {
            if let Some(joint) = self.physics.impulse_joints.get_mut(*handle, true) {
                let data = &mut joint.data;
                data.set_motor_model(JointAxis::AngX, MotorModel::AccelerationBased);
                data.set_motor_velocity(JointAxis::AngX, motor.rate(time_s), MOTOR_DAMPING);
            }
        }
    }

    fn positions(&self, world: &World) -> Vec<[f64; 3]> {
        let models = world.models.iter().zip(&self.bodies);
        models
            .filter(|(model, _)| !model.is_static)
            .map(|(model, bodies)| {
                let at = self.physics.bodies[bodies[model.canonical_link]].position();
                let link = sdf::Pose {
                    position: at.translation.to_array(),
                    orientation_xyzw: at.rotation.to_array(),
                };
                model_position(model, &link)
            })
            .collect()
    }
}

#[derive(Default)]
struct Inserted {
    bodies: Vec<RigidBodyHandle>,
    joints: Vec<ImpulseJointHandle>,
}

fn insert(
    physics: &mut PhysicsWorld,
    index: usize,
    model: &Model,
    anchor: RigidBodyHandle,
) -> Inserted {
    if model.is_static {
        let body = physics.insert_body(RigidBodyBuilder::fixed());
        for link in &model.links {
            for collision in &link.collisions {
                let at = link.pose.then(&collision.pose);
                physics.insert_collider(collider(collision, &at, 0), Some(body));
            }
        }
        return Inserted::default();
    }
    let mut inserted = Inserted::default();
    for link in &model.links {
        let body = physics.insert_body(body_of(link));
        for collision in &link.collisions {
            let own = if model.self_collide { 0 } else { index + 1 };
            physics.insert_collider(collider(collision, &collision.pose, own), Some(body));
        }
        inserted.bodies.push(body);
    }
    for joint in &model.joints {
        let parent = match joint.parent {
            JointParent::World => (anchor, sdf::Pose::IDENTITY),
            JointParent::Link(link) => (inserted.bodies[link], model.links[link].pose),
        };
        let child = (inserted.bodies[joint.child], model.links[joint.child].pose);
        let built = joint_of(joint, parent.1, child.1);
        let handle = physics
            .impulse_joints
            .insert(parent.0, child.0, built, true);
        inserted.joints.push(handle);
    }
    inserted
}

fn body_of(link: &Link) -> RigidBodyBuilder {
    let inertial = &link.inertial;
    let center = Vector::from_array(inertial.pose.position);
    let matrix = Matrix::from_cols_array_2d(&in_link_axes(inertial));
    RigidBodyBuilder::dynamic()
        .pose(to_rapier(&link.pose))
        .additional_mass_properties(MassProperties::with_inertia_matrix(
            center,
            inertial.mass,
            matrix,
        ))
        .can_sleep(false)
        .allow_fast_rotation(true)
}

/// Returns the collider of a collision; those with the same number, unless it is 0, pass through
/// each other.
fn collider(collision: &Collision, at: &sdf::Pose, model: usize) -> ColliderBuilder {
    let (shape, turn) = match &collision.geometry {
        Geometry::Box { size: [x, y, z] } => (
            SharedShape::cuboid(x / 2.0, y / 2.0, z / 2.0),
            Pose::IDENTITY,
        ),
        Geometry::Sphere { radius } => (SharedShape::ball(*radius), Pose::IDENTITY),
        Geometry::Cylinder { radius, length } => {
            // Cylinders of rapier stand along y.
            let turn = Rotation::from_rotation_arc(Vector::Y, Vector::Z);
            let turn = Pose::from_parts(Vector::ZERO, turn);
            (SharedShape::cylinder(length / 2.0, *radius), turn)
        }
        _ => (SharedShape::halfspace(Vector::Z), Pose::IDENTITY),
    };
    let builder = ColliderBuilder::new(shape)
        .position(to_rapier(at) * turn)
        .density(0.0)
        .friction(collision.surface.friction)
        .friction_combine_rule(CoefficientCombineRule::Min)
        .user_data(model as u128);
    if model == 0 {
        builder
    } else {
        builder.active_hooks(ActiveHooks::FILTER_CONTACT_PAIRS)
    }
}

fn joint_of(joint: &Joint, parent: sdf::Pose, child: sdf::Pose) -> GenericJointBuilder {
    let mut frame = to_rapier(&joint.pose);
    let locked = match &joint.kind {
        JointKind::Ball => JointAxesMask::LOCKED_SPHERICAL_AXES,
        JointKind::Revolute(axis) | JointKind::Continuous(axis) => {
            let direction = Vector::from_array(axis.xyz);
            frame.rotation = Rotation::from_rotation_arc(Vector::X, direction);
            JointAxesMask::LOCKED_REVOLUTE_AXES
        }
        _ => JointAxesMask::LOCKED_FIXED_AXES,
    };
    let [first, second] = [parent, child].map(|body| to_rapier(&body).inv_mul(&frame));
    let builder = GenericJointBuilder::new(locked)
        .local_frame1(first)
        .local_frame2(second)
        .contacts_enabled(false);
    match &joint.kind {
        JointKind::Revolute(axis) if axis.lower.is_finite() && axis.upper.is_finite() => {
            builder.limits(JointAxis::AngX, [axis.lower, axis.upper])
        }
        _ => builder,
    }
}

fn to_rapier(pose: &sdf::Pose) -> Pose {
    Pose::from_parts(
        Vector::from_array(pose.position),
        Rotation::from_array(pose.orientation_xyzw),
    )
}

/// Links of one model pass through each other.
struct Apart;

impl PhysicsHooks for Apart {
    fn filter_contact_pair(&self, context: &PairFilterContext) -> Option<SolverFlags> {
        let [first, second] = [context.collider1, context.collider2]
            .map(|handle| context.colliders.get(handle).map(|it| it.user_data));
        (first != second).then_some(SolverFlags::COMPUTE_RIGID_IMPULSES)
    }
}
