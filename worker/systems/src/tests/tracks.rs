//! Tracks drive what they are on.

use messages::basic::Double;

use crate::test_rig::SystemTestRig;

/// A crawler of 10 kg on two tracks, 1.6 m apart, on level ground.
fn crawler(parameters: &str) -> String {
    let link = |name: &str, y: f64, mass: f64| {
        let inertia = mass * 0.02;
        format!(
            "<link name='{name}'><pose>0 {y} 0.1 0 0 0</pose><inertial><mass>{mass}</mass>\
             <inertia><ixx>{inertia}</ixx><iyy>{inertia}</iyy><izz>{inertia}</izz></inertia>\
             </inertial><collision name='c'><geometry><box><size>0.8 0.1 0.2</size></box>\
             </geometry></collision></link>"
        )
    };
    let mut text = "<model name='ground'><static>true</static><link name='link'>\
        <collision name='c'><geometry><plane><normal>0 0 1</normal><size>100 100</size></plane>\
        </geometry></collision></link></model><model name='crawler'>"
        .to_owned();
    text += &link("left", 0.8, 5.0);
    text += &link("right", -0.8, 5.0);
    text += "<joint name='rigid' type='fixed'><parent>left</parent><child>right</child></joint>";
    let plugins = ["left", "right"].map(|side| {
        format!(
            "<plugin name='gz::sim::systems::TrackController' filename='none'><link>{side}</link>\
             {parameters}</plugin>"
        )
    });
    text += &plugins.concat();
    text + "</model>"
}

fn say(rig: &mut SystemTestRig, speeds: [f64; 2]) {
    for (side, data) in ["left", "right"].into_iter().zip(speeds) {
        let speed = Double {
            data,
            ..Double::default()
        };
        rig.publish(&format!("/model/crawler/link/{side}/track_cmd_vel"), &speed);
    }
}

fn place(rig: &SystemTestRig) -> [f64; 3] {
    let pose = rig.cell.model_pose(rig.model_at(1));
    [pose.position[0], pose.position[1], pose.roll_pitch_yaw()[2]]
}

#[test]
fn a_crawler_goes_at_the_speed_of_its_tracks() {
    let mut rig = SystemTestRig::new(&crawler(""));
    rig.run(0.5);
    let start = place(&rig);
    say(&mut rig, [0.4, 0.4]);
    rig.run(2.0);
    let end = place(&rig);
    let way = end[0] - start[0];
    assert!((way / 0.8 - 1.0).abs() < 0.05, "{way} m, not 0.8 m");
    assert!(
        (end[1] - start[1]).abs() < 0.01 && end[2].abs() < 0.01,
        "{end:?}"
    );
    say(&mut rig, [0.0, 0.0]);
    rig.run(1.0);
    let stopped = place(&rig);
    rig.run(0.5);
    assert!((place(&rig)[0] - stopped[0]).abs() < 1e-3, "it stands");
}

#[test]
fn a_crawler_turns_towards_its_slower_track() {
    let mut rig = SystemTestRig::new(&crawler(""));
    rig.run(0.5);
    say(&mut rig, [-0.3, 0.3]);
    rig.run(2.0);
    let yaw = place(&rig)[2];
    assert!(yaw > 0.1, "turned by {yaw} rad");
}

#[test]
fn a_command_is_forgotten_when_it_is_too_old() {
    let mut rig = SystemTestRig::new(&crawler("<max_command_age>0.5</max_command_age>"));
    rig.run(0.5);
    let start = place(&rig);
    say(&mut rig, [0.4, 0.4]);
    rig.run(2.0);
    let way = place(&rig)[0] - start[0];
    assert!((way / 0.2 - 1.0).abs() < 0.1, "{way} m, not 0.2 m");
}
