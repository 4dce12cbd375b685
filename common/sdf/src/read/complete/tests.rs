//! Files are in memory: a cube of 1 m beside the origin, as OBJ.

use std::cell::RefCell;

use crate::read::{ReadWorlds, read_worlds};
use crate::resolve::{ResolveError, ResolvedData, ResolvedFile, Resolver};
use crate::world::{Geometry, Inertial, Link, MeshShape};

const CUBE: &str = "o cube\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\n\
    v 0 0 1\nv 1 0 1\nv 0 1 1\nv 1 1 1\n\
    f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";

/// A PNG image of a black and a white sample.
const HEIGHTS: &[u8] =
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x02\x00\x00\x00\x01\x08\x00\x00\x00\
    \x00\xd1I\x20V\x00\x00\x00\x0bIDATx\xdac`\xf8\x0f\x00\x01\x02\x01\x00\xd1\x1a\xcb\x8f\
    \x00\x00\x00\x00IEND\xaeB`\x82";

/// Serves some names, and notes what is asked for.
#[derive(Default)]
struct Memory {
    asked: RefCell<Vec<String>>,
}

impl Resolver for Memory {
    fn read(&self, uri: &str, _from_file: &str) -> Result<ResolvedFile, ResolveError> {
        Err(ResolveError::NotFound(uri.to_owned()))
    }

    fn read_data(&self, uri: &str, _from_file: &str) -> Result<ResolvedData, ResolveError> {
        self.asked.borrow_mut().push(uri.to_owned());
        let (bytes, file) = match uri {
            "cube.obj" | "model://cube/cube.obj" => (CUBE.as_bytes(), "/cube.obj"),
            "broken.obj" => ("f 1 2 3\n".as_bytes(), "/broken.obj"),
            "heights.png" => (HEIGHTS, "/heights.png"),
            "broken.png" => ("not a picture".as_bytes(), "/broken.png"),
            _ => return Err(ResolveError::NotFound(format!("there is no {uri}"))),
        };
        Ok(ResolvedData {
            bytes: bytes.to_vec(),
            file: file.to_owned(),
            identity: file.to_owned(),
        })
    }
}

fn read(link: &str) -> (Result<ReadWorlds, Vec<&'static str>>, Vec<String>) {
    read_model(&format!("<link name='l'>{link}</link>"))
}

fn read_model(content: &str) -> (Result<ReadWorlds, Vec<&'static str>>, Vec<String>) {
    let memory = Memory::default();
    let text = format!(
        "<sdf version='1.12'><world name='w'><model name='m'>{content}</model></world></sdf>"
    );
    let read = read_worlds(&text, "w.sdf", &memory)
        .map_err(|error| error.errors.iter().map(|problem| problem.code).collect());
    (read, memory.asked.into_inner())
}

fn collision(name: &str, shape: &str) -> String {
    format!("<collision name='{name}'><geometry>{shape}</geometry></collision>")
}

fn mesh(name: &str, inner: &str) -> String {
    collision(name, &format!("<mesh>{inner}</mesh>"))
}

fn shapes(link: &Link) -> Vec<&MeshShape> {
    let collisions = link.collisions.iter();
    let meshes = collisions.filter_map(|collision| match &collision.geometry {
        Geometry::Mesh(mesh) => Some(mesh),
        _ => None,
    });
    meshes.collect()
}

fn check_warnings(read: &ReadWorlds, codes: &[&str], what: &str) {
    let found: Vec<_> = read.warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(found, codes, "{what}: {:?}", read.warnings);
}

