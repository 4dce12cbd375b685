//! SDF 1.12 as data: which elements and attributes there are, of which type, and which are needed.
//!
//! The resources beside this file hold one line per element or attribute, indented by its parent:
//! `name type! default`, where `!` says that it must not be empty, `type[a,b]` bounds it and
//! `name-` is deprecated; `@name` is an attribute, `>` names elements that are defined at the left
//! margin, and `*` says that anything may stand in it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::value_kind::ValueKind;

const RESOURCES: [&str; 3] = [
    include_str!("specification/world.txt"),
    include_str!("specification/model.txt"),
    include_str!("specification/sensor.txt"),
];

static SPECIFICATION: LazyLock<Specification> = LazyLock::new(|| Specification::parse(&RESOURCES));

/// All elements of SDF.
#[derive(Debug)]
pub(crate) struct Specification {
    elements: Vec<ElementRule>,
    root: usize,
}

/// Content that an element may hold.
#[derive(Debug, Default)]
pub(crate) struct ElementRule {
    pub(crate) name: &'static str,
    pub(crate) value: Option<ValueRule>,
    pub(crate) attributes: Vec<(&'static str, ValueRule)>,
    pub(crate) is_deprecated: bool,
    /// Its content is another program's.
    pub(crate) holds_anything: bool,
    /// Indices of the elements in it, by name.
    children: BTreeMap<&'static str, usize>,
}

/// The type of a value and what it must be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueRule {
    pub(crate) kind: ValueKind,
    /// An attribute must be there, and neither it nor an element's text may be empty.
    pub(crate) is_required: bool,
    /// The least and the greatest value.
    pub(crate) range: [f64; 2],
    /// Value where the file gives none.
    pub(crate) default: &'static str,
}

impl Specification {
    /// Returns SDF 1.12.
    pub(crate) fn get() -> &'static Self {
        &SPECIFICATION
    }

    /// Returns the rule of the root element, `<sdf>`.
    pub(crate) fn root(&self) -> &ElementRule {
        &self.elements[self.root]
    }

    /// Returns the rule of an element in another one.
    pub(crate) fn child(&self, parent: &ElementRule, name: &str) -> Option<&ElementRule> {
        parent
            .children
            .get(name)
            .map(|index| &self.elements[*index])
    }

    /// Returns the rules of all elements in another one.
    pub(crate) fn children<'s>(
        &'s self,
        parent: &'s ElementRule,
    ) -> impl Iterator<Item = &'s ElementRule> {
        parent.children.values().map(|index| &self.elements[*index])
    }

    fn parse(resources: &[&'static str]) -> Self {
        let mut elements: Vec<ElementRule> = Vec::new();
        let mut definitions: BTreeMap<&str, usize> = BTreeMap::new();
        let mut references: Vec<(usize, &str)> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        for line in resources.iter().flat_map(|resource| resource.lines()) {
            let content = line.trim_start();
            let depth = (line.len() - content.len()) / 2;
            open.truncate(depth);
            let parent = open.last().copied();
            match (parent, content.split_at(1)) {
                (Some(parent), ("@", attribute)) => {
                    let (name, rest) = attribute.split_once(' ').unwrap_or((attribute, ""));
                    let rule = ValueRule::parse(rest).expect("an attribute has a type");
                    elements[parent].attributes.push((name, rule));
                }
                (Some(parent), (">", names)) => {
                    references.extend(names.split_whitespace().map(|name| (parent, name)));
                }
                (Some(parent), ("*", _)) => elements[parent].holds_anything = true,
                _ => {
                    let rule = ElementRule::parse(content);
                    let index = elements.len();
                    match parent {
                        Some(parent) => elements[parent].children.insert(rule.name, index),
                        None => definitions.insert(rule.name, index),
                    };
                    elements.push(rule);
                    open.push(index);
                }
            }
        }
        for (parent, name) in references {
            let definition = definitions[name];
            elements[parent].children.insert(name, definition);
        }
        let root = definitions["sdf"];
        Self { elements, root }
    }
}

impl ElementRule {
    fn parse(line: &'static str) -> Self {
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        Self {
            name: name.trim_end_matches('-'),
            is_deprecated: name.ends_with('-'),
            value: ValueRule::parse(rest),
            ..Self::default()
        }
    }
}

impl ValueRule {
    fn parse(text: &'static str) -> Option<Self> {
        let (kind, default) = text.split_once(' ').unwrap_or((text, ""));
        let (kind, range) = kind.split_once('[').unwrap_or((kind, ""));
        let (low, high) = range
            .trim_end_matches(']')
            .split_once(',')
            .unwrap_or_default();
        Some(Self {
            kind: ValueKind::named(kind.trim_end_matches('!'))?,
            is_required: kind.ends_with('!'),
            range: [
                low.parse().unwrap_or(f64::NEG_INFINITY),
                high.parse().unwrap_or(f64::INFINITY),
            ],
            default,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(path: &[&str]) -> &'static ElementRule {
        let specification = Specification::get();
        path.iter().fold(specification.root(), |rule, name| {
            specification
                .child(rule, name)
                .unwrap_or_else(|| panic!("{name} of {path:?} is not there"))
        })
    }

    #[test]
    fn elements_are_found_below_their_parents() {
        let gravity = find(&["world", "gravity"]).value.unwrap();
        assert_eq!(gravity.kind, ValueKind::Vector3);
        assert_eq!(gravity.default, "0 0 -9.8");
        assert!(gravity.is_required);
        let deep = [
            "model",
            "model",
            "link",
            "sensor",
            "imu",
            "orientation",
            "x",
            "noise",
            "stddev",
        ];
        assert_eq!(find(&deep).value.unwrap().range, [0.0, f64::INFINITY]);
        assert!(find(&["model", "joint", "thread_pitch"]).is_deprecated);
        assert!(find(&["world", "plugin"]).holds_anything);
    }

    #[test]
    fn what_came_after_1_9_is_there() {
        for path in [
            &["world", "joint", "axis", "mimic", "offset"] as &[&str],
            &[
                "world",
                "state",
                "model_state",
                "joint_state",
                "axis_state",
                "position",
            ],
            &["model", "link", "collision", "geometry", "cone", "radius"],
            &[
                "model",
                "link",
                "collision",
                "geometry",
                "mesh",
                "convex_decomposition",
            ],
            &["model", "link", "inertial", "fluid_added_mass", "qr"],
            &["model", "link", "inertial", "density"],
            &[
                "model",
                "link",
                "sensor",
                "air_speed",
                "pressure",
                "range",
                "max",
            ],
            &[
                "model",
                "link",
                "sensor",
                "camera",
                "lens",
                "projection",
                "p_fx",
            ],
            &["light", "light_on"],
        ] {
            find(path);
        }
    }

    #[test]
    fn every_default_is_a_value_of_its_type() {
        for rule in &Specification::get().elements {
            let attributes = rule.attributes.iter().map(|(_, value)| value);
            for value in rule.value.iter().chain(attributes) {
                let is_fine = value.default.is_empty() || value.kind.accepts(value.default);
                assert!(is_fine, "{} {value:?}", rule.name);
            }
        }
    }
}
