//! Pictures of small worlds, judged by what must be seen in them.

mod actors;
mod ground;
mod highlights;

use mesh::{ImageFile, VisualMaterial, VisualMesh, VisualPart};
use scene::{Assets, Scene};
use sdf::{NoFiles, ResolveError, ResolvedData, ResolvedFile, Resolver};

use super::*;

const SIZE: [usize; 2] = [64, 48];

fn stage(world: &str) -> Stage {
    stage_with(world, &NoFiles)
}

fn stage_with(world: &str, files: &dyn Resolver) -> Stage {
    let text = format!("<sdf version='1.11'><world name='w'>{world}</world></sdf>");
    let worlds = sdf::read_worlds(&text, "w.sdf", files).unwrap().worlds;
    let mut assets = Assets::default();
    let scene = Scene::from_worlds(&worlds, files, &mut assets);
    let stage = Stage::new(&scene.worlds[0], &assets);
    assert!(stage.problems().is_empty(), "{:?}", stage.problems());
    stage
}

fn model(name: &str, pose: &str, geometry: &str, material: &str) -> String {
    format!(
        "<model name='{name}'><static>1</static><pose>{pose}</pose><link name='l'>\
         <visual name='v'><geometry>{geometry}</geometry>{material}</visual></link></model>"
    )
}

fn colored(color: &str) -> String {
    format!("<material><diffuse>{color}</diffuse></material>")
}

const BALL: &str = "<sphere><radius>1</radius></sphere>";
const SUN: &str = "<light name='sun' type='directional'><direction>0 0 -1</direction>\
                   <cast_shadows>1</cast_shadows></light>";

/// Returns a picture from -10 m along x.
fn seen(stage: &Stage) -> Image {
    let camera = Camera::looking([-10.0, 0.0, 0.0], [0.0; 3], 0.4);
    stage.picture(&stage.start(), 0.0, &camera, SIZE)
}

fn middle(image: &Image) -> [u8; 4] {
    image.pixels[SIZE[1] / 2 * SIZE[0] + SIZE[0] / 2]
}

fn is_like(found: [u8; 4], expect: [u8; 3], tolerance: u8) -> bool {
    (0..3).all(|i| found[i].abs_diff(expect[i]) <= tolerance)
}

#[test]
fn a_ball_is_round_in_its_colour_before_the_background() {
    let world = "<scene><background>0 0 1</background></scene>".to_owned();
    let image = seen(&stage(
        &(world + &model("ball", "0 0 0 0 0 0", BALL, &colored("1 0 0"))),
    ));
    let [red, green, blue, alpha] = middle(&image);
    assert!(
        red > 100 && green < 80 && blue < 80 && alpha == 255,
        "{red} {green} {blue}"
    );
    assert!(
        is_like(image.pixels[0], [0, 0, 255], 0),
        "{:?}",
        image.pixels[0]
    );
    let count = image.pixels.iter().filter(|pixel| pixel[0] > 60).count();
    // Half the angle of view is 0.2, and the ball's 0.1002.
    let radius = 32.0 / libm::tan(0.2) * libm::tan(libm::asin(0.1));
    let expect = std::f64::consts::PI * radius * radius;
    assert!(
        (count as f64 - expect).abs() < 0.06 * expect,
        "{count} but {expect}"
    );
}

#[test]
fn the_nearer_one_hides_the_other_whatever_comes_first() {
    let near = model("near", "-3 0 0 0 0 0", BALL, &colored("0 1 0"));
    let far = model("far", "3 0 0 0 0 0", BALL, &colored("1 0 0"));
    for world in [format!("{near}{far}"), format!("{far}{near}")] {
        let [red, green, ..] = middle(&seen(&stage(&world)));
        assert!(green > 100 && red < 80, "{red} {green}");
    }
}