#[test]
fn a_mesh_is_read_once_however_many_collisions_name_it() {
    let whole = "<uri>cube.obj</uri>";
    let part = "<uri>model://cube/cube.obj</uri><submesh><name>cube</name><center>1</center>\
                </submesh><scale>2 -2 2</scale>";
    let (read, asked) = read(&(mesh("a", whole) + &mesh("b", whole) + &mesh("c", part)));
    let mut read = read.unwrap();
    check_warnings(&read, &[], "whole and part");
    let world = read.worlds.swap_remove(0);
    assert_eq!(asked, ["cube.obj", "model://cube/cube.obj"]);
    assert_eq!(world.meshes.len(), 2);
    let shapes = shapes(&world.models[0].links[0]);
    let indices: Vec<_> = shapes.iter().map(|shape| shape.mesh).collect();
    assert_eq!(indices, [Some(0), Some(0), Some(1)]);
    assert_eq!(shapes[0].bounds, Some([[0.0; 3], [1.0; 3]]));
    assert_eq!(shapes[2].bounds, Some([[-1.0; 3], [1.0; 3]]));
    assert_eq!(
        world.models[0].collision_bounds(),
        Some(([-1.0; 3], [1.0; 3]))
    );
}

#[test]
fn a_height_image_is_read_once_and_bounds_its_ground() {
    let ground = "<heightmap><uri>heights.png</uri><size>4 2 3</size><pos>1 0 -1</pos></heightmap>";
    let (read, asked) = read(&(collision("a", ground) + &collision("b", ground)));
    let world = read.unwrap().worlds.swap_remove(0);
    assert_eq!(asked, ["heights.png"]);
    assert_eq!(world.height_grids.len(), 1);
    assert_eq!(world.height_grids[0].heights, [0.0, 1.0]);
    let bounds = world.models[0].collision_bounds();
    assert_eq!(bounds, Some(([-1.0, -1.0, -1.0], [3.0, 1.0, 2.0])));
}

fn check_warning(content: &str, code: &str) {
    let (read, _) = read(content);
    let read = read.unwrap();
    check_warnings(&read, &[code], content);
    assert!(
        read.warnings[0].message.contains("m::l::c"),
        "{:?}",
        read.warnings
    );
    assert_eq!(read.worlds[0].models[0].links[0].collisions.len(), 1);
    assert_eq!(read.worlds[0].models[0].reach().radius, 0.0);
}

#[test]
fn files_that_cannot_be_used_are_warnings_and_the_collision_stays() {
    check_warning(&mesh("c", "<uri>gone.dae</uri>"), "MESH_NOT_FOUND");
    check_warning(&mesh("c", ""), "MESH_NOT_FOUND");
    check_warning(&mesh("c", "<uri>broken.obj</uri>"), "MESH_UNREADABLE");
    let submesh = "<uri>cube.obj</uri><submesh><name>ball</name></submesh>";
    check_warning(&mesh("c", submesh), "MESH_UNREADABLE");
    let heights = |uri: &str| collision("c", &format!("<heightmap><uri>{uri}</uri></heightmap>"));
    check_warning(&heights("gone.png"), "MESH_NOT_FOUND");
    check_warning(&heights("broken.png"), "MESH_UNREADABLE");
}

#[test]
fn visuals_and_links_without_meshes_ask_for_no_file() {
    let shape = "<geometry><mesh><uri>cube.obj</uri></mesh></geometry>";
    let ball = collision("c", "<sphere><radius>1</radius></sphere>");
    let (read, asked) = read(&format!("<visual name='v'>{shape}</visual>{ball}"));
    check_warnings(&read.unwrap(), &[], "visual");
    assert!(asked.is_empty(), "{asked:?}");
}

const CUBE_SHAPE: &str = "<box><size>1 1 1</size></box>";

fn check_inertia(link: &str, mass: f64, center: [f64; 3], moments: [f64; 3]) -> Inertial {
    let (read, _) = read(link);
    let inertial = read.unwrap().worlds[0].models[0].links[0].inertial;
    let [ixx, ixy, ixz, iyy, iyz, izz] = inertial.inertia;
    let found = [
        mass, center[0], center[1], center[2], moments[0], moments[1], moments[2],
    ];
    let [x, y, z] = inertial.pose.position;
    for (found, expect) in [inertial.mass, x, y, z, ixx, iyy, izz].iter().zip(found) {
        let slack = 1e-9 * mass;
        assert!((found - expect).abs() <= slack, "{link}: {inertial:?}");
    }
    for product in [ixy, ixz, iyz] {
        assert!(product.abs() <= 1e-9 * mass, "{link}: {inertial:?}");
    }
    inertial
}

