//! glTF and GLB files.

use super::*;

/// Positions, indices and their lengths in one buffer.
fn buffer() -> Vec<u8> {
    let numbers = CORNERS
        .iter()
        .flatten()
        .map(|number| (*number as f32).to_le_bytes());
    let mut bytes: Vec<u8> = numbers.flatten().collect();
    let indices = SIDES
        .iter()
        .flatten()
        .map(|index| (*index as u16).to_le_bytes());
    bytes.extend(indices.flatten());
    bytes
}

/// A document whose buffer is as given, with these nodes.
fn document(buffer: &str, nodes: &str) -> String {
    format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":[{nodes}],
        "meshes":[{{"name":"shape","primitives":[
        {{"attributes":{{"POSITION":0,"NORMAL":0}},"indices":1,"material":7}},
        {{"attributes":{{"POSITION":0}},"mode":1}}]}}],
        "buffers":[{{"byteLength":72{buffer}}}],
        "bufferViews":[{{"buffer":0,"byteLength":48}},
        {{"buffer":0,"byteOffset":48,"byteLength":24}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"}},
        {{"bufferView":1,"componentType":5123,"count":12,"type":"SCALAR"}}],
        "extensionsUsed":["X"]}}"#
    )
}

const NODE: &str = r#"{"mesh":0}"#;

pub(super) fn binary(nodes: &str) -> Vec<u8> {
    let mut json = document("", nodes).into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut bytes = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
    for (kind, chunk) in [(b"JSON", &json), (b"BIN\0", &buffer())] {
        bytes.extend((chunk.len() as u32).to_le_bytes());
        bytes.extend(kind);
        bytes.extend(chunk);
    }
    bytes
}

pub(super) fn embedded(nodes: &str) -> String {
    use base64::Engine;
    let data = base64::engine::general_purpose::STANDARD.encode(buffer());
    let uri = format!(r#","uri":"data:application/octet-stream;base64,{data}""#);
    document(&uri, nodes)
}

#[track_caller]
fn check_bounds(nodes: &str, name: &str, expect: [[f64; 3]; 2]) {
    let mesh = read(&binary(nodes), "a.glb")
        .unwrap()
        .submesh(name)
        .unwrap();
    assert_eq!(mesh.bounds(), Some(expect));
    assert!(
        mesh.mass_properties(1.0).is_some(),
        "its outside is outside"
    );
}

#[test]
fn buffers_are_within_beside_or_spelled_out() {
    check(&binary(NODE), "a.glb");
    check(&binary(NODE), "no extension");
    check(embedded(NODE).as_bytes(), "a.gltf");
    let text = document(r#","uri":"my%20buffer.bin""#, NODE);
    let beside = |name: &str| (name == "my buffer.bin").then(buffer);
    check_tetrahedron(
        &read_mesh(text.as_bytes(), "a.gltf", &beside)
            .unwrap()
            .whole(),
    );
    check_error(
        text.as_bytes(),
        "a.gltf",
        "it refers to my%20buffer.bin, which cannot be found",
    );
}

#[test]
fn nodes_place_their_meshes_and_name_them() {
    check_bounds(NODE, "shape", [[0.0; 3], [1.0, 2.0, 3.0]]);
    let nodes = r#"{"name":"arm","translation":[1,0,0],"scale":[2,1,1],"children":[1]},
        {"name":"hand","translation":[1,0,0],"mesh":0}"#;
    check_bounds(nodes, "hand", [[3.0, 0.0, 0.0], [5.0, 2.0, 3.0]]);
    let turned = r#"{"name":"n","mesh":0,"rotation":[0,0,1,0]}"#;
    check_bounds(turned, "n", [[-1.0, -2.0, 0.0], [0.0, 0.0, 3.0]]);
    let matrix = r#"{"name":"n","mesh":0,"matrix":[-1,0,0,0, 0,1,0,0, 0,0,1,0, 5,0,0,1]}"#;
    check_bounds(matrix, "n", [[4.0, 0.0, 0.0], [5.0, 2.0, 3.0]]);
}

#[test]
fn strips_fans_and_sparse_accessors_are_read() {
    let strip = r#""mode":5,"indices":2"#;
    let text = embedded(NODE).replace(r#""indices":1"#, strip).replace(
        r#""count":12,"type":"SCALAR"}"#,
        r#""count":12,"type":"SCALAR"},
        {"componentType":5121,"count":6,"type":"SCALAR","sparse":{"count":4,
        "indices":{"bufferView":2,"componentType":5121},"values":{"bufferView":3}}}"#,
    );
    let text = text.replace(
        r#""byteLength":24}]"#,
        r#""byteLength":24},{"buffer":1,"byteLength":4},
        {"buffer":1,"byteOffset":4,"byteLength":4}]"#,
    );
    // Places 1, 2, 3 and 5 of 0 2 1 3 0 2.
    let text = text.replace(
        r#""buffers":[{"#,
        r#""buffers":[{"byteLength":72,"uri":"beside"},{"uri":"data:;base64,AQIDBQIBAwI="},{"#,
    );
    let beside = |_: &str| Some(buffer());
    check_tetrahedron(
        &read_mesh(text.as_bytes(), "a.gltf", &beside)
            .unwrap()
            .whole(),
    );
}

#[test]
fn broken_documents_name_the_place() {
    let text = embedded(NODE);
    let broken = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1).into_bytes()
    };
    check_error(
        &broken("\"2.0\"", "\"1.0\""),
        "a.gltf",
        "asset: glTF version \"1.0\"",
    );
    check_error(
        &broken("\"count\":12", "\"count\":13"),
        "a.gltf",
        "accessor 1: it reaches beyond",
    );
    check_error(
        &broken("\"count\":12", "\"count\":0"),
        "a.gltf",
        "it holds no triangles",
    );
    let huge = format!("\"count\":{}", usize::MAX);
    check_error(
        &broken("\"count\":12", &huge),
        "a.gltf",
        "more than 36000000 numbers",
    );
    check_error(
        &broken("\"count\":4", "\"count\":2"),
        "a.gltf",
        "beyond the 2 positions",
    );
    check_error(
        &broken("\"VEC3\"", "\"VEC4\""),
        "a.gltf",
        "accessor 0: its type is not VEC3",
    );
    check_error(
        &broken("\"mesh\":0", "\"mesh\":1"),
        "a.gltf",
        "node 0: its mesh is not there",
    );
    check_error(
        &broken("\"nodes\":[0]", "\"nodes\":[3]"),
        "a.gltf",
        "node 3: it is referred to",
    );
    check_error(
        &broken("{\"mesh\":0}", "{\"children\":[0]}"),
        "a.gltf",
        "node 0: it stands",
    );
    let draco = "\"extensionsRequired\":[\"KHR_draco_mesh_compression\"],\"extensionsUsed\"";
    check_error(
        &broken("\"extensionsUsed\"", draco),
        "a.gltf",
        "KHR_draco_mesh_compression is not",
    );
    check_error(b"{]", "a.gltf", "line 1, column 2");
    check_error(b"glTF", "a.glb", "no chunk of this GLB file");
}
