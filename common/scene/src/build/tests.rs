//! Scenes of small worlds, with files that are in memory.

use std::collections::BTreeMap;

use sdf::{ResolveError, ResolvedData, ResolvedFile};

use super::*;
use crate::assets::AssetId;
use crate::material::Material;

/// Files by name.
#[derive(Default)]
struct Memory(BTreeMap<&'static str, Vec<u8>>);

impl Resolver for Memory {
    fn read(&self, uri: &str, _from_file: &str) -> Result<ResolvedFile, ResolveError> {
        Err(ResolveError::NotFound(uri.to_owned()))
    }

    fn read_data(&self, uri: &str, from_file: &str) -> Result<ResolvedData, ResolveError> {
        let bytes = self.0.get(uri);
        let bytes = bytes.ok_or_else(|| ResolveError::NotFound(format!("not by {from_file}")))?;
        Ok(ResolvedData {
            bytes: bytes.clone(),
            file: uri.to_owned(),
            identity: uri.to_owned(),
        })
    }
}

fn png() -> Vec<u8> {
    mesh::Image {
        width: 2,
        height: 2,
        pixels: vec![[0, 0, 0, 255], [255; 4], [255; 4], [255; 4]],
    }
    .to_png()
}

const OBJ: &str = "mtllib a.mtl\no lid\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\n\
                   o rest\nf 1 3 2\n";

fn files() -> Memory {
    Memory(BTreeMap::from([
        ("a.obj", OBJ.as_bytes().to_vec()),
        ("a.mtl", b"newmtl red\nKd 1 0 0\n".to_vec()),
        ("a.png", png()),
    ]))
}

fn worlds(text: &str) -> Vec<sdf::World> {
    let text = format!("<sdf version='1.11'>{text}</sdf>");
    sdf::read_worlds(&text, "w.sdf", &files()).unwrap().worlds
}

fn scene(text: &str) -> (Scene, Assets) {
    let mut assets = Assets::default();
    let scene = Scene::from_worlds(&worlds(text), &files(), &mut assets);
    (scene, assets)
}

/// Returns the scene of visuals in one link.
fn visuals(visuals: &str) -> (Vec<Visual>, Vec<String>, Assets) {
    let (scene, assets) = scene(&format!(
        "<world name='w'><model name='m'><link name='l'>{visuals}</link></model></world>"
    ));
    let visuals = scene.worlds[0].models[0].links[0].visuals.clone();
    (visuals, scene.problems, assets)
}

fn visual(geometry: &str, material: &str) -> String {
    format!("<visual name='v'><geometry>{geometry}</geometry>{material}</visual>")
}

fn material(text: &str) -> Material {
    let (visuals, ..) = visuals(&visual("<box/>", &format!("<material>{text}</material>")));
    visuals[0].material.clone().unwrap()
}

#[test]
fn a_scene_is_what_the_page_is_told_of() {
    let (scene, _) = scene(
        "<world name='w'><scene><ambient>1 1 1 1</ambient><grid>false</grid></scene>\
         <light name='sun' type='directional'><direction>0 0 -2</direction></light>\
         <model name='m'><pose>1 2 3 0 0 0</pose><link name='a'><visual name='v'>\
         <geometry><box><size>1 2 3</size></box></geometry></visual></link><link name='b'>\
         <light name='lamp' type='spot'><pose>0 0 1 0 0 0</pose></light></link></model>\
         <model name='ground'><static>1</static><link name='l'/></model></world>",
    );
    let world = &scene.worlds[0];
    assert_eq!((world.ambient, world.grid), ([1.0; 3], false));
    assert_eq!(world.lights[0].direction, [0.0, 0.0, -1.0]);
    assert_eq!(
        (world.lights[1].link, world.lights[1].kind),
        (Some(1), LightKind::Spot)
    );
    let [moving, ground] = &world.models[..] else {
        panic!("{scene:?}")
    };
    assert_eq!((moving.id, ground.id, ground.links[0].id), (0, 1, 2));
    assert!(moving.performer && !ground.performer && ground.is_static);
    let json = serde_json::to_value(&scene).unwrap();
    let visual = &json["worlds"][0]["models"][0]["links"][0]["visuals"][0];
    assert_eq!(visual["geometry"]["type"], "box");
    assert_eq!(visual["geometry"]["size"][1], 2.0);
    assert_eq!(json["worlds"][0]["lights"][1]["type"], "spot");
    let back: Scene = serde_json::from_value(json).unwrap();
    assert_eq!(back.worlds, scene.worlds);
}

#[test]
fn names_of_several_worlds_tell_them_apart() {
    let world = |name: &str| {
        format!("<world name='{name}'><model name='m'><link name='l'/></model></world>")
    };
    let (scene, _) = scene(&(world("a") + &world("b")));
    assert_eq!(scene.worlds[1].models[0].name, "b::m");
    assert_eq!(scene.worlds[1].levels[0].name, "b::default");
    assert_eq!(scene.worlds[1].models[0].links[0].id, 1);
}

#[test]
fn meshes_are_assets_with_their_own_materials() {
    let mesh = "<mesh><uri>a.obj</uri><scale>2 2 2</scale></mesh>";
    let lid = "<mesh><uri>a.obj</uri><submesh><name>lid</name><center>1</center></submesh></mesh>";
    let second = visual(lid, "").replace("'v'", "'w'");
    let (visuals, problems, assets) = visuals(&(visual(mesh, "") + &second));
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(assets.ids().count(), 2);
    let Geometry::Mesh { asset, scale } = &visuals[0].geometry else {
        panic!("{visuals:?}")
    };
    assert_eq!((*scale, &visuals[0].material), ([2.0; 3], &None));
    let id: AssetId = asset.parse().unwrap();
    let bytes = assets.get(&id).unwrap().bytes;
    let back = mesh::read_visual_mesh(&bytes, "a.glb", &|_| None).unwrap();
    assert_eq!(back.triangle_count(), 2);
    assert!((back.materials[0].color[0] - 1.0).abs() < 1e-5);
}

#[test]
fn what_is_missing_is_told_and_the_rest_is_drawn() {
    let (found, problems, _) = visuals(
        &(visual("<mesh><uri>gone.obj</uri></mesh>", "")
            + &visual(
                "<box/>",
                "<material><pbr><metal><albedo_map>gone.png</albedo_map></metal></pbr></material>",
            )
            .replace("'v'", "'w'")),
    );
    assert_eq!(found[0].geometry, Geometry::Empty);
    assert_eq!(found[1].material.as_ref().unwrap().texture, None);
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].contains("m::l::v") && problems[0].contains("gone.obj"));
    let (_, problems, _) = visuals(&visual(
        "<mesh><uri>a.obj</uri><submesh><name>no</name></submesh></mesh>",
        "",
    ));
    assert!(problems[0].contains("it has: lid, rest"), "{problems:?}");
}

