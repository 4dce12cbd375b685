//! `<plugin>`: kept whole, for whatever knows its name.

use crate::tree::Element;
use crate::world::{Content, Plugin};

/// Reads the plugins of a world, model, link, joint, sensor or visual, in file order.
pub(super) fn read_all(parent: &Element) -> Vec<Plugin> {
    let attribute =
        |plugin: &Element, name: &str| plugin.filled_attribute(name).unwrap_or_default().to_owned();
    parent
        .children_named("plugin")
        .map(|plugin| Plugin {
            name: attribute(plugin, "name"),
            filename: attribute(plugin, "filename"),
            content: Content::from(plugin),
        })
        .collect()
}
