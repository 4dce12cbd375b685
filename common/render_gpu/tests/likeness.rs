//! Shows that a GPU draws what the processor draws: each kind of thing is drawn by both, and few
//! pixels differ by more than the last steps of a colour. Needs a device with a Vulkan driver, also
//! one that is a processor (Mesa's lavapipe); without any the tests say so and pass, unless
//! `PHALANX_REQUIRE_GPU` is set.

#[path = "likeness/worlds.rs"]
mod worlds;

use std::sync::{Arc, OnceLock};

use mesh::Image;
use render::{Camera, NO_VISUAL, Painter, Poses, Renderer, Seen, Stage, View};
use render_gpu::{Gpu, GpuPainter};

use worlds::{
    BALL, BOX, BUMPY, GROUND, LOW_SUN, MASKED, PANE, RED, SIZE, SUN, model, mover, stage,
    stage_after,
};

/// The device of all tests, if there is one.
fn gpu() -> Option<Arc<Gpu>> {
    static GPU: OnceLock<Option<Arc<Gpu>>> = OnceLock::new();
    let opened = GPU.get_or_init(|| match Gpu::open() {
        Ok(gpu) => {
            eprintln!("draws on {}", gpu.name());
            Some(gpu)
        }
        Err(error) => {
            assert!(std::env::var_os("PHALANX_REQUIRE_GPU").is_none(), "{error}");
            eprintln!("shows nothing: {error}");
            None
        }
    });
    opened.clone()
}

/// A scene, and the way in which it is seen.
struct Sight {
    stage: Stage,
    poses: Poses,
    camera: Camera,
    samples: usize,
    mask: u32,
    sees_backs: bool,
}

impl Sight {
    fn of(world: &str) -> Self {
        Self::of_stage(stage(world))
    }

    fn of_stage(stage: Stage) -> Self {
        Self {
            poses: stage.start(),
            stage,
            camera: Camera::looking([-6.0, -2.0, 2.5], [0.0; 3], 0.7),
            samples: 2,
            mask: u32::MAX,
            sees_backs: false,
        }
    }

