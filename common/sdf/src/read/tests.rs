//! Whole texts in, worlds or problems out.

use super::{ReadWorlds, read_worlds};
use crate::resolve::NoFiles;
use crate::world::{Geometry, JointKind, JointParent, Model, World};

fn read_version(version: &str, content: &str) -> Result<ReadWorlds, Vec<&'static str>> {
    let text = format!("<sdf version='{version}'><world name='w'>{content}</world></sdf>");
    read_worlds(&text, "w.sdf", &NoFiles)
        .map_err(|error| error.errors.iter().map(|problem| problem.code).collect())
}

fn world(content: &str) -> World {
    let mut read = read_version("1.10", content).unwrap();
    assert_eq!(read.warnings, [], "{content}");
    read.worlds.swap_remove(0)
}

fn model(content: &str) -> Model {
    world(&format!("<model name='m'>{content}</model>"))
        .models
        .swap_remove(0)
}

fn check_errors(content: &str, codes: &[&str]) {
    assert_eq!(
        read_version("1.10", content).map(|_| ()).unwrap_err(),
        codes,
        "{content}"
    );
}

fn check_model_errors(content: &str, codes: &[&str]) {
    check_errors(
        &format!("<model name='m'><link name='a'/>{content}</model>"),
        codes,
    );
}

fn check_warnings(content: &str, expect: &[(&str, u32)]) {
    let read = read_version("1.10", content).unwrap();
    let found: Vec<_> = read
        .warnings
        .iter()
        .map(|w| (w.code, w.place.line))
        .collect();
    assert_eq!(found, expect, "{content}: {:?}", read.warnings);
}

fn collision(parts: &str) -> String {
    format!("<link name='l'><collision name='c'>{parts}</collision></link>")
}

#[test]
fn omitted_elements_have_the_defaults_of_sdf() {
    let world = world(&format!(
        "<model name='m'>{}</model>",
        collision("<geometry><sphere><radius>2</radius></sphere></geometry>",)
    ));
    assert_eq!(world.gravity, [0.0, 0.0, -9.8]);
    assert_eq!(world.physics.max_step_size_s, 0.001);
    assert_eq!(world.physics.real_time_factor, 1.0);
    let link = &world.models[0].links[0];
    assert!(link.gravity && !link.kinematic);
    assert_eq!(link.inertial.mass, 1.0);
    assert_eq!(link.inertial.inertia, [1.0, 0.0, 0.0, 1.0, 0.0, 1.0]);
    let surface = &link.collisions[0].surface;
    assert_eq!((surface.friction, surface.restitution), (1.0, 0.0));
    assert_eq!(surface.collide_bitmask, 0xFF);
}

#[test]
fn physics_is_the_default_profile_or_the_first() {
    let profile = |default: &str, step: &str| {
        let attributes = format!("name='p{step}' type='ode' {default}");
        format!("<physics {attributes}><max_step_size>{step}</max_step_size></physics>")
    };
    let step = |profiles: String| world(&profiles).physics.max_step_size_s;
    assert_eq!(step(profile("", "0.1") + &profile("", "0.2")), 0.1);
    assert_eq!(
        step(profile("", "0.1") + &profile("default='true'", "0.2")),
        0.2
    );
    check_warnings(&profile("", "0"), &[("ELEMENT_INVALID", 1)]);
}

#[test]
fn gravity_in_physics_holds_up_to_1_5() {
    let content = "<physics type='ode'><gravity>0 0 -1</gravity></physics>";
    for (version, expect) in [("1.4", -1.0), ("1.5", -1.0), ("1.6", -9.8)] {
        let read = read_version(version, content).unwrap();
        assert_eq!(read.worlds[0].gravity[2], expect, "{version}");
    }
}

fn check_shape(shape: &str, expect: &Geometry) {
    let model = model(&collision(&format!("<geometry>{shape}</geometry>")));
    assert_eq!(model.links[0].collisions[0].geometry, *expect);
}

