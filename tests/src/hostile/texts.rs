//! Texts of models that no run takes.

use std::fmt::Write;

/// Text with its name and what it tries.
type Text = (&'static str, &'static str, String);

/// Returns the texts.
pub(super) fn texts() -> Vec<Text> {
    let mut all = of_files();
    all.extend(bombs());
    all.extend(of_odd_names());
    all
}

fn of_files() -> Vec<Text> {
    let include = |uri: &str| model(&format!("<include><uri>{uri}</uri></include>"));
    let mesh = |uri: &str| {
        let geometry = format!("<geometry><mesh><uri>{uri}</uri></mesh></geometry>");
        model(&format!(
            "<link name='l'><collision name='c'>{geometry}</collision></link><gone/>\
             <include><uri>model://nowhere</uri></include>"
        ))
    };
    vec![
        (
            "include-absolute",
            "includes a file of the host",
            include("/etc/hostname"),
        ),
        (
            "include-file",
            "includes a file by its scheme",
            include("file:///etc/passwd"),
        ),
        (
            "include-above",
            "includes what is above",
            include("../../../../etc/passwd"),
        ),
        (
            "include-hidden",
            "includes a hidden file",
            include(".ssh/id_ed25519"),
        ),
        (
            "include-model-above",
            "leaves a model's folder",
            include("model://../etc/passwd"),
        ),
        (
            "include-device",
            "includes an endless device",
            include("/dev/zero"),
        ),
        (
            "include-process",
            "includes a file of the kernel",
            include("file:///proc/self/environ"),
        ),
        (
            "include-web",
            "includes from the network",
            include("https://example.invalid/x.sdf"),
        ),
        (
            "mesh-absolute",
            "has a mesh elsewhere",
            mesh("file:///etc/hostname"),
        ),
        ("mesh-device", "has an endless mesh", mesh("/dev/urandom")),
    ]
}

fn bombs() -> Vec<Text> {
    let mut links = String::new();
    for number in 0..5_000 {
        let _ = write!(links, "<link name='l{number}'/>");
    }
    let deep = "<model name='m'>".repeat(10_000);
    let bomb = "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>\
                <!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;'>]><sdf version='1.9'>&c;</sdf>";
    vec![
        ("entities", "has entities in entities", bomb.to_owned()),
        ("deep", "nests models ten thousand deep", deep),
        ("links", "has five thousand links", model(&links)),
    ]
}

fn of_odd_names() -> Vec<Text> {
    let pose = |pose: &str| model(&format!("<pose>{pose}</pose><link name='l'/>"));
    let two = "<sdf version='1.9'><model name='a'><link name='l'/></model>\
               <model name='b'><link name='l'/></model></sdf>"
        .to_owned();
    vec![
        (
            "name-escape",
            "has an escape sequence as its name",
            named("\u{1b}]0;owned\u{7}"),
        ),
        (
            "name-direction",
            "turns the direction of text",
            named("a\u{202e}b"),
        ),
        ("name-empty", "has no name", named("")),
        ("name-parts", "has the name of a part", named("a::b")),
        ("pose-nan", "is nowhere", pose("nan nan nan 0 0 0")),
        (
            "pose-infinite",
            "is infinitely far away",
            pose("inf 0 0 0 0 0"),
        ),
        ("pose-words", "has words for numbers", pose("a b c d e f")),
        (
            "half",
            "ends in the middle",
            model("<link name='l'>")[..60].to_owned(),
        ),
        ("no-text", "is no XML", "\u{0}\u{1}\u{2}".repeat(1000)),
        ("two", "has two models", two),
        (
            "world",
            "is a world",
            "<sdf version='1.9'><world name='w'/></sdf>".to_owned(),
        ),
        (
            "long",
            "has a name of a megabyte",
            named(&"n".repeat(1 << 20)),
        ),
    ]
}

fn named(name: &str) -> String {
    format!("<sdf version='1.9'><model name='{name}'><link name='l'/></model></sdf>")
}

fn model(inner: &str) -> String {
    format!("<sdf version='1.9'><model name='m'>{inner}</model></sdf>")
}
