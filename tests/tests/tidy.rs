//! Shows that the sources keep the rules that no compiler knows: sizes of files, words that pure
//! crates never say, paths that the documents name, and that every world and config is used.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use tests::{python, repository};

const FILE_LINES_MAX: usize = 1000;
const LINE_CHARS_MAX: usize = 100;

/// Returns all tracked kinds of files below a folder of the repository.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(&repository::root().join(folder), extension, &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository is readable") {
        let path = entry.expect("its entries are readable").path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                collect(&path, extension, found);
            }
        } else if path.extension().is_some_and(|kind| kind == extension) {
            found.push(path);
        }
    }
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn sources() -> Vec<PathBuf> {
    files(".", "rs")
}

#[test]
fn source_files_are_short_and_so_are_their_lines() {
    for path in sources() {
        let text = text(&path);
        let lines = text.lines().count();
        assert!(
            lines <= FILE_LINES_MAX,
            "{} has {lines} lines",
            path.display()
        );
        for (number, line) in text.lines().enumerate() {
            let chars = line.chars().count();
            let place = format!("{}:{}", path.display(), number + 1);
            assert!(chars <= LINE_CHARS_MAX, "{place} has {chars} characters");
        }
    }
}

#[test]
fn every_source_file_opens_with_what_it_is() {
    for path in sources() {
        assert!(
            text(&path).starts_with("//!"),
            "{} has no //! at its top",
            path.display()
        );
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        assert_ne!(name, "mod.rs", "{}", path.display());
    }
}

#[test]
fn doc_lines_begin_with_a_noun_or_a_verb() {
    const RELATIVE: [&str; 10] = [
        "What", "How", "Who", "Whom", "Whose", "Which", "Why", "Whether", "Where", "When",
    ];
    let (mut lines, mut relative) = (0, Vec::new());
    for path in sources() {
        for (number, line) in text(&path).lines().enumerate() {
            let line = line.trim_start();
            let doc = line.strip_prefix("/// ").or(line.strip_prefix("//! "));
            let Some(doc) = doc else {
                continue;
            };
            lines += 1;
            let word = doc.split(' ').next().unwrap_or_default();
            if RELATIVE.contains(&word) {
                relative.push(format!("{}:{}", path.display(), number + 1));
            }
        }
    }
    // In a hundred lines one may: some sentences are best said so.
    let count = relative.len();
    assert!(
        count * 100 <= lines,
        "{count} of {lines} doc lines begin with a relative clause: {relative:#?}"
    );
}

#[test]
fn nothing_unfinished_or_switched_off_is_in_the_sources() {
    let words = [
        ["to", "do!("],
        ["unimple", "mented!("],
        ["db", "g!("],
        ["#[ig", "nore]"],
    ];
    for path in sources() {
        let text = text(&path);
        for word in &words {
            let word = word.concat();
            assert!(!text.contains(&word), "{} holds {word}", path.display());
        }
    }
}

#[test]
fn pure_crates_name_no_clock_thread_or_socket() {
    let words = [
        "Instant::",
        "SystemTime::",
        "thread::",
        "std::net",
        "zmq",
        "tokio",
        "rapier3d",
    ];
    for folder in [
        "common/images/src",
        "common/mesh/src",
        "common/msgpack/src",
        "common/protocol/src",
        "common/render/src",
        "common/scene/src",
        "common/ros2/src",
        "common/sdf/src",
        "common/lockstep/src",
    ] {
        for path in files(folder, "rs") {
            let text = text(&path);
            let code = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            for line in code {
                for word in words {
                    assert!(
                        !line.contains(word),
                        "{} names {word}: {line}",
                        path.display()
                    );
                }
            }
        }
    }
}

/// Components of the primary, each in a module of its own below `primary/`.
const COMPONENTS: [&str; 9] = [
    "Barrier",
    "Commands",
    "Participants",
    "Peers",
    "Placement",
    "Recovery",
    "Resume",
    "RunClock",
    "WorldState",
];

/// Files that route between components: all that may name [`Primary`](lockstep::Primary). One file
/// of them all would have 2,200 lines, so it is divided by what comes in: inputs and the life of an
/// iteration; requests; programs that take part; secondaries that come and go; queries of the
/// driver.
const ROUTES: [&str; 6] = [
    "primary.rs",
    "primary/failover.rs",
    "primary/participation.rs",
    "primary/queries.rs",
    "primary/requests.rs",
    "primary/windows.rs",
];

const LOCKSTEP: &str = "common/lockstep/src";
const WORKER: &str = "worker/src";
/// The crates of a worker, but for the solver.
const OF_WORKER: [&str; 4] = [
    WORKER,
    "worker/cell_host/src",
    "worker/physics/src",
    "worker/systems/src",
];