#[test]
fn every_simple_shape_is_read() {
    let round = "<radius>2</radius><length>3</length>";
    let (radius, length) = (2.0, 3.0);
    check_shape(
        "<box><size>1 2 3</size></box>",
        &Geometry::Box {
            size: [1.0, 2.0, 3.0],
        },
    );
    check_shape(
        "<sphere><radius>2</radius></sphere>",
        &Geometry::Sphere { radius },
    );
    let whole = |name: &str| format!("<{name}>{round}</{name}>");
    check_shape(&whole("cylinder"), &Geometry::Cylinder { radius, length });
    check_shape(&whole("capsule"), &Geometry::Capsule { radius, length });
    check_shape(&whole("cone"), &Geometry::Cone { radius, length });
    check_shape(
        "<ellipsoid><radii>1 2 3</radii></ellipsoid>",
        &Geometry::Ellipsoid {
            radii: [1.0, 2.0, 3.0],
        },
    );
    check_shape(
        "<plane><normal>0 0 5</normal></plane>",
        &Geometry::Plane {
            normal: [0.0, 0.0, 1.0],
            size: [1.0, 1.0],
        },
    );
}

#[test]
fn masses_and_sizes_that_cannot_be_are_errors() {
    let shape = |shape: &str| collision(&format!("<geometry>{shape}</geometry>"));
    check_model_errors(&shape("<box><size>1 1</size></box>"), &["ELEMENT_INVALID"]);
    let inertial = |inner: &str| format!("<link name='l'><inertial>{inner}</inertial></link>");
    check_model_errors(&inertial("<mass>-1</mass>"), &["LINK_INERTIA_INVALID"]);
    let thin = "<inertia><ixx>1</ixx><iyy>1</iyy><izz>3</izz></inertia>";
    check_model_errors(&inertial(thin), &["LINK_INERTIA_INVALID"]);
    let skew = "<inertia><ixy>2</ixy></inertia>";
    check_model_errors(&inertial(skew), &["LINK_INERTIA_INVALID"]);
}

#[test]
fn all_errors_of_a_file_are_found_in_one_pass_and_in_file_order() {
    let content = "<gravity>down</gravity><model name='a'/><model name='b'><link/></model>\
                   <model name='c'><link name='l'/><link name='l'/></model>";
    let codes = [
        "ELEMENT_INVALID",
        "MODEL_WITHOUT_LINK",
        "ATTRIBUTE_MISSING",
        "DUPLICATE_NAME",
    ];
    check_errors(content, &codes);
    check_errors(
        "<include><uri>model://gone</uri></include>",
        &["URI_LOOKUP"],
    );
}

#[test]
fn nested_models_become_links_and_joints_with_scoped_names() {
    let model = model(
        "<pose>0 0 1 0 0 0</pose><link name='base'/>\
         <model name='arm'><pose>1 0 0 0 0 0</pose>\
           <link name='upper'/><link name='lower'><pose>0 0 -1 0 0 0</pose></link>\
           <joint name='elbow' type='ball'><parent>upper</parent><child>lower</child></joint>\
         </model>\
         <joint name='shoulder' type='fixed'><parent>base</parent>\
         <child>arm::upper</child></joint>",
    );
    let names: Vec<_> = model.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["base", "arm::upper", "arm::lower"]);
    assert_eq!(model.links[2].pose.position, [1.0, 0.0, 0.0]);
    let joints: Vec<_> = model
        .joints
        .iter()
        .map(|joint| (joint.name.as_str(), joint.parent, joint.child))
        .collect();
    let expect = [
        ("arm::elbow", JointParent::Link(1), 2),
        ("shoulder", JointParent::Link(0), 1),
    ];
    assert_eq!(joints, expect);
}

#[test]
fn the_canonical_link_is_the_first_unless_the_model_names_another() {
    let links = "<link name='a'/><model name='n'><link name='b'/></model>";
    assert_eq!(model(links).canonical_link, 0);
    let text = format!("<model name='m' canonical_link='n::b'>{links}</model>");
    assert_eq!(world(&text).models[0].canonical_link, 1);
}