    fn with<T>(&self, look: impl FnOnce(&View<'_>) -> T) -> T {
        look(&View {
            stage: &self.stage,
            place: &|_, link, start| Some(*self.poses.get(&link).unwrap_or(start)),
            elapsed_s: 0.0,
            camera: &self.camera,
            size: SIZE,
            samples: self.samples,
            visibility_mask: self.mask,
            sees_backs: self.sees_backs,
            has_headlight: false,
        })
    }
}

/// Difference of two images: the mean of all colours, and the part of the pixels of which a colour
/// differs by more than [`STEPS`].
struct Difference {
    mean: f64,
    part: f64,
}

/// Steps of a colour by which a pixel at an edge differs at least.
const STEPS: u8 = 24;

/// The greatest differences of two images of the same.
const MEAN_MAX: f64 = 0.9;
const PART_MAX: f64 = 0.02;

fn difference(one: &Image, other: &Image) -> Difference {
    assert_eq!((one.width, one.height), (other.width, other.height));
    let (mut sum, mut beyond) = (0.0, 0);
    for (one, other) in one.pixels.iter().zip(&other.pixels) {
        let steps = [0, 1, 2].map(|i| one[i].abs_diff(other[i]));
        sum += steps.iter().copied().map(f64::from).sum::<f64>() / 3.0;
        beyond += usize::from(steps.iter().any(|step| *step > STEPS));
    }
    let count = one.pixels.len() as f64;
    Difference {
        mean: sum / count,
        part: beyond as f64 / count,
    }
}

/// Draws what is seen with and without smooth edges, and returns the images of the GPU.
fn check(name: &str, sight: &mut Sight) -> Option<[Image; 2]> {
    let mut painter = GpuPainter::new(gpu()?);
    let images = [1, 2].map(|samples| {
        sight.samples = samples;
        let expected = sight.with(|view| Painter::default().paint(view));
        let found = sight.with(|view| painter.paint(view));
        assert_eq!(painter.take_problem(), None, "{name}");
        let found_difference = difference(&expected, &found);
        let Difference { mean, part } = found_difference;
        eprintln!("{name}, {samples}: mean {mean:.3}, part {part:.4}");
        if mean > MEAN_MAX || part > PART_MAX {
            let folder = std::env::temp_dir();
            for (of, image) in [("processor", &expected), ("gpu", &found)] {
                let file = folder.join(format!("{name}-{samples}-{of}.png"));
                let _ = std::fs::write(file, image.to_png());
            }
            panic!(
                "{name}, {samples}: mean {mean}, part {part}; images in {}",
                folder.display()
            );
        }
        let has_content = expected
            .pixels
            .iter()
            .any(|pixel| *pixel != expected.pixels[0]);
        assert!(has_content, "{name} shows something");
        found
    });
    Some(images)
}

#[test]
fn shapes_look_alike() {
    let shapes = [
        ("box", "<box><size>1.5 1 2</size></box>"),
        ("sphere", "<sphere><radius>1.1</radius></sphere>"),
        (
            "ellipsoid",
            "<ellipsoid><radii>1.2 0.5 0.8</radii></ellipsoid>",
        ),
        (
            "cylinder",
            "<cylinder><radius>0.7</radius><length>2</length></cylinder>",
        ),
        (
            "capsule",
            "<capsule><radius>0.5</radius><length>1</length></capsule>",
        ),
        (
            "cone",
            "<cone><radius>0.8</radius><length>2</length></cone>",
        ),
        (
            "plane",
            "<plane><normal>-1 0 1</normal><size>2 3</size></plane>",
        ),
        ("mesh", "<mesh><uri>wedge.obj</uri></mesh>"),
        (
            "stretched",
            "<mesh><uri>wedge.obj</uri><scale>0.5 2 1.5</scale></mesh>",
        ),
        (
            "mirrored",
            "<mesh><uri>wedge.obj</uri><scale>-1 1 1</scale></mesh>",
        ),
    ];
    for (name, shape) in shapes {
        let world = format!("{SUN}{GROUND}{}", model("0 0 0.4 0.3 0.2 0.5", shape, RED));
        check(name, &mut Sight::of(&world));
    }
}

#[test]
fn materials_look_alike() {
    let pbr = |metalness: f64, roughness: f64| {
        format!(
            "<material><diffuse>0.9 0.6 0.2</diffuse><pbr><metal><metalness>{metalness}\
             </metalness><roughness>{roughness}</roughness></metal></pbr></material>"
        )
    };
    let shiny = |shininess: f64, color: &str| {
        format!(
            "<material><diffuse>0.2 0.3 0.6</diffuse><specular>{color}</specular><shininess>\
             {shininess}</shininess></material>"
        )
    };
    let glow =
        "<material><diffuse>0.2 0.2 0.2</diffuse><emissive>0.1 0.7 0.2</emissive></material>";
    let unlit = "<material><diffuse>0.3 0.5 0.9</diffuse><lighting>0</lighting></material>";
    let materials = [
        ("plain", String::new()),
        ("metal", pbr(1.0, 0.3)),
        ("polished", pbr(0.5, 0.1)),
        ("chalk", pbr(0.0, 1.0)),
        ("shiny", shiny(40.0, "0.9 0.6 0.3")),
        ("dull", shiny(2.0, "0.5 0.5 0.5")),
        ("sheen", shiny(0.0, "1 1 1")),
        ("glow", glow.to_owned()),
        ("unlit", unlit.to_owned()),
    ];
    let lamp = "<light name='lamp' type='point'><pose>-4 -2 3 0 0 0</pose><specular>0.9 1 0.8\
                </specular><attenuation><range>20</range></attenuation></light>";
    for (name, material) in materials {
        let ball = model("0 0 0.5 0 0 0.4", BALL, &material);
        check(name, &mut Sight::of(&format!("{SUN}{lamp}{GROUND}{ball}")));
    }
}

#[test]
fn textures_look_alike() {
    let textured = |file: &str, more: &str| {
        format!(
            "<material>{more}<pbr><metal><albedo_map>{file}</albedo_map></metal></pbr></material>"
        )
    };
    let glowing = "<material><pbr><metal><emissive_map>squares.png</emissive_map></metal></pbr>\
                   </material>";
    let diffuse = "<diffuse>1 0.8 0.6</diffuse>";
    let bumps = "<material><diffuse>0.8 0.7 0.6</diffuse><pbr><metal><normal_map>bumps.png\
                 </normal_map><roughness>0.4</roughness></metal></pbr></material>";
    for (name, shape, material) in [
        ("squares", BOX, textured("squares.png", "")),
        ("tinted", BALL, textured("squares.png", diffuse)),
        ("odd", BOX, textured("odd.png", "")),
        (
            "holes",
            BOX,
            textured("holes.png", "<double_sided>1</double_sided>"),
        ),
        ("glowing", BOX, glowing.to_owned()),
        ("mask", MASKED, String::new()),
        ("bumps", BOX, bumps.to_owned()),
        ("round_bumps", BALL, bumps.to_owned()),
        ("bumpy", BUMPY, String::new()),
    ] {
        let world = format!(
            "{SUN}{GROUND}{}",
            model("0 0 0.5 0 0 0.4", shape, &material)
        );
        check(name, &mut Sight::of(&world));
    }
    // Ground whose textures cover each other by height.
    let texture = |file: &str, size: f64| {
        format!("<texture><size>{size}</size><diffuse>{file}.png</diffuse></texture>")
    };
    let blend = |from: f64, fade: f64| {
        format!("<blend><min_height>{from}</min_height><fade_dist>{fade}</fade_dist></blend>")
    };
    let ground = format!(
        "<heightmap><uri>odd.png</uri><size>20 20 1</size>{}{}{}{}{}</heightmap>",
        texture("squares", 9.0),
        texture("bumps", 12.0),
        texture("squares", 5.0),
        blend(0.2, 0.3),
        blend(0.6, 0.2),
    );
    let world = format!("{SUN}{}", model("0 0 -1 0 0 0", &ground, ""));
    check("ground", &mut Sight::of(&world));
    // From far away, where textures are smaller than their images.
    let floor = "<plane><size>60 60</size></plane>";
    let world = format!(
        "{SUN}{}",
        model("0 0 0 0 0 0", floor, &textured("squares.png", ""))
    );
    check("floor", &mut Sight::of(&world));
}

#[test]
fn what_is_transparent_looks_alike() {
    let glass = |color: &str| format!("<material><diffuse>{color}</diffuse></material>");
    let panes = model("-1.5 0 0.8 0 0 0.3", PANE, &glass("0.9 0.2 0.1 0.4"))
        + &model("-0.5 0.4 0.8 0 0 -0.4", PANE, &glass("0.1 0.3 0.9 0.5"))
        + &model("-0.8 -0.5 0.5 0 0 0", BALL, &glass("0.2 0.9 0.3 0.3"))
        + &model("1 0 0.5 0 0 0", BOX, RED);
    check("panes", &mut Sight::of(&format!("{SUN}{GROUND}{panes}")));
    let faint = model(
        "0 0 0.5 0 0 0.4",
        BOX,
        &format!("<transparency>0.6</transparency>{RED}"),
    );
    check("faint", &mut Sight::of(&format!("{SUN}{GROUND}{faint}")));
    let veil = "<material><diffuse>1 1 1 0.7</diffuse><double_sided>1</double_sided><pbr><metal>\
                <albedo_map>holes.png</albedo_map></metal></pbr></material>";
    let veil = model("-1 0 0.8 0 0 0.3", PANE, veil);
    check("veil", &mut Sight::of(&format!("{SUN}{GROUND}{veil}")));
}

#[test]
fn shadows_look_alike_also_of_what_moves() {
    let things = model("0 0 1 0.3 0.2 0.5", BOX, RED) + &mover("0.5 1.2 0.6 0 0 0", BALL, RED);
    let mut sight = Sight::of(&format!("{LOW_SUN}{GROUND}{things}"));
    let Some([first, _]) = check("shadow", &mut sight) else {
        return;
    };
    let world = format!("<scene><shadows>0</shadows></scene>{LOW_SUN}{GROUND}{things}");
    let Some([other, _]) = check("no_shadow", &mut Sight::of(&world)) else {
        return;
    };
    let Difference { part, .. } = difference(&first, &other);
    assert!(part > 0.02, "shadows are seen: {part}");
    let Some(gpu) = gpu() else { return };
    let mut painter = GpuPainter::new(gpu);
    // The map of what stands is kept, that of what moves is not.
    let mover = *sight.poses.keys().last().expect("there are links");
    for step in 0..3 {
        sight.poses.insert(
            mover,
            [0.5, 1.2 - 0.6 * f64::from(step), 0.6, 0.0, 0.0, 0.0, 1.0],
        );
        let expected = sight.with(|view| Painter::default().paint(view));
        let found = sight.with(|view| painter.paint(view));
        let Difference { mean, part } = difference(&expected, &found);
        assert!(
            mean < MEAN_MAX && part < PART_MAX,
            "step {step}: {mean} {part}"
        );
    }
}

#[test]
fn shadows_of_lamps_look_alike_also_of_what_moves() {
    let lamp = |kind: &str, pose: &str, more: &str| {
        format!(
            "<light name='{kind} {pose}' type='{kind}'><pose>{pose} 0 0 0</pose>\
             <diffuse>1 0.9 0.7 1</diffuse><attenuation><range>14</range><constant>0.5</constant>\
             <linear>0.05</linear></attenuation>{more}<cast_shadows>1</cast_shadows></light>"
        )
    };
    let cone = |outer: f64| {
        format!(
            "<direction>0.2 0.1 -1</direction><spot><inner_angle>0.6</inner_angle><outer_angle>\
             {outer}</outer_angle><falloff>0.8</falloff></spot>"
        )
    };
    let second = "<light name='far' type='directional'><direction>-0.4 0.6 -1</direction>\
                  <diffuse>0.4 0.4 0.8 1</diffuse><cast_shadows>1</cast_shadows></light>";
    let point = lamp("point", "-1.5 1 3.5", "");
    let spot = lamp("spot", "-0.6 -0.8 4", &cone(1.2));
    let things = model("0 0 1 0.3 0.2 0.5", BOX, RED) + &mover("0.5 1.2 0.6 0 0 0", BALL, RED);
    for (name, lights) in [
        ("point_shadow", point.clone()),
        ("spot_shadow", spot.clone()),
        ("wide_spot_shadow", lamp("spot", "-0.6 -0.8 4", &cone(2.9))),
        ("two_suns", format!("{LOW_SUN}{second}")),
        ("all_shadows", format!("{point}{LOW_SUN}{spot}{second}")),
    ] {
        let world = format!("{lights}{GROUND}{things}");
        let mut sight = Sight::of(&world);
        let Some([first, _]) = check(name, &mut sight) else {
            return;
        };
        let dark = format!("<scene><shadows>0</shadows></scene>{world}");
        let without = Sight::of(&dark);
        let mut painter = GpuPainter::new(gpu().expect("it has drawn"));
        let other = without.with(|view| {
            painter.paint(&View {
                samples: 1,
                ..*view
            })
        });
        let Difference { part, .. } = difference(&first, &other);
        assert!(part > 0.01, "{name}: shadows are seen: {part}");
        // The maps of what stands are kept, those of what moves are not, and are empty at the end.
        let mut painter = GpuPainter::new(gpu().expect("it has drawn"));
        let mover = *sight.poses.keys().last().expect("there are links");
        for y in [1.2, 0.6, 0.0, f64::NAN, f64::NAN] {
            sight.poses.insert(mover, [0.5, y, 0.6, 0.0, 0.0, 0.0, 1.0]);
            let expected = sight.with(|view| Painter::default().paint(view));
            let found = sight.with(|view| painter.paint(view));
            let Difference { mean, part } = difference(&expected, &found);
            assert!(
                mean < MEAN_MAX && part < PART_MAX,
                "{name}, {y}: {mean} {part}"
            );
        }
    }
}

#[test]
fn bodies_that_are_nowhere_are_left_out() {
    let there = format!("{LOW_SUN}{GROUND}{}", model("0 0 1 0.3 0.2 0.5", BOX, RED));
    let Some([_, expected]) = check("without", &mut Sight::of(&there)) else {
        return;
    };
    let lamp = "<light name='p' type='point'><diffuse>1 1 1 1</diffuse></light>";
    let lost = mover("0 0 9 0 0 0", BALL, RED).replace("<visual", &format!("{lamp}<visual"));
    let mut sight = Sight::of(&(there + &lost));
    let mover = *sight.poses.keys().last().expect("there are links");
    let turned = [0.0, 0.0, 0.0, 1.0];
    for at in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, 1e39] {
        let [x, y, z, w] = turned;
        for pose in [[at, 0.0, 0.0, x, y, z, w], [0.0, 1.0, 1.0, x, at, z, w]] {
            sight.poses.insert(mover, pose);
            let Some([_, found]) = check("nowhere", &mut sight) else {
                return;
            };
            assert!(found == expected, "{pose:?}");
        }
    }
    // Nor does a camera that is nowhere break anything.
    let Some(gpu) = gpu() else { return };
    let mut painter = GpuPainter::new(gpu);
    sight.camera = Camera::looking([f64::NAN, 0.0, 0.0], [0.0; 3], 0.7);
    sight.with(|view| {
        painter.paint(view);
        let seen = painter.look(view);
        assert!(seen.visuals.iter().all(|visual| *visual == NO_VISUAL));
    });
    assert_eq!(painter.take_problem(), None);
}

