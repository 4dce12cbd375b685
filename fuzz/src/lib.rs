//! Shared parts of the fuzz targets: a few small files in memory, and the way of a text through the
//! reader. It never touches the disk.

use sdf::{ResolveError, ResolvedData, ResolvedFile, Resolver};

/// Files that fuzzed worlds can include, by URI; one includes itself, one is broken.
const FILES: [(&str, &str); 6] = [
    (
        "model://box",
        "<sdf version='1.6'><model name='box'><pose frame=''>0 0 1 0 0 0</pose><link name='link'>\
         <collision name='c'><geometry><box><size>1 1 1</size></box></geometry></collision>\
         </link></model></sdf>",
    ),
    (
        "model://arm",
        "<sdf version='1.12'><model name='arm' placement_frame='tip'><link name='base'/>\
         <link name='tip'><pose relative_to='hinge'>0 0 1 0 0 0</pose></link>\
         <joint name='hinge' type='revolute'><pose relative_to='base'/>\
         <parent>base</parent><child>tip</child>\
         <axis><xyz expressed_in='__model__'>0 0 1</xyz></axis></joint>\
         <frame name='grip' attached_to='tip'/><include><uri>model://box</uri>\
         <name>hand</name><pose relative_to='grip'/></include></model></sdf>",
    ),
    (
        "model://loop",
        "<sdf version='1.10'><model name='loop'><link name='l'/><include>\
         <uri>model://loop</uri></include></model></sdf>",
    ),
    (
        "model://broken",
        "<sdf version='1.10'><model name='m'><link",
    ),
    (
        "model://robot",
        "<robot name='robot'><link name='a'><inertial><mass value='1'/><inertia ixx='1' ixy='0' \
         ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link><link name='b'/><joint name='j' \
         type='fixed'><parent link='a'/><child link='b'/></joint></robot>",
    ),
    (
        "triangle.obj",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 2 3 4\nf 1 3 4\n",
    ),
];

/// Serves the files above.
struct Files;

impl Resolver for Files {
    fn read(&self, uri: &str, _from_file: &str) -> Result<ResolvedFile, ResolveError> {
        let text = find(uri)?.to_owned();
        let file = uri.to_owned();
        Ok(ResolvedFile { text, file })
    }

    fn read_data(&self, uri: &str, _from_file: &str) -> Result<ResolvedData, ResolveError> {
        let bytes = find(uri)?.into();
        let file = uri.to_owned();
        let identity = file.clone();
        Ok(ResolvedData {
            bytes,
            file,
            identity,
        })
    }
}

fn find(uri: &str) -> Result<&'static str, ResolveError> {
    let found = FILES.iter().find(|(name, _)| *name == uri);
    let missing = || ResolveError::NotFound("no such file in memory".to_owned());
    found.map(|(_, text)| *text).ok_or_else(missing)
}

/// Reads bytes as a file of worlds or a robot. What is accepted must come back from the wire as
/// it was, and what is refused must say where.
///
/// # Panics
/// Panics if the reader breaks one of its promises.
pub fn read(bytes: &[u8]) {
    let Ok(text) = sdf::decode_text(bytes.to_vec()) else {
        return;
    };
    match sdf::read_worlds(&text, "fuzzed.sdf", &Files) {
        Ok(read) => {
            let encoded = sdf::encode_worlds(&read.worlds);
            let decoded = sdf::decode_worlds(&encoded).expect("worlds come back from the wire");
            // A number that is not one would never equal itself.
            assert!(decoded == read.worlds, "worlds come back as they were");
        }
        Err(error) => {
            assert!(!error.errors.is_empty(), "a refusal has a reason");
            let places = error.errors.iter().map(|problem| &problem.place);
            for place in places {
                assert!(place.line >= 1 && place.column >= 1, "places count from 1");
            }
        }
    }
}

