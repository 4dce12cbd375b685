//! Mesh files of every format, made by hand; then the same files broken at random places.

mod broken;
mod collada;
mod corpus;
mod gltf;
mod looks;
mod skins;

use super::*;
use crate::triangle_mesh::{TRIANGLES_MAX, TriangleMesh};

/// A tetrahedron with a corner at the origin and edges of 1 m, 2 m and 3 m along the axes.
const CORNERS: [[f64; 3]; 4] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]];

/// Its sides, counter-clockwise from outside.
const SIDES: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

fn read(bytes: &[u8], name: &str) -> Result<MeshFile, ReadMeshError> {
    read_mesh(bytes, name, &|_| None)
}

/// Holds that a mesh is the tetrahedron.
#[track_caller]
fn check_tetrahedron(mesh: &TriangleMesh) {
    assert_eq!(mesh.bounds(), Some([[0.0; 3], [1.0, 2.0, 3.0]]));
    let found = mesh.mass_properties(1.0).expect("it is closed");
    assert!((found.mass - 1.0).abs() < 1e-12, "{found:?}");
    assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (4, 4));
}

#[track_caller]
fn check(bytes: &[u8], name: &str) {
    check_tetrahedron(&read(bytes, name).unwrap().whole());
}

#[track_caller]
fn check_error(bytes: &[u8], name: &str, expect: &str) {
    let error = read(bytes, name).unwrap_err().to_string();
    assert!(error.contains(expect), "{error}");
}

fn stl_binary() -> Vec<u8> {
    let mut bytes = b"solid in name only".to_vec();
    bytes.resize(80, b' ');
    bytes.extend(4_u32.to_le_bytes());
    for side in SIDES {
        bytes.extend([0; 12]);
        for number in side.iter().flat_map(|corner| CORNERS[*corner as usize]) {
            bytes.extend((number as f32).to_le_bytes());
        }
        bytes.extend([0; 2]);
    }
    bytes
}

fn stl_text() -> String {
    let mut text = "solid box\n".to_owned();
    for side in SIDES {
        let corner = |i: u32| {
            let [x, y, z] = CORNERS[i as usize];
            format!("   vertex {x} {y:e} {z}\n")
        };
        let corners = side.map(corner).concat();
        text += " facet normal 0 0 0\n  outer loop\n";
        text += &corners;
        text += "  endloop\n endfacet\n";
    }
    text + "endsolid box\n"
}

const OBJ: &str = "# a tetrahedron\nmtllib none.mtl\no body\nv 0 0 0\nv 1 0 0 1.0\nv 0 2 0\n\
                   v 0 0 3\nvt 0 0\nvn 0 0 1\nusemtl red\nf 1/1/1 3/1/1 2/1/1\nf 1//1 2//1 4//1\n\
                   g the lid\nf -4 \\\n -1 -2\nf 2 3 4\n";

#[test]
fn stl_files_are_binary_or_text_by_content() {
    check(&stl_binary(), "a.stl");
    check(stl_text().as_bytes(), "a.STL");
    check(stl_text().to_uppercase().as_bytes(), "a.stla");
    check(&stl_binary(), "no extension");
    check(stl_text().as_bytes(), "no extension");
    let mut longer = stl_binary();
    longer.extend([7; 9]);
    check(&longer, "a.stl");
}