/// Returns the sources of lockstep without their tests, by their paths.
fn rules() -> Vec<(String, String)> {
    code_below(LOCKSTEP)
}

/// Returns the sources below a folder without their tests and comments, by their paths.
fn code_below(folder: &str) -> Vec<(String, String)> {
    let root = repository::root().join(folder);
    let is_test = |path: &str| path.split('/').any(|part| part.starts_with("tests"));
    let named = files(folder, "rs").into_iter().map(|path| {
        let name = path.strip_prefix(&root).expect("it is below the folder");
        let code = text(&path);
        let tests = ["mod tests {", "pub(crate) mod tests {"];
        let starts = tests.map(|head| code.find(&format!("#[cfg(test)]\n{head}")));
        let end = starts.into_iter().flatten().min().unwrap_or(code.len());
        let lines = code[..end].lines();
        let code = lines.filter(|line| !line.trim_start().starts_with("//"));
        let name = name.to_string_lossy().into_owned();
        (name, code.collect::<Vec<&str>>().join("\n"))
    });
    named.filter(|(name, _)| !is_test(name)).collect()
}

/// Returns the identifiers in some code.
fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_')
}

#[test]
fn components_of_the_primary_have_few_fields_of_their_own() {
    const FIELDS_MAX: usize = 10;
    let mut found = Vec::new();
    for (path, code) in rules() {
        for body in code.split("\npub(crate) struct ").skip(1) {
            let name = body.split([' ', '(', '<', ';']).next().unwrap_or_default();
            if COMPONENTS.contains(&name) {
                let lines = body.lines().skip(1).take_while(|line| *line != "}");
                let fields: Vec<&str> = lines.filter(|line| line.contains(": ")).collect();
                let count = fields.len();
                assert!(count <= FIELDS_MAX, "{name} in {path} has {count} fields");
                let open = fields.iter().find(|line| line.contains("pub"));
                assert_eq!(
                    open, None,
                    "{name} in {path} has a field that others can write"
                );
                found.push(name.to_owned());
            }
        }
        if let Some((_, body)) = code.split_once("\npub struct Primary {") {
            let lines = body.lines().take_while(|line| *line != "}");
            let count = lines.filter(|line| line.contains(": ")).count();
            assert!(count <= FIELDS_MAX, "Primary has {count} fields");
            found.push("Primary".to_owned());
        }
    }
    assert_eq!(found.len(), COMPONENTS.len() + 1, "{found:?}");
}

#[test]
fn components_of_the_primary_do_not_know_it() {
    let mut seen = 0;
    for (path, code) in rules() {
        let is_route = ROUTES.contains(&path.as_str());
        let owns_impl = code.lines().any(|line| line.starts_with("impl Primary {"));
        assert!(
            is_route || !owns_impl,
            "{path} has rules of the whole primary"
        );
        if path.starts_with("primary/") && !is_route {
            seen += 1;
            // A peer may have the role of the primary.
            let code = code.replace("Role::Primary", "");
            let named = words(&code).find(|word| ["Primary", "Phase"].contains(word));
            assert_eq!(named, None, "{path} names what composes it");
        }
    }
    assert!(seen > 30, "{seen} files of components were looked at");
}

/// Functions that may fail with a text: the file, the name and the reason.
const TEXTS_ALLOWED: [(&str, &str, &str); 7] = [
    ("orchestrator/src/cli.rs", "parse_seconds", VALUE_PARSER),
    ("orchestrator/src/cli/fuel.rs", "sha256", VALUE_PARSER),
    (
        "orchestrator/src/cli/generate.rs",
        "parse_levels",
        VALUE_PARSER,
    ),
    ("orchestrator/src/cli/keys.rs", "validity", VALUE_PARSER),
    (
        "orchestrator/src/cli/replay.rs",
        "parse_speed",
        VALUE_PARSER,
    ),
    ("orchestrator/src/cli/topic.rs", "parse_rate", VALUE_PARSER),
    ("orchestrator/src/cli/web.rs", "address", VALUE_PARSER),
];

const VALUE_PARSER: &str = "clap only shows the error of a value parser";

/// Returns the names of the functions in some code at which a result has a text as its error.
fn failing_with_texts(code: &str) -> Vec<&str> {
    const RESULT: &str = "Result<";
    let results = code.match_indices(RESULT);
    let of_text = results.filter(|(place, _)| {
        let arguments = type_arguments(&code[place + RESULT.len()..]);
        arguments.len() == 2 && matches!(arguments[1], "String" | "&str" | "&'static str")
    });
    let function = |(place, _): (usize, &str)| {
        let (_, name) = code[..place].rsplit_once("fn ").unwrap_or_default();
        words(name).next().unwrap_or_default()
    };
    of_text.map(function).collect()
}

