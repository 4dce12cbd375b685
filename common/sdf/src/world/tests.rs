//! Worlds that no reader makes are not taken from bytes.

use super::*;
use crate::pose::Pose;

/// A world with a mesh, a height grid, two links that a joint holds, and a joint to the world.
fn sound() -> World {
    let mesh = MeshShape {
        uri: String::new(),
        submesh: String::new(),
        center_submesh: false,
        scale: [1.0; 3],
        approximation: MeshApproximation::Automatic,
        mesh: Some(0),
        bounds: None,
    };
    let map = HeightmapShape {
        uri: String::new(),
        size: [1.0; 3],
        position: [0.0; 3],
        grid: Some(0),
    };
    let shapes = [Geometry::Mesh(mesh), Geometry::Heightmap(map)];
    let link = |(number, shape): (usize, Geometry)| Link {
        collisions: vec![Collision::new("c", Pose::IDENTITY, shape)],
        ..Link::new(&format!("l{number}"), Pose::IDENTITY)
    };
    let links = shapes.into_iter().enumerate().map(link).collect();
    let (kind, parent) = (JointKind::Fixed, JointParent::Link(0));
    let joint = Joint::new("j", kind, parent, 1, Pose::IDENTITY);
    World {
        name: "w".to_owned(),
        models: vec![Model::new("m", links, vec![joint])],
        joints: vec![WorldJoint {
            name: "held".to_owned(),
            kind: JointKind::Fixed,
            parent: JointEnd::World,
            child: LinkReference { model: 0, link: 1 },
            pose: Pose::IDENTITY,
        }],
        meshes: vec![mesh::TriangleMesh::default()],
        height_grids: vec![mesh::HeightGrid::default()],
        ..World::default()
    }
}

fn check(what: &str, breaks: impl Fn(&mut World)) {
    let mut world = sound();
    let whole = encode_worlds(std::slice::from_ref(&world));
    assert_eq!(decode_worlds(&whole).unwrap(), [world.clone()]);
    breaks(&mut world);
    let error = decode_worlds(&encode_worlds(&[sound(), world.clone()]));
    let error = error.unwrap_err().to_string();
    assert!(error.contains(what), "{error}");
    if world.joints == sound().joints {
        let parcel = crate::ModelParcel {
            model: world.models.remove(0),
            meshes: world.meshes,
            height_grids: world.height_grids,
            visual_files: Vec::new(),
        };
        assert!(
            crate::ModelParcel::decode(&parcel.encode()).is_err(),
            "{what}"
        );
    }
}

#[test]
fn indices_that_lead_to_nothing_are_refused() {
    check("meshes or heights", |world| world.meshes.clear());
    check("meshes or heights", |world| world.height_grids.clear());
    check("a joint holds no link", |world| {
        world.models[0].joints[0].child = 2;
    });
    check("a joint holds no link", |world| {
        world.models[0].joints[0].parent = JointParent::Link(usize::MAX);
    });
    check("canonical link", |world| world.models[0].canonical_link = 2);
    check("canonical link", |world| {
        world.models[0].links.clear();
        world.models[0].joints.clear();
    });
    check("canonical link", |world| {
        world.models[0].nested.push(NestedModel {
            name: "n".to_owned(),
            is_static: false,
            self_collide: false,
            pose: Pose::IDENTITY,
            canonical_link: Some(2),
            plugins: Vec::new(),
        });
    });
    check("holds no link of it", |world| {
        world.joints[0].child.link = 2;
    });
    check("holds no link of it", |world| {
        world.joints[0].child.model = 1;
    });
    check("holds no link of it", |world| {
        world.joints[0].parent = JointEnd::Link(LinkReference { model: 9, link: 0 });
    });
}