#[test]
fn a_mesh_that_is_not_here_is_drawn_as_the_collision_of_its_file() {
    let shape = "<geometry><mesh><uri>a.obj</uri></mesh></geometry>";
    let worlds = worlds(&format!(
        "<world name='w'><model name='m'><link name='l'><visual name='v'>{shape}</visual>\
         <collision name='c'>{shape}</collision></link></model></world>"
    ));
    let mut assets = Assets::default();
    let scene = Scene::from_worlds(&worlds, &Memory::default(), &mut assets);
    let link = &scene.worlds[0].models[0].links[0];
    assert!(
        matches!(link.visuals[0].geometry, Geometry::Mesh { .. }),
        "{link:?}"
    );
    assert_eq!(link.visuals[0].geometry, link.collisions[0].geometry);
    assert_eq!(scene.problems.len(), 1);
}

#[test]
fn colours_come_from_the_material_its_script_or_its_texture() {
    let red = [1.0, 0.0, 0.0, 1.0];
    assert_eq!(material("<diffuse>1 0 0</diffuse>").diffuse, red);
    assert_eq!(material("<ambient>1 0 0</ambient>").diffuse, red);
    assert_eq!(material("").diffuse, [0.7, 0.7, 0.7, 1.0]);
    let script = |name: &str| format!("<script><uri>u</uri><name>{name}</name></script>");
    assert_eq!(material(&script("Gazebo/Red")).diffuse, red);
    assert_eq!(
        material(&script("Gazebo/Nothing")).diffuse,
        [0.7, 0.7, 0.7, 1.0]
    );
    let both = script("Gazebo/BlueTransparent") + "<specular>1 1 1</specular>";
    assert_eq!(
        (material(&both).transparency, material(&both).specular),
        (0.5, [1.0; 4])
    );
    let map = "<pbr><metal><albedo_map>a.png</albedo_map><roughness>0.1</roughness></metal></pbr>";
    let mapped = material(map);
    assert_eq!((mapped.diffuse, mapped.roughness), ([1.0; 4], 0.1));
    let texture = mapped.texture.unwrap();
    let extension = std::path::Path::new(&texture).extension();
    assert_eq!(extension.and_then(|end| end.to_str()), Some("png"));
}

