//! `<material>`: colours, maps and scripts; no file that it names is opened.

use super::{look, part};
use crate::tree::Element;
use crate::world::{Material, Pbr};

/// Reads a material.
pub(super) fn read(material: &Element) -> Material {
    let script = material.child("script");
    Material {
        script: script
            .and_then(|script| part::text(script, "name"))
            .unwrap_or_default(),
        ambient: look::color(material, "ambient"),
        diffuse: look::color(material, "diffuse"),
        specular: look::color(material, "specular"),
        emissive: look::color(material, "emissive"),
        shininess: look::size(material, "shininess", 0.0),
        lighting: look::truth(material, "lighting", true),
        double_sided: look::truth(material, "double_sided", false),
        pbr: material.child("pbr").and_then(pbr),
    }
}

/// Reads `<metal>`, or else `<specular>`, whose glossiness is the opposite of roughness.
fn pbr(pbr: &Element) -> Option<Pbr> {
    let metal = pbr.child("metal");
    let workflow = metal.or(pbr.child("specular"))?;
    let [metalness, roughness] = if metal.is_some() {
        [
            look::share(workflow, "metalness", 0.5),
            look::share(workflow, "roughness", 0.5),
        ]
    } else {
        [0.0, 1.0 - look::share(workflow, "glossiness", 0.0)]
    };
    Some(Pbr {
        albedo_map: look::uri(workflow, "albedo_map"),
        normal_map: look::uri(workflow, "normal_map"),
        roughness_map: look::uri(workflow, "roughness_map"),
        metalness_map: look::uri(workflow, "metalness_map"),
        emissive_map: look::uri(workflow, "emissive_map"),
        metalness,
        roughness,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::parse;

    fn material(content: &str) -> Material {
        read(&parse(&format!("<material>{content}</material>"), "f").unwrap())
    }

    #[test]
    fn colours_that_are_left_out_or_wrong_are_not_there() {
        assert_eq!(material(""), Material::default());
        let found = material(
            "<ambient>1 0 0</ambient><diffuse>a b c</diffuse><specular>0 0 9 1</specular>\
             <double_sided>1</double_sided><shininess>-1</shininess>\
             <script><uri>u</uri><name>Gazebo/Red</name></script>",
        );
        assert_eq!(found.ambient, Some([1.0, 0.0, 0.0, 1.0]));
        assert_eq!(found.diffuse, None);
        assert_eq!(found.specular, Some([0.0, 0.0, 1.0, 1.0]));
        assert!(found.double_sided && found.lighting);
        assert_eq!((found.shininess, &*found.script), (0.0, "Gazebo/Red"));
    }

    #[test]
    fn both_workflows_say_how_rough_a_surface_is() {
        let metal = "<pbr><metal><albedo_map>a.png</albedo_map><metalness>0.25</metalness>\
                     </metal></pbr>";
        let pbr = material(metal).pbr.unwrap();
        assert_eq!((&*pbr.albedo_map, &*pbr.normal_map), ("a.png", ""));
        assert_eq!((pbr.metalness, pbr.roughness), (0.25, 0.5));
        let specular = "<pbr><specular><glossiness>0.75</glossiness></specular></pbr>";
        let pbr = material(specular).pbr.unwrap();
        assert_eq!((pbr.metalness, pbr.roughness), (0.0, 0.25));
        assert_eq!(material("<pbr/>").pbr, None);
    }
}
