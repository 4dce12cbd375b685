//! Shows that the readers take whatever the fuzzer begins with, and whatever once made them fail:
//! each seed goes through its fuzz target's own function, on the stable compiler.

use std::fs;
use std::path::Path;

use tests::repository;

#[expect(unreachable_pub, reason = "it is the library of the fuzz targets")]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

/// Has each file of some folders read; `fuzz/seeds` has those of each target, and `others` more.
fn replay(target: &str, others: &[(&str, &str)], read: fn(&[u8])) {
    let own = format!("fuzz/seeds/{target}");
    let mut folders = vec![(own.as_str(), "")];
    folders.extend_from_slice(others);
    let mut count = 0;
    for (folder, ending) in folders {
        let Ok(entries) = fs::read_dir(repository::root().join(folder)) else {
            continue;
        };
        for entry in entries {
            let path = entry.expect("its entries are readable").path();
            if path.is_file() && path.to_string_lossy().ends_with(ending) {
                eprintln!("{}", path.display());
                read(&fs::read(&path).expect("a seed is readable"));
                count += 1;
            }
        }
    }
    assert!(count > 0, "there are no seeds of {target}");
}

#[test]
fn worlds() {
    let others = [("fuzz/seeds", ".sdf"), ("worlds", ".sdf")];
    replay("worlds", &others, fuzz::read);
}

#[test]
fn robots() {
    replay("robots", &[("fuzz/seeds", ".xml")], |bytes| {
        fuzz::read(&[b"<robot name='r'>", bytes, b"</robot>"].concat());
    });
}

#[test]
fn meshes() {
    replay("meshes", &[], fuzz::read_mesh);
}

#[test]
fn recordings() {
    replay("recordings", &[], fuzz::read_recording);
}

#[test]
fn messages() {
    replay("wire", &[], fuzz::read_message);
}

#[test]
fn messages_of_ros() {
    replay("ros", &[], fuzz::read_ros);
}

#[test]
fn journals() {
    replay("journal", &[], fuzz::read_journal);
}

#[test]
fn commands() {
    replay("commands", &[], fuzz::read_commands);
}

#[test]
fn run_files() {
    replay("config", &[("configs", ".toml")], |bytes| {
        if let Ok(text) = std::str::from_utf8(bytes) {
            let read = orchestrator::config::Config::parse(text, Path::new("run.toml"));
            assert!(read.map_or_else(|error| !error.to_string().is_empty(), |_| true));
        }
    });
}