#[test]
fn heightmaps_are_ground_with_their_texture() {
    let map = "<heightmap><uri>a.png</uri><size>4 4 2</size><texture><size>2</size>\
               <diffuse>a.png</diffuse></texture></heightmap>";
    let (visuals, problems, assets) = visuals(&visual(map, ""));
    assert!(problems.is_empty(), "{problems:?}");
    let Geometry::Heightmap { asset } = &visuals[0].geometry else {
        panic!("{visuals:?}")
    };
    let bytes = assets.get(&asset.parse().unwrap()).unwrap().bytes;
    let back = mesh::read_visual_mesh(&bytes, "a.glb", &|_| None).unwrap();
    assert_eq!(back.bounds(), Some([[-2.0, -2.0, 0.0], [2.0, 2.0, 2.0]]));
    assert_eq!((back.images.len(), back.triangle_count()), (1, 2));
}

#[test]
fn heightmaps_have_layers_in_their_material_and_the_first_texture_in_their_mesh() {
    let map = "<heightmap><uri>a.png</uri><size>4 4 2</size><texture><size>2</size>\
               <diffuse>a.png</diffuse></texture><texture><size>0.5</size><diffuse>a.png</diffuse>\
               </texture><blend><min_height>1</min_height></blend></heightmap>";
    let (visuals, problems, assets) = visuals(&visual(map, ""));
    assert!(problems.is_empty(), "{problems:?}");
    let material = visuals[0].material.as_ref().unwrap();
    let ground = material.ground.as_ref().unwrap();
    assert_eq!((ground.layers.len(), ground.layers[0].repeat), (1, 4.0));
    assert_eq!(material.texture.as_ref(), Some(&ground.layers[0].texture));
    for map in material.maps() {
        assert!(assets.get(&map.parse().unwrap()).is_some(), "{map}");
    }
    assert_eq!(material.maps().count(), 3);
    let Geometry::Heightmap { asset } = &visuals[0].geometry else {
        panic!("{visuals:?}")
    };
    let bytes = assets.get(&asset.parse().unwrap()).unwrap().bytes;
    let back = mesh::read_visual_mesh(&bytes, "a.glb", &|_| None).unwrap();
    assert_eq!(back.images.len(), 1);
}

#[test]
fn models_come_and_go_under_numbers_of_their_own() {
    let (mut scene, mut assets) =
        scene("<world name='w'><model name='m'><link name='l'/></model></world>");
    let text = "<sdf version='1.11'><model name='n'><link name='l'>\
                <light name='lamp' type='point'/></link></model></sdf>";
    let parcel = sdf::read_model(text, "n.sdf", &files()).unwrap().parcel;
    let first = scene.add_model(0, parcel.clone(), &files(), &mut assets);
    assert_eq!((first, scene.worlds[0].lights.len()), (Some(1), 1));
    scene.remove_model(1);
    assert_eq!(
        (scene.worlds[0].models.len(), scene.worlds[0].lights.len()),
        (1, 0)
    );
    assert_eq!(
        scene.add_model(0, parcel.clone(), &files(), &mut assets),
        Some(2)
    );
    assert_eq!(scene.worlds[0].models[1].links[0].id, 2);
    assert_eq!(scene.add_model(1, parcel, &files(), &mut assets), None);
}