#[test]
fn what_is_transparent_mixes_with_what_is_behind_it() {
    let glass = "<transparency>0.5</transparency>".to_owned()
        + "<material><diffuse>0 0 0</diffuse><emissive>1 0 0</emissive></material>";
    let pane = "<box><size>0.1 4 4</size></box>";
    let glow = "<material><diffuse>0 0 0</diffuse><emissive>0 1 0</emissive></material>";
    let world =
        model("pane", "-3 0 0 0 0 0", pane, &glass) + &model("ball", "0 0 0 0 0 0", BALL, glow);
    let [red, green, blue, _] = middle(&seen(&stage(&world)));
    // Two faces of glass, each letting half of the light through.
    assert!(
        red > 210 && (110..150).contains(&green) && blue < 60,
        "{red} {green} {blue}"
    );
}

#[test]
fn a_ball_casts_a_shadow_on_the_ground_unless_it_may_not() {
    let ground = "<plane><size>40 40</size></plane>";
    let world = |visual: &str, scene: &str| {
        let ball = model("ball", "0 0 2 0 0 0", BALL, &(colored("1 1 1") + visual));
        let ground = model("ground", "0 0 0 0 0 0", ground, &colored("1 1 1"));
        stage(&format!("{scene}{SUN}{ball}{ground}"))
    };
    let below = |stage: &Stage| {
        let camera = Camera::looking([-6.0, 0.0, 0.8], [0.0; 3], 0.4);
        middle(&stage.picture(&stage.start(), 0.0, &camera, SIZE))[0]
    };
    let shaded = below(&world("", ""));
    let lit = below(&world("<cast_shadows>0</cast_shadows>", ""));
    assert!(lit > 220 && shaded < 120, "{lit} {shaded}");
    assert_eq!(
        below(&world("", "<scene><shadows>0</shadows></scene>")),
        lit
    );
}

/// A lamp 6 m above the ground, of a kind, that casts shadows or not.
fn lamp(kind: &str, more: &str, casts: bool) -> String {
    format!(
        "<light name='{kind}' type='{kind}'><pose>0 0 6 0 0 0</pose><diffuse>1 1 1 1</diffuse>\
         <attenuation><range>30</range><constant>0.3</constant></attenuation>{more}\
         <cast_shadows>{casts}</cast_shadows></light>"
    )
}

#[test]
fn every_light_that_may_casts_shadows_of_its_own() {
    let narrow = "<direction>0 0 -1</direction><spot><inner_angle>1</inner_angle><outer_angle>1.2\
                  </outer_angle></spot>";
    let wide = narrow.replace("1.2", "3");
    let second = "<light name='first' type='directional'><direction>0.3 0 -1</direction><diffuse>\
                  0.1 0.1 0.1 1</diffuse><cast_shadows>1</cast_shadows></light>";
    let far = "<direction>0 0 -1</direction>";
    let ground = "<plane><size>40 40</size></plane>";
    for (kind, more, before) in [
        ("point", "", ""),
        ("spot", narrow, ""),
        ("spot", &*wide, ""),
        ("directional", far, ""),
        ("directional", far, second),
        ("point", "", second),
    ] {
        let below = |casts: bool| {
            let ball = model("ball", "0 0 2 0 0 0", BALL, &colored("1 1 1"));
            let ground = model("ground", "0 0 0 0 0 0", ground, &colored("1 1 1"));
            let dark = "<scene><ambient>0.1 0.1 0.1</ambient></scene>";
            let lights = before.to_owned() + &lamp(kind, more, casts);
            let stage = stage(&format!("{dark}{lights}{ball}{ground}"));
            let camera = |at: f64| Camera::looking([-6.0, at, 0.8], [0.0, at, 0.0], 0.1);
            let draw = |at| middle(&stage.picture(&stage.start(), 0.0, &camera(at), SIZE))[0];
            // The shadow of a lamp ends 1.6 m beside the place below the ball.
            [draw(0.0), draw(2.4)]
        };
        let ([shaded, beside], [lit, lit_beside]) = (below(true), below(false));
        assert!(lit > shaded + 60, "{kind} {more} {before}: {lit} {shaded}");
        assert_eq!(beside, lit_beside, "{kind} {more} {before}");
    }
}

