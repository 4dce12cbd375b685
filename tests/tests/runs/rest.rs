//! Shows that what stands still stays still: robots on wheels that settle on level floors come to
//! rest and do not move from there. Physics that pushes by itself would show as speed.

use tests::cluster::{Cluster, NetworkFaults};

#[test]
fn a_fleet_on_free_wheels_comes_to_rest() {
    let text = sdf::generate_fleet(6, [2, 1]);
    let worlds = sdf::read_worlds(&text, "fleet.sdf", &sdf::NoFiles)
        .expect("a world")
        .worlds;
    let mut cluster = Cluster::new(&worlds, 2, 3000, NetworkFaults::SHUFFLED, 1);
    cluster.run_until(|_| false);
    for id in cluster.primary.performers_by_name() {
        let (_, state) = cluster.primary.performer(*id);
        let speed = state
            .linear_velocity
            .iter()
            .map(|v| v * v)
            .sum::<f64>()
            .sqrt();
        let name = &cluster.primary.topology().performer(*id).name;
        assert!(speed < 1e-3, "{name} moves at {speed} m/s after 3 s");
    }
}
