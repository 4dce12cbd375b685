//! Shows that all dependencies keep the rules of `deny.toml`, as `cargo deny check bans licenses
//! sources` does: crates that only some may know, licences that are allowed, no source but the
//! registry, and no requirement that any version meets.

use std::collections::BTreeMap;
use std::process::Command;

use serde::Deserialize;
use serde_json::{Value, json};
use spdx::{Expression, ParseMode};
use tests::repository;

/// The rules, as far as they are checked here.
#[derive(Deserialize)]
struct Rules {
    graph: GraphRules,
    licenses: LicenseRules,
    bans: BanRules,
}

#[derive(Deserialize)]
struct GraphRules {
    targets: Vec<String>,
}

#[derive(Deserialize)]
struct LicenseRules {
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct BanRules {
    deny: Vec<Ban>,
}

/// Crate that nobody may depend on, or only some.
#[derive(Deserialize)]
struct Ban {
    #[serde(rename = "crate")]
    name: String,
    #[serde(default)]
    wrappers: Vec<String>,
}

/// Address of the registry.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

impl Rules {
    fn read() -> Self {
        let path = repository::root().join("deny.toml");
        let text = std::fs::read_to_string(path).expect("the rules are there");
        toml::from_str(&text).expect("the rules are sound")
    }

    /// Returns what in a graph, as `cargo metadata` prints it, breaks a rule.
    fn violations(&self, graph: &Value) -> Vec<String> {
        let packages = list(&graph["packages"]);
        let by_id: BTreeMap<&str, &Value> = packages
            .map(|package| (text(&package["id"]), package))
            .collect();
        let name = |id: &Value| text(&by_id[text(id)]["name"]);
        let mut found = Vec::new();
        for node in list(&graph["resolve"]["nodes"]) {
            let package = by_id[text(&node["id"])];
            found.extend(self.violations_of(package));
            for dependency in list(&node["deps"]) {
                let (from, to) = (name(&node["id"]), name(&dependency["pkg"]));
                let mut bans = self.bans.deny.iter().filter(|ban| ban.name == to);
                if bans.any(|ban| !ban.wrappers.iter().any(|wrapper| wrapper == from)) {
                    found.push(format!("{from} may not depend on {to}"));
                }
            }
        }
        for member in list(&graph["workspace_members"]) {
            for dependency in list(&by_id[text(member)]["dependencies"]) {
                if dependency["req"] == "*" && dependency["path"].is_null() {
                    let to = text(&dependency["name"]);
                    found.push(format!("{} takes any version of {to}", name(member)));
                }
            }
        }
        found
    }

    /// Returns what of a package itself breaks a rule: its licence and its source.
    fn violations_of(&self, package: &Value) -> Vec<String> {
        let name = format!("{} {}", text(&package["name"]), text(&package["version"]));
        let mut found = Vec::new();
        let license = package["license"].as_str().unwrap_or_default();
        match Expression::parse_mode(license, ParseMode::LAX) {
            Ok(parsed) => {
                let is_allowed = |id: String| self.licenses.allow.contains(&id);
                if !parsed.evaluate(|requirement| is_allowed(requirement.to_string())) {
                    found.push(format!("{name} has the licence {license}"));
                }
            }
            Err(error) => found.push(format!("{name} has no licence that is known: {error}")),
        }
        let source = package["source"].as_str();
        if source.is_some_and(|source| source != REGISTRY) {
            found.push(format!("{name} comes from {}", text(&package["source"])));
        }
        found
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns the graph of all dependencies with all features for a target; `None` if some are not
/// on this machine and cannot be fetched.
fn graph(target: &str) -> Option<Value> {
    let mut command = Command::new(env!("CARGO"));
    command
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(["--all-features", "--filter-platform", target])
        .current_dir(repository::root());
    let output = command.output().expect("cargo starts");
    if output.status.success() {
        return Some(serde_json::from_slice(&output.stdout).expect("JSON"));
    }
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("download"), "{said}");
    eprintln!("shows nothing of {target}: {said}");
    None
}

#[test]
fn dependencies_keep_the_rules_for_each_target() {
    let rules = Rules::read();
    let mut seen = 0;
    for target in &rules.graph.targets {
        if let Some(graph) = graph(target) {
            let found = rules.violations(&graph);
            assert!(found.is_empty(), "{target}:\n{}", found.join("\n"));
            seen += list(&graph["resolve"]["nodes"]).count();
        }
    }
    assert!(seen > 300, "{seen} dependencies were looked at");
}

#[test]
fn each_broken_rule_is_named() {
    let rules: Rules = toml::from_str(
        "[graph]\ntargets = []\n[licenses]\nallow = ['MIT', 'Apache-2.0']\n[bans]\ndeny = [\n\
         { crate = 'zmq', wrappers = ['transport'] },\n{ crate = 'bincode' },\n]\n",
    )
    .expect("rules");
    let package = |name: &str, license: &str, source: Value| {
        json!({ "id": name, "name": name, "version": "1.0.0", "license": license,
            "source": source, "dependencies": [] })
    };
    let node = |name: &str, needs: &[&str]| {
        let deps: Vec<Value> = needs.iter().map(|need| json!({ "pkg": need })).collect();
        json!({ "id": name, "deps": deps })
    };
    let mut worker = package("worker", "MIT OR GPL-3.0", Value::Null);
    worker["dependencies"] = json!([
        { "name": "zmq", "req": "*", "path": null },
        { "name": "transport", "req": "*", "path": "../transport" },
    ]);
    let graph = json!({
        "packages": [
            worker,
            package("transport", "MIT/Apache-2.0", Value::Null),
            package("zmq", "Apache-2.0 AND GPL-3.0", json!(REGISTRY)),
            package("bincode", "", json!("git+https://example.org/bincode")),
        ],
        "resolve": { "nodes": [
            node("worker", &["transport", "zmq", "bincode"]),
            node("transport", &["zmq"]),
            node("zmq", &[]),
            node("bincode", &[]),
        ] },
        "workspace_members": ["worker", "transport"],
    });
    let mut found = rules.violations(&graph);
    found.sort();
    let unknown = found.remove(0);
    assert!(
        unknown.starts_with("bincode 1.0.0 comes from git+"),
        "{unknown}"
    );
    let unknown = found.remove(0);
    assert!(
        unknown.starts_with("bincode 1.0.0 has no licence"),
        "{unknown}"
    );
    assert_eq!(
        found,
        [
            "worker may not depend on bincode",
            "worker may not depend on zmq",
            "worker takes any version of zmq",
            "zmq 1.0.0 has the licence Apache-2.0 AND GPL-3.0",
        ]
    );
}