#[test]
fn of_many_lamps_the_nearest_cast_shadows() {
    let ball = model("ball", "0 0 2 0 0 0", BALL, &colored("1 1 1"));
    let ground = "<plane><size>40 40</size></plane>";
    let ground = model("ground", "0 0 0 0 0 0", ground, &colored("1 1 1"));
    let dark = "<scene><ambient>0.1 0.1 0.1</ambient></scene>";
    let above = |casts| lamp("point", "", casts);
    // Each shines up to the ball, and hardly.
    let others = |first: i32, count: i32| -> String {
        let other = |at: i32| {
            above(true)
                .replace("name='point'", &format!("name='at {at}'"))
                .replace("<pose>0 0 6", &format!("<pose>{at} 0 6"))
                .replace("1 1 1 1", "0.001 0.001 0.001 1")
        };
        (first..first + count).map(other).collect()
    };
    let below = |lights: &str| {
        let stage = stage(&format!("{dark}{lights}{ball}{ground}"));
        let camera = Camera::looking([-6.0, 0.0, 0.8], [0.0; 3], 0.1);
        middle(&stage.picture(&stage.start(), 0.0, &camera, SIZE))[0]
    };
    let lit = below(&(others(26, 12) + &above(false)));
    let shaded = below(&(others(26, 12) + &above(true)));
    assert!(lit > shaded + 60, "{lit} {shaded}");
    // Of those that are as near, the first eight.
    let unshaded = below(&(others(-4, 8) + &above(true)));
    assert!(unshaded > shaded + 60, "{unshaded} {shaded}");
}

#[test]
fn shadows_follow_a_lamp_and_what_moves_as_if_they_were_drawn_anew() {
    let light = lamp("point", "", true).replace("0 0 6 0 0 0", "0 0 2 0 0 0");
    let carried = format!(
        "<model name='carrier'><pose>0 0 4 0 0 0</pose><link name='l'>{light}</link></model>"
    );
    let ball = model("ball", "0.5 0 2 0 0 0", BALL, "").replace("<static>1", "<static>0");
    let wall = model("wall", "3 0 1 0 0 0", "<box><size>0.2 6 2</size></box>", "");
    let ground = model(
        "ground",
        "0 0 0 0 0 0",
        "<plane><size>40 40</size></plane>",
        "",
    );
    let stage = stage(&(carried + &ball + &wall + &ground));
    let camera = Camera::looking([-9.0, -3.0, 5.0], [0.0; 3], 0.8);
    let mut painter = Painter::default();
    let mut images = Vec::new();
    for step in 0..4 {
        let along = f64::from(step);
        let mut poses = stage.start();
        poses.insert(0, [0.5 * along, 0.0, 4.0 - 0.2 * along, 0.0, 0.0, 0.0, 1.0]);
        if step > 1 {
            poses.insert(1, [0.5, 0.4 * along, 2.0, 0.0, 0.0, 0.0, 1.0]);
        }
        let view = View {
            stage: &stage,
            place: &|_, link, start| Some(pose_of(&poses, link, start)),
            elapsed_s: 0.0,
            camera: &camera,
            size: SIZE,
            samples: 2,
            visibility_mask: u32::MAX,
            sees_backs: true,
            has_headlight: true,
        };
        let image = painter.paint(&view);
        assert!(image == Painter::default().paint(&view), "step {step}");
        images.push(image.pixels);
    }
    images.dedup();
    assert_eq!(images.len(), 4);
}

/// Files with normals: those of four squares lean away from the middle.
struct Normals;

impl Normals {
    fn image() -> Image {
        let pixel = |place: usize| {
            let lean = |is_more: bool| if is_more { 204 } else { 51 };
            [lean(place % 2 == 1), lean(place < 2), 204, 255]
        };
        Image {
            width: 2,
            height: 2,
            pixels: (0..4).map(pixel).collect(),
        }
    }

