//! Worlds with sensors, and what they measure.

use std::sync::Arc;

use messages::Message;
use sdf::World;

use crate::test_rig::SystemTestRig;

pub(super) const GRAVITY: f64 = 9.8;

/// Reads a world of what is in it.
pub(super) fn world(content: &str) -> Arc<World> {
    let text = format!(
        r#"<sdf version="1.11"><world name="w"><gravity>0 0 -{GRAVITY}</gravity>
        <magnetic_field>2e-5 0 -4e-5</magnetic_field>{content}</world></sdf>"#
    );
    let read = sdf::read_worlds(&text, "test.sdf", &sdf::NoFiles);
    Arc::new(read.unwrap().worlds.remove(0))
}

/// Returns a model of one link that holds some elements.
pub(super) fn model(name: &str, pose: &str, content: &str) -> String {
    format!(
        r#"<model name="{name}"><pose>{pose}</pose><link name="link"><inertial><mass>2</mass>
        <inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>
        {content}</link></model>"#
    )
}

/// The same for one that never moves.
pub(super) fn fixed(name: &str, pose: &str, content: &str) -> String {
    let moving = model(name, pose, content);
    moving.replace("<link name", "<static>true</static><link name")
}

/// Returns a collision of a shape.
pub(super) fn collision(shape: &str) -> String {
    format!(r#"<collision name="shape"><geometry>{shape}</geometry></collision>"#)
}

/// Returns a box of a size.
pub(super) fn cuboid(size: &str) -> String {
    collision(&format!("<box><size>{size}</size></box>"))
}

/// Returns a sensor `s` of a kind with some elements, on the topic `t`.
pub(super) fn sensor(kind: &str, content: &str) -> String {
    format!(r#"<sensor name="s" type="{kind}"><topic>t</topic>{content}</sensor>"#)
}

/// Makes a cell of all models of a world; performers' ids are their models' indices.
pub(super) fn rig_of(content: &str) -> SystemTestRig {
    SystemTestRig::of_world(&world(content))
}

/// Does a step and returns the message in it on the topic `/t`.
pub(super) fn measure<M: Message>(rig: &mut SystemTestRig) -> M {
    rig.take_all();
    rig.run_steps(1);
    rig.take("/t").remove(0)
}

/// Checks that numbers are near others.
#[track_caller]
pub(super) fn assert_near(found: impl Into<[f64; 3]>, expected: [f64; 3], tolerance: f64) {
    let found = found.into();
    for axis in 0..3 {
        let error = (found[axis] - expected[axis]).abs();
        assert!(error <= tolerance, "{found:?} is not {expected:?}");
    }
}
