//! Guesses of when the partition changes, which come true where performers keep their velocity.

use super::*;

/// Moves balls along x from these places \[m\] at these velocities \[m/s\]; returns what is
/// foreseen after the first iteration, and the iterations that then pass until something changes.
fn foreseen(balls_at: &[(f64, f64)], most: u32) -> (u32, u32) {
    let starts: Vec<f64> = balls_at.iter().map(|(x, _)| *x).collect();
    let mut fixture = Fixture::new(3, &starts, RULES);
    let mut update = |count: u32| {
        for (id, (x, speed)) in balls_at.iter().enumerate() {
            let x = x + speed * f64::from(count) * RULES.step_size_s;
            fixture.states[id] = ball(PerformerId(id as u32), [x, 0.0, 0.0]);
            fixture.states[id].linear_velocity[0] = *speed;
        }
        let changes = fixture.update();
        let (topology, states) = (&fixture.topology, &fixture.states);
        let guess = fixture
            .partition
            .iterations_until_change(topology, states, most);
        (changes, guess)
    };
    update(0);
    let (_, guess) = update(1);
    let changed = (1..=most).find(|count| update(1 + count).0 != Changes::default());
    (guess, changed.unwrap_or(most))
}

#[test]
fn what_comes_next_is_foreseen_to_the_iteration() {
    for (balls_at, expected) in [
        // Its box is swept over the next step, too, when it comes to the buffer of L2 at 3 m.
        (vec![(2.0, 3.0)], 165),
        // It leaves L1 for L2 at 5 m.
        (vec![(5.3, 4.0)], 49),
        // It leaves the buffer of L1 at 7 m.
        (vec![(7.0, 5.0)], 99),
        (vec![(2.0, 3.0), (2.4, 2.0), (-4.0, -1.0)], 48),
        // Far from all.
        (vec![(0.0, 1.0)], 300),
    ] {
        let (guess, changed) = foreseen(&balls_at, 300);
        assert_eq!(guess, changed, "{balls_at:?}");
        assert!(changed.abs_diff(expected) <= 2, "{balls_at:?}: {changed}");
    }
}

#[test]
fn who_stands_still_changes_nothing() {
    let mut fixture = Fixture::new(3, &[5.49, 14.51], RULES);
    fixture.update();
    let (topology, states) = (&fixture.topology, &fixture.states);
    assert_eq!(
        fixture
            .partition
            .iterations_until_change(topology, states, 9),
        9
    );
}
