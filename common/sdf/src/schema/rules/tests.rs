//! Refusals of libsdformat's classes, part by part.

use super::*;
use crate::tree::parse;

fn check(content: &str, errors: &[&str]) {
    let text = format!("<sdf version='1.12'>{content}</sdf>");
    let root = parse(&text, "f.sdf").unwrap();
    let mut report = Report::default();
    super::check(&root, true, &mut report);
    let codes: Vec<_> = report.errors.iter().map(|problem| problem.code).collect();
    assert_eq!(codes, errors, "{content}: {:?}", report.errors);
}

fn check_world(content: &str, errors: &[&str]) {
    check(&format!("<world name='w'>{content}</world>"), errors);
}

fn check_link(content: &str, errors: &[&str]) {
    check(
        &format!("<model name='m'><link name='l'>{content}</link></model>"),
        errors,
    );
}

fn check_material(content: &str, errors: &[&str]) {
    check_link(
        &format!("<visual name='v'><material>{content}</material></visual>"),
        errors,
    );
}

#[test]
fn scripts_and_shaders_are_complete() {
    check_material("<script><uri>u</uri><name>n</name></script>", &[]);
    check_material("<script><name>n</name></script>", &["ELEMENT_INVALID"]);
    check_material("<script><uri>u</uri></script>", &["ELEMENT_MISSING"]);
    check_material("<shader type='vertex'/>", &[]);
    check_material("<shader type='x'/>", &["ELEMENT_INVALID"]);
    check_material(
        "<shader type='normal_map_object_space'/>",
        &["ELEMENT_MISSING"],
    );
    check_material("<pbr><metal/><x/></pbr>", &["ELEMENT_INCORRECT_TYPE"]);
}

#[test]
fn sensors_are_of_a_known_type() {
    let sensor =
        |kind: &str, content: &str| format!("<sensor name='s' type='{kind}'>{content}</sensor>");
    let noise = "<x><noise type='pink'/></x>";
    check_link(&sensor("imu", ""), &[]);
    check_link(&sensor("nose", ""), &["ATTRIBUTE_INVALID"]);
    let rates = format!("<imu><angular_velocity>{noise}</angular_velocity></imu>");
    check_link(&sensor("imu", &rates), &["ELEMENT_MISSING"]);
    check_link(&sensor("custom", &rates), &[]);
    let torque = format!("<force_torque><frame>x</frame><torque>{noise}</torque></force_torque>");
    check_link(
        &sensor("force_torque", &torque),
        &["ELEMENT_INVALID", "ELEMENT_MISSING"],
    );
    let format = "<camera><image><format>X</format></image></camera>";
    check_link(&sensor("rgbd", format), &["ELEMENT_INVALID"]);
    let noise = "<camera><noise><type>pink</type></noise></camera>";
    check_link(&sensor("camera", noise), &["ELEMENT_MISSING"]);
    check_link(
        &sensor(
            "magnetometer",
            "<magnetometer><x><noise type='y'/></x></magnetometer>",
        ),
        &[],
    );
    check(
        "<model name='m'><joint name='j'><sensor name='s' type='x'/></joint></model>",
        &["ATTRIBUTE_INVALID"],
    );
}

#[test]
fn lights_and_emitters_are_of_a_known_type() {
    check_link("<light name='a' type='spot'/>", &[]);
    check("<light name='a' type='sun'/>", &["ATTRIBUTE_INVALID"]);
    check_world("<light name='a' type='sun'/>", &["ATTRIBUTE_INVALID"]);
    check_link(
        "<particle_emitter name='e' type='cone'/>",
        &["ATTRIBUTE_INVALID"],
    );
}

#[test]
fn names_are_free_and_given_once() {
    check_link(
        "<visual name='v'/><visual name='v'/><collision name='v'/>",
        &["DUPLICATE_NAME"],
    );
    check_link(
        "<visual name='__v__'/><light name='world' type='point'/>",
        &["RESERVED_NAME", "RESERVED_NAME"],
    );
    check_world(
        "<physics type='ode'/><physics type='ode'/>",
        &["DUPLICATE_NAME"],
    );
    check_world("<physics type='ode'/><physics name='b' type='ode'/>", &[]);
    check("<world name='world'/>", &["RESERVED_NAME"]);
    check_world("<light name='a' type='spot'/><actor name='a'/>", &[]);
}

#[test]
fn worlds_lie_on_a_known_planet() {
    let coordinates =
        |content: &str| format!("<spherical_coordinates>{content}</spherical_coordinates>");
    check_world("<atmosphere type='isothermal'/>", &["ELEMENT_INVALID"]);
    check_world(
        &coordinates("<surface_model>MARS</surface_model>"),
        &["ELEMENT_INVALID"],
    );
    check_world(
        &coordinates("<world_frame_orientation>NED</world_frame_orientation>"),
        &["ELEMENT_INVALID"],
    );
    let axis = "<surface_axis_polar>1</surface_axis_polar>";
    let custom = format!("<surface_model>CUSTOM_SURFACE</surface_model>{axis}");
    check_world(&coordinates(&custom), &["ELEMENT_MISSING"]);
}

#[test]
fn a_submesh_has_a_name_where_the_mesh_counts() {
    let geometry =
        |content: &str| format!("<collision name='c'><geometry>{content}</geometry></collision>");
    let mesh = "<mesh><uri>u</uri><submesh/></mesh>";
    check_link(&geometry(mesh), &["ELEMENT_MISSING"]);
    check_link(&geometry(&format!("{mesh}<box/>")), &[]);
}

#[test]
fn scoped_names_of_older_includes_are_refused_too() {
    check(
        "<model name='m'><model name='a::b'/></model>",
        &["RESERVED_NAME"],
    );
}
