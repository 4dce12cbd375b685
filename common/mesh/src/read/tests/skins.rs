//! Skins: the bones of Collada and glTF files, the vertices that go with them, and their motions.

use super::*;
use crate::skeleton::{Grip, Moment};
use crate::visual_mesh::VisualMesh;

/// Returns a Collada file in centimetres: a bar along z, the lower end of which goes with the hips
/// and the upper one with an arm on these, half a metre above. In a second the hips go 1 m along x,
/// and the arm turns by a quarter about x.
fn bar() -> String {
    let matrix = |x: f64, z: f64| format!("1 0 0 {x} 0 1 0 0 0 0 1 {z} 0 0 0 1");
    let source = |id: &str, content: &str, stride: usize| {
        format!(
            "<source id='{id}'>{content}<technique_common><accessor source='#{id}-a' \
             stride='{stride}'/></technique_common></source>"
        )
    };
    let floats = |id: &str, numbers: &str, stride| {
        source(
            id,
            &format!("<float_array id='{id}-a'>{numbers}</float_array>"),
            stride,
        )
    };
    let channel = |id: &str, times: &str, values: &str, target: &str| {
        floats(&format!("{id}-t"), times, 1)
            + &floats(&format!("{id}-v"), values, 1)
            + &format!(
                "<sampler id='{id}'><input semantic='INPUT' source='#{id}-t'/>\
                 <input semantic='OUTPUT' source='#{id}-v'/></sampler>\
                 <channel source='#{id}' target='{target}'/>"
            )
    };
    let steps = format!("{} {}", matrix(0.0, 100.0), matrix(100.0, 100.0));
    let binds = format!("{} {}", matrix(0.0, -100.0), matrix(0.0, -150.0));
    [
        "<COLLADA><asset><unit meter='0.01'/></asset><library_geometries><geometry id='g'><mesh>",
        &floats("p", "0 0 100  10 0 100  0 0 200", 3),
        "<triangles><input semantic='POSITION' source='#p' offset='0'/><p>0 1 2</p></triangles>",
        "</mesh></geometry></library_geometries><library_controllers><controller id='c'>",
        "<skin source='#g'><bind_shape_matrix>1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</bind_shape_matrix>",
        &source("j", "<Name_array id='j-a'>hips arm</Name_array>", 1),
        &floats("b", &binds, 16),
        &floats("w", "1 0.5", 1),
        "<joints><input semantic='JOINT' source='#j'/>",
        "<input semantic='INV_BIND_MATRIX' source='#b'/></joints><vertex_weights count='3'>",
        "<input semantic='JOINT' source='#j' offset='0'/>",
        "<input semantic='WEIGHT' source='#w' offset='1'/>",
        "<vcount>1 1 2</vcount><v>0 0 0 0 1 1 -1 1</v></vertex_weights></skin></controller>",
        "</library_controllers><library_animations><animation>",
        &channel("h", "0 1", &steps, "n-hips/transform"),
        "<animation>",
        &channel("a", "0 1", "0 90", "n-arm/turn.ANGLE"),
        "</animation></animation></library_animations>",
        "<library_visual_scenes><visual_scene><node id='body'><translate>7 7 7</translate>",
        "<instance_controller url='#c'><skeleton>#n-hips</skeleton></instance_controller></node>",
        "<node id='n-hips' sid='hips' name='Hips' type='JOINT'><matrix sid='transform'>",
        &matrix(0.0, 100.0),
        "</matrix><node id='n-arm' sid='arm' name='Arm' type='JOINT'><translate>0 0 50</translate>",
        "<rotate sid='turn'>1 0 0 0</rotate></node></node>",
        "</visual_scene></library_visual_scenes></COLLADA>",
    ]
    .concat()
}

fn skinned(bytes: &[u8], name: &str) -> VisualMesh {
    read_skinned_mesh(bytes, name, &|_| None).unwrap()
}

/// Returns where a vertex is, rounded to millimetres.
fn place(mesh: &VisualMesh, vertex: usize, moment: Option<(f64, bool)>) -> [f64; 3] {
    let skeleton = mesh.skeleton.as_ref().unwrap();
    let moment = moment.map(|(time_s, holds_root)| Moment {
        clip: 0,
        time_s,
        holds_root,
    });
    let motions = skeleton.motions(moment.as_ref());
    let part = &mesh.parts[0];
    let grip = part.grips[vertex];
    let drawn = part.positions[vertex].map(f64::from);
    let mut sum = [0.0; 3];
    for (bone, weight) in grip.bones.iter().zip(grip.parts) {
        let moved = motions[usize::from(*bone)].apply(drawn);
        sum = [0, 1, 2].map(|i| sum[i] + moved[i] * f64::from(weight));
    }
    sum.map(|x| (x * 1000.0).round() / 1000.0 + 0.0)
}

