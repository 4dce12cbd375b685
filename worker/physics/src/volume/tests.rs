//! Volumes and their centres against closed forms.

use super::*;

fn solid(geometry: Geometry) -> Solid {
    let collision = Collision::new("collision", Pose::IDENTITY, geometry);
    let solid = Solids::default().of(&World::default(), &collision);
    solid.expect("the shape has a volume")
}

#[track_caller]
fn check(room: Room, volume: f64, center: [f64; 3], within: f64) {
    let error = (room.volume - volume).abs();
    assert!(
        error <= within * volume.max(1e-9),
        "{room:?} but {volume} m³"
    );
    for (found, expected) in room.center().iter().zip(center) {
        assert!(
            (found - expected).abs() <= within,
            "{room:?} but {center:?}"
        );
    }
}

#[test]
fn whole_shapes_have_their_volumes() {
    let at = Pose::from_xyz_rpy([1.0, 2.0, 3.0], [0.3, -0.2, 0.7]);
    let middle = [1.0, 2.0, 3.0];
    let size = [0.2, 0.3, 0.5];
    check(
        solid(Geometry::Box { size }).whole(&at),
        0.03,
        middle,
        1e-12,
    );
    let (radius, length) = (0.2, 0.7);
    let cylinder = Geometry::Cylinder { radius, length };
    check(solid(cylinder).whole(&at), PI * 0.04 * 0.7, middle, 1e-12);
    let capsule = Geometry::Capsule { radius, length };
    let expected = PI * 0.04 * (0.7 + 0.8 / 3.0);
    check(solid(capsule).whole(&at), expected, middle, 1e-12);
    let radii = [0.1, 0.2, 0.3];
    let expected = 4.0 / 3.0 * PI * 0.006;
    check(
        solid(Geometry::Ellipsoid { radii }).whole(&at),
        expected,
        middle,
        1e-12,
    );
    let cone = solid(Geometry::Cone { radius, length });
    let center = [0.0, 0.0, -0.175];
    check(
        cone.whole(&Pose::IDENTITY),
        PI * 0.04 * 0.7 / 3.0,
        center,
        1e-12,
    );
}

#[test]
fn a_turned_box_is_cut_as_the_closed_form_says() {
    let size = [1.0; 3];
    let cube = solid(Geometry::Box { size });
    check(
        cube.below(&Pose::IDENTITY, -0.2),
        0.3,
        [0.0, 0.0, -0.35],
        1e-12,
    );
    check(cube.below(&Pose::IDENTITY, 0.5), 1.0, [0.0; 3], 1e-12);
    // On its edge, the part below is a prism over a right triangle of height h: area h².
    let turned = Pose::from_xyz_rpy([0.0; 3], [std::f64::consts::FRAC_PI_4, 0.0, 0.0]);
    let deepest = -std::f64::consts::FRAC_1_SQRT_2;
    let room = cube.below(&turned, deepest + 0.3);
    check(room, 0.09, [0.0, 0.0, deepest + 0.2], 1e-12);
}

#[test]
fn a_ball_is_cut_as_the_closed_form_says() {
    let ball = solid(Geometry::Sphere { radius: 2.0 });
    let at = Pose::from_xyz_rpy([0.0, 0.0, 5.0], [0.4, 0.2, 0.1]);
    // A cap of height h: pi h² (3 r - h) / 3; half a ball has its centre 3/8 r from the middle.
    check(
        ball.below(&at, 3.5),
        PI * 0.25 * 5.5 / 3.0,
        ball.below(&at, 3.5).center(),
        1e-12,
    );
    check(
        ball.below(&at, 5.0),
        16.0 / 3.0 * PI,
        [0.0, 0.0, 4.25],
        1e-12,
    );
    check(ball.below(&at, 2.9), 0.0, [0.0; 3], 1e-12);
}

#[test]
fn an_ellipsoid_and_a_polyhedron_of_a_round_shape_agree_with_their_halves() {
    let at = Pose::from_xyz_rpy([1.0, 2.0, 3.0], [0.4, 0.9, 0.1]);
    let radii = [0.1, 0.2, 0.3];
    let half = solid(Geometry::Ellipsoid { radii }).below(&at, 3.0);
    assert!(
        (half.volume - 2.0 / 3.0 * PI * 0.006).abs() < 1e-15,
        "{half:?}"
    );
    let cylinder = solid(Geometry::Cylinder {
        radius: 0.2,
        length: 0.7,
    });
    let half = cylinder.below(&at, 3.0);
    assert!((half.volume - PI * 0.014).abs() < 1e-12, "{half:?}");
    // A lying cylinder, cut at half its radius: r² (acos(1/2) - sqrt(3)/4) of each section.
    let lying = Pose::from_xyz_rpy([0.0; 3], [0.0, std::f64::consts::FRAC_PI_2, 0.0]);
    let segment = 0.04 * (PI / 3.0 - 3.0_f64.sqrt() / 4.0) * 0.7;
    let cut = cylinder.below(&lying, -0.1).volume;
    assert!((cut / segment - 1.0).abs() < 5e-3, "{cut} but {segment}");
}

#[test]
fn an_open_mesh_counts_as_its_hull() {
    let mut world = World::default();
    let size = [1.0, 2.0, 3.0];
    let mut open = extruded(
        &[vec![[0.0, 0.0], [1.0, 0.0], [1.0, 2.0], [0.0, 2.0]]],
        &Geometry::Box { size },
    );
    let mesh = open.as_mut().expect("the outline is one");
    mesh.triangles.pop();
    world.meshes.push(mesh.clone());
    let shape = MeshShape {
        uri: String::new(),
        submesh: String::new(),
        center_submesh: false,
        scale: [1.0, 1.0, 2.0],
        approximation: sdf::MeshApproximation::Triangles,
        mesh: Some(0),
        bounds: None,
    };
    let collision = Collision::new("hull", Pose::IDENTITY, Geometry::Mesh(shape));
    let solid = Solids::default()
        .of(&world, &collision)
        .expect("it has a hull");
    check(solid.whole(&Pose::IDENTITY), 12.0, [0.5, 1.0, 0.0], 1e-9);
}
