//! Time that the rules of a primary take for a performer that did not change in a step. Four
//! secondaries host a level each, with a quarter of the performers: their cells are at rest, or
//! step without a change, or a hundredth of their performers moves.

use sdf::World;
use serde_json::{Value, json};
use tests::cluster;

use crate::scripted::{Answers, LEVEL_SIZE, Scripted, median, row};

const SECONDARIES: u32 = 4;
const WARM_UP: u32 = 20;
const STEPS: usize = 100;
/// Distance of performers in a level \[m\].
const DISTANCE: f64 = 2.0;

/// Measures the rules of a primary with so many performers \[ns per performer and step\].
pub(crate) fn measure(performers: u32) -> Value {
    let each = |answers| step_us(performers, answers) * 1e3 / f64::from(performers);
    json!({
        "ns_per_performer_at_rest": each(Answers::Resting),
        "ns_per_performer_unchanged": each(Answers::Unchanged),
        "ns_per_performer_of_which_a_hundredth_moves": each(Answers::Moving { every: 100 }),
        "ns_per_performer_moving": each(Answers::Moving { every: 1 }),
    })
}

/// Returns the median time of a step, without what the secondaries do \[us\].
fn step_us(performers: u32, answers: Answers) -> f64 {
    let mut settings = cluster::settings(SECONDARIES, u64::MAX);
    settings.pace.run_ahead_max = 1;
    settings.recovery.checkpoint_every = 0;
    let mut run = Scripted::new(&world(performers), settings, answers);
    (0..WARM_UP).for_each(|_| run.advance());
    let times = (0..STEPS).map(|_| {
        run.take_ruled();
        run.advance();
        run.take_ruled().as_secs_f64() * 1e6
    });
    median(times.collect())
}

/// A row of levels with a share of the performers each.
fn world(performers: u32) -> World {
    let columns = (LEVEL_SIZE / DISTANCE) as u32 - 20;
    let place = |number: u32| {
        let in_level = number / SECONDARIES;
        let place = [in_level % columns, in_level / columns];
        let [column, line] = place.map(f64::from).map(|one| one * DISTANCE);
        let middle = f64::from(columns) * DISTANCE / 2.0;
        (number % SECONDARIES, [column - middle, line - middle])
    };
    row(SECONDARIES, (0..performers).map(place))
}