    /// A wall that faces -x, of 2 m by 2 m.
    fn wall() -> VisualMesh {
        let corner = |y: f32, z: f32| [0.0, y, z];
        VisualMesh {
            parts: vec![VisualPart {
                positions: vec![
                    corner(1.0, -1.0),
                    corner(-1.0, -1.0),
                    corner(-1.0, 1.0),
                    corner(1.0, 1.0),
                ],
                normals: vec![[-1.0, 0.0, 0.0]; 4],
                texcoords: vec![[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]],
                triangles: vec![[0, 1, 2], [0, 2, 3]],
                material: Some(0),
                ..VisualPart::default()
            }],
            materials: vec![VisualMaterial {
                normal_image: Some(0),
                ..VisualMaterial::default()
            }],
            images: vec![ImageFile::new(Self::image().to_png()).unwrap()],
            ..VisualMesh::default()
        }
    }
}

impl Resolver for Normals {
    fn read(&self, uri: &str, from_file: &str) -> Result<ResolvedFile, ResolveError> {
        NoFiles.read(uri, from_file)
    }

    fn read_data(&self, uri: &str, from_file: &str) -> Result<ResolvedData, ResolveError> {
        let bytes = match uri {
            "normals.png" => Self::image().to_png(),
            "wall.glb" => Self::wall().to_glb(),
            "faint.glb" => {
                let mut wall = Self::wall();
                wall.materials[0].normal_scale = 0.0;
                wall.to_glb()
            }
            _ => return NoFiles.read_data(uri, from_file),
        };
        Ok(ResolvedData {
            bytes,
            file: uri.to_owned(),
            identity: uri.to_owned(),
        })
    }
}

#[test]
fn maps_of_normals_turn_surfaces_to_the_light() {
    let mapped = "<material><diffuse>1 1 1</diffuse><pbr><metal><normal_map>normals.png\
                  </normal_map></metal></pbr></material>";
    let cube = "<box><size>2 2 2</size></box>";
    let mesh = |name: &str| format!("<mesh><uri>{name}.glb</uri></mesh>");
    // From the right of the camera, from its left, and from above.
    let lights = [
        ("1 0.6 0", [0, 1, 0, 1]),
        ("1 -0.6 0", [1, 0, 1, 0]),
        ("1 0 -0.6", [1, 1, 0, 0]),
    ];
    for (shape, material, leans) in [
        (cube.to_owned(), mapped, true),
        (mesh("wall"), "", true),
        (mesh("faint"), "", false),
        (cube.to_owned(), "", false),
    ] {
        for (direction, brighter) in lights {
            let light = format!(
                "<light name='l' type='directional'><direction>{direction}</direction></light>"
            );
            let world = light + &model("m", "0 0 0 0 0 0", &shape, material);
            let image = seen(&stage_with(&world, &Normals));
            let place = |x: usize, y: usize| image.pixels[y * SIZE[0] + x][1];
            let [west, east, north, south] = [25, 39, 17, 31];
            let squares = [(west, north), (east, north), (west, south), (east, south)];
            let found = squares.map(|(x, y)| place(x, y));
            let spread = found.iter().max().unwrap() - found.iter().min().unwrap();
            if !leans {
                assert!(spread < 3, "{shape} {direction}: {found:?}");
                continue;
            }
            let is_bright = found.map(|value| u8::from(value > 150));
            assert_eq!(is_bright, brighter, "{shape} {direction}: {found:?}");
            assert!(spread > 60, "{shape} {direction}: {found:?}");
        }
    }
}

#[test]
fn poses_move_what_is_drawn() {
    let stage = stage(&model("ball", "0 5 0 0 0 0", BALL, &colored("1 0 0")));
    let camera = Camera::looking([-10.0, 0.0, 0.0], [0.0; 3], 0.4);
    let image = stage.picture(&stage.start(), 0.0, &camera, SIZE);
    assert!(is_like(middle(&image), [179; 3], 2), "{:?}", middle(&image));
    let poses = Poses::from([(0, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])]);
    let moved = middle(&stage.picture(&poses, 0.0, &camera, SIZE));
    assert!(moved[0] > 100 && moved[1] < 80, "{moved:?}");
}

