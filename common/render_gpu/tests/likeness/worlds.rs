//! Small worlds with all kinds of things, and the files that they name, which are made here.

use std::fmt::Write as _;

use mesh::{Alpha, Image, ImageFile, VisualMaterial, VisualMesh, VisualPart};
use render::Stage;
use scene::{Assets, Scene};
use sdf::{NoFiles, ResolveError, ResolvedData, ResolvedFile, Resolver};

/// Columns and rows of images.
pub(crate) const SIZE: [usize; 2] = [96, 72];

pub(crate) const SUN: &str = "<light name='sun' type='directional'><direction>0.5 0.3 -1\
    </direction><cast_shadows>1</cast_shadows></light>";

/// A sun whose shadows are long.
pub(crate) const LOW_SUN: &str = "<light name='sun' type='directional'><direction>0.8 0.5 -0.6\
    </direction><cast_shadows>1</cast_shadows></light>";

pub(crate) const GROUND: &str = "<model name='ground'><static>1</static><pose>0 0 -0.8 0 0 0\
    </pose><link name='l'><visual name='v'><geometry><plane><size>60 60</size></plane></geometry>\
    </visual></link></model>";

pub(crate) const BALL: &str = "<sphere><radius>0.8</radius></sphere>";
pub(crate) const BOX: &str = "<box><size>1.4 1.4 1.4</size></box>";
pub(crate) const PANE: &str = "<box><size>0.1 2 1.6</size></box>";
pub(crate) const RED: &str = "<material><diffuse>0.9 0.2 0.1</diffuse></material>";

/// A wall with holes, of a mesh with a texture.
pub(crate) const MASKED: &str = "<mesh><uri>masked.glb</uri></mesh>";

/// The same with bumps in place of holes.
pub(crate) const BUMPY: &str = "<mesh><uri>bumpy.glb</uri></mesh>";

/// A wedge, closed, with flat sides.
const WEDGE: &str = "v -1 -0.6 -0.5\nv 1 -0.6 -0.5\nv 1 0.6 -0.5\nv -1 0.6 -0.5\nv -1 -0.6 0.9\n\
    v -1 0.6 0.9\nf 1 4 3 2\nf 1 2 5\nf 4 6 3\nf 2 3 6 5\nf 1 5 6 4\n";

struct Files;

impl Resolver for Files {
    fn read(&self, uri: &str, from_file: &str) -> Result<ResolvedFile, ResolveError> {
        NoFiles.read(uri, from_file)
    }

    fn read_data(&self, uri: &str, from_file: &str) -> Result<ResolvedData, ResolveError> {
        let bytes = match uri {
            "wedge.obj" => WEDGE.as_bytes().to_vec(),
            "masked.glb" => masked().to_glb(),
            "squares.png" => squares([32, 32]).to_png(),
            "odd.png" => squares([27, 19]).to_png(),
            "holes.png" => holes().to_png(),
            "bumps.png" => bumps().to_png(),
            "bumpy.glb" => bumpy().to_glb(),
            _ => return NoFiles.read_data(uri, from_file),
        };
        Ok(ResolvedData {
            bytes,
            file: uri.to_owned(),
            identity: uri.to_owned(),
        })
    }
}

/// Returns what is drawn of a world, all of it.
pub(crate) fn stage(world: &str) -> Stage {
    stage_after(world, None)
}

/// Returns what is drawn of a world that was another one before.
pub(crate) fn stage_after(world: &str, before: Option<&Stage>) -> Stage {
    let text = format!("<sdf version='1.11'><world name='w'>{world}</world></sdf>");
    let worlds = sdf::read_worlds(&text, "w.sdf", &Files)
        .expect("the text is a world")
        .worlds;
    let mut assets = Assets::default();
    let scene = Scene::from_worlds(&worlds, &Files, &mut assets);
    let stage = Stage::after(&scene.worlds[0], &assets, before);
    assert!(stage.problems().is_empty(), "{:?}", stage.problems());
    stage
}

/// Returns a model that never moves, of one visual.
pub(crate) fn model(pose: &str, geometry: &str, more: &str) -> String {
    of_model(pose, geometry, more, true)
}

/// Returns a model that may move, of one visual.
pub(crate) fn mover(pose: &str, geometry: &str, more: &str) -> String {
    of_model(pose, geometry, more, false)
}

fn of_model(pose: &str, geometry: &str, more: &str, is_static: bool) -> String {
    let mut text = String::new();
    let _ = write!(
        text,
        "<model name='m {pose}'><static>{is_static}</static><pose>{pose}</pose><link name='l'>\
         <visual name='v'><geometry>{geometry}</geometry>{more}</visual></link></model>"
    );
    text
}

/// Squares of two colours, each different from its neighbours.
fn squares([width, height]: [usize; 2]) -> Image {
    let pixel = |place: usize| {
        let (x, y) = (place % width / 4, place / width / 4);
        if (x + y) % 2 == 0 {
            [230, (30 * x) as u8, 40, 255]
        } else {
            [30, 90, (200 - 20 * y) as u8, 255]
        }
    };
    Image {
        width,
        height,
        pixels: (0..width * height).map(pixel).collect(),
    }
}

/// Squares of which every second one is a hole.
fn holes() -> Image {
    let mut image = squares([32, 32]);
    for (place, pixel) in image.pixels.iter_mut().enumerate() {
        if (place % 32 / 8 + place / 32 / 8) % 2 == 0 {
            pixel[3] = 0;
        }
    }
    image
}

/// Normals of rows of bumps.
fn bumps() -> Image {
    let lean = |place: usize| {
        let along = (place % 32) as f64 / 32.0 * std::f64::consts::TAU;
        (127.5 + 80.0 * along.sin()) as u8
    };
    Image {
        width: 64,
        height: 64,
        pixels: (0..64 * 64)
            .map(|place| [lean(place % 64), lean(place / 64), 220, 255])
            .collect(),
    }
}

/// A wall of a mesh with normals of a texture, which lean more than that says.
fn bumpy() -> VisualMesh {
    let mut mesh = masked();
    mesh.materials[0] = VisualMaterial {
        normal_image: Some(0),
        normal_scale: 1.5,
        is_double_sided: true,
        ..VisualMaterial::default()
    };
    mesh.images = vec![ImageFile::new(bumps().to_png()).expect("it is one")];
    mesh
}

fn masked() -> VisualMesh {
    let corner = |y: f32, z: f32| [0.0, 1.2 * y, z];
    VisualMesh {
        parts: vec![VisualPart {
            name: "wall".to_owned(),
            positions: vec![
                corner(1.0, -0.8),
                corner(-1.0, -0.8),
                corner(-1.0, 0.8),
                corner(1.0, 0.8),
            ],
            normals: vec![[-1.0, 0.0, 0.0]; 4],
            texcoords: vec![[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]],
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            material: Some(0),
            ..VisualPart::default()
        }],
        materials: vec![VisualMaterial {
            name: "holes".to_owned(),
            color_image: Some(0),
            alpha: Alpha::Mask(0.5),
            is_double_sided: true,
            ..VisualMaterial::default()
        }],
        images: vec![ImageFile::new(holes().to_png()).expect("it is one")],
        ..VisualMesh::default()
    }
}
