//! Tracks drive what they are on.

use messages::basic::Double;
use messages::motion::{Odometry, Twist};

use crate::test_rig::SystemTestRig;

/// A crawler of 10 kg on two tracks, 1.6 m apart, on level ground.
fn crawler(parameters: &str) -> String {
    vehicle(parameters, "")
}

/// The same with another plugin.
fn vehicle(parameters: &str, vehicle: &str) -> String {
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
    text + vehicle + "</model>"
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

/// The crawler with a `TrackedVehicle`.
fn driven(parameters: &str) -> String {
    let vehicle = format!(
        "<link name='body'><pose>0 0 0.2 0 0 0</pose><inertial><mass>1</mass></inertial></link>\
         <joint name='hull' type='fixed'><parent>left</parent><child>body</child></joint>\
         <plugin name='gz::sim::systems::TrackedVehicle' filename='none'>\
         <body_link>body</body_link>\
         <left_track><link>left</link></left_track><right_track><link>right</link></right_track>\
         <tracks_separation>1.6</tracks_separation>{parameters}</plugin>"
    );
    self::vehicle("", &vehicle)
}

fn ask(rig: &mut SystemTestRig, ahead: f64, turning: f64) {
    let twist = Twist {
        linear: [ahead, 0.0, 0.0].into(),
        angular: [0.0, 0.0, turning].into(),
        ..Twist::default()
    };
    rig.publish("/model/crawler/cmd_vel", &twist);
}

#[test]
fn a_tracked_vehicle_goes_where_a_twist_says() {
    let mut rig = SystemTestRig::new(&driven(""));
    rig.run(0.5);
    let start = place(&rig);
    ask(&mut rig, 0.4, 0.0);
    rig.run(1.0);
    rig.renew_systems();
    rig.run(1.0);
    let end = place(&rig);
    let way = end[0] - start[0];
    assert!((way / 0.8 - 1.0).abs() < 0.05, "{way} m, not 0.8 m");
    assert!((end[1] - start[1]).abs() < 0.01 && end[2].abs() < 0.01);
    let told = rig.last::<Odometry>("/model/crawler/odometry").unwrap();
    assert!((told.pose.position.x - way).abs() < 0.05, "{told:?}");
    assert!((told.twist.linear.x - 0.4).abs() < 1e-9, "{told:?}");
    ask(&mut rig, 0.0, 0.25);
    rig.run(2.0);
    let turned = place(&rig);
    assert!(turned[2] > 0.2 && turned[2] < 0.8, "{turned:?}");
    let moved = (turned[0] - end[0]).hypot(turned[1] - end[1]);
    assert!(moved < 0.1, "it turns on the spot, and moved by {moved} m");
    ask(&mut rig, -0.4, 0.0);
    rig.run(1.0);
    assert!(place(&rig)[0] < turned[0] - 0.2, "backwards");
}

#[test]
fn a_tracked_vehicle_keeps_its_limits() {
    let limits = "<linear_velocity><max_velocity>0.3</max_velocity>\
         <max_acceleration>0.5</max_acceleration></linear_velocity>";
    let mut rig = SystemTestRig::new(&driven(limits));
    ask(&mut rig, 1.0, 0.0);
    rig.run(0.2);
    let speed = |rig: &SystemTestRig| {
        let told = rig.last::<Double>("/model/crawler/link/left/track_cmd_vel");
        told.unwrap().data
    };
    assert!((speed(&rig) - 0.1).abs() < 0.01, "{}", speed(&rig));
    rig.run(1.0);
    assert!((speed(&rig) - 0.3).abs() < 1e-5, "{}", speed(&rig));
}

#[test]
fn a_tracked_vehicle_turns_more_with_less_efficiency() {
    let mut rig = SystemTestRig::new(&driven("<steering_efficiency>0.8</steering_efficiency>"));
    let speed = |rig: &SystemTestRig| {
        let told = rig.last::<Double>("/model/crawler/link/right/track_cmd_vel");
        told.unwrap().data
    };
    ask(&mut rig, 0.0, 0.5);
    rig.run(0.1);
    assert!((speed(&rig) - 0.5).abs() < 1e-9, "{}", speed(&rig));
    for efficiency in [0.4, -1.0, f64::NAN] {
        let efficiency = Double {
            data: efficiency,
            ..Double::default()
        };
        rig.publish("/model/crawler/steering_efficiency", &efficiency);
    }
    rig.run(0.1);
    assert!((speed(&rig) - 1.0).abs() < 1e-9, "{}", speed(&rig));
}

#[test]
fn a_tracked_vehicle_needs_a_track_on_either_side() {
    let plugin = |tracks: &str| {
        let name = "gz::sim::systems::TrackedVehicle";
        vehicle(
            "",
            &format!("<plugin name='{name}' filename='t'>{tracks}</plugin>"),
        )
    };
    let left = "<left_track><link>left</link></left_track>";
    let problem = SystemTestRig::problem(&plugin(left));
    assert!(problem.contains("needs a <right_track>"), "{problem}");
    let tracks = format!("{left}<right_track><link>none</link></right_track>");
    let problem = SystemTestRig::problem(&plugin(&tracks));
    assert!(problem.contains("no link \"none\""), "{problem}");
}