fn check_axis(version: &str, axis: &str, expect: [f64; 3]) {
    let content = format!(
        "<model name='m'><pose>0 0 0 0 0 1.5707963267948966</pose><link name='a'/>\
         <link name='b'><pose>0 0 0 1.5707963267948966 0 0</pose></link>\
         <joint name='j' type='revolute'><parent>a</parent><child>b</child>\
         <axis>{axis}</axis></joint></model>"
    );
    let read = read_version(version, &content).unwrap();
    let JointKind::Revolute(axis_read) = read.worlds[0].models[0].joints[0].kind.clone() else {
        panic!("the joint is not revolute");
    };
    for (a, b) in axis_read.xyz.iter().zip(expect) {
        assert!((a - b).abs() < 1e-12, "{version} {axis} gave {axis_read:?}");
    }
}

#[test]
fn an_axis_is_given_in_the_frame_of_its_joint_unless_it_says_otherwise() {
    check_axis("1.10", "<xyz>0 1 0</xyz>", [0.0, 0.0, 1.0]);
    check_axis(
        "1.10",
        "<xyz expressed_in='__model__'>0 1 0</xyz>",
        [-1.0, 0.0, 0.0],
    );
    check_axis(
        "1.10",
        "<xyz expressed_in='a'>0 2 0</xyz>",
        [-1.0, 0.0, 0.0],
    );
    let flag = "<xyz>0 1 0</xyz><use_parent_model_frame>true</use_parent_model_frame>";
    check_axis("1.6", flag, [-1.0, 0.0, 0.0]);
    check_axis("1.5", "<xyz>0 1 0</xyz>", [0.0, 0.0, 1.0]);
    check_axis("1.4", "<xyz>0 1 0</xyz>", [-1.0, 0.0, 0.0]);
}

#[test]
fn limits_of_1e16_are_none() {
    let joint = |limit: &str| {
        format!(
            "<joint name='j' type='prismatic'><parent>world</parent><child>a</child>\
            <axis><xyz>1 0 0</xyz><limit>{limit}</limit></axis></joint>"
        )
    };
    let limits = |limit: &str| {
        let model = model(&format!("<link name='a'/>{}", joint(limit)));
        let JointKind::Prismatic(axis) = model.joints[0].kind.clone() else {
            panic!("{model:?}")
        };
        assert_eq!(model.joints[0].parent, JointParent::World);
        (axis.lower, axis.upper)
    };
    let none = (f64::NEG_INFINITY, f64::INFINITY);
    assert_eq!(limits(""), none);
    assert_eq!(limits("<lower>-1e16</lower><upper>1e16</upper>"), none);
    assert_eq!(
        limits("<lower>-1</lower><upper>inf</upper>"),
        (-1.0, f64::INFINITY)
    );
}

#[test]
fn joints_that_cannot_be_are_errors() {
    let joint = |kind: &str, rest: &str| {
        format!(
            "<link name='b'/><joint name='j' {kind}><parent>a</parent><child>b</child>\
                 {rest}</joint>"
        )
    };
    check_model_errors(&joint("", ""), &["ATTRIBUTE_MISSING"]);
    check_model_errors(&joint("type='rubber'", ""), &["ATTRIBUTE_INVALID"]);
    let axis = "<axis><xyz>0 0 0</xyz></axis>";
    check_model_errors(&joint("type='revolute'", axis), &["ELEMENT_INVALID"]);
    let axis = "<axis><xyz expressed_in='x'>0 0 1</xyz></axis>";
    check_model_errors(
        &joint("type='revolute'", axis),
        &["JOINT_AXIS_EXPRESSED_IN_INVALID"],
    );
}

fn levels(content: &str) -> String {
    format!(
        "<model name='m'><link name='a'/></model><light name='sun' type='point'/>\
             <plugin name='gz::sim' filename='any'>{content}</plugin>"
    )
}

