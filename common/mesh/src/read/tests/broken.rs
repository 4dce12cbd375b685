//! Files broken at random places: whatever comes of them, it is no panic and a mesh that holds.

use super::*;
use crate::broken::{Random, broken};

/// Number of broken files that are made of each whole one.
const ROUNDS: u64 = 3000;

fn check(whole: &[u8], name: &str) {
    assert!(read(whole, name).is_ok(), "{name}");
    let mut read_count = 0;
    for seed in 0..ROUNDS {
        let bytes = broken(whole, &mut Random(seed));
        check_looks(&bytes, name);
        let Ok(file) = read_mesh(&bytes, name, &|_| Some(vec![0; 72])) else {
            continue;
        };
        read_count += 1;
        let mesh = file.whole();
        let count = mesh.vertices.len() as u32;
        assert!(mesh.triangles.iter().flatten().all(|index| *index < count));
        assert!(
            mesh.vertices
                .iter()
                .flatten()
                .all(|number| number.is_finite())
        );
        mesh.mass_properties(1.0);
    }
    assert!(read_count > 0, "no broken {name} was read at all");
}

/// Holds that what is drawn of a broken file can be drawn, and written.
fn check_looks(bytes: &[u8], name: &str) {
    let Ok(mesh) = read_visual_mesh(bytes, name, &|_| Some(vec![0; 72])) else {
        return;
    };
    for part in &mesh.parts {
        let count = part.positions.len();
        assert!(
            part.triangles
                .iter()
                .flatten()
                .all(|index| (*index as usize) < count)
        );
        assert_eq!(part.normals.len(), count);
        assert!(
            part.material
                .is_none_or(|index| index < mesh.materials.len())
        );
    }
    assert!(read_visual_mesh(&mesh.to_glb(), "a.glb", &|_| None).is_ok());
}

#[test]
fn broken_files_of_every_format_are_survived() {
    check(&stl_binary(), "a.stl");
    check(stl_text().as_bytes(), "a.stl");
    check(OBJ.as_bytes(), "a.obj");
    check(looks::TEXTURED.as_bytes(), "a.dae");
    let skinned = collada::file(&collada::triangles(), collada::NODE);
    check(skinned.as_bytes(), "a.dae");
    check(&gltf::binary(r#"{"mesh":0}"#), "a.glb");
    check(gltf::embedded(r#"{"mesh":0}"#).as_bytes(), "a.gltf");
}