#[test]
fn views_show_what_they_are_of() {
    let stage = stage(
        &(model("left", "0 9 0 0 0 0", BALL, &colored("1 0 0"))
            + &model("right", "0 -9 0 0 0 0", BALL, &colored("0 1 0"))
            + &model(
                "ground",
                "0 0 -1 0 0 0",
                "<plane><size>900 900</size></plane>",
                "",
            )),
    );
    let poses = stage.start();
    let count = |camera: Camera, color: usize| {
        let image = stage.picture(&poses, 0.0, &camera, SIZE);
        let is_it = |pixel: &&[u8; 4]| pixel[color] > 90 && pixel[1 - color] < 70;
        image.pixels.iter().filter(is_it).count()
    };
    let all = stage.view_of_all(&poses, Camera::ANGLE, SIZE);
    assert!(count(all, 0) > 5 && count(all, 1) > 5);
    let left = stage
        .view_of_model("left", &poses, Camera::ANGLE, SIZE)
        .unwrap();
    assert!(count(left, 0) > 100 && count(left, 1) < 20);
    assert!(
        stage
            .view_of_model("nobody", &poses, Camera::ANGLE, SIZE)
            .is_none()
    );
}

/// The digest of a picture is the same on any machine and in any build.
#[test]
fn a_picture_has_the_same_bits_anywhere() {
    let world = "<scene><sky/><fog><type>exp</type><density>0.02</density></fog></scene>"
        .to_owned()
        + SUN
        + "<light name='lamp' type='spot'><pose>0 0 6 0 0 0</pose><spot>\
           <inner_angle>0.3</inner_angle><outer_angle>0.9</outer_angle><falloff>0.7</falloff>\
           </spot></light>"
        + &model(
            "ground",
            "0 0 0 0 0 0",
            "<plane><size>40 40</size></plane>",
            "",
        )
        + &model("ball", "1 1 1 0 0 0", BALL, &colored("0.9 0.2 0.1"))
        + &model(
            "cone",
            "-1 0 1 0.3 0.2 0.1",
            "<cone/>",
            "<material><diffuse>0.1 0.2 0.9</diffuse><specular>0.9 0.8 0.7</specular><shininess>9\
             </shininess></material>",
        )
        + &model(
            "capsule",
            "0 -2 1 0.3 1.2 0.1",
            "<capsule/>",
            &colored("0.1 0.9 0.2 0.4"),
        );
    let stage = stage(&world);
    let poses = stage.start();
    let camera = stage.view_of_all(&poses, Camera::ANGLE, SIZE);
    let image = stage.picture(&poses, 0.0, &camera, SIZE);
    // FNV-1a.
    let digest = image
        .pixels
        .as_flattened()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
    assert_eq!(digest, DIGEST, "{digest:#x}");
}

const DIGEST: u64 = 0x4423_6b10_a211_b838;