#[test]
fn levels_and_performers_are_read_under_both_names_of_the_plugin() {
    let shape = "<geometry><box><size>2 3 4</size></box></geometry>";
    let content = levels(&format!(
        "<level name='l'><pose>1 2 3 0 0 1</pose>{shape}<ref>m</ref><ref>sun</ref></level>\
         <performer name='p'><ref>m</ref>{shape}</performer>"
    ));
    for content in [
        content.clone(),
        content.replace("gz::sim", "ignition::gazebo"),
    ] {
        let world = world(&content);
        let level = &world.levels[0];
        assert_eq!(
            (level.center, level.size),
            ([1.0, 2.0, 3.0], [2.0, 3.0, 4.0])
        );
        assert_eq!(
            (level.buffer, level.models.as_slice()),
            (0.0, ["m".to_owned()].as_slice())
        );
        let performer = &world.performers[0];
        assert_eq!(
            (performer.model.as_str(), performer.size),
            ("m", [2.0, 3.0, 4.0])
        );
    }
}

/// Reads levels and performers of which something is told, once, at the line given.
fn check_level_warning(content: &str, code: &str, line: u32, words: &str) -> World {
    let mut read = read_version("1.10", content).unwrap();
    let found: Vec<_> = read
        .warnings
        .iter()
        .map(|w| (w.code, w.place.line))
        .collect();
    assert_eq!(found, [(code, line)], "{content}: {:?}", read.warnings);
    let told = &read.warnings[0].message;
    assert!(told.contains(words), "{told:?} says nothing of {words:?}");
    read.worlds.swap_remove(0)
}

#[test]
fn invalid_levels_warn_and_the_world_is_read() {
    let shape = "<geometry><box><size>1 1 1</size></box></geometry>";
    let ball = "<geometry><sphere><radius>1</radius></sphere></geometry>";
    let level = |inner: &str| levels(&format!("\n<level name='l'>{inner}</level>"));
    let unknown = level(&format!("{shape}\n<ref>x</ref><ref>m</ref>"));
    let world = check_level_warning(&unknown, "ELEMENT_INVALID", 3, "\"x\"");
    assert_eq!(world.levels[0].models, ["m"]);
    let negative = level(&format!("{shape}\n<buffer>-1</buffer>"));
    let world = check_level_warning(&negative, "ELEMENT_INVALID", 3, "negative");
    assert_eq!(world.levels[0].buffer, 0.0);
    let flat = "<geometry><box><size>1 0 1</size></box></geometry>";
    let sizeless = "<geometry><box/></geometry>";
    for inner in ["", ball, flat, sizeless] {
        let world = check_level_warning(&level(inner), "ELEMENT_MISSING", 2, "left out");
        assert!(world.levels.is_empty(), "{inner}");
    }
    let twice = format!("\n<level name='l'>{shape}</level>").repeat(2);
    let world = check_level_warning(&levels(&twice), "DUPLICATE_NAME", 3, "\"l_2\"");
    let names: Vec<&str> = world
        .levels
        .iter()
        .map(|level| level.name.as_str())
        .collect();
    assert_eq!(names, ["l", "l_2"]);
    let unnamed = levels(&format!("\n<level>{shape}</level>"));
    let world = check_level_warning(&unnamed, "ATTRIBUTE_MISSING", 2, "needs a name");
    assert_eq!(world.levels[0].name, "level_2");
    let wrong = level(&format!("{shape}<buffer>wide</buffer>"));
    check_errors(&wrong, &["ELEMENT_INVALID"]);
}

#[test]
fn invalid_performers_warn_and_the_world_is_read() {
    let shape = "<geometry><box><size>1 1 1</size></box></geometry>";
    let ball = "<geometry><sphere><radius>1</radius></sphere></geometry>";
    let performer = |inner: &str| levels(&format!("\n<performer name='p'>{inner}</performer>"));
    for (inner, code, words) in [
        (shape.to_owned(), "ELEMENT_MISSING", "needs a <ref>"),
        (format!("<ref>x</ref>{shape}"), "ELEMENT_INVALID", "\"x\""),
        (
            format!("<ref>m::n</ref>{shape}"),
            "ELEMENT_INVALID",
            "refer to \"m\"",
        ),
    ] {
        let world = check_level_warning(&performer(&inner), code, 2, words);
        assert!(world.performers.is_empty(), "{inner}");
    }
    let round = performer(&format!("<ref>m</ref>{ball}"));
    let world = check_level_warning(&round, "ELEMENT_MISSING", 2, "0.000 0.000 0.000");
    assert_eq!(world.performers[0].size, [0.0; 3]);
    let second = format!("<ref>m</ref>{shape}</performer>\n<performer name='q'><ref>m</ref>");
    let world = check_level_warning(&performer(&second), "DUPLICATE_NAME", 3, "\"q\"");
    let names: Vec<&str> = world
        .performers
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(
        (names.as_slice(), world.performers[0].size),
        (["p"].as_slice(), [1.0; 3])
    );
}