/// Returns the type arguments at the beginning of some code, up to the bracket that ends them.
fn type_arguments(code: &str) -> Vec<&str> {
    let (mut arguments, mut start, mut depth, mut before) = (Vec::new(), 0, 0, ' ');
    for (place, c) in code.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' if before == '-' => {}
            '>' | ',' if depth == 0 => {
                arguments.push(code[start..place].trim());
                start = place + 1;
                if c == '>' {
                    break;
                }
            }
            '>' | ')' | ']' => depth -= 1,
            _ => {}
        }
        before = c;
    }
    arguments.retain(|argument| !argument.is_empty());
    arguments
}

#[test]
fn errors_are_types_to_the_edge() {
    let sample = "fn a() -> Result<(), Error>; fn b(_: fn() -> Result<u8, String>);\
                  type C = Result<Vec<(u8, String)>, E>; fn d() -> Result<\n    A<B, C>,\n    \
                  String,\n> {} fn e() -> Result<fn() -> String, String>; fn f() -> io::Result<A>;\
                  fn g() -> Result<A, &'static str>;";
    assert_eq!(failing_with_texts(sample), ["b", "d", "e", "g"]);
    let root = repository::root();
    let mut found = BTreeSet::new();
    for folder in ["common", "orchestrator", "worker"] {
        for path in files(folder, "rs") {
            let name = path.strip_prefix(&root).expect("it is in the repository");
            let has = |part: &str| name.components().any(|one| one.as_os_str() == part);
            let is_test = has("tests") || has("tests.rs");
            if !has("src") || is_test || has("main.rs") {
                continue;
            }
            let text = text(&path);
            let code = text.split("#[cfg(test)]\nmod tests {").next();
            let lines = code.unwrap_or_default().lines();
            let code = lines.filter(|line| !line.trim_start().starts_with("//"));
            let code = code.collect::<Vec<&str>>().join("\n");
            let name = name.to_string_lossy();
            let functions = failing_with_texts(&code).into_iter();
            found.extend(functions.map(|function| format!("{name}: {function}")));
        }
    }
    let allowed = TEXTS_ALLOWED.map(|(file, function, _)| format!("{file}: {function}"));
    assert_eq!(found, BTreeSet::from(allowed), "these fail with a text");
}

/// Returns the structs in some code, with how many named fields they have.
fn structs(code: &str) -> Vec<(&str, usize)> {
    let mut lines = code.lines();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        let is_head = line.starts_with(char::is_alphabetic) && line.ends_with('{');
        let mut after = words(line).skip_while(|word| *word != "struct").skip(1);
        if let Some(name) = after.next().filter(|_| is_head) {
            let body = lines.by_ref().take_while(|line| *line != "}");
            found.push((name, body.filter(|line| is_field(line)).count()));
        }
    }
    found
}

/// Tells whether a line in a struct is a field of it.
fn is_field(line: &str) -> bool {
    let field = line
        .strip_prefix("    ")
        .and_then(|line| line.split_once(": "));
    let name = field.and_then(|(name, _)| name.rsplit(' ').next());
    let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
    name.is_some_and(is_name) && !line.starts_with("     ")
}

/// Returns the types that some code has methods of, those of traits left out.
fn types_with_methods(code: &str) -> Vec<&str> {
    let heads = code.lines().filter_map(|line| line.strip_prefix("impl"));
    let heads = heads.filter(|head| !head.contains(" for "));
    let names = heads.filter_map(|head| {
        let mut depth = 0;
        let end = head.find(|c: char| {
            depth += i32::from(c == '<') - i32::from(c == '>');
            depth == 0 && c == ' '
        })?;
        head[end + 1..].split([' ', '<', '{']).next()
    });
    names.collect()
}

/// Types that are larger than others may be, each with why.
const LARGE: [&str; 1] = [
    // The one door to the physics engine: what systems, sensors and hosts do with it is a file for
    // each of them, and each of these needs the same tables of handles.
    "Cell",
];

/// Structs that have more fields than others may, each with why.
const WIDE: [&str; 1] = [
    // The order of its fields is that of the bytes of a saved state; `SavedParts` has them grouped.
    "SavedState",
];