#[test]
fn worlds_that_change_are_drawn_of_what_is_there_already() {
    let textured = "<material><diffuse>1 1 1</diffuse><pbr><metal><albedo_map>squares.png\
                    </albedo_map></metal></pbr></material>";
    let [wall, crate_, ball] = [
        model("0 0.9 0 0 0 0.4", MASKED, ""),
        model("0 -0.9 0 0 0 0.3", BOX, textured),
        model("-1 0 0.4 0 0 0", BALL, RED),
    ];
    let worlds = [
        format!("{SUN}{GROUND}{wall}"),
        format!("{SUN}{GROUND}{wall}{crate_}"),
        format!("{SUN}{crate_}{ball}{GROUND}{wall}"),
        format!("{SUN}{GROUND}{ball}{crate_}"),
        format!("{SUN}{GROUND}{ball}"),
    ];
    let mut before: Option<Stage> = None;
    for (number, world) in worlds.iter().enumerate() {
        let mut sight = Sight::of_stage(stage_after(world, before.as_ref()));
        let Some(new) = check(&format!("new-{number}"), &mut Sight::of(world)) else {
            return;
        };
        let Some(found) = check(&format!("change-{number}"), &mut sight) else {
            return;
        };
        assert!(found == new, "world {number} is drawn as if it was new");
        before = Some(sight.stage);
    }
}

