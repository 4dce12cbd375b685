//! Shows that worlds as people write them are cut into levels that hold all that moves. Reads the
//! worlds of Gazebo's examples, which are no part of the project: where the folder `shared/corpus`
//! is not beside it, this says so and passes.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use lockstep::{Topology, auto_levels};

/// Returns the worlds of a folder, each with the file that it is in.
fn worlds(folder: &Path) -> Vec<(PathBuf, sdf::World)> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        eprintln!("{} is not there: nothing is tested", folder.display());
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("its entries are readable").path())
        .collect();
    paths.sort();
    let mut worlds = Vec::new();
    for path in paths {
        let is_world = path.extension().is_some_and(|kind| kind == "sdf");
        let Some(text) = is_world
            .then(|| std::fs::read_to_string(&path).ok())
            .flatten()
        else {
            continue;
        };
        if let Ok(read) = sdf::read_worlds(&text, &path.to_string_lossy(), &sdf::NoFiles) {
            worlds.extend(read.worlds.into_iter().map(|world| (path.clone(), world)));
        }
    }
    worlds
}

#[test]
fn worlds_of_the_corpus_are_cut_into_levels_that_hold_all_that_moves() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus");
    let (mut cut, mut most) = (0, 0);
    for folder in ["gz-sim/examples/worlds", "gz-sim/test/worlds"] {
        for (path, mut world) in worlds(&Path::new(corpus).join(folder)) {
            let path = path.display();
            let count = NonZeroUsize::new(4).unwrap();
            let Ok(levels) = auto_levels::cut(&world, count) else {
                assert!(!world.levels.is_empty(), "{path}");
                continue;
            };
            let moving = world.models.iter().filter(|model| !model.is_static).count();
            assert_eq!(levels.is_empty(), moving == 0, "{path}");
            assert!(levels.len() <= moving.min(4), "{path}");
            most += usize::from(levels.len() == 4);
            world.levels = levels;
            let plan = Topology::new(&[world]);
            for performer in &plan.performers {
                assert_ne!(performer.home.0, 0, "{path}: {}", performer.name);
            }
            cut += 1;
        }
    }
    eprintln!("{cut} worlds were cut, {most} of them into 4 levels");
}
