//! Every step twice: nothing is found where nothing is wrong, and a planted fault is.

use protocol::primary_to_secondary::Step;
use protocol::report::divergence::DivergenceReport;
use protocol::{CellId, PeerName, PerformerId};

use super::fixture::*;
use crate::cell_work::CellWork;
use crate::hosted_cell::HostedCell;
use crate::verification::run_twice;
use crate::{Difference, Field, HostSettings, StepError};

const VERIFIED: HostSettings = HostSettings {
    verify: true,
    ..PLAIN
};

#[test]
fn steps_done_twice_agree_and_give_the_same_bits_as_steps_done_once() {
    let run = |settings| {
        let mut hosts = Hosts::started(["a", "a", "b"], settings);
        let mut digests = hosts.advance_by(100);
        digests.push(hosts.hand_off(RESIDENTS - 1, 1, 3));
        digests.extend(hosts.advance_by(100));
        digests.push(hosts.migrate(1, "b"));
        digests.extend(hosts.advance_by(50));
        digests
    };
    let (once, twice) = (run(PLAIN), run(VERIFIED));
    let differ = once
        .iter()
        .zip(&twice)
        .position(|(once, twice)| once != twice);
    assert_eq!(
        differ,
        None,
        "the first digest that differs, of {}",
        once.len()
    );
}

/// Does a step twice in a cell, with a fault in the copy, and returns how the results differ.
fn difference(disturb: impl FnOnce(&mut HostedCell)) -> Option<Difference> {
    let mut hosts = Hosts::started(["a", "a", "a"], VERIFIED);
    hosts.advance_by(100);
    let step: Step = hosts.following();
    let host = hosts
        .by_name
        .get_mut(&"a".parse::<PeerName>().unwrap())
        .unwrap();
    let slot = host.cells.get_mut(&CellId(1)).unwrap();
    let work = CellWork::default();
    match run_twice(&mut slot.cell, &work, &step, &host.scene, disturb) {
        Ok(_) => None,
        Err(StepError::Diverged(divergence)) => {
            assert_eq!(divergence.cell, "main::L0");
            assert_eq!(divergence.iteration, step.iteration);
            let difference = divergence.difference.clone();
            check_report(&divergence.report("a".parse().unwrap(), step.sequence));
            Some(difference)
        }
        Err(other) => panic!("{other}"),
    }
}

/// Holds that a report has both results whole.
fn check_report(report: &DivergenceReport) {
    let labels: Vec<_> = report
        .results
        .iter()
        .map(|one| one.label.as_str())
        .collect();
    assert_eq!(labels, ["in the cell", "in the copy"]);
    let of_cell = &report.results[0];
    assert!(
        of_cell
            .states
            .iter()
            .any(|state| state.name == "main::box_0_4")
    );
    assert!(of_cell.states.iter().all(|state| !state.bodies.is_empty()));
    assert!(
        report
            .sentence()
            .contains("cell main::L0 on a gave different bits")
    );
}

#[test]
fn a_planted_fault_is_found_and_named() {
    assert_eq!(difference(|_| {}), None);
    let found = difference(|copy| {
        copy.physics.remove_performer(PerformerId(4));
        copy.physics
            .insert_performer(PerformerId(4), index_of("box_0_4"));
    });
    let Some(Difference::State {
        performer, field, ..
    }) = found
    else {
        panic!("{found:?}");
    };
    assert_eq!(
        (performer.as_str(), field),
        ("main::box_0_4", Field::Position)
    );
}

#[test]
fn a_performer_or_a_static_model_that_is_gone_is_found() {
    let found = difference(|copy| copy.physics.remove_performer(PerformerId(4)));
    assert_eq!(found, Some(Difference::Performers));
    let wall = |copy: &mut HostedCell| copy.physics.remove_static(index_of("wall"));
    assert_eq!(difference(wall), Some(Difference::Hidden));
}

/// Returns the index of a model of the world.
fn index_of(name: &str) -> usize {
    let models = row("main", 3).models;
    models.iter().position(|model| model.name == name).unwrap()
}
