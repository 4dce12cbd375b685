//! Actors: pictures of them along their scripts, with limbs that move.

use mesh::{Bone, Clip, Grip, Key, Skeleton, Track, Transform, VisualMesh, VisualPart};
use sdf::{ResolveError, ResolvedData, ResolvedFile, Resolver};

use super::*;

/// A plate of a square metre across the view, which goes with an arm. In two seconds the hips go by
/// 2 m along the view and 0.5 m up, and the arm by 2 m to the left.
fn plate() -> VisualMesh {
    let bone = |name: &str, parent| Bone {
        name: name.to_owned(),
        parent,
        rest: Transform::IDENTITY,
        inverse_bind: Transform::IDENTITY,
    };
    let key = |time_s, position| Key {
        time_s,
        position,
        orientation_xyzw: [0.0, 0.0, 0.0, 1.0],
        scale: [1.0; 3],
    };
    let track = |bone, end| Track {
        bone,
        keys: vec![key(0.0, [0.0; 3]), key(2.0, end)],
    };
    let corner = |y: f32, z: f32| [0.0, y / 2.0, z / 2.0];
    VisualMesh {
        parts: vec![VisualPart {
            positions: vec![
                corner(-1.0, -1.0),
                corner(-1.0, 1.0),
                corner(1.0, 1.0),
                corner(1.0, -1.0),
            ],
            normals: vec![[-1.0, 0.0, 0.0]; 4],
            triangles: vec![[0, 2, 1], [0, 3, 2]],
            grips: vec![Grip::of(2); 4],
            ..VisualPart::default()
        }],
        skeleton: Some(Skeleton {
            bones: vec![
                bone("ground", None),
                bone("hips", Some(0)),
                bone("arm", Some(1)),
            ],
            root: 1,
            clips: vec![Clip {
                name: "walk".to_owned(),
                tracks: vec![track(1, [2.0, 0.0, 0.5]), track(2, [0.0, 2.0, 0.0])],
            }],
        }),
        ..VisualMesh::default()
    }
}

struct Plates;

impl Resolver for Plates {
    fn read(&self, uri: &str, _from_file: &str) -> Result<ResolvedFile, ResolveError> {
        Err(ResolveError::NotFound(uri.to_owned()))
    }

    fn read_data(&self, uri: &str, _from_file: &str) -> Result<ResolvedData, ResolveError> {
        let mut plate = plate();
        match uri {
            "plate.glb" => {}
            "still.glb" => plate.skeleton.as_mut().unwrap().clips.clear(),
            "bare.glb" => {
                plate.skeleton = None;
                plate.parts[0].grips.clear();
            }
            _ => return Err(ResolveError::NotFound("nowhere".to_owned())),
        }
        Ok(ResolvedData {
            bytes: plate.to_glb(),
            file: uri.to_owned(),
            identity: uri.to_owned(),
        })
    }
}

/// Returns the stage of a world with an actor, and what could not be had for it.
fn acted(actor: &str) -> (Stage, Vec<String>) {
    let text = format!(
        "<sdf version='1.11'><world name='w'><scene><background>0 0 0</background></scene>\
         <actor name='a'>{actor}</actor></world></sdf>"
    );
    let worlds = sdf::read_worlds(&text, "w.sdf", &NoFiles).unwrap().worlds;
    let mut assets = Assets::default();
    let scene = Scene::from_worlds(&worlds, &Plates, &mut assets);
    (Stage::new(&scene.worlds[0], &assets), scene.problems)
}

/// Returns the middle of what is seen at a time from -10 m along x: metres to the left and up, as
/// if it was at x = 0, and the width of it.
fn seen_at(stage: &Stage, elapsed_s: f64) -> Option<[f64; 3]> {
    let mut poses = stage.start();
    let scripted = stage.world.scripted_links(elapsed_s);
    poses.extend(scripted.map(|(_, link, pose)| (link.id, pose)));
    let camera = Camera::looking([-10.0, 0.0, 0.0], [0.0; 3], 0.8);
    let image = stage.picture(&poses, elapsed_s, &camera, [200, 200]);
    let bright = |place: &usize| image.pixels[*place][0] > 50;
    let places: Vec<usize> = (0..200 * 200).filter(bright).collect();
    let count = places.len() as f64;
    let pixel = 20.0 * libm::tan(0.4) / 200.0;
    let mean = |part: fn(usize) -> usize| {
        let sum: usize = places.iter().map(|place| part(*place)).sum();
        (99.5 - sum as f64 / count) * pixel
    };
    let middle = [
        mean(|place| place % 200),
        mean(|place| place / 200),
        count.sqrt() * pixel,
    ];
    (!places.is_empty()).then_some(middle)
}

