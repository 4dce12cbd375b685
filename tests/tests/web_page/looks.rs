//! Pictures of worlds beside those that were kept, where a processor draws and as on a GPU.

use std::path::PathBuf;

use tests::browser::Browser;
use tests::processes::Scratch;

use super::{PICTURE, Served, assert_quiet, compare, open};

#[test]
fn worlds_look_as_they_did() {
    let scratch = Scratch::new();
    let Some(mut browser) = Browser::start(&scratch) else {
        return;
    };
    let worlds = [
        ("shapes", "worlds/shapes.sdf", "colour=material"),
        ("ramp", "worlds/ramp.sdf", "colour=level"),
        ("crossing", "worlds/crossing.sdf", "colour=owner&theme=dark"),
        ("four_levels", "worlds/four_levels.sdf", "colour=speed"),
        ("warehouse", "worlds/warehouse.sdf", "colour=material"),
    ];
    let own = assets_world(&scratch);
    let own = own.to_str().expect("a plain path");
    let evening = scratch.path("evening.sdf");
    std::fs::write(&evening, EVENING).expect("a world");
    let evening = evening.to_str().expect("a plain path");
    for (name, world, look) in worlds.into_iter().chain([
        ("assets", own, "colour=material"),
        ("evening", evening, "colour=material&camera=-1,-6,3,0,0,0.8"),
    ]) {
        let served = Served::start(world, "2");
        served.ctl(&["run-to", "0.5"]);
        for (quality, ending) in [("low", ""), ("high", "_high")] {
            let options = format!("{look}&quality={quality}&bare=true&show=levels,buffers");
            open(&mut browser, &served, &options, PICTURE);
            browser.wait("document.querySelector('#sim-time').dataset.value === '0.5'");
            if name == "evening" {
                let label = "[...document.querySelectorAll('#view-look label')]\
                    .find((label) => label.textContent.includes('Background of the world'))";
                browser.value(&format!("{label}.querySelector('input').click()"));
            }
            browser.wait_until_settled();
            let name = format!("{name}{ending}");
            let found = scratch.path(&format!("{name}.png"));
            browser.picture("#stage", &found);
            assert_quiet(&mut browser);
            compare(&mut browser, &name, &found);
        }
    }
}

/// A dim evening with lamps of the world and of a link, a light from far away on another one, fog,
/// a sky, and an actor.
const EVENING: &str = "<sdf version='1.11'><world name='w'><gravity>0 0 0</gravity>
  <scene><ambient>0.1 0.1 0.15</ambient><background>0.1 0.1 0.2</background>
    <sky><time>19.5</time><sunrise>6</sunrise><sunset>20</sunset></sky>
    <fog><type>linear</type><color>0.6 0.6 0.7</color><start>4</start><end>30</end></fog></scene>
  <light name='lamp' type='point'><pose>1.5 1 2 0 0 0</pose><diffuse>1 0.8 0.3</diffuse>
    <cast_shadows>true</cast_shadows><attenuation><range>9</range><constant>0.8</constant>
    <linear>0.1</linear></attenuation></light>
  <model name='ground'><static>true</static><link name='l'><visual name='v'><geometry><plane>
    <size>40 40</size></plane></geometry></visual></link></model>
  <model name='mast'><static>true</static><pose>-1.5 0.5 0 0 0 0</pose><link name='l'>
    <light name='moon' type='directional'><pose>0 0 0 0 0.6 0</pose><direction>0 0 -1</direction>
      <diffuse>0.2 0.3 0.5</diffuse><cast_shadows>true</cast_shadows></light>
    <light name='spot' type='spot'><pose>0 0 3 0 0 0</pose><direction>0.3 -0.2 -1</direction>
      <diffuse>0.4 0.9 1</diffuse><cast_shadows>true</cast_shadows><attenuation><range>9</range>
      <constant>0.5</constant></attenuation><spot><inner_angle>0.6</inner_angle>
      <outer_angle>0.8</outer_angle><falloff>1</falloff></spot></light>
    <visual name='v'><pose>0 0 1.5 0 0 0</pose><geometry><cylinder><radius>0.1</radius>
      <length>3</length></cylinder></geometry></visual></link></model>
  <model name='box'><static>true</static><pose>0.6 0 0.5 0 0 0.4</pose><link name='l'>
    <visual name='v'><geometry><box><size>1 1 1</size></box></geometry></visual></link></model>
  <actor name='walker'><pose>0 0 0 0 0 0</pose>
    <link name='l'><visual name='v'><pose>0 0 0.9 0 0 0</pose><geometry><capsule>
      <radius>0.25</radius><length>1.3</length></capsule></geometry>
      <material><diffuse>0.9 0.2 0.2</diffuse></material></visual></link>
    <script><loop>true</loop><auto_start>true</auto_start><trajectory id='0' type='walk'>
      <waypoint><time>0</time><pose>-2 -2 0 0 0 0</pose></waypoint>
      <waypoint><time>1</time><pose>1 -1 0 0 0 0</pose></waypoint></trajectory></script></actor>
