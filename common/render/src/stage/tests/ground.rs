//! Ground with textures that cover each other by their heights, seen from above.

use mesh::Image;
use scene::{Assets, Scene};
use sdf::{NoFiles, ResolveError, ResolvedData, ResolvedFile, Resolver};

use super::super::{Camera, Stage};
use super::SIZE;

/// A slope that rises along x, and images of one colour.
struct Files;

fn plain(color: [u8; 4]) -> Image {
    Image {
        width: 1,
        height: 1,
        pixels: vec![color],
    }
}

/// Columns that are black and white in turns.
fn stripes() -> Image {
    Image {
        width: 2,
        height: 1,
        pixels: vec![[0, 0, 0, 255], [255; 4]],
    }
}

impl Resolver for Files {
    fn read(&self, uri: &str, from_file: &str) -> Result<ResolvedFile, ResolveError> {
        NoFiles.read(uri, from_file)
    }

    fn read_data(&self, uri: &str, from_file: &str) -> Result<ResolvedData, ResolveError> {
        let image = match uri {
            "slope.png" => Image {
                width: 5,
                height: 3,
                pixels: (0..15)
                    .map(|i| [i % 5 * 63, i % 5 * 63, i % 5 * 63, 255])
                    .collect(),
            },
            "red.png" => plain([255, 0, 0, 255]),
            "green.png" => plain([0, 255, 0, 255]),
            "blue.png" => plain([0, 0, 255, 255]),
            "clear.png" => plain([255, 255, 255, 0]),
            "stripes.png" => stripes(),
            _ => return NoFiles.read_data(uri, from_file),
        };
        Ok(ResolvedData {
            bytes: image.to_png(),
            file: uri.to_owned(),
            identity: uri.to_owned(),
        })
    }
}

/// Ground of 8 m by 4 m that is 4 m high in the east, with textures and blends.
fn ground(content: &str) -> (Stage, Vec<String>) {
    let text = format!(
        "<sdf version='1.11'><world name='w'><scene><ambient>1 1 1</ambient></scene>\
         <light name='sun' type='directional'><direction>0 0 -1</direction></light>\
         <model name='m'><static>1</static><link name='l'><visual name='v'><geometry><heightmap>\
         <uri>slope.png</uri><size>8 4 4</size>{content}</heightmap></geometry></visual></link>\
         </model></world></sdf>"
    );
    let worlds = sdf::read_worlds(&text, "w.sdf", &Files).unwrap().worlds;
    let mut assets = Assets::default();
    let scene = Scene::from_worlds(&worlds, &Files, &mut assets);
    (Stage::new(&scene.worlds[0], &assets), scene.problems)
}

fn texture(name: &str, size: f64) -> String {
    format!("<texture><size>{size}</size><diffuse>{name}.png</diffuse></texture>")
}

fn blend(from: f64, fade: f64) -> String {
    format!("<blend><min_height>{from}</min_height><fade_dist>{fade}</fade_dist></blend>")
}

/// Returns the colours at places of the ground from west to east, seen from far above [m].
fn across(stage: &Stage, places: &[f64]) -> Vec<[u8; 3]> {
    let pixel = |x: f64| {
        let camera = Camera::looking([x, 0.01, 300.0], [x, 0.0, 0.0], 0.005);
        let image = stage.picture(&stage.start(), 0.0, &camera, SIZE);
        let [red, green, blue, _] = image.pixels[SIZE[1] / 2 * SIZE[0] + SIZE[0] / 2];
        [red, green, blue]
    };
    places.iter().map(|x| pixel(*x)).collect()
}

#[test]
fn textures_cover_each_other_from_their_heights_on() {
    // The ground is 2 m high in the middle, 1 m and 3 m half-way to its edges.
    let three = ["red", "green", "blue"]
        .map(|name| texture(name, 1.0))
        .concat();
    let (stage, problems) = ground(&(three + &blend(1.0, 1.0) + &blend(3.0, 0.5)));
    assert_eq!((problems, stage.problems()), (vec![], &[][..]));
    let [low, between, middle, high] = across(&stage, &[-3.0, -1.0, 0.5, 3.8])[..] else {
        panic!("four places")
    };
    assert!(low[0] > 150 && low[1] < 10 && low[2] < 10, "{low:?}");
    assert!(
        between[0] > 80 && between[0].abs_diff(between[1]) < 20,
        "{between:?}"
    );
    assert!(
        middle[1] > 150 && middle[0] < 10 && middle[2] < 10,
        "{middle:?}"
    );
    assert!(high[2] > 150 && high[0] < 10 && high[1] < 10, "{high:?}");
}

#[test]
fn each_texture_has_a_size_of_its_own() {
    // From the middle to the east stripes of 1 m, over ones of 2 m.
    let both = texture("stripes", 4.0) + &texture("stripes", 2.0) + &blend(2.0, 0.0);
    let (stage, _) = ground(&both);
    let places = [-3.0, -1.0, 0.5, 1.5, 2.5, 3.5];
    let is_bright = across(&stage, &places)
        .into_iter()
        .map(|color| color[0] > 120);
    let is_bright: Vec<bool> = is_bright.collect();
    assert_eq!(is_bright, [false, true, false, true, false, true]);
}

#[test]
fn what_is_missing_or_too_much_is_told_and_the_rest_is_drawn() {
    let told = |content: String, part: &str| {
        let (stage, problems) = ground(&content);
        let found = problems.iter().any(|problem| problem.contains(part));
        assert!(found, "{part}: {problems:?}");
        across(&stage, &[-3.0, 3.0])
    };
    let is_red = |color: &[u8; 3]| color[0] > 120 && color[1] < 90;
    let gone = told(
        texture("red", 1.0) + &texture("gone", 1.0) + &blend(0.0, 0.0),
        "\"gone.png\" is not found",
    );
    assert!(gone.iter().all(is_red), "{gone:?}");
    let unblended = told(
        texture("red", 1.0) + &texture("green", 1.0),
        "has no <blend>",
    );
    assert!(unblended.iter().all(is_red), "{unblended:?}");
    let first = texture("gone", 1.0) + &texture("red", 1.0) + &blend(2.0, 0.0);
    let first = told(first, "\"gone.png\" is not found");
    assert!(!is_red(&first[0]) && is_red(&first[1]), "{first:?}");
    let many = ["red", "green", "blue", "red", "green"].map(|name| texture(name, 1.0));
    let blends = [1.0, 2.0, 2.5, 3.0].map(|from| blend(from, 0.0));
    let many = told(many.concat() + &blends.concat(), "is one more than 4");
    assert!(is_red(&many[1]), "{many:?}");
}

#[test]
fn numbers_of_blends_that_make_no_sense_break_nothing() {
    for (from, fade) in [
        (-1e300, 1e300),
        (1e300, 0.0),
        (f64::NAN, f64::NAN),
        (2.0, -1.0),
    ] {
        let both = texture("red", 1e-300) + &texture("clear", 1e300) + &blend(from, fade);
        let (stage, _) = ground(&both);
        across(&stage, &[0.0]);
    }
}
