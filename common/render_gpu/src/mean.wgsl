// From samples to pixels: the mean of the light of each, as screens show it.

struct Picture {
    // [pixels]
    size: vec2u,
    // Samples along an edge of a pixel.
    edge: u32,
}

@group(0) @binding(0) var<uniform> picture: Picture;
@group(0) @binding(1) var light: texture_2d<f32>;
@group(0) @binding(2) var<storage, read_write> pixels: array<u32>;

@compute @workgroup_size(8, 8)
fn mean(@builtin(global_invocation_id) place: vec3u) {
    if any(place.xy >= picture.size) {
        return;
    }
    var sum = vec3f(0.0);
    for (var row = 0u; row < picture.edge; row++) {
        for (var column = 0u; column < picture.edge; column++) {
            let sample = place.xy * picture.edge + vec2u(column, row);
            sum += clamp(textureLoad(light, sample, 0).rgb, vec3f(0.0), vec3f(1.0));
        }
    }
    // In the steps in which the processor's renderer tells light.
    let step = floor(sum / f32(picture.edge * picture.edge) * 4095.0 + 0.5) / 4095.0;
    let bright = 1.055 * pow(step, vec3f(1.0 / 2.4)) - 0.055;
    let shown = select(bright, 12.92 * step, step <= vec3f(0.0031308));
    let bytes = vec3u(floor(shown * 255.0 + 0.5));
    let number = place.y * picture.size.x + place.x;
    pixels[number] = bytes.r | (bytes.g << 8u) | (bytes.b << 16u) | (255u << 24u);
}