#[test]
fn a_static_model_that_is_a_performer_moves_by_command() {
    let shape = "<geometry><box><size>1 1 1</size></box></geometry>";
    let still = levels(&format!(
        "\n<performer name='p'><ref>m</ref>{shape}</performer>"
    ));
    let still = still.replace("<link", "<static>1</static><link");
    let world = world(&still);
    assert_eq!(world.performers[0].model, "m");
    let model = &world.models[0];
    assert!(!model.is_static && model.links[0].is_static);
    assert!(model.moves_by_command_alone());
    let nothing = still.replace("<link name='a'/>", "");
    let world = check_level_warning(&nothing, "PERFORMER_STATIC", 2, "no link");
    assert!(world.performers.is_empty() && world.models[0].is_static);
}

#[test]
fn a_performer_without_a_box_has_that_of_its_collisions() {
    let content = levels("<performer name='p'><ref>m</ref></performer>").replace(
        "<link name='a'/>",
        "<pose>5 0 0 0 0 0</pose><link name='a'><pose>1 0 0 0 0 0</pose><collision name='c'>\
         <geometry><sphere><radius>2</radius></sphere></geometry></collision></link>",
    );
    check_warnings(&content, &[("ELEMENT_MISSING", 1)]);
    let read = read_version("1.10", &content).unwrap();
    assert_eq!(read.worlds[0].performers[0].size, [6.0, 4.0, 4.0]);
}

#[test]
fn unsupported_elements_are_named_once_and_left_out() {
    let mesh = collision("<geometry><mesh><uri>x.dae</uri></mesh></geometry>");
    let drive = "<plugin name='my::Drive' filename='f'/>";
    let one = |name: &str| format!("<model name='{name}'>{mesh}{drive}</model>\n");
    let content = format!("{}{}", one("a"), one("b"));
    check_warnings(
        &content,
        &[("MESH_NOT_FOUND", 1), ("UNSUPPORTED_PLUGIN", 1)],
    );
    let read = read_version("1.10", &content).unwrap();
    for model in &read.worlds[0].models {
        let collision = &model.links[0].collisions[0];
        let Geometry::Mesh(mesh) = &collision.geometry else {
            panic!("{collision:?}")
        };
        assert_eq!(
            (mesh.uri.as_str(), mesh.mesh, mesh.bounds),
            ("x.dae", None, None)
        );
    }
    check_warnings("<gravtiy>0 0 0</gravtiy>", &[("UNKNOWN_ELEMENT", 1)]);
}

#[test]
fn visuals_and_what_the_simulator_replaces_need_no_warning() {
    check_warnings(
        "<scene/><gui><plugin name='World stats' filename='f'/></gui>\
         <light name='sun' type='point'/>\
         <plugin name='gz::sim::systems::Physics' filename='f'/>\
         <plugin name='ignition::gazebo::systems::SceneBroadcaster' filename='f'/>\
         <plugin name='gz-sim-user-commands-system' filename='f'/>\
         <model name='m'><link name='a'><visual name='v'><geometry><mesh/></geometry></visual>\
         </link></model><custom:element xmlns:custom='x'/>",
        &[],
    );
}

#[test]
fn damaged_texts_never_make_the_reader_panic() {
    let text = crate::generate_fleet(1, [1, 1]);
    for end in (0..text.len()).step_by(7) {
        let _ = read_worlds(&text[..end], "w.sdf", &NoFiles);
    }
    for at in (0..text.len()).step_by(5) {
        for put in ["<", ">", "\"", "&", "-", "</model>", "nan "] {
            let damaged = format!("{}{put}{}", &text[..at], &text[at + 1..]);
            let _ = read_worlds(&damaged, "w.sdf", &NoFiles);
        }
    }
}
