//! A folder of models and worlds, and what URIs find in it.

use std::fs;

use super::SearchPaths;
use crate::resolve::Resolver;

fn check(uri: &str, expect: Option<&str>) {
    let root = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        let file = root.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    let sdf = |version: &str, file: &str| format!("<sdf version='{version}'>{file}</sdf>");
    let config = |content: &str| format!("<model>{content}</model>");
    put("worlds/beside.sdf", "beside");
    put("models/bare/model.sdf", "bare");
    put("models/plain/part.sdf", "part");
    put("models/plain/model.config", &config("<sdf>part.sdf</sdf>"));
    let all = ["1.9", "1.10", "1.13"].map(|version| sdf(version, &format!("{version}.sdf")));
    put("models/listed/model.config", &config(&all.concat()));
    put("models/listed/1.10.sdf", "new");
    put("models/old/manifest.xml", &config(&sdf("1.2", "old.sdf")));
    put("models/old/old.sdf", "old");
    put("models/none/model.config", &config("<name>none</name>"));
    let uri = uri.replace("ROOT", &root.path().to_string_lossy());
    let resolver = SearchPaths::new([root.path().join("models")]);
    let from = root.path().join("worlds/world.sdf");
    let found = resolver.read(&uri, &from.to_string_lossy());
    let text = found.map(|found| found.text).ok();
    assert_eq!(text.as_deref(), expect, "{uri}");
    let data = resolver.read_data(&uri, &from.to_string_lossy());
    if uri.contains(".sdf") {
        let bytes = data.map(|data| data.bytes).ok();
        assert_eq!(bytes.as_deref(), expect.map(str::as_bytes), "{uri}");
    } else {
        assert!(data.is_err(), "{uri} is a folder");
    }
}

#[test]
fn files_are_found_beside_the_file_and_in_the_folders_and_at_their_place() {
    check("beside.sdf", Some("beside"));
    check("file://beside.sdf", Some("beside"));
    check("file://ROOT/worlds/beside.sdf", Some("beside"));
    check("ROOT/worlds/beside.sdf", Some("beside"));
    check("../worlds/beside.sdf", Some("beside"));
    check("model://plain/part.sdf", Some("part"));
    check("package://plain/part.sdf", Some("part"));
}

#[test]
fn a_folder_stands_for_the_newest_file_that_can_be_read() {
    check("model://plain", Some("part"));
    check("plain", Some("part"));
    check("model://listed", Some("new"));
    check("model://old", Some("old"));
}

#[test]
fn what_is_elsewhere_is_not_found() {
    check("model://gone", None);
    check("model://plain/gone.sdf", None);
    check("model://bare", None);
    check("model://none", None);
    check("model://plain/../bare/model.sdf", None);
    check("https://fuel.example.org/plain", None);
}