/// Sources beside the worker's whose structs have few fields.
const ALSO_COMPOSED: [&str; 7] = [
    "common/journal/src",
    "common/transport/src",
    "orchestrator/client/src",
    "orchestrator/src/commands/run",
    "orchestrator/src/launch",
    "orchestrator/src/replay",
    "orchestrator/web/src",
];

#[test]
fn structs_of_the_rules_of_the_worker_and_of_what_follows_runs_have_few_fields() {
    const FIELDS_MAX: usize = 12;
    let mut seen = BTreeMap::new();
    let mut wide = Vec::new();
    let others = OF_WORKER.into_iter().chain(ALSO_COMPOSED);
    for (path, code) in rules().into_iter().chain(others.flat_map(code_below)) {
        for (name, fields) in structs(&code) {
            if fields > FIELDS_MAX {
                assert!(WIDE.contains(&name), "{name} in {path} has {fields} fields");
                wide.push(name.to_owned());
            }
            let most = seen.entry(name.to_owned()).or_insert(fields);
            *most = fields.max(*most);
        }
    }
    assert_eq!(wide, WIDE, "these alone have more than {FIELDS_MAX} fields");
    for name in ["PrimaryDriver", "Settings"] {
        let fields = seen.get(name);
        assert!(
            fields.is_some_and(|fields| *fields >= 10),
            "{name}: {fields:?}"
        );
    }
}

#[test]
fn types_of_the_worker_lie_in_few_files() {
    const FILES_MAX: usize = 3;
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, code) in OF_WORKER.into_iter().flat_map(code_below) {
        let mut types = types_with_methods(&code);
        types.sort_unstable();
        types.dedup();
        for name in types {
            places
                .entry(name.to_owned())
                .or_default()
                .push(path.clone());
        }
    }
    places.retain(|_, paths| paths.len() > FILES_MAX);
    let large: Vec<&String> = places.keys().collect();
    assert_eq!(
        large, LARGE,
        "these have methods in many files: {places:#?}"
    );
}

#[test]
fn parts_of_the_driver_of_a_primary_do_not_know_it() {
    const DRIVER: [&str; 3] = ["primary/reporting.rs", "primary/requests.rs", "primary.rs"];
    let code = code_below(WORKER);
    let of_driver: Vec<&str> = code
        .iter()
        .filter(|(_, code)| types_with_methods(code).contains(&"PrimaryDriver"))
        .map(|(path, _)| path.as_str())
        .collect();
    assert_eq!(of_driver, DRIVER);
    let parts = code.iter().filter(|(path, _)| path.starts_with("primary/"));
    let parts = parts.filter(|(path, _)| !DRIVER.contains(&path.as_str()));
    let mut seen = 0;
    for (path, code) in parts {
        seen += 1;
        let named = words(code).find(|word| *word == "PrimaryDriver");
        assert_eq!(named, None, "{path} names what composes it");
        let fields = code.lines().filter(|line| line.starts_with("    pub"));
        let mut open = fields.filter(|line| line.ends_with(',') && !line.contains("fn "));
        assert_eq!(
            open.next(),
            None,
            "{path} has a field that others can write"
        );
    }
    assert!(seen >= 10, "{seen} parts were looked at");
}

/// Returns the modules that some code of a module uses, by their full names.
fn used<'m>(code: &str, module: &str, modules: &'m [String]) -> Vec<&'m String> {
    let mut found = Vec::new();
    for (place, _) in code.match_indices("crate::") {
        let path = &code[place + "crate::".len()..];
        let end = path.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
        let (path, rest) = path.split_at(end.unwrap_or(path.len()));
        let listed = rest
            .strip_prefix('{')
            .and_then(|list| list.split('}').next());
        let listed = listed.into_iter().flat_map(|list| list.split(','));
        let names = listed.map(|name| format!("{path}{}", name.trim()));
        for name in names.chain([path.to_owned()]) {
            let is_it = |one: &&String| {
                let rest = name.strip_prefix(one.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
            };
            found.extend(modules.iter().filter(is_it).max_by_key(|one| one.len()));
        }
    }
    let is_family = |other: &str| {
        let is_below = |one: &str, other: &str| {
            let rest = one.strip_prefix(other);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        };
        is_below(module, other) || is_below(other, module)
    };
    found.retain(|other| !is_family(other));
    found
}

#[test]
fn modules_of_the_rules_use_each_other_in_one_direction() {
    let rules = rules();
    let name = |path: &str| path.trim_end_matches(".rs").replace('/', "::");
    let modules = rules.into_iter().map(|(path, code)| (name(&path), code));
    let uses = check_direction(modules.collect());
    assert!(uses > 100, "{uses} uses were found");
}