</world></sdf>";

/// A roof by a mesh file, a box with a texture, and hills by an image, with a texture too.
const ASSETS: &str = "<sdf version='1.11'><world name='w'>
  <light name='sun' type='directional'><direction>-0.5 0.3 -1</direction></light>
  <model name='roof'><static>true</static><pose>-1.2 0 1.6 0 0 0.3</pose><link name='l'>
    <visual name='v'><geometry><mesh><uri>roof.obj</uri><scale>1 1 1.5</scale></mesh></geometry>
    </visual></link></model>
  <model name='box'><static>true</static><pose>1.2 0 2 0 0 0.5</pose><link name='l'>
    <visual name='v'><geometry><box><size>1.4 1.4 1.4</size></box></geometry><material><pbr><metal>
      <albedo_map>tiles.png</albedo_map></metal></pbr></material></visual></link></model>
  <model name='hills'><static>true</static><link name='l'>
    <visual name='v'><geometry><heightmap><uri>hills.png</uri><size>5 5 1</size>
      <texture><size>3</size><diffuse>tiles.png</diffuse><normal>tiles.png</normal></texture>
    </heightmap></geometry></visual></link></model>
  <plugin name='gz::sim' filename='none'><level name='hall'><pose>0 0 1.5 0 0 0</pose>
    <geometry><box><size>5 5 3</size></box></geometry><ref>box</ref></level></plugin>
</world></sdf>";

/// A roof with one red and one blue side.
const ROOF: &str = "mtllib roof.mtl\nv -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nv 0 -1 1\nv 0 1 1\n\
    usemtl red\nf 1 5 6 4\nusemtl blue\nf 2 3 6 5\nusemtl grey\nf 1 2 5\nf 3 4 6\n";
const ROOF_LOOK: &str = "newmtl red\nKd 0.9 0.1 0.1\nnewmtl blue\nKd 0.1 0.2 0.9\n\
    newmtl grey\nKd 0.6 0.6 0.6\n";

/// Writes the world of [`ASSETS`] with its files.
fn assets_world(scratch: &Scratch) -> PathBuf {
    let write = |name: &str, content: &[u8]| {
        let path = scratch.path(name);
        std::fs::write(&path, content).expect("a file can be written");
        path
    };
    write("roof.obj", ROOF.as_bytes());
    write("roof.mtl", ROOF_LOOK.as_bytes());
    // Hills that differ along both sides, so that none may be swapped or turned.
    let heights = picture_file(33, |x, y| {
        let height = 120.0 + 80.0 * (f64::from(x) / 5.0).sin() - 1.2 * f64::from(y);
        [height as u8; 3]
    });
    write("hills.png", &heights);
    let tiles = picture_file(8, |x, y| match (x < 4, y < 4) {
        (true, true) => [240, 200, 40],
        (false, true) => [30, 140, 60],
        (true, false) => [220, 220, 230],
        (false, false) => [120, 60, 140],
    });
    write("tiles.png", &tiles);
    write("assets.sdf", ASSETS.as_bytes())
}

/// Returns a square image as a PNG file.
fn picture_file(size: u32, color: impl Fn(u32, u32) -> [u8; 3]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, size, size);
    encoder.set_color(png::ColorType::Rgb);
    let rows = (0..size).flat_map(|y| (0..size).map(move |x| (x, y)));
    let pixels: Vec<u8> = rows.flat_map(|(x, y)| color(x, y)).collect();
    let mut writer = encoder.write_header().expect("it is written to memory");
    writer.write_image_data(&pixels).expect("it has all pixels");
    writer.finish().expect("it is whole");
    file
}
