//! Extruded polylines: volumes of closed forms, closed meshes, refusals.

use std::f64::consts::TAU;

use super::*;

fn square(side: f64, x: f64, y: f64) -> Vec<[f64; 2]> {
    vec![[x, y], [x + side, y], [x + side, y + side], [x, y + side]]
}

fn reversed(mut points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    points.reverse();
    points
}

#[track_caller]
fn check(outlines: &[Vec<[f64; 2]>], height: f64, area: f64, center: [f64; 2]) {
    let mesh = TriangleMesh::extrude(outlines, height).unwrap();
    let found = mesh
        .mass_properties(1.0)
        .expect("an extruded mesh is closed");
    let expect = [center[0], center[1], height / 2.0];
    assert!((found.mass - area * height).abs() < 1e-9, "{found:?}");
    let is_close = |i: usize| (found.center[i] - expect[i]).abs() < 1e-9;
    assert!((0..3).all(is_close), "{found:?}");
    let [low, high] = mesh.bounds().unwrap();
    assert_eq!((low[2], high[2]), (0.0, height));
}

#[track_caller]
fn check_error(outlines: &[Vec<[f64; 2]>], height: f64, expect: &ExtrudeError) {
    assert_eq!(
        TriangleMesh::extrude(outlines, height).as_ref(),
        Err(expect)
    );
}

#[test]
fn a_square_becomes_a_box_whichever_way_it_runs_and_closes() {
    let own = square(2.0, -1.0, 3.0);
    check(std::slice::from_ref(&own), 0.5, 4.0, [0.0, 4.0]);
    check(&[reversed(own.clone())], 0.5, 4.0, [0.0, 4.0]);
    let mut closed = own.clone();
    closed.extend([own[3], own[0]]);
    check(&[closed], 0.5, 4.0, [0.0, 4.0]);
    let mesh = TriangleMesh::extrude(&[own], 0.5).unwrap();
    assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (8, 12));
}

#[test]
fn outlines_within_outlines_are_holes_and_islands() {
    let (outer, hole) = (square(10.0, 0.0, 0.0), square(6.0, 2.0, 2.0));
    let island = square(2.0, 4.0, 4.0);
    check(&[outer.clone(), hole.clone()], 2.0, 64.0, [5.0, 5.0]);
    check(
        &[reversed(hole.clone()), outer.clone()],
        2.0,
        64.0,
        [5.0, 5.0],
    );
    check(
        &[island, outer.clone(), reversed(hole)],
        2.0,
        68.0,
        [5.0, 5.0],
    );
    let notch = square(6.0, 0.0, 2.0);
    check(
        &[outer.clone(), notch],
        1.0,
        64.0,
        [(500.0 - 108.0) / 64.0, 5.0],
    );
    let holes = [square(1.0, 1.0, 1.0), square(1.0, 8.0, 8.0)];
    check(
        &[outer, holes[0].clone(), holes[1].clone()],
        1.0,
        98.0,
        [5.0, 5.0],
    );
}

#[test]
fn outlines_beside_one_another_are_one_mesh() {
    check(
        &[square(1.0, 0.0, 0.0), square(1.0, 3.0, 0.0)],
        1.0,
        2.0,
        [2.0, 0.5],
    );
    check(
        &[square(1.0, 0.0, 0.0), square(1.0, 1.0, 1.0)],
        1.0,
        2.0,
        [1.0, 1.0],
    );
    check(
        &[square(1.0, 0.0, 0.0), square(1.0, 1.0, 0.0)],
        1.0,
        2.0,
        [1.0, 0.5],
    );
}

#[test]
fn points_in_a_line_leave_no_gap() {
    let comb = vec![
        [0.0, 0.0],
        [1.0, 0.0],
        [2.0, 0.0],
        [3.0, 0.0],
        [3.0, 1.0],
        [2.0, 1.0],
        [2.0, 2.0],
        [1.0, 2.0],
        [1.0, 1.0],
        [0.0, 1.0],
    ];
    check(&[comb], 1.0, 4.0, [1.5, 0.75]);
    let cross = [1, 2, 2, 3, 3, 2, 2, 1, 1, 0, 0, 1];
    let points = (0..12).map(|i| [f64::from(cross[i]), f64::from(cross[(i + 9) % 12])]);
    check(&[points.collect()], 1.0, 5.0, [1.5, 1.5]);
}

#[test]
fn a_star_and_a_wheel_have_the_area_of_the_closed_form() {
    let ring = |count: u32, radius: &dyn Fn(u32) -> f64| -> Vec<[f64; 2]> {
        let angle = |i: u32| TAU * f64::from(i) / f64::from(count);
        let point = |i: u32| [radius(i) * angle(i).cos(), radius(i) * angle(i).sin()];
        (0..count).map(point).collect()
    };
    let star = ring(10, &|i| if i % 2 == 0 { 1.0 } else { 0.4 });
    check(&[star], 1.0, 5.0 * 0.4 * (TAU / 10.0).sin(), [0.0; 2]);
    let area = |count: f64, radius: f64| count / 2.0 * radius * radius * (TAU / count).sin();
    let wheel = [ring(500, &|_| 2.0), ring(400, &|_| 1.0)];
    check(&wheel, 0.25, area(500.0, 2.0) - area(400.0, 1.0), [0.0; 2]);
}

#[test]
fn outlines_that_make_no_solid_are_refused() {
    let own = square(1.0, 0.0, 0.0);
    check_error(
        std::slice::from_ref(&own),
        -1.0,
        &ExtrudeError::Height { height: -1.0 },
    );
    check_error(&[], 1.0, &ExtrudeError::Empty);
    check_error(
        &[own.clone(), own[..2].to_vec()],
        1.0,
        &ExtrudeError::NoArea { outline: 1 },
    );
    let bow = vec![[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.5]];
    check_error(&[bow], 1.0, &ExtrudeError::Crossing);
    check_error(
        &[own.clone(), square(1.0, 0.5, 0.5)],
        1.0,
        &ExtrudeError::Crossing,
    );
    let aside = vec![[0.5, 0.0], [1.5, 0.0], [1.5, 1.0], [0.5, 1.0]];
    check_error(&[own.clone(), aside], 1.0, &ExtrudeError::Crossing);
    check_error(&[own.clone(), own.clone()], 1.0, &ExtrudeError::Crossing);
    let twice = [own.clone(), own.clone()].concat();
    check_error(&[twice], 1.0, &ExtrudeError::Crossing);
    let mut broken = own;
    broken[2][1] = f64::INFINITY;
    let expect = ExtrudeError::NotFinite {
        outline: 0,
        point: 2,
    };
    check_error(&[broken], 1.0, &expect);
    let found = TriangleMesh::extrude(&[vec![[0.0; 2]; OUTLINE_POINTS_MAX + 1]], 1.0);
    assert!(matches!(found, Err(ExtrudeError::TooMany { .. })));
}