#[test]
fn a_binary_stl_file_that_is_cut_short_is_refused_before_it_is_believed() {
    let mut bytes = stl_binary();
    bytes[..5].copy_from_slice(b".....");
    bytes[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
    check_error(&bytes, "a.stl", "a.stl: byte 80: neither a text STL file");
    check_error(b"", "a.stl", "a.stl: byte 80: neither");
}

#[test]
fn text_stl_has_any_number_of_solids_with_names_or_without() {
    let text = stl_text();
    let (first, second) = text.split_at(text.rfind(" facet").expect("it has facets"));
    let apart = format!("{first}endsolid box\r\n\nsolid\n{second}").replace("solid box", "solid");
    check(apart.as_bytes(), "a.stl");
    check(text.replace("endsolid box", "").as_bytes(), "a.stl");
    let flat = text.replace("normal 0 0 0", "normal nan -nan(ind) nan");
    check(flat.as_bytes(), "a.stl");
}

#[test]
fn broken_text_stl_names_its_facet_or_line() {
    let facet = "facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n";
    let whole = format!("solid a\n{facet}vertex 0 1 0\nendloop\nendfacet\n{facet}");
    let broken = |rest: &str| format!("{whole}{rest}\n").into_bytes();
    check_error(
        &broken("vertex 1 x 2"),
        "a.stl",
        "a.stl: facet 2: invalid float",
    );
    check_error(
        &broken("vertex inf 0 0"),
        "a.stl",
        "facet 2: expected finite",
    );
    check_error(
        &broken("vertex 1 2"),
        "a.stl",
        "facet 2: vertex f32 f32 f32",
    );
    check_error(b"solid a\nwhat\n", "a.stl", "facet 1: invalid facet header");
    let long = "1 ".repeat(1000);
    check_error(&broken(&long), "a.stl", "line 13: longer than 1000 bytes");
    let empty = b"solid a\nendsolid a\n";
    check_error(empty, "a.stl", "a.stl: it holds no triangles");
    let mut infinite = stl_binary();
    infinite[96..100].copy_from_slice(&f32::INFINITY.to_le_bytes());
    check_error(&infinite, "a.stl", "is not finite");
}

#[test]
fn objects_and_groups_of_obj_are_submeshes() {
    check(OBJ.as_bytes(), "a.obj");
    check(OBJ.as_bytes(), "no extension");
    let file = read(OBJ.as_bytes(), "a.obj").unwrap();
    assert_eq!(file.names(), ["body", "the lid"]);
    assert_eq!(file.submesh("the lid").unwrap().triangles.len(), 2);
    assert_eq!(file.submesh("body").unwrap().vertices.len(), 4);
    assert_eq!(file.submesh("none"), None);
}

#[test]
fn parts_with_the_same_name_are_one_submesh() {
    let text = OBJ.replace("g the lid", "g other\nf 1 2 3\ng body");
    let file = read(text.as_bytes(), "a.obj").unwrap();
    assert_eq!(file.names(), ["body", "other"]);
    assert_eq!(file.submesh("body").unwrap().triangles.len(), 4);
}

#[test]
fn concave_polygons_are_cut_along_their_inside() {
    let text = "v 0 0 0\nv 2 0 0\nv 2 0 2\nv 1 0 0.5\nv 0 0 2\nf 1 2 3 4 5\nf 5 4 3 2 1\n";
    let mesh = read(text.as_bytes(), "a.obj").unwrap().whole();
    let area = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| mesh.vertices[i as usize]);
        (b[0] - a[0]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[0] - a[0])
    };
    let (front, back) = mesh.triangles.split_at(3);
    assert!(front.iter().all(|t| area(t) > 0.0), "{mesh:?}");
    assert!(back.iter().all(|t| area(t) < 0.0), "{mesh:?}");
    assert!((front.iter().map(area).sum::<f64>() - 5.0).abs() < 1e-12);
}

#[test]
fn indented_and_continued_lines_of_obj_are_read() {
    check(OBJ.replace('\n', "\r\n \t").as_bytes(), "a.obj");
    let text = OBJ.replace("g the lid", "  g the \\\n  lid  ");
    let file = read(text.as_bytes(), "a.obj").unwrap();
    assert_eq!(file.names(), ["body", "the lid"]);
    let text = OBJ.replace("o body\n", "");
    assert_eq!(read(text.as_bytes(), "a.obj").unwrap().names(), ["the lid"]);
}

#[test]
fn broken_obj_names_its_line() {
    let broken = |text: &str, expect: &str| check_error(text.as_bytes(), "a.obj", expect);
    broken("v 1 2\n", "a.obj: line 1: position parse error");
    broken(
        "v 0 \\\n0 0\n# a\nf 1 x 1\n",
        "a.obj: line 4: face parse error",
    );
    let beyond = "faces that end in line 3: face vertex index out of bounds";
    broken("v 1 2 3\nf 1 0 1\nf 1 1 1\n", beyond);
    broken("v 1 2 3\nf 1 -2 1\no next\nv x\n", beyond);
    broken("v 1 2 3\nf /1 1 1\n", "face vertex index out of bounds");
    broken("v 1 2 3\n", "it holds no triangles");
    broken("v 0 1e999 0\nv 1 0 0\nf 1 2 1", "is not finite");
}

#[test]
fn text_files_with_too_much_in_them_are_refused_before_they_are_held() {
    let faces = "f\n".repeat(TRIANGLES_MAX + 1);
    check_error(faces.as_bytes(), "a.obj", "more than 4000000 triangles");
    let solid = format!("solid\n{}", "facet\n".repeat(TRIANGLES_MAX + 1));
    check_error(solid.as_bytes(), "a.stl", "more than 4000000 triangles");
    let groups = "g a\n".repeat(100_001);
    check_error(
        groups.as_bytes(),
        "a.obj",
        "more than 100000 objects and groups",
    );
}

#[test]
fn an_unknown_format_says_which_are_read() {
    check_error(
        b"Kaydara FBX",
        "robot.fbx",
        "robot.fbx: not a mesh format that is read",
    );
    check_error(
        b"",
        "robot",
        "convert it to STL, OBJ, Collada (.dae), glTF or GLB",
    );
}