#[test]
fn lamps_look_alike() {
    let point = "<light name='p' type='point'><pose>-1 1 2 0 0 0</pose><diffuse>1 0.8 0.5 1\
                 </diffuse><attenuation><range>8</range><constant>0.3</constant><linear>0.1\
                 </linear><quadratic>0.05</quadratic></attenuation></light>";
    let spot = |falloff: f64, inner: f64| {
        format!(
            "<light name='s' type='spot'><pose>0 0 4 0 0 0</pose><diffuse>1 1 1 1</diffuse>\
             <direction>0.1 0 -1</direction><spot><inner_angle>{inner}</inner_angle>\
             <outer_angle>0.8</outer_angle><falloff>{falloff}</falloff></spot><attenuation>\
             <range>20</range><constant>0.5</constant></attenuation></light>"
        )
    };
    let second = "<light name='far' type='directional'><direction>-0.4 0.6 -1</direction>\
                  <diffuse>0.3 0.3 0.6 1</diffuse></light>";
    let ball = model("0 0 0.5 0 0 0", BALL, RED);
    for (name, lights) in [
        ("dark", String::new()),
        ("point", point.to_owned()),
        ("spot", spot(0.0, 0.3)),
        ("sharp_spot", spot(0.0, 0.8)),
        ("soft_spot", spot(1.5, 0.1)),
        ("several", format!("{SUN}{second}{point}{}", spot(0.7, 0.2))),
    ] {
        check(name, &mut Sight::of(&format!("{lights}{GROUND}{ball}")));
    }
}