#[test]
fn parts_of_the_orchestrator_use_each_other_in_one_direction() {
    let mut parts: BTreeMap<String, String> = BTreeMap::new();
    for (path, code) in code_below("orchestrator/src") {
        let part = path.split('/').next().unwrap_or_default();
        let part = part.trim_end_matches(".rs").to_owned();
        parts.entry(part).or_default().push_str(&code);
    }
    // The root and the program use all.
    parts.retain(|part, _| part != "lib" && part != "main");
    let uses = check_direction(parts.into_iter().collect());
    assert!(uses > 30, "{uses} uses were found");
}

/// Makes sure that no modules, each with its code, use each other in a circle; returns how many
/// uses there are.
fn check_direction(modules: Vec<(String, String)>) -> usize {
    let (names, codes): (Vec<String>, Vec<String>) = modules.into_iter().unzip();
    let mut left: Vec<(&String, Vec<&String>)> = names
        .iter()
        .zip(&codes)
        .map(|(module, code)| (module, used(code, module, &names)))
        .collect();
    let uses: usize = left.iter().map(|(_, used)| used.len()).sum();
    // Whoever uses nobody that is left can be taken away, until a circle is left.
    loop {
        let there: Vec<&String> = left.iter().map(|(module, _)| *module).collect();
        let before = left.len();
        left.retain(|(_, used)| used.iter().any(|other| there.contains(other)));
        if left.len() == before {
            break;
        }
    }
    assert!(left.is_empty(), "these go in circles: {left:?}");
    uses
}

#[test]
fn tests_wait_for_conditions_and_never_sleep() {
    for folder in ["tests", "worker/tests", "orchestrator/tests", "common"] {
        for path in files(folder, "rs") {
            // A bench measures over a time, and a picture is taken after one.
            let is_in = |name| path.components().any(|part| part.as_os_str() == name);
            let is_test = is_in("tests") && !is_in("benches") && !is_in("examples");
            let word = ["thread::", "sleep"].concat();
            assert!(
                !is_test || !text(&path).contains(&word),
                "{} sleeps",
                path.display()
            );
        }
    }
}

#[test]
fn every_path_that_the_documents_name_exists() {
    const WHOLE: [&str; 3] = ["ARCHITECTURE.md", "README.md", "docs/protocol.md"];
    let root = repository::root();
    let documents = WHOLE.iter().map(|name| root.join(name));
    // Others name files of worlds and topics that are not of this repository.
    for document in documents.chain(files("docs", "md")) {
        let is_whole = WHOLE.iter().any(|name| document.ends_with(name));
        let (text, document) = (text(&document), document.display());
        for quoted in text.split('`').skip(1).step_by(2) {
            let is_path = quoted.contains('/')
                && !quoted.starts_with(['/', '$', '-', '~', '<'])
                && !quoted.contains([' ', ':', '<', '{', '*', '|', '\n'])
                && !quoted.starts_with("target/");
            let is_source = Path::new(quoted).extension().is_some_and(|end| end == "rs");
            if is_path && (is_whole || is_source) {
                let path = repository::root().join(quoted.trim_end_matches('/'));
                assert!(
                    path.exists(),
                    "{document} names {quoted}, which is not there"
                );
            }
        }
    }
}

#[test]
fn every_world_loads_says_what_it_shows_and_is_used() {
    let tests: String = sources().iter().map(|path| text(path)).collect();
    for path in files("worlds", "sdf") {
        let text = text(&path);
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name");
        let comment = text.find("<!--").expect("a world opens with a comment");
        assert!(comment < 60, "{name} says on its first line what it shows");
        let read = sdf::read_worlds(&text, name, &sdf::NoFiles);
        let read = read.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(read.warnings.is_empty(), "{name}: {:?}", read.warnings);
        assert!(tests.contains(name), "no test or program uses {name}");
    }
}

#[test]
fn every_config_is_toml_and_is_used() {
    let tests: String = sources().iter().map(|path| text(path)).collect();
    for path in files("configs", "toml") {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name");
        let parsed: Result<toml::Table, _> = text(&path).parse();
        assert!(parsed.is_ok(), "{name}: {parsed:?}");
        assert!(tests.contains(name), "no test or program uses {name}");
    }
}

#[test]
fn examples_in_python_compile() {
    let examples = files("docs/examples", "py");
    assert!(examples.len() > 1, "{examples:?}");
    let script = "import sys; compile(open(sys.argv[1]).read(), sys.argv[1], 'exec')";
    for example in examples {
        let Some(mut python) = python::of_machine() else {
            return;
        };
        let output = python.args(["-c", script]).arg(&example).output();
        let output = output.expect("python3 starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {said}", example.display());
    }
}
