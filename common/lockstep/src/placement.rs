//! First placement: the secondary that hosts each cell at the start.

use protocol::primary_to_secondary::{AffinityChange, CellSource};
use protocol::{CellId, PeerName};

use crate::topology::Topology;

/// Returns a host for every cell that owns performers or is permanent: cells in order of their ids,
/// each to the secondary with the fewest performers so far, the first by name among equals.
/// Secondaries left without a cell are stand-bys.
///
/// # Panics
/// Panics when there are cells to host and no secondary.
pub fn first_placement(topology: &Topology, secondaries: &[PeerName]) -> Vec<AffinityChange> {
    let mut performers = vec![0_u32; topology.cells.len()];
    for performer in &topology.performers {
        performers[performer.home.0 as usize] += 1;
    }
    for (cell, count) in topology.cells.iter().zip(&mut performers) {
        *count = (*count).max(u32::from(cell.is_permanent));
    }
    let mut names = secondaries.to_vec();
    names.sort();
    let mut loads: Vec<(u32, PeerName)> = names.into_iter().map(|name| (0, name)).collect();
    let mut affinities = Vec::new();
    for (cell, count) in performers
        .into_iter()
        .enumerate()
        .filter(|(_, count)| *count > 0)
    {
        let (load, secondary) = loads
            .iter_mut()
            .min()
            .expect("a run with performers has a secondary");
        *load += count;
        affinities.push(AffinityChange {
            cell: CellId(cell as u32),
            secondary: Some(secondary.clone()),
            source: CellSource::Start,
        });
    }
    affinities
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::levels::tests::{performer, world};

    /// `performers` gives how many performers each of the levels holds.
    fn check(performers: &[u32], secondaries: &[&str], expected: &str) {
        let names: Vec<String> = (0..performers.len()).map(|i| format!("L{i}")).collect();
        let mut world = world("w", &names.iter().map(String::as_str).collect::<Vec<_>>());
        for (level, count) in performers.iter().enumerate() {
            for number in 0..*count {
                let model = performer(
                    &format!("p{level}_{number}"),
                    [level as f64 * 10.0, 0.0, 0.0],
                );
                world.models.push(model);
            }
        }
        let secondaries: Vec<PeerName> = secondaries
            .iter()
            .map(|name| name.parse().unwrap())
            .collect();
        let topology = Topology::new(&[world]);
        let placed: Vec<String> = first_placement(&topology, &secondaries)
            .iter()
            .map(|change| {
                let host = change.secondary.as_ref().unwrap();
                format!("{}>{host}", topology.cell(change.cell).name)
            })
            .collect();
        assert_eq!(placed.join(" "), expected);
    }

    #[test]
    fn levels_spread_over_secondaries_in_name_order_by_performers() {
        check(&[1, 1], &["s2", "s1"], "L0>s1 L1>s2");
        check(&[3, 1, 1, 1], &["s1", "s2"], "L0>s1 L1>s2 L2>s2 L3>s2");
        check(&[1, 1, 1], &["s1", "s2"], "L0>s1 L1>s2 L2>s1");
    }

    #[test]
    fn fewer_levels_than_secondaries_leave_stand_bys() {
        check(&[2], &["s1", "s2", "s3"], "L0>s1");
    }

    #[test]
    fn cells_without_performers_need_no_host() {
        check(&[0, 1, 0], &["s1"], "L1>s1");
        check(&[0, 0], &["s1"], "");
    }
}
