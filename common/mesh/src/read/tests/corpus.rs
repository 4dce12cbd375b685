//! Meshes of Gazebo's own tests. They are not part of the project: where the folder `shared/corpus`
//! beside the project is missing, nothing is tested here.

use super::*;

/// Reads a file of the corpus and returns its submeshes' names, bounds and mass at 1 kg/m³.
#[track_caller]
fn check(path: &str, names: &[&str], bounds: [[f64; 3]; 2], mass: Option<f64>) {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus");
    let Ok(bytes) = std::fs::read(format!("{corpus}/{path}")) else {
        return;
    };
    let file = read(&bytes, path).unwrap();
    assert_eq!(file.names(), names, "{path}");
    let mesh = file.whole();
    let [low, high] = mesh.bounds().unwrap();
    let is_close =
        |i: usize| (low[i] - bounds[0][i]).abs() < 1e-3 && (high[i] - bounds[1][i]).abs() < 1e-3;
    assert!((0..3).all(is_close), "{path}: {low:?} {high:?}");
    let found = mesh.mass_properties(1.0).map(|found| found.mass);
    match (found, mass) {
        (None, None) => {}
        (Some(found), Some(mass)) => assert!((found - mass).abs() < 1e-3 * mass, "{path}: {found}"),
        (found, _) => panic!("{path}: {found:?}"),
    }
}

#[test]
fn boxes_have_the_size_that_their_nodes_give_them() {
    let half = [[-0.4; 3], [0.4; 3]];
    for model in ["relative_resource_uri", "scheme_resource_uri"] {
        let path = format!("gz-sim/test/worlds/models/{model}/meshes/box.dae");
        check(&path, &["Cube"], half, Some(0.512));
    }
    check(
        "sdformat/test/sdf/box.dae",
        &["Cube"],
        [[-1.0; 3], [1.0; 3]],
        Some(8.0),
    );
}

#[test]
fn ducks_keep_their_axes_and_become_metres() {
    let bounds = [[-0.693, 0.0993, -0.6133], [0.9618, 1.6397, 0.5393]];
    check(
        "gz-sim/test/media/duck.dae",
        &["LOD3sp"],
        bounds,
        Some(1.1958),
    );
    let bounds = [[-0.7072, 0.0995, -0.6211], [0.9645, 1.637, 0.547]];
    check(
        "gz-sim/test/media/duck_collider.dae",
        &["Duck_Collider"],
        bounds,
        Some(1.1889),
    );
}

#[test]
fn submeshes_bear_the_names_of_their_nodes() {
    let path = "gz-sim/test/worlds/models/mesh_with_submeshes/meshes/mesh_with_submeshes.dae";
    let bounds = [[-10.1437, -1.0, -1.0], [11.0, 1.0, 1.0]];
    check(path, &["node_0", "node_1"], bounds, Some(8.0016));
}

#[test]
fn buildings_of_obj_files_are_read() {
    let folder = "gz-sim/test/worlds/models/building_L1/meshes";
    let bounds = [[2.2776, -12.004, -0.1], [23.6834, -1.1436, 0.0]];
    check(&format!("{folder}/floor_1.obj"), &["floor_1"], bounds, None);
    let bounds = [[2.2105, -12.0579, 0.0], [23.741, -1.0763, 2.5]];
    check(&format!("{folder}/wall_1.obj"), &["walls"], bounds, None);
}