fn check(actor: &str, elapsed_s: f64, expect: [f64; 3]) {
    let (stage, problems) = acted(actor);
    assert!(problems.is_empty(), "{problems:?}");
    let found = seen_at(&stage, elapsed_s).expect("nothing is seen");
    let is_near = (0..3).all(|i| (found[i] - expect[i]).abs() < 0.08);
    assert!(is_near, "{actor} at {elapsed_s}: {found:?} but {expect:?}");
}

const SKIN: &str = "<skin><filename>plate.glb</filename></skin>";
const STILL: &str = "<skin><filename>still.glb</filename></skin>";
const WALK: &str = "<animation name='walk'><filename>plate.glb</filename></animation>";

/// A way of 4 m across the view, to the left, in 4 s.
fn across(tension: f64) -> String {
    format!(
        "<script><trajectory id='0' type='walk' tension='{tension}'><waypoint><time>0</time>\
         <pose>0 0 0 0 0 0</pose></waypoint><waypoint><time>4</time><pose>0 4 0 0 0 0</pose>\
         </waypoint></trajectory></script>"
    )
}

#[test]
fn an_actor_without_a_script_moves_its_limbs_by_time_again_and_again() {
    check(SKIN, 0.0, [0.0, 0.0, 1.0]);
    // A metre farther away, things look smaller.
    let far = 10.0 / 11.0;
    for time in [1.0, 3.0, 201.0] {
        check(SKIN, time, [far, 0.25 * far, far]);
    }
    check(STILL, 1.0, [0.0, 0.0, 1.0]);
    check(
        "<skin><filename>plate.glb</filename><scale>0.5</scale></skin>",
        0.0,
        [0.0, 0.0, 0.5],
    );
}

#[test]
fn along_a_path_the_root_stays_where_the_script_is() {
    // A Hermite curve: a quarter of the time, then half.
    let along = |part: f64| {
        let (square, cube) = (part * part, part * part * part);
        4.0 * (3.0 * square - 2.0 * cube) + 2.0 * (2.0 * cube - 3.0 * square + part)
    };
    for skin in [SKIN, STILL] {
        let actor = format!("{skin}{WALK}{}", across(0.0));
        check(&actor, 1.0, [along(0.25) + 1.0, 0.0, 1.0]);
    }
}

#[test]
fn limbs_go_on_with_the_distance_where_the_file_says_so() {
    let by_distance = WALK.replace("</ani", "<interpolate_x>1</interpolate_x></ani");
    let actor = format!("{SKIN}{by_distance}{}", across(0.0));
    // After 0.5 s half a metre is covered, of the 2 m of an animation; after 3 s it begins again.
    let along = |part: f64| {
        let (square, cube) = (part * part, part * part * part);
        4.0 * (3.0 * square - 2.0 * cube) + 2.0 * (2.0 * cube - 3.0 * square + part)
    };
    check(&actor, 0.5, [along(0.125) + 0.5, 0.0, 1.0]);
    let slow = actor.replace("<time>4</time>", "<time>40</time>");
    check(&slow, 5.0, [along(0.125) + 0.5, 0.0, 1.0]);
    // Twice as large, and each step is twice as long.
    let large = slow.replace("</filename></skin>", "</filename><scale>2</scale></skin>");
    check(&large, 5.0, [along(0.125) + 0.5, 0.0, 2.0]);
}

#[test]
fn visuals_of_links_go_with_their_actor() {
    let link = "<link name='l'><pose>0 0 1 0 0 0</pose><visual name='v'><geometry><box>\
                <size>1 1 1</size></box></geometry></visual></link>";
    let actor = format!("{link}{}", across(1.0));
    let near = 10.0 / 9.5;
    check(&actor, 0.0, [0.0, near, near]);
    check(&actor, 2.0, [2.0 * near, near, near]);
}

#[test]
fn what_an_actor_lacks_is_told_and_not_drawn() {
    let (stage, problems) = acted("<skin><filename>gone.dae</filename></skin>");
    assert!(
        problems[0].contains("a::body::skin") && problems[0].contains("nowhere"),
        "{problems:?}"
    );
    assert_eq!(seen_at(&stage, 0.0), None);
    let (stage, problems) = acted("<skin><filename>bare.glb</filename></skin>");
    assert!(problems[0].contains("has no bones"), "{problems:?}");
    assert_eq!(seen_at(&stage, 0.0), seen_at(&stage, 1.0));
    let walk = WALK.replace("plate.glb", "still.glb");
    let (stage, problems) = acted(&format!("{STILL}{walk}"));
    assert!(problems[0].contains("no bone moves in it"), "{problems:?}");
    assert!(seen_at(&stage, 1.0).is_some());
}
