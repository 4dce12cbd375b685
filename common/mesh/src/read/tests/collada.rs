//! Collada files.

use super::*;

/// A Collada file of one geometry, of four positions, and of the nodes given.
pub(super) fn file(primitives: &str, nodes: &str) -> String {
    format!(
        r##"<?xml version="1.0"?>
<COLLADA version="1.4.1">
<asset><unit name="half" meter="0.5"/><up_axis>Y_UP</up_axis></asset>
<library_geometries><geometry id="g" name="shape"><mesh>
<source id="s"><float_array id="a" count="16">9 0 0 0 9 2 0 0 9 0 4 0 9 0 0 6</float_array>
<technique_common><accessor source="#a" count="4" offset="1" stride="4"/></technique_common>
</source>
<source id="n"><float_array id="b" count="3">0 0 1</float_array><technique_common>
<accessor source="#b" count="1" stride="3"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#s"/></vertices>
{primitives}
</mesh></geometry></library_geometries>
<library_nodes><node id="spare" name="spare"><instance_geometry url="#g"/></node></library_nodes>
<library_visual_scenes><visual_scene id="x">{nodes}</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#x"/></scene>
</COLLADA>"##
    )
}

const INPUT: &str = r##"<input semantic="VERTEX" source="#v" offset="0"/>"##;
pub(super) const NODE: &str = r##"<node name="body"><instance_geometry url="#g"/></node>"##;

pub(super) fn triangles() -> String {
    format!("<triangles count='4'>{INPUT}<p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles>")
}

#[track_caller]
fn check_primitives(primitives: &str) {
    check(file(primitives, NODE).as_bytes(), "a.dae");
}

/// Holds that a node, with the geometry in it, has these bounds.
#[track_caller]
fn check_bounds(nodes: &str, name: &str, expect: [[f64; 3]; 2]) {
    let read = read(file(&triangles(), nodes).as_bytes(), "a.dae").unwrap();
    let mesh = read.submesh(name).unwrap();
    let [low, high] = mesh.bounds().unwrap();
    let is_close =
        |i: usize| (low[i] - expect[0][i]).abs() < 1e-9 && (high[i] - expect[1][i]).abs() < 1e-9;
    assert!((0..3).all(is_close), "{low:?} {high:?} but {expect:?}");
    assert!(
        mesh.mass_properties(1.0).is_some(),
        "its outside is outside"
    );
}

#[test]
fn every_kind_of_primitive_gives_the_same_solid() {
    check_primitives(&triangles());
    let normal = r##"<input semantic="NORMAL" source="#n" offset="1"/>"##;
    check_primitives(&format!(
        "<triangles>{normal}{INPUT}<p>0 0 2 0 1 0 0 0 1 0 3 0</p></triangles>\
         <polylist count='2'>{INPUT}<vcount>3 3</vcount><p>0 3 2 1 2 3</p></polylist>"
    ));
    check_primitives(&format!(
        "<polygons>{INPUT}<p>0 2 1</p><p>0 1 3</p><p>0 3 2</p><p>1 2 3</p></polygons>"
    ));
    check_primitives(&format!("<tristrips>{INPUT}<p>0 2 1 3 0 2</p></tristrips>"));
    check_primitives(&format!(
        "<trifans>{INPUT}<p>0 2 1 3 2</p><p>1 2 3</p></trifans>"
    ));
    check_primitives(&format!("<lines>{INPUT}<p>0 1</p></lines>{}", triangles()));
}