fn auto(inner: &str) -> String {
    format!("<inertial auto='true'>{inner}</inertial>")
}

#[test]
fn inertias_follow_from_shapes_and_densities() {
    let cube = collision("c", CUBE_SHAPE);
    let sixth = 1000.0 / 6.0;
    check_inertia(&(auto("") + &cube), 1000.0, [0.0; 3], [sixth; 3]);
    let of_link = auto("<density>6</density>") + &cube;
    check_inertia(&of_link, 6.0, [0.0; 3], [1.0; 3]);
    let of_collision = of_link.replace("</collision>", "<density>12</density></collision>");
    check_inertia(&of_collision, 12.0, [0.0; 3], [2.0; 3]);
    let named = auto("<mass>6</mass>") + &cube;
    check_inertia(&named, 6.0, [0.0; 3], [1.0; 3]);
    let cone = collision("c", "<cone><radius>0.5</radius><length>1</length></cone>");
    let mass = std::f64::consts::PI / 12.0;
    let cone = auto("<density>1</density>") + &cone;
    check_inertia(&cone, mass, [0.0, 0.0, -0.25], [0.075 * mass; 3]);
    // The figures are libsdformat's.
    let capsule = collision(
        "c",
        "<capsule><radius>0.5</radius><length>0.7</length></capsule>",
    );
    let (across, along) = (655.910_877_195_05, 328.132_807_682_758_94);
    check_inertia(
        &(auto("<density>2710</density>") + &capsule),
        2_908.852_997_836_349_5,
        [0.0; 3],
        [across, across, along],
    );
}

#[test]
fn inertias_of_several_shapes_are_summed_about_the_common_centre() {
    let half = |name: &str, height: f64| {
        collision(name, "<box><size>1 1 0.5</size></box>").replace(
            "<geometry>",
            &format!("<pose>3 0 {height} 0 0 1.5707963267948966</pose><geometry>"),
        )
    };
    let link = auto("<density>6</density>") + &half("up", 0.25) + &half("down", -0.25);
    let inertial = check_inertia(&link, 6.0, [3.0, 0.0, 0.0], [1.0; 3]);
    assert_eq!(inertial.pose.orientation_xyzw, [0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn inertias_of_meshes_are_those_of_the_solid_within() {
    let link = auto("<density>6</density>") + &mesh("c", "<uri>cube.obj</uri>");
    check_inertia(&link, 6.0, [0.5; 3], [1.0; 3]);
    let scaled = auto("") + &mesh("c", "<uri>cube.obj</uri><scale>-2 1 1</scale>");
    check_inertia(
        &scaled,
        2000.0,
        [-1.0, 0.5, 0.5],
        [2000.0 / 6.0, 2000.0 * 5.0 / 12.0, 2000.0 * 5.0 / 12.0],
    );
    let missing = auto("") + &mesh("c", "<uri>gone.dae</uri>");
    check_inertia(&missing, 1.0, [0.0; 3], [1.0; 3]);
    let read = read(&missing).0.unwrap();
    check_warnings(&read, &["MESH_WITHOUT_VOLUME", "MESH_NOT_FOUND"], "missing");
}

fn check_errors(link: &str, codes: &[&str]) {
    assert_eq!(read(link).0.map(|_| ()).unwrap_err(), codes, "{link}");
}

#[test]
fn inertias_that_cannot_follow_from_shapes_are_errors_unless_nothing_moves() {
    check_errors(&auto(""), &["ELEMENT_MISSING"]);
    let plane = auto("") + &collision("c", "<plane><normal>0 0 1</normal></plane>");
    check_errors(&plane, &["LINK_INERTIA_INVALID"]);
    let light = auto("<density>0</density>") + &collision("c", CUBE_SHAPE);
    check_errors(&light, &["LINK_INERTIA_INVALID"]);
    let still = format!("<static>1</static><link name='l'>{plane}</link>");
    assert!(read_model(&still).0.is_ok());
}
