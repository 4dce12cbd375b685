//! Materials that Gazebo Classic names in scripts: worlds refer to them by name alone.

/// Colours of a material of Gazebo Classic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ScriptColors {
    pub(crate) ambient: [f64; 3],
    pub(crate) diffuse: [f64; 3],
    pub(crate) specular: [f64; 3],
    pub(crate) emissive: [f64; 3],
    pub(crate) opacity: f64,
}

const BLACK: [f64; 3] = [0.0; 3];
const DIM: [f64; 3] = [0.1; 3];

/// A row of the table: name, ambient, diffuse, specular, emissive, opacity.
type Row = (&'static str, [f64; 3], [f64; 3], [f64; 3], [f64; 3], f64);

/// A material of one colour.
const fn plain(name: &'static str, color: [f64; 3], specular: [f64; 3]) -> Row {
    (name, color, color, specular, BLACK, 1.0)
}

/// A material of one colour that shines by itself.
const fn glow(name: &'static str, color: [f64; 3], specular: [f64; 3]) -> Row {
    (name, color, color, specular, color, 1.0)
}

/// A material of one colour that is half transparent.
const fn clear(name: &'static str, color: [f64; 3], opacity: f64) -> Row {
    (name, color, color, BLACK, BLACK, opacity)
}

/// The materials by name; textured ones have a colour like that of their image.
#[rustfmt::skip]
const SCRIPTS: &[Row] = &[
    ("Gazebo/Grey", [0.3; 3], [0.7; 3], [0.01; 3], BLACK, 1.0),
    plain("Gazebo/Gray", [0.5; 3], [0.01; 3]),
    plain("Gazebo/DarkGrey", [0.175; 3], [0.175; 3]),
    plain("Gazebo/DarkGray", [0.175; 3], [0.175; 3]),
    plain("Gazebo/White", [1.0; 3], DIM),
    plain("Gazebo/FlatBlack", [0.1; 3], [0.01; 3]),
    plain("Gazebo/Black", BLACK, DIM),
    plain("Gazebo/Red", [1.0, 0.0, 0.0], DIM),
    plain("Gazebo/RedBright", [0.87, 0.26, 0.07], [0.87, 0.26, 0.07]),
    plain("Gazebo/Green", [0.0, 1.0, 0.0], DIM),
    plain("Gazebo/Blue", [0.0, 0.0, 1.0], DIM),
    ("Gazebo/SkyBlue", [0.13, 0.44, 0.70], [0.0, 0.0, 1.0], DIM, BLACK, 1.0),
    plain("Gazebo/Yellow", [1.0, 1.0, 0.0], BLACK),
    plain("Gazebo/ZincYellow", [0.9725, 0.9529, 0.2078], [0.9725, 0.9529, 0.2078]),
    plain("Gazebo/DarkYellow", [0.7, 0.7, 0.0], BLACK),
    plain("Gazebo/Purple", [1.0, 0.0, 1.0], DIM),
    plain("Gazebo/Turquoise", [0.0, 1.0, 1.0], DIM),
    plain("Gazebo/Orange", [1.0, 0.5088, 0.0468], [0.5; 3]),
    plain("Gazebo/Indigo", [0.33, 0.0, 0.5], DIM),
    plain("Gazebo/Gold", [0.8, 0.648_69, 0.120_759], [0.4; 3]),
    glow("Gazebo/WhiteGlow", [1.0; 3], DIM),
    glow("Gazebo/RedGlow", [1.0, 0.0, 0.0], BLACK),
    glow("Gazebo/GreenGlow", [0.0, 1.0, 0.0], DIM),
    glow("Gazebo/BlueGlow", [0.0, 0.0, 1.0], DIM),
    glow("Gazebo/YellowGlow", [1.0, 1.0, 0.0], BLACK),
    glow("Gazebo/PurpleGlow", [1.0, 0.0, 1.0], DIM),
    glow("Gazebo/TurquoiseGlow", [0.0, 1.0, 1.0], DIM),
    glow("Gazebo/TurquoiseGlowOutline", [0.0, 1.0, 1.0], DIM),
    glow("Gazebo/LightOn", [0.0, 1.0, 0.0], BLACK),
    glow("Gazebo/LightOff", [1.0, 0.0, 0.0], BLACK),
    glow("Gazebo/LightBlueLaser", [0.5, 0.5, 1.0], BLACK),
    glow("Gazebo/JointAnchor", [1.0; 3], BLACK),
    clear("Gazebo/RedTransparent", [1.0, 0.0, 0.0], 0.5),
    clear("Gazebo/GreenTransparent", [0.0, 1.0, 0.0], 0.5),
    clear("Gazebo/BlueTransparent", [0.0, 0.0, 1.0], 0.5),
    clear("Gazebo/YellowTransparent", [1.0, 1.0, 0.0], 0.5),
    clear("Gazebo/GreyTransparent", [0.5; 3], 0.5),
    clear("Gazebo/OrangeTransparent", [1.0, 0.44, 0.0], 0.4),
    clear("Gazebo/BlueLaser", [0.0, 0.0, 1.0], 0.4),
    clear("Gazebo/RedTransparentOverlay", [1.0, 0.0, 0.0], 0.5),
    clear("Gazebo/GreenTransparentOverlay", [0.0, 1.0, 0.0], 0.5),
    clear("Gazebo/BlueTransparentOverlay", [0.0, 0.0, 1.0], 0.5),
    plain("Gazebo/Pioneer2Body", [0.681_193, 0.000_923, 0.000_923], [0.5; 3]),
    plain("Gazebo/PioneerBody", [0.7, 0.0, 0.0], [0.5, 0.0, 0.0]),
    plain("Gazebo/WoodFloor", [0.60, 0.44, 0.29], DIM),
    plain("Gazebo/Wood", [0.66, 0.48, 0.31], [0.2; 3]),
    plain("Gazebo/WoodPallet", [0.74, 0.61, 0.43], BLACK),
    plain("Gazebo/CeilingTiled", [0.83; 3], BLACK),
    plain("Gazebo/PaintedWall", [0.85, 0.83, 0.77], BLACK),
    plain("Gazebo/Bricks", [0.59, 0.33, 0.26], [0.2; 3]),
    plain("Gazebo/WindowFrame", [0.55; 3], [0.2; 3]),
    plain("Gazebo/Road", [0.3; 3], [0.01; 3]),
    plain("Gazebo/Residential", [0.35; 3], [0.01; 3]),
    plain("Gazebo/Tertiary", [0.35; 3], [0.01; 3]),
    plain("Gazebo/Primary", [0.3; 3], [0.01; 3]),
    plain("Gazebo/Secondary", [0.3; 3], [0.01; 3]),
    plain("Gazebo/Motorway", [0.3; 3], [0.01; 3]),
    plain("Gazebo/Lane_1", [0.3; 3], [0.01; 3]),
    plain("Gazebo/Lanes_2", [0.3; 3], [0.01; 3]),
    plain("Gazebo/Lanes_4", [0.3; 3], [0.01; 3]),
    plain("Gazebo/Lanes_6", [0.3; 3], [0.01; 3]),
    plain("Gazebo/Trunk", [0.3; 3], [0.01; 3]),
    plain("Gazebo/Pedestrian", [0.6; 3], [0.01; 3]),
    plain("Gazebo/Footway", [0.6; 3], [0.01; 3]),
    plain("Gazebo/Steps", [0.6; 3], [0.01; 3]),
];

/// Returns the colours of a script.
pub(crate) fn colors(name: &str) -> Option<ScriptColors> {
    let (_, ambient, diffuse, specular, emissive, opacity) =
        SCRIPTS.iter().find(|(known, ..)| *known == name)?;
    Some(ScriptColors {
        ambient: *ambient,
        diffuse: *diffuse,
        specular: *specular,
        emissive: *emissive,
        opacity: *opacity,
    })
}