fn check_bar(mesh: &VisualMesh) {
    assert_eq!(mesh.parts[0].grips[0].parts, [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(mesh.parts[0].positions[2], [0.0, 0.0, 2.0], "in metres");
    for vertex in 0..3 {
        let drawn =
            mesh.parts[0].positions[vertex].map(|x| (f64::from(x) * 1000.0).round() / 1000.0);
        assert_eq!(place(mesh, vertex, None), drawn, "at rest");
    }
    // Half of the last vertex goes with the arm, whose end is at y = -0.5 after a quarter turn; the
    // other half stays where it was drawn.
    assert_eq!(place(mesh, 0, Some((1.0, false))), [1.0, 0.0, 1.0]);
    assert_eq!(place(mesh, 0, Some((0.5, false))), [0.5, 0.0, 1.0]);
    assert_eq!(place(mesh, 2, Some((1.0, false))), [0.5, -0.25, 1.75]);
    assert_eq!(place(mesh, 0, Some((1.0, true))), [0.0, 0.0, 0.0]);
    assert_eq!(place(mesh, 2, Some((1.0, true))), [0.0, -0.25, 1.25]);
    let skeleton = mesh.skeleton.as_ref().unwrap();
    assert_eq!(skeleton.bones[skeleton.root].name, "Hips");
    assert_eq!(skeleton.clips[0].length_s(), 1.0);
    assert_eq!(skeleton.clips[0].time_at_x(skeleton.root, 0.25), Some(0.25));
}

#[test]
fn bones_of_collada_move_what_goes_with_them() {
    check_bar(&skinned(bar().as_bytes(), "a.dae"));
}

#[test]
fn bones_stay_the_same_as_glb() {
    let mesh = skinned(bar().as_bytes(), "a.dae");
    let again = skinned(&mesh.to_glb(), "a.glb");
    check_bar(&again);
    check_bar(&skinned(&again.to_glb(), "a.glb"));
    // Who asks for no bones gets the same mesh without.
    let bare = read_visual_mesh(&mesh.to_glb(), "a.glb", &|_| None).unwrap();
    assert_eq!(bare.parts[0].positions, mesh.parts[0].positions);
    assert!(bare.skeleton.is_none() && bare.parts[0].grips.is_empty());
}

#[test]
fn motions_are_read_where_no_mesh_is() {
    let text = bar().replace("instance_controller", "other");
    let read = read_skinned_mesh(text.as_bytes(), "a.dae", &|_| None);
    assert_eq!(read.unwrap_err().problem, MeshProblem::Empty);
    let skeleton = read_clips(text.as_bytes(), "a.dae", &|_| None).unwrap();
    assert_eq!(skeleton.clips[0].tracks.len(), 2);
    let still = text.replace("library_animations", "library_other");
    let read = read_clips(still.as_bytes(), "a.dae", &|_| None);
    assert_eq!(read.unwrap_err().problem, MeshProblem::NoMotion);
}

#[test]
fn a_bone_may_be_bound_twice() {
    let second = bar().replace("<controller id='c'>", "<controller id='d'>");
    let begin = second.find("<controller id='d'>").unwrap();
    let end = second.find("</library_controllers>").unwrap();
    let other = second[begin..end].replace("0 0 1 -100", "0 0 1 -90");
    let text = bar()
        .replace(
            "</library_controllers>",
            &(other + "</library_controllers>"),
        )
        .replace(
            "</instance_controller></node>",
            "</instance_controller><instance_controller url='#d'/></node>",
        );
    let mesh = skinned(text.as_bytes(), "a.dae");
    let skeleton = mesh.skeleton.as_ref().unwrap();
    let [first, second] = &mesh.parts[..] else {
        panic!("{}", mesh.parts.len())
    };
    let motions = skeleton.motions(None);
    let height = |grip: Grip| motions[usize::from(grip.bones[0])].apply([0.0, 0.0, 1.0])[2];
    assert!((height(first.grips[0]) - 1.0).abs() < 1e-9);
    // The sources of the first controller come first by their names, so that both are alike.
    assert!((height(second.grips[0]) - 1.0).abs() < 1e-9);
}

#[test]
fn skins_that_are_broken_are_refused() {
    let check = |from: &str, to: &str, problem: &str| {
        let text = bar();
        assert!(text.contains(from), "{from}");
        let text = text.replace(from, to);
        let read = read_skinned_mesh(text.as_bytes(), "a.dae", &|_| None);
        let error = read.unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    };
    check("hips arm", "hips leg", "no node for the joint \"leg\"");
    check(
        "hips arm",
        "hips arm hips",
        "more joints than bind matrices",
    );
    check(
        "1 1 2</vcount>",
        "1 1 9</vcount>",
        "more weights than there are",
    );
    check("'>0 1</float", "'>1 0</float", "do not ascend");
    check("'>0 90</float", "'>0</float", "have no values");
    check("'>0 90</float", "'>0 NaN</float", "it is nowhere");
    // Without these it is a mesh as any other.
    let text = bar().replace("vertex_weights", "other");
    let mesh = skinned(text.as_bytes(), "a.dae");
    assert_eq!(mesh.parts[0].grips, [Grip::of(0); 3]);
}