#[test]
fn nodes_are_placed_by_their_transforms_in_order() {
    let node =
        |inner: &str| format!(r##"<node name="n">{inner}<instance_geometry url="#g"/></node>"##);
    let [x, y, z] = [1.0, 2.0, 3.0];
    check_bounds(
        &node("<translate>2 0 0</translate>"),
        "n",
        [[1.0, 0.0, 0.0], [1.0 + x, y, z]],
    );
    check_bounds(
        &node("<translate>2 0 0</translate><rotate>0 0 1 90</rotate><scale>2 1 1</scale>"),
        "n",
        [[1.0 - y, 0.0, 0.0], [1.0, 2.0 * x, z]],
    );
    check_bounds(
        &node("<scale>-1 1 1</scale>"),
        "n",
        [[-x, 0.0, 0.0], [0.0, y, z]],
    );
    check_bounds(
        &node("<matrix>0 -1 0 2  1 0 0 0  0 0 1 0  0 0 0 1</matrix>"),
        "n",
        [[1.0 - y, 0.0, 0.0], [1.0, x, z]],
    );
}

#[test]
fn nodes_within_nodes_move_with_them() {
    let nodes = r##"<node name="arm"><translate>2 0 0</translate>
        <node name="hand"><translate>0 2 0</translate><instance_geometry url="#g"/></node>
        <node><instance_geometry url="#g"/></node>
        <node name="copy"><translate>4 0 0</translate>
        <instance_node url="#spare"/></node></node>"##;
    check_bounds(nodes, "hand", [[1.0, 1.0, 0.0], [2.0, 3.0, 3.0]]);
    check_bounds(nodes, "arm", [[1.0, 0.0, 0.0], [2.0, 2.0, 3.0]]);
    check_bounds(nodes, "spare", [[3.0, 0.0, 0.0], [4.0, 2.0, 3.0]]);
    let read = read(file(&triangles(), nodes).as_bytes(), "a.dae").unwrap();
    assert_eq!(read.names(), ["hand", "arm", "spare"]);
}

#[test]
fn skins_show_the_geometry_that_they_stand_on() {
    let node = r##"<node name="skin"><instance_controller url="#c"/></node>"##;
    let controllers = r##"<library_controllers>
        <controller id="c"><skin source="#m"><bind_shape_matrix>2 0 0 0 0 2 0 0 0 0 2 0 0 0 0 1
        </bind_shape_matrix></skin></controller>
        <controller id="m"><morph source="#g"/></controller>
        </library_controllers><library_nodes>"##;
    let text = file(&triangles(), node).replace("<library_nodes>", controllers);
    check(text.as_bytes(), "a.dae");
}

#[test]
fn a_file_without_a_scene_shows_all_its_geometry() {
    let text = file(&triangles(), "").replace("visual_scene", "no_scene");
    let read = read(text.as_bytes(), "a.dae").unwrap();
    check_tetrahedron(&read.submesh("shape").unwrap());
}

#[test]
fn broken_references_are_named_with_their_line() {
    let node = r##"<node><instance_geometry url="#none"/></node>"##;
    let text = file(&triangles(), node);
    check_error(
        text.as_bytes(),
        "a.dae",
        "line 14, <instance_geometry>: there is no <geometry>",
    );
    let text = file(&triangles().replace("1 2 3</p>", "1 2 4</p>"), NODE);
    check_error(
        text.as_bytes(),
        "a.dae",
        "line 11, <triangles>: index 4 is beyond the 4",
    );
    let text = file(&triangles(), NODE).replace("9 2 0 0", "9 2 zero 0");
    check_error(
        text.as_bytes(),
        "a.dae",
        "line 5, <float_array>: \"zero\" is not a number",
    );
    check_error(b"<COLLADA><a></COLLADA>", "a.dae", "a.dae: line 1");
    check_error(b"<x/>", "a.dae", "line 1, <x>: the root element is <x>");
    check_error(b"", "a.dae", "holds no element");
}

#[test]
fn circles_and_avalanches_of_nodes_end() {
    let text = file(
        &triangles(),
        r##"<node><instance_node url="#spare"/></node>"##,
    );
    let again = r##"<instance_node url="#spare"/></node></library_nodes>"##;
    let circle = text.replace("</node></library_nodes>", again);
    check_error(circle.as_bytes(), "a.dae", "or within itself");
    let mut avalanche = String::from("<library_nodes>");
    for i in 0..60 {
        let below = format!(r##"<instance_node url="#k{}"/>"##, i + 1).repeat(2);
        avalanche.push_str(&[r#"<node id="k"#, &i.to_string(), "\">", &below, "</node>"].concat());
    }
    avalanche += r#"<node id="k60"/>"#;
    let text = text
        .replace("<library_nodes>", &avalanche)
        .replace("url=\"#spare\"", "url=\"#k0\"");
    check_error(text.as_bytes(), "a.dae", "more than 100000 nodes");
    let deep = "<COLLADA>".repeat(1000);
    check_error(deep.as_bytes(), "a.dae", "nested more than 256 deep");
}