#[test]
fn backgrounds_and_fog_look_alike() {
    let fog = |kind: &str| {
        format!(
            "<scene><background>0.4 0.5 0.6</background><fog><type>{kind}</type><color>0.8 0.8 0.9\
             </color><start>4</start><end>12</end><density>0.12</density></fog></scene>"
        )
    };
    let scenes = [
        ("sky", "<scene><sky/></scene>".to_owned()),
        (
            "background",
            "<scene><background>0.2 0.4 0.7</background></scene>".to_owned(),
        ),
        (
            "ambient",
            "<scene><ambient>0.9 0.3 0.2</ambient></scene>".to_owned(),
        ),
        ("linear_fog", fog("linear")),
        ("exponential_fog", fog("exp")),
        ("quadratic_fog", fog("exp2")),
    ];
    for (name, scene) in scenes {
        let things = model("0 0 0.5 0 0 0", BALL, RED) + &model("6 3 1 0 0 0", BOX, RED);
        let mut sight = Sight::of(&format!("{scene}{SUN}{GROUND}{things}"));
        sight.camera = Camera::looking([-6.0, -2.0, 1.0], [0.0, 0.0, 1.6], 0.9);
        check(name, &mut sight);
    }
}

#[test]
fn masks_hide_visuals_and_backs_are_seen_on_request() {
    let flagged = "<visibility_flags>2</visibility_flags>".to_owned() + RED;
    let things = model("0 -1 0.5 0 0 0", BALL, &flagged) + &model("0 1 0.5 0 0 0", BOX, RED);
    let mut sight = Sight::of(&format!("{SUN}{GROUND}{things}"));
    let all = check("all_flags", &mut sight);
    sight.mask = 1;
    let one = check("one_flag", &mut sight);
    if let (Some([all, _]), Some([one, _])) = (all, one) {
        assert!(difference(&all, &one).part > 0.03);
    }
    // From within a box, whose walls hide nothing unless their backs are seen.
    let room = model("-6 -2 2.5 0 0 0.9", "<box><size>3 3 3</size></box>", RED);
    let mut sight = Sight::of(&format!("{SUN}{GROUND}{room}{things}"));
    let without = check("no_backs", &mut sight);
    sight.sees_backs = true;
    let with = check("backs", &mut sight);
    if let (Some([without, _]), Some([with, _])) = (without, with) {
        assert!(difference(&without, &with).part > 0.9);
    }
}

