//! Sensors that move: what they say goes on as if they had stayed.

use std::sync::Arc;

use physics::{Arrival, Cell};
use protocol::PerformerId;

use super::rig::{cuboid, fixed, model, rig_of, sensor};
use crate::test_rig::SystemTestRig;

/// Returns a robot with sensors that remember something, falling on a floor.
fn content() -> String {
    let noise = r#"<noise type="gaussian"><stddev>0.1</stddev><bias_mean>1</bias_mean>
        <dynamic_bias_stddev>0.5</dynamic_bias_stddev>
        <dynamic_bias_correlation_time>2</dynamic_bias_correlation_time></noise>"#;
    let imu = format!(
        "<imu><linear_acceleration><x>{noise}</x><z>{noise}</z></linear_acceleration></imu>"
    );
    let altimeter =
        format!("<altimeter><vertical_velocity>{noise}</vertical_velocity></altimeter>");
    let contact = "<contact><collision>shape</collision></contact>";
    let lidar = "<lidar><scan><horizontal><samples>50</samples><min_angle>-3</min_angle>
        <max_angle>3</max_angle></horizontal></scan><range><min>0.1</min><max>50</max></range>
        <noise><type>gaussian</type><stddev>0.01</stddev></noise></lidar>";
    let camera = "<camera><image><width>16</width><height>12</height></image>
        <noise><type>gaussian</type><stddev>0.1</stddev></noise></camera>";
    let sensors = [
        sensor("imu", &imu),
        sensor("altimeter", &altimeter).replace("\"s\"", "\"a\""),
        sensor("contact", contact).replace("\"s\"", "\"c\""),
        sensor("lidar", lidar).replace("\"s\"", "\"l\""),
        sensor("camera", camera).replace("\"s\"", "\"e\""),
    ];
    let robot = model(
        "robot",
        "0 0 0.4 0.3 0.2 0",
        &(cuboid("0.5 0.4 0.3") + &sensors.concat()),
    );
    fixed("floor", "0 0 -0.5 0 0 0", &cuboid("9 9 1")) + &robot
}

#[test]
fn sensors_go_on_from_a_snapshot_bit_for_bit() {
    let mut rig = rig_of(&content());
    rig.run_steps(150);
    let world = Arc::new(rig.cell.world().clone());
    let restored = Cell::restore(world, &rig.cell.snapshot()).unwrap();
    let mut other = SystemTestRig::around(restored);
    other.load_states(&rig.saved_states());
    other.elapsed_ns = rig.elapsed_ns;
    rig.take_all();
    rig.run_steps(300);
    other.run_steps(300);
    let said = rig.take_all();
    assert!(said.len() > 1000, "{}", said.len());
    assert!(
        said == other.take_all(),
        "what the restored ones say differs"
    );
}

#[test]
fn sensors_go_on_in_another_cell() {
    let mut rig = rig_of(&content());
    let mut stays = rig_of(&content());
    rig.run_steps(20);
    stays.run_steps(20);
    let robot = PerformerId(1);
    let state = rig.cell.transfer(robot);
    let mut cell = Cell::new(Arc::new(rig.cell.world().clone()));
    cell.insert_static(0);
    let arrival = Arrival {
        performer: robot,
        model: 1,
        state: &state,
    };
    cell.adopt(&[arrival]).unwrap();
    let mut other = SystemTestRig::around(cell);
    other.load_states(&rig.saved_states());
    other.elapsed_ns = rig.elapsed_ns;
    stays.take_all();
    other.run_steps(50);
    stays.run_steps(50);
    let (said, expected) = (other.take_all(), stays.take_all());
    assert_eq!(said.len(), expected.len());
    let of = |message: &protocol::TopicMessage| {
        messages::decode::<messages::sensor::Imu>(&message.body).ok()
    };
    let mut compared = 0;
    for (one, two) in said.iter().zip(&expected) {
        if let (Some(one), Some(two)) = (of(one), of(two)) {
            let (one, two) = (one.linear_acceleration, two.linear_acceleration);
            assert!((one.x - two.x).abs() < 1e-6, "{one:?} {two:?}");
            compared += 1;
        }
    }
    assert_eq!(compared, 50);
}

#[test]
fn measurements_do_not_depend_on_earlier_subscribers() {
    let mut rig = rig_of(&content());
    let mut unheard = rig_of(&content());
    rig.run_steps(40);
    unheard.audience.publish_all = false;
    unheard.run_steps(40);
    assert!(unheard.take_all().is_empty());
    rig.take_all();
    unheard.audience.publish_all = true;
    rig.run_steps(5);
    unheard.run_steps(5);
    assert!(rig.take_all() == unheard.take_all());
}

#[test]
fn damaged_memories_are_refused() {
    let rig = rig_of(&content());
    let mut problems = Vec::new();
    let members = crate::registry::members_of_model(rig.cell.world(), false, 1, &mut problems);
    for mut member in members {
        let system = &mut member.configured.system;
        let mut bytes = system.save();
        bytes.push(0);
        assert!(system.load(&bytes).is_err(), "{}", member.name);
        assert!(system.load(&[]).is_err(), "{}", member.name);
    }
}