/// Reads bytes as a message of ROS 2 of the type that the first byte numbers, and as the kinds that
/// it becomes. What is accepted must be the same once it is written and read again.
///
/// # Panics
/// Panics if the reader breaks one of its promises.
pub fn read_ros(bytes: &[u8]) {
    let Some((first, cdr)) = bytes.split_first() else {
        return;
    };
    let types: Vec<_> = ros2::types::all().collect();
    let known = types[usize::from(*first) % types.len()];
    if let Ok(normal) = known.normalized(cdr) {
        let again = known.normalized(&normal).expect("it comes back");
        assert!(again == normal, "a message comes back as it was");
    }
    let pairs = ros2::convert::PAIRS.iter();
    for pair in pairs.filter(|pair| pair.ros_type.name == known.name) {
        if let Ok(payload) = ros2::decode_to(pair.kind, known.name, cdr) {
            let sent = ros2::encode(pair.kind, &payload, known.name);
            assert!(sent.is_ok(), "what came in goes out: {sent:?}");
        }
    }
}

/// File names by the first byte modulo eight: the digits 0 to 7 begin the seeds.
const MESH_NAMES: [&str; 8] = [
    "m.stl",
    "m.obj",
    "m.dae",
    "m.gltf",
    "m.glb",
    "m",
    "image.png",
    "image.jpg",
];

/// Reads bytes as a mesh or height image named by the first byte. What is accepted must be finite
/// and refer to vertices that are there.
///
/// # Panics
/// Panics if the reader breaks one of its promises.
pub fn read_mesh(bytes: &[u8]) {
    let Some((first, bytes)) = bytes.split_first() else {
        return;
    };
    let name = MESH_NAMES[usize::from(*first) % MESH_NAMES.len()];
    if name.starts_with("image") {
        let _ = mesh::read_height_grid(bytes, name);
        return;
    }
    // A buffer that the file names holds the file itself.
    if let Ok(drawn) = mesh::read_visual_mesh(bytes, name, &|_| Some(bytes.to_vec())) {
        let again = mesh::read_visual_mesh(&drawn.to_glb(), "m.glb", &|_| None);
        let again = again.expect("what is written is read again");
        assert_eq!(again.triangle_count(), drawn.triangle_count());
        for image in &drawn.images {
            let _ = image.decode();
        }
    }
    let Ok(file) = mesh::read_mesh(bytes, name, &|_| Some(bytes.to_vec())) else {
        return;
    };
    let whole = file.whole();
    let is_finite = |vertex: &[f64; 3]| vertex.iter().all(|coordinate| coordinate.is_finite());
    assert!(whole.vertices.iter().all(is_finite), "vertices are finite");
    let count = whole.vertices.len();
    let is_there = |corner: &u32| (*corner as usize) < count;
    assert!(
        whole.triangles.iter().flatten().all(is_there),
        "triangles have their vertices"
    );
}

mod records;

pub use records::{read_commands, read_journal, read_message};
/// Reads bytes as a recording, with all that is read of one anywhere.
pub fn read_recording(bytes: &[u8]) {
    let Ok(mut recording) = recording::Recording::open(std::io::Cursor::new(bytes)) else {
        return;
    };
    let _ = recording.worlds();
    let _ = recording.library();
    let _ = recording.digests();
    let _ = recording.commands();
    let channels: Vec<u16> = recording.channels().keys().copied().collect();
    for chunk in 0..recording.chunks().len() {
        let _ = recording.messages(chunk);
        for channel in &channels {
            let _ = recording.first_time(chunk, *channel);
        }
    }
    let _ = recording.each(recording::Channel::Models, &mut |message| {
        let changes = serde_json::from_slice::<recording::ModelChanges>(&message.data);
        for change in changes.unwrap_or_default().changes {
            if let recording::ModelChange::Comes { parcel, .. } = change {
                let _ = sdf::ModelParcel::decode(&parcel);
            }
        }
        true
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) {
        if let Err(error) = sdf::read_worlds(text, "seed", &Files) {
            panic!("{error}");
        }
    }

    #[test]
    fn the_recording_among_the_seeds_is_one() {
        let bytes = include_bytes!("../seeds/recordings/ramp.mcap");
        let recording = recording::Recording::open(std::io::Cursor::new(&bytes[..]));
        assert_eq!(recording.unwrap().digests().unwrap().len(), 20);
    }

    #[test]
    fn seeds_are_accepted_so_that_the_fuzzer_starts_deep() {
        check(include_str!("../seeds/everything.sdf"));
        check(include_str!("../seeds/old.sdf"));
        let robot = include_str!("../seeds/robot.xml");
        check(&format!("<robot name='r'>{robot}</robot>"));
    }
}