#[test]
fn what_is_before_and_beyond_the_planes_of_a_camera_is_not_drawn() {
    let things = model("-4.9 -1 2 0 0 0", BOX, RED) + &model("3 1 0.5 0 0 0", BOX, RED);
    let mut sight = Sight::of(&format!("{SUN}{GROUND}{things}"));
    let intrinsics = render::Intrinsics {
        size: SIZE,
        focal: [110.0, 90.0],
        center: [40.0, 30.0],
    };
    let pose = [-6.0, -2.0, 2.5, 0.0, 0.17, 0.16, 0.97];
    for (name, clip) in [("near_plane", [1.2, 100.0]), ("far_plane", [0.1, 8.0])] {
        sight.camera = Camera::pinhole(&pose, &intrinsics, clip);
        check(name, &mut sight);
    }
}

#[test]
fn visuals_and_depths_are_those_of_the_processor_but_at_edges() {
    let Some(gpu) = gpu() else { return };
    let things = model("0 -1 0.5 0 0 0", BALL, RED)
        + &model("0 1 0.5 0 0 0.4", MASKED, "")
        + &model(
            "-1.5 0 0.8 0 0 0.3",
            PANE,
            "<transparency>0.5</transparency>",
        );
    let mut sight = Sight::of(&format!("{GROUND}{things}"));
    sight.camera = Camera::looking([-6.0, -2.0, 1.5], [0.0, 0.0, 1.0], 0.9);
    let Seen { visuals, depths } = sight.with(|view| Painter::default().look(view));
    let mut painter = GpuPainter::new(gpu);
    let found = sight.with(|view| painter.look(view));
    assert_eq!(painter.take_problem(), None);
    assert_eq!(found.visuals.len(), visuals.len());
    let (mut others, mut deeper) = (0, 0);
    for place in 0..visuals.len() {
        let (expected, seen) = (depths[place], found.depths[place]);
        assert_eq!(found.visuals[place] == NO_VISUAL, seen.is_infinite());
        if found.visuals[place] != visuals[place] {
            others += 1;
        } else if expected.is_finite() && (seen - expected).abs() > 2e-3 * expected {
            deeper += 1;
        }
    }
    eprintln!("other visuals {others}, other depths {deeper}");
    let kinds: std::collections::BTreeSet<u32> = visuals.iter().copied().collect();
    assert_eq!(kinds.len(), 5, "all are seen, and nothing behind them");
    assert!(others < visuals.len() / 50 && deeper < visuals.len() / 50);
}