#[test]
fn files_that_come_with_a_model_are_drawn_first_also_those_of_submeshes() {
    let (mut scene, mut assets) = scene("<world name='w'/>");
    let visual = |name: &str, part: &str| {
        format!(
            "<visual name='{name}'><geometry><mesh><uri>a.obj</uri>{part}</mesh></geometry>\
             <material><pbr><metal><albedo_map>a.png</albedo_map></metal></pbr></material></visual>"
        )
    };
    let part = "<submesh><name>lid</name><center>true</center></submesh>";
    let visuals = visual("whole", "") + &visual("part", part);
    let text = format!(
        "<sdf version='1.11'><model name='n'><link name='l'>{visuals}</link></model></sdf>"
    );
    let mut read = sdf::read_model(&text, "n.sdf", &files()).unwrap();
    let found = scene.add_model(0, read.parcel.clone(), &sdf::NoFiles, &mut assets);
    assert_eq!(
        (found, assets.ids().count()),
        (Some(0), 0),
        "nothing is found"
    );
    read.keep_visual_files(&files());
    scene.remove_model(0);
    scene.problems.clear();
    scene.add_model(0, read.parcel, &sdf::NoFiles, &mut assets);
    assert_eq!(scene.problems, Vec::<String>::new());
    let visuals = &scene.worlds[0].models[0].links[0].visuals;
    let triangles = visuals.iter().map(|visual| {
        let Geometry::Mesh { asset, .. } = &visual.geometry else {
            panic!("{visual:?}")
        };
        let bytes = assets.get(&asset.parse().unwrap()).unwrap().bytes;
        let mesh = mesh::read_visual_mesh(&bytes, "a.glb", &|_| None).unwrap();
        mesh.triangle_count()
    });
    assert_eq!(triangles.collect::<Vec<_>>(), [2, 1]);
    assert_eq!(assets.ids().count(), 3, "two meshes and an image");
}

#[test]
fn frames_of_the_world_and_of_what_stands_still_have_names() {
    let (mut scene, _) = scene(
        "<world name='w'><frame name='gate'><pose>1 2 0 0 0 0</pose></frame>\
         <frame name='seat' attached_to='car'><pose>0 0 1 0 0 0</pose></frame>\
         <model name='car'><pose>5 0 0 0 0 0</pose><link name='body'/><frame name='own'/></model>\
         <model name='hall'><static>true</static><pose>0 7 0 0 0 0</pose><link name='floor'/>\
         <frame name='dock'><pose>1 0 0 0 0 0</pose></frame></model></world>",
    );
    let told = |scene: &Scene| -> Vec<(String, [f64; 3], Option<u32>)> {
        let frames = scene.worlds[0].frames.iter();
        let frames = frames.map(|frame| {
            let [x, y, z, ..] = frame.pose;
            (frame.name.clone(), [x, y, z], frame.link)
        });
        frames.collect()
    };
    let expected = [
        ("hall::dock".to_owned(), [1.0, 7.0, 0.0], Some(1)),
        ("gate".to_owned(), [1.0, 2.0, 0.0], None),
        ("seat".to_owned(), [5.0, 0.0, 1.0], Some(0)),
    ];
    assert_eq!(told(&scene), expected);
    scene.remove_model(0);
    assert_eq!(told(&scene), expected[..2]);
}

#[test]
fn collisions_tell_their_extents() {
    let shape = |geometry: &str| {
        let (scene, _) = scene(&format!(
            "<world name='w'><model name='m'><link name='l'><collision name='c'>\
             <geometry>{geometry}</geometry></collision></link></model></world>"
        ));
        scene.worlds[0].models[0].links[0].collisions[0].extent
    };
    let cylinder = "<cylinder><radius>1</radius><length>4</length></cylinder>";
    assert_eq!(shape(cylinder), Some([[-1.0, -1.0, -2.0], [1.0, 1.0, 2.0]]));
    let mesh = "<mesh><uri>a.obj</uri><scale>2 2 2</scale></mesh>";
    assert_eq!(shape(mesh), Some([[0.0; 3], [2.0, 2.0, 0.0]]));
    assert_eq!(shape("<plane/>"), None);
}

#[test]
fn sensors_of_a_model_in_a_namespace_have_their_topics_there() {
    let sensor =
        |name: &str, topic: &str| format!("<sensor name='{name}' type='imu'>{topic}</sensor>");
    let text = format!(
        "<world name='w'><model name='rover'><link name='base'>{}{}{}</link>\
         <model name='arm'><link name='hand'>{}</link></model></model></world>",
        sensor("a", ""),
        sensor("b", "<topic>tilt</topic>"),
        sensor("c", "<topic>/tilt</topic>"),
        sensor("d", ""),
    );
    let mut read = worlds(&text);
    read[0].models[0].namespace = Some(sdf::TopicNamespace::new("r7").unwrap());
    let scene = Scene::from_worlds(&read, &files(), &mut Assets::default());
    let model = &scene.worlds[0].models[0];
    let sensors = model.links.iter().flat_map(|link| &link.sensors);
    let topics: Vec<_> = sensors.map(|one| one.topic.as_deref().unwrap()).collect();
    assert_eq!(
        topics,
        [
            "/r7/link/base/sensor/a",
            "/r7/tilt",
            "/tilt",
            "/r7/model/arm/link/hand/sensor/d",
        ]
    );
}
