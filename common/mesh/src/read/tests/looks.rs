//! Looks of mesh files: normals, texture coordinates, materials and images.

use super::*;
use crate::image::ImageFormat;
use crate::visual_mesh::{Alpha, VisualMesh};

/// A grey pixel.
fn png() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 1, 1);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&[128]).unwrap();
    writer.finish().unwrap();
    bytes
}

fn looks(bytes: &[u8], name: &str, side_file: &SideFile<'_>) -> VisualMesh {
    let mesh = read_visual_mesh(bytes, name, side_file).unwrap();
    for part in &mesh.parts {
        assert_eq!(part.normals.len(), part.positions.len());
        assert!(part.texcoords.is_empty() || part.texcoords.len() == part.positions.len());
        assert!(
            part.triangles
                .iter()
                .flatten()
                .all(|i| (*i as usize) < part.positions.len())
        );
    }
    mesh
}

const LIBRARY: &str = "newmtl red\nKd 1 0 0\nd 0.5\nNs 6\nmap_Kd -s 1 1 1 red.png\n\
                       newmtl glow\nKe 0 1 0\nmap_Kd gone.png\n";

const SQUARES: &str = "mtllib m.mtl\no a\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\n\
                       vt 1 1\nvt 0 1\nvn 0 0 -1\nusemtl red\nf 1/1/1 2/2/1 3/3/1 4/4/1\n\
                       usemtl glow\nf 1//1 2//1 3//1\n";

#[test]
fn a_library_of_materials_gives_an_obj_file_colours_and_images() {
    let beside = |name: &str| match name {
        "m.mtl" => Some(LIBRARY.as_bytes().to_vec()),
        "red.png" => Some(png()),
        _ => None,
    };
    let mesh = looks(SQUARES.as_bytes(), "a.obj", &beside);
    let [red, glow] = &mesh.parts[..] else {
        panic!("{mesh:?}")
    };
    assert_eq!((red.positions.len(), red.triangles.len()), (4, 2));
    assert_eq!(red.normals[0], [0.0, 0.0, -1.0], "as the file says");
    assert_eq!(red.texcoords[2], [1.0, 0.0], "v counts from the top");
    let bare = SQUARES.replace("f 1//1 2//1 3//1", "f 1 2 3");
    let bare = looks(bare.as_bytes(), "a.obj", &beside);
    let flat = bare.parts.iter().flat_map(|part| &part.normals);
    assert!(flat.eq(&[[0.0, 0.0, 1.0]; 9]), "as the triangles lie");
    let [first, second] = &mesh.materials[..] else {
        panic!("{mesh:?}")
    };
    assert_eq!((red.material, glow.material), (Some(0), Some(1)));
    assert_eq!(first.color, [1.0, 0.0, 0.0, 0.5]);
    assert_eq!((first.alpha, first.roughness), (Alpha::Blend, 0.5));
    assert_eq!(
        mesh.images[first.color_image.unwrap()].format,
        ImageFormat::Png
    );
    assert_eq!(
        (second.emissive, second.color_image),
        ([0.0, 1.0, 0.0], None)
    );
    assert!(mesh.problems[0].contains("gone.png"), "{:?}", mesh.problems);
}

#[test]
fn a_mesh_without_materials_beside_it_is_drawn_without() {
    let mesh = looks(SQUARES.as_bytes(), "a.obj", &|_| None);
    assert!(mesh.materials.is_empty() && mesh.triangle_count() == 3);
    assert_eq!(mesh.problems.len(), 1, "{:?}", mesh.problems);
    let mesh = looks(&stl_binary(), "a.stl", &|_| None);
    assert_eq!(
        (mesh.triangle_count(), mesh.parts[0].positions.len()),
        (4, 12)
    );
    assert!(mesh.problems.is_empty());
}

