//! Links with all that may be attached to them.

use crate::read::{ReadWorlds, read_worlds};
use crate::resolve::NoFiles;
use crate::world::{Geometry, Model};

fn read(content: &str) -> ReadWorlds {
    let text = format!(
        "<sdf version='1.12'><world name='w'><model name='m'>{content}</model></world></sdf>"
    );
    read_worlds(&text, "w.sdf", &NoFiles).unwrap()
}

fn model(content: &str) -> Model {
    read(content).worlds.remove(0).models.remove(0)
}

#[test]
fn flags_and_decay_of_a_link_are_read() {
    let link = &model(
        "<link name='l'><gravity>0</gravity><kinematic>1</kinematic><enable_wind>1</enable_wind>\
         <velocity_decay><linear>0.1</linear><angular>0.2</angular></velocity_decay></link>",
    )
    .links[0];
    assert!(!link.gravity && link.kinematic && link.enable_wind);
    assert_eq!(link.velocity_decay, [0.1, 0.2]);
    let windy = model("<enable_wind>true</enable_wind><link name='l'/>");
    assert!(windy.enable_wind && windy.links[0].enable_wind);
}

#[test]
fn sensors_are_in_the_frame_of_their_link_or_joint() {
    let model = model(
        "<link name='a'><pose>1 0 0 0 0 0</pose><sensor name='s' type='gpu_ray'>\
         <pose relative_to='f'>0 0 1 0 0 0</pose><update_rate>30</update_rate>\
         <topic>/scan</topic><always_on>1</always_on><lidar><scan/></lidar></sensor></link>\
         <frame name='f'><pose>3 0 0 0 0 0</pose></frame><joint name='j' type='fixed'>\
         <parent>world</parent><child>a</child><sensor name='t' type='force_torque'>\
         <pose>0 2 0 0 0 0</pose></sensor></joint>",
    );
    let sensor = &model.links[0].sensors[0];
    assert_eq!(
        (sensor.kind.as_str(), sensor.update_rate),
        ("gpu_lidar", 30.0)
    );
    assert_eq!((sensor.topic.as_str(), sensor.always_on), ("/scan", true));
    assert_eq!(sensor.pose.position, [2.0, 0.0, 1.0]);
    assert!(
        sensor
            .content
            .child("lidar")
            .is_some_and(|lidar| lidar.child("scan").is_some())
    );
    assert_eq!(model.joints[0].sensors[0].pose.position, [0.0, 2.0, 0.0]);
}

#[test]
fn visuals_have_shape_colour_and_transparency() {
    let visual = &model(
        "<link name='l'><visual name='v'><pose>0 0 1 0 0 0</pose><transparency>0.5</transparency>\
         <material><diffuse>1 0.5 0 1</diffuse></material>\
         <geometry><mesh><uri>a.dae</uri></mesh></geometry></visual></link>",
    )
    .links[0]
        .visuals[0];
    assert_eq!((visual.transparency, visual.pose.position[2]), (0.5, 1.0));
    assert_eq!(visual.color(), Some([1.0, 0.5, 0.0, 1.0]));
    let Geometry::Mesh(mesh) = &visual.geometry else {
        panic!("{visual:?}")
    };
    assert_eq!((mesh.uri.as_str(), mesh.mesh), ("a.dae", None));
    assert!(visual.cast_shadows && !visual.file.is_empty());
    assert_eq!(visual.visibility_flags, u32::MAX);
}

#[test]
fn what_is_only_looked_at_is_no_reason_to_refuse_a_file() {
    let link = &model(
        "<link name='l'><visual name='v'><geometry><heightmap><uri>h.png</uri>\
         <texture><size>-1</size><diffuse>d.png</diffuse></texture>\
         <texture><size>2</size><diffuse>e.png</diffuse></texture>\
         <texture><diffuse>f.png</diffuse></texture>\
         <blend><min_height>3</min_height><fade_dist>2</fade_dist></blend></heightmap></geometry>\
         <visibility_flags>0x0f</visibility_flags><cast_shadows>false</cast_shadows></visual>\
         <visual name='w'><geometry><box/></geometry></visual>\
         <light name='lamp' type='spot'><direction>0 1 0</direction><intensity>2</intensity>\
         <spot><outer_angle>0.5</outer_angle></spot></light></link>",
    )
    .links[0];
    let [ground, shape] = &link.visuals[..] else {
        panic!("{link:?}")
    };
    assert_eq!((ground.visibility_flags, ground.cast_shadows), (15, false));
    assert_eq!(
        (ground.ground[0].size, &*ground.ground[0].diffuse),
        (10.0, "d.png")
    );
    let blends = ground.ground.iter().map(|texture| texture.blend);
    let shares = blends.map(|blend| blend.map(|own| [2.9, 3.5, 5.0].map(|at| own.share(at))));
    let shares: Vec<Option<[f64; 3]>> = shares.collect();
    assert_eq!(shares, [None, Some([0.0, 0.25, 1.0]), None]);
    assert_eq!((shape.color(), shape.file.as_str()), (None, ""));
    let light = &link.lights[0];
    assert_eq!(
        (light.direction, light.spot),
        ([0.0, 1.0, 0.0], [0.0, 0.5, 0.0])
    );
    assert_eq!(
        (light.intensity, light.range, light.is_on),
        (2.0, 10.0, true)
    );
}

#[test]
fn plugins_custom_elements_and_batteries_are_kept_whole() {
    let link = &model(
        "<link name='l'><plugin name='p' filename='f'><a b='c'>d</a></plugin>\
         <x:y xmlns:x='z'>1</x:y><battery name='b'><voltage>12</voltage></battery></link>",
    )
    .links[0];
    let plugin = &link.plugins[0];
    assert_eq!((plugin.name.as_str(), plugin.filename.as_str()), ("p", "f"));
    let inner = plugin.content.child("a").unwrap();
    assert_eq!(
        (inner.attribute("b"), inner.text().as_str()),
        (Some("c"), "d")
    );
    let kept: Vec<_> = link
        .custom
        .iter()
        .map(|content| content.name.as_str())
        .collect();
    assert_eq!(kept, ["x:y", "battery"]);
}

#[test]
fn parts_relative_to_nothing_stay_at_their_link_with_a_warning() {
    let read = read(
        "<link name='l'><collision name='c'><pose relative_to='gone'>1 0 0 0 0 0</pose>\
         <geometry/></collision></link>",
    );
    assert_eq!(read.warnings[0].code, "POSE_RELATIVE_TO_INVALID");
    let link = &read.worlds[0].models[0].links[0];
    assert_eq!(link.collisions[0].pose.position, [1.0, 0.0, 0.0]);
}

#[test]
fn a_link_that_moves_without_mass_or_moments_is_warned_of_at_its_inertial() {
    let told = |before: &str, inertial: &str| {
        let read = read(&format!(
            "{before}<link name='l'>\n<inertial>{inertial}</inertial></link>"
        ));
        let warnings = read.warnings.into_iter();
        warnings
            .map(|warning| (warning.code, warning.place.line))
            .collect::<Vec<_>>()
    };
    let flat = "<inertia><ixx>0</ixx><iyy>0</iyy><izz>0</izz></inertia>";
    let warned = [("LINK_INERTIA_DEGENERATE", 2)];
    assert_eq!(told("", "<mass>0</mass>"), warned);
    assert_eq!(told("", flat), warned);
    assert_eq!(told("", "<mass>1</mass>"), []);
    assert_eq!(told("<static>true</static>", "<mass>0</mass>"), []);
}