#[test]
fn painters_on_threads_share_a_device_and_a_stage() {
    let Some(gpu) = gpu() else { return };
    let world = format!("{SUN}{GROUND}{}", model("0 0 0.5 0 0 0", BALL, RED));
    let stage = stage(&world);
    let poses = stage.start();
    let draw = || {
        let mut painter = GpuPainter::new(Arc::clone(&gpu));
        let camera = Camera::looking([-6.0, -2.0, 2.5], [0.0; 3], 0.7);
        let view = View {
            stage: &stage,
            place: &|_, link, start| Some(*poses.get(&link).unwrap_or(start)),
            elapsed_s: 0.0,
            camera: &camera,
            size: SIZE,
            samples: 2,
            visibility_mask: u32::MAX,
            sees_backs: false,
            has_headlight: false,
        };
        let images = [0; 4].map(|_| painter.paint(&view));
        assert_eq!(painter.take_problem(), None);
        images
    };
    let all = std::thread::scope(|scope| {
        let threads = [0; 3].map(|_| scope.spawn(draw));
        threads.map(|thread| thread.join().expect("it draws"))
    });
    assert!(all.iter().flatten().all(|image| *image == all[0][0]));
}

/// Returns a view with more columns than devices have.
fn too_wide<'v>(view: &View<'v>) -> View<'v> {
    View {
        size: [40_000, 2],
        samples: 1,
        ..*view
    }
}

#[test]
fn the_processor_draws_what_the_device_does_not_take_and_nothing_else() {
    let Some(gpu) = gpu() else { return };
    let sight = Sight::of(SUN);
    let mut painter = GpuPainter::new(Arc::clone(&gpu));
    let drawn = sight.with(|view| painter.paint(&too_wide(view)));
    let expected = sight.with(|view| Painter::default().paint(&too_wide(view)));
    assert!(drawn.pixels == expected.pixels);
    let told = painter.take_problem().expect("it is told");
    assert!(told.contains("40000 x 2 pixels are more than"), "{told}");
    sight.with(|view| painter.paint(&too_wide(view)));
    assert_eq!(painter.take_problem(), None, "once");
    let mut other = GpuPainter::new(gpu);
    sight.with(|view| other.paint(view));
    assert_eq!(other.take_problem(), None);
}

#[test]
fn the_processor_draws_once_the_device_is_lost() {
    if gpu().is_none() {
        return;
    }
    let gpu = Gpu::open().expect("there is one");
    let sight = Sight::of(&format!(
        "{SUN}{GROUND}{}",
        model("0 0 0.5 0 0 0", BALL, RED)
    ));
    let expected = sight.with(|view| Painter::default().paint(view));
    let mut painters = [0; 2].map(|_| GpuPainter::new(Arc::clone(&gpu)));
    for painter in &mut painters {
        let image = sight.with(|view| painter.paint(view));
        assert!(difference(&image, &expected).mean < MEAN_MAX);
    }
    gpu.give_up("somebody pulled it out");
    let mut problems = Vec::new();
    for painter in &mut painters {
        for _ in 0..2 {
            assert!(sight.with(|view| painter.paint(view)) == expected);
            let seen = sight.with(|view| painter.look(view));
            assert!(seen == sight.with(|view| Painter::default().look(view)));
            problems.extend(painter.take_problem());
        }
    }
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(
        problems[0].contains("somebody pulled it out"),
        "{problems:?}"
    );
    assert!(problems[0].contains("by the processor"), "{problems:?}");
}

#[test]
fn a_device_that_is_lost_while_it_draws_costs_no_image() {
    if gpu().is_none() {
        return;
    }
    let gpu = Gpu::open().expect("there is one");
    let sight = Sight::of(&format!(
        "{SUN}{GROUND}{}",
        model("0 0 0.5 0 0 0", BALL, RED)
    ));
    let expected = sight.with(|view| Painter::default().paint(view));
    let (begun, has_begun) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let painting = scope.spawn(|| {
            let begun = begun;
            let mut painter = GpuPainter::new(Arc::clone(&gpu));
            loop {
                let image = sight.with(|view| painter.paint(view));
                assert!(difference(&image, &expected).mean < MEAN_MAX);
                let _ = begun.send(());
                if let Some(problem) = painter.take_problem() {
                    return problem;
                }
            }
        });
        // The third image is on its way.
        for _ in 0..2 {
            has_begun.recv().expect("it draws");
        }
        gpu.give_up("it is gone");
        let problem = painting.join().expect("it does not panic");
        assert!(problem.contains("it is gone"), "{problem}");
    });
}