/// A square with texture coordinates, bound to a material with an effect.
pub(super) const TEXTURED: &str = r##"<COLLADA>
<library_images><image id="i"><init_from>file:///home/x/my%20red.png</init_from></image>
</library_images>
<library_effects><effect id="e"><profile_COMMON>
<newparam sid="surface"><surface type="2D"><init_from>i</init_from></surface></newparam>
<newparam sid="sampler"><sampler2D><source>surface</source></sampler2D></newparam>
<technique sid="common"><phong><emission><color>0 0 0.5 1</color></emission>
<diffuse><texture texture="sampler" texcoord="UV"/></diffuse>
<shininess><float>6</float></shininess><transparent><color>1 1 1 1</color></transparent>
<transparency><float>0.25</float></transparency></phong></technique>
<extra><technique profile="GOOGLEEARTH"><double_sided>1</double_sided></technique></extra>
</profile_COMMON></effect></library_effects>
<library_materials><material id="m" name="paint"><instance_effect url="#e"/></material>
</library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array>0 0 0 1 0 0 1 1 0 0 1 0</float_array>
<technique_common><accessor count="4" stride="3"/></technique_common></source>
<source id="n"><float_array>0 0 1</float_array>
<technique_common><accessor count="1" stride="3"/></technique_common></source>
<source id="t"><float_array>0 0 1 0 1 1 0 1</float_array>
<technique_common><accessor count="4" stride="2"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<polylist material="symbol"><input semantic="VERTEX" source="#v" offset="0"/>
<input semantic="NORMAL" source="#n" offset="1"/>
<input semantic="TEXCOORD" source="#t" offset="2"/><vcount>4</vcount>
<p>0 0 0 1 0 1 2 0 2 3 0 3</p></polylist></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node name="body"><rotate>1 0 0 90</rotate>
<instance_geometry url="#g"><bind_material><technique_common>
<instance_material symbol="symbol" target="#m"/></technique_common></bind_material>
</instance_geometry></node></visual_scene></library_visual_scenes></COLLADA>"##;

#[test]
fn effects_of_a_collada_file_are_materials() {
    let beside = |name: &str| (name == "../materials/textures/my red.png").then(png);
    let mesh = looks(TEXTURED.as_bytes(), "a.dae", &beside);
    let part = &mesh.parts[0];
    assert_eq!((part.name.as_str(), part.positions.len()), ("body", 4));
    assert!(
        (part.normals[0][1] + 1.0).abs() < 1e-6,
        "{:?}",
        part.normals
    );
    assert_eq!(part.texcoords[2], [1.0, 0.0]);
    let material = &mesh.materials[part.material.unwrap()];
    assert_eq!(
        (material.name.as_str(), material.color_image),
        ("paint", Some(0))
    );
    assert_eq!(material.color, [1.0, 1.0, 1.0, 0.25]);
    assert_eq!(
        (material.emissive, material.roughness),
        ([0.0, 0.0, 0.5], 0.5)
    );
    assert!(material.is_double_sided && material.alpha == Alpha::Blend);
    assert!(mesh.problems.is_empty(), "{:?}", mesh.problems);
}

#[test]
fn what_is_written_as_glb_is_read_again() {
    let beside = |name: &str| (name == "my red.png").then(png);
    let mut mesh = looks(TEXTURED.as_bytes(), "a.dae", &beside);
    // The format names nodes, and a mesh that is drawn has one.
    mesh.parts[0].name.clear();
    let back = looks(&mesh.to_glb(), "a.glb", &|_| None);
    assert_eq!(back.parts, mesh.parts);
    assert_eq!(back.images, mesh.images);
    let (ours, theirs) = (&mesh.materials[0], &back.materials[0]);
    for (a, b) in ours.emissive.iter().zip(theirs.emissive) {
        assert!((a - b).abs() < 1e-5, "{theirs:?}");
    }
    for (a, b) in ours.color.iter().zip(theirs.color) {
        assert!((a - b).abs() < 1e-5, "{theirs:?}");
    }
    assert_eq!(ours.roughness, theirs.roughness);
    assert!(theirs.is_double_sided && theirs.alpha == Alpha::Blend);
}

#[test]
fn parts_of_one_material_are_drawn_at_once() {
    let mesh = looks(OBJ.as_bytes(), "a.obj", &|_| None);
    assert_eq!(
        (mesh.names(), mesh.parts.len()),
        (vec!["body", "the lid"], 2)
    );
    let back = looks(&mesh.to_glb(), "a.glb", &|_| None);
    assert_eq!((back.parts.len(), back.triangle_count()), (1, 4));
    assert_eq!(back.bounds(), mesh.bounds());
}
