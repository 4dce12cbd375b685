//! Highlights of balls in the light of a sun behind the camera.

use super::{BALL, Image, SIZE, model, seen, stage};

/// A sun that shines as the camera looks, with a colour of highlights.
fn sun(specular: &str) -> String {
    format!(
        "<light name='sun' type='directional'><direction>1 0 0</direction>\
         <diffuse>0.5 0.5 0.5</diffuse><specular>{specular}</specular></light>"
    )
}

fn ball(specular: &str, material: &str) -> Image {
    let material = format!("<material><diffuse>0.2 0.2 0.2</diffuse>{material}</material>");
    let world = sun(specular) + &model("ball", "0 0 0 0 0 0", BALL, &material);
    seen(&stage(&world))
}

/// Returns red, green and blue in the middle, and 10 pixels to the right of it.
fn across(image: &Image) -> [[u8; 3]; 2] {
    [0, 10].map(|right| {
        let pixel = image.pixels[SIZE[1] / 2 * SIZE[0] + SIZE[0] / 2 + right];
        [pixel[0], pixel[1], pixel[2]]
    })
}

#[test]
fn what_has_a_specular_colour_shines_in_it_where_the_light_comes_straight_back() {
    let shiny =
        |exponent: f64| format!("<specular>1 0.5 0</specular><shininess>{exponent}</shininess>");
    let [dull, dull_beside] = across(&ball("1 1 1", ""));
    let [middle, beside] = across(&ball("1 1 1", &shiny(60.0)));
    assert!(
        middle[0] > 200 && middle[0] > middle[1] + 30,
        "{middle:?} {dull:?}"
    );
    assert!(middle[1] > dull[1] + 60, "{middle:?} {dull:?}");
    assert_eq!(middle[2], dull[2], "nothing of it is blue");
    assert!(
        beside[0].abs_diff(dull_beside[0]) < 30,
        "{beside:?} {dull_beside:?}"
    );
    let [_, wide] = across(&ball("1 1 1", &shiny(4.0)));
    assert!(wide[0] > beside[0] + 60, "{wide:?} {beside:?}");
}

#[test]
fn highlights_are_those_of_lights_that_have_some() {
    let material = "<specular>1 1 1</specular><shininess>20</shininess>";
    let dull = ball("1 1 1", "");
    assert!(ball("0 0 0", material) == dull);
    assert!(
        ball(
            "1 1 1",
            "<specular>0 0 0</specular><shininess>20</shininess>"
        ) == dull
    );
    let [[red, green, blue], _] = across(&ball("0 1 0", material));
    assert!(green > red + 60 && red == blue, "{red} {green} {blue}");
    let [faint, full] = ["0.2 0.2 0.2", "1 1 1"].map(|light| across(&ball(light, material))[0][0]);
    let [[none, ..], _] = across(&dull);
    assert!(
        none + 10 < faint && faint + 40 < full,
        "{none} {faint} {full}"
    );
}

#[test]
fn physically_based_materials_shine_as_their_roughness_says() {
    let pbr = |roughness: f64, metalness: f64, more: &str| {
        format!(
            "{more}<shininess>1</shininess><pbr><metal><roughness>{roughness}</roughness>\
             <metalness>{metalness}</metalness></metal></pbr>"
        )
    };
    let of = |material: &str| across(&ball("1 1 1", material))[0][0];
    let [chalk, smooth] = [1.0, 0.3].map(|roughness| of(&pbr(roughness, 0.0, "")));
    assert!(chalk + 40 < smooth, "{chalk} {smooth}");
    let metal = of(&pbr(0.3, 1.0, ""));
    assert!(metal > chalk, "{metal} {chalk}");
    let black = of(&pbr(0.3, 0.0, "<specular>0 0 0</specular>"));
    assert_eq!(black, of(""));
    // Without an exponent a specular colour is that of a surface as rough as Gazebo's.
    let sheen = of("<specular>1 1 1</specular>");
    assert!(of("") + 10 < sheen, "{sheen}");
}

#[test]
fn exponents_out_of_range_break_nothing() {
    for exponent in ["1e308", "1e-300", "-3", "nan", "inf"] {
        let material = format!("<specular>1 1 1</specular><shininess>{exponent}</shininess>");
        let image = ball("1 1 1", &material);
        assert!(
            image.pixels.iter().any(|pixel| *pixel != image.pixels[0]),
            "{exponent}"
        );
    }
}