/// Poses that are none, or from which nothing can be drawn.
const NOWHERE: [Pose; 6] = [
    [f64::NAN, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    [0.0, f64::INFINITY, 0.0, 0.0, 0.0, 0.0, 1.0],
    [
        f64::NEG_INFINITY,
        f64::NAN,
        f64::INFINITY,
        0.0,
        0.0,
        0.0,
        1.0,
    ],
    [0.0, 0.0, 1e300, 0.0, 0.0, 0.0, 1.0],
    [0.0, 0.0, 0.0, f64::NAN, 0.0, 0.0, 1.0],
    [0.0, 0.0, 0.0, 0.0, 1e200, 0.0, f64::INFINITY],
];

#[test]
fn a_body_that_is_nowhere_is_left_out_with_its_shadow_and_its_lamp() {
    let lamp = "<light name='lamp' type='point'><diffuse>1 1 1 1</diffuse>\
                <attenuation><range>9</range></attenuation></light>";
    let here = SUN.to_owned() + &model("ball", "0 0 0 0 0 0", BALL, &colored("1 0 0"));
    let mover = |lamp: &str| {
        format!(
            "<model name='mover'><pose>0 0 3 0 0 0</pose><link name='l'>{lamp}\
             <visual name='v'><geometry>{BALL}</geometry></visual></link></model>"
        )
    };
    let alone = seen(&stage(&here));
    let both = stage(&(here.clone() + &mover(lamp)));
    let link = both.world.models[1].links[0].id;
    let camera = Camera::looking([-10.0, 0.0, 0.0], [0.0; 3], 0.4);
    for pose in NOWHERE {
        let mut poses = both.start();
        poses.insert(link, pose);
        let image = both.picture(&poses, 0.0, &camera, SIZE);
        assert!(image == alone, "{pose:?}");
        let whole = both.view_of_all(&poses, 0.4, SIZE);
        let expected = stage(&here).view_of_all(&poses, 0.4, SIZE);
        assert_eq!(whole, expected, "{pose:?}");
    }
}

#[test]
fn a_camera_that_is_nowhere_sees_nothing_and_breaks_nothing() {
    let stage = stage(&(SUN.to_owned() + &model("ball", "0 0 0 0 0 0", BALL, "")));
    for pose in NOWHERE {
        let camera = Camera::pinhole(
            &pose,
            &crate::Intrinsics {
                size: SIZE,
                focal: [50.0; 2],
                center: [32.0, 24.0],
            },
            [0.1, f64::INFINITY],
        );
        let view = View {
            stage: &stage,
            place: &|_, _, start| Some(*start),
            elapsed_s: 0.0,
            camera: &camera,
            size: SIZE,
            samples: 2,
            visibility_mask: u32::MAX,
            sees_backs: false,
            has_headlight: true,
        };
        let seen = Painter::default().look(&view);
        assert!(seen.depths.iter().all(|depth| *depth == f32::INFINITY));
        assert_eq!(
            Painter::default().paint(&view).pixels.len(),
            SIZE[0] * SIZE[1]
        );
    }
}

#[test]
fn a_stage_that_comes_after_another_shares_what_both_have_and_is_as_if_it_was_new() {
    let text = |models: &str| format!("<sdf version='1.11'><world name='w'>{models}</world></sdf>");
    let scene = |models: &str, assets: &mut Assets| {
        let worlds = sdf::read_worlds(&text(models), "w.sdf", &NoFiles)
            .unwrap()
            .worlds;
        Scene::from_worlds(&worlds, &NoFiles, assets)
            .worlds
            .remove(0)
    };
    let ball = model("ball", "0 0 0 0 0 0", BALL, &colored("1 0 0"));
    let cube = "<box><size>1 1 1</size></box>";
    let gone = model("gone", "0 0.5 0 0 0 0", cube, "");
    let new = model(
        "new",
        "0 -0.5 0 0 0 0",
        "<cone><radius>0.4</radius><length>2</length></cone>",
        "",
    );
    let mut assets = Assets::default();
    let before = Stage::new(&scene(&(gone + &ball), &mut assets), &assets);
    let world = scene(&(ball + &new), &mut assets);
    let after = Stage::after(&world, &assets, Some(&before));
    assert!(seen(&after) == seen(&Stage::new(&world, &assets)));
    let shared = |one: &Arc<Surface>| before.surfaces().iter().any(|own| Arc::ptr_eq(own, one));
    let shared: Vec<bool> = after.surfaces().iter().map(shared).collect();
    assert_eq!(shared, [true, false]);
    let before_that = Arc::downgrade(&before.surfaces()[0]);
    drop(before);
    assert!(before_that.upgrade().is_none(), "what is gone is let go");
}

#[test]
fn what_a_renderer_keeps_is_made_of_what_it_kept_before() {
    let models = model("ball", "0 0 0 0 0 0", BALL, "");
    let first = stage(&models);
    let made =
        |stage: &Stage| stage.kept(|before: Option<Arc<u32>>| before.map_or(1, |it| *it + 1));
    assert_eq!(made(&first).as_deref(), Some(&1));
    let (world, assets) = (first.world.clone(), Assets::default());
    let second = Stage::after(&world, &assets, Some(&first));
    let kept = Arc::downgrade(&made(&first).unwrap());
    drop(first);
    // Nobody draws the second.
    let third = Stage::after(&world, &assets, Some(&second));
    drop(second);
    assert!(kept.upgrade().is_some());
    assert_eq!(made(&third).as_deref(), Some(&2));
    assert!(kept.upgrade().is_none(), "what was before is let go");
}
