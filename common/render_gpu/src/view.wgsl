// Views in colours: the formulas of the renderer on the processor (`common/render`: `lit.rs`,
// `light.rs`, `region.rs`, `shadow.rs`, `stage.rs`), under the same names. Frame of the camera: right, down,
// along its view [m]. Constants in capitals stand before this text.

struct View {
    // Focal lengths across and down, principal point, and size of the image [samples].
    focal: vec2f,
    center: vec2f,
    size: vec2f,
    near: f32,
    // Extent of what is lit at once, along an edge [samples].
    footprint: f32,
    // The direction that is up.
    up: vec4f,
    ambient: vec4f,
    background: vec4f,
    fog_color: vec4f,
    // Start and end [m], and density [1/m].
    fog: vec4f,
    lamp_count: u32,
    // 0: none, 1: linear, 2: exponential, 3: quadratic.
    fog_kind: u32,
    has_sky: u32,
}

struct Item {
    placing: mat3x4f,
    turning: mat3x4f,
    look: u32,
    visual: u32,
}

struct Look {
    color: vec4f,
    emissive: vec3f,
    cutoff: f32,
    // Highlights: red, green and blue of what has no metal, the exponent, and what metals add.
    plain: vec3f,
    exponent: f32,
    of_color: vec3f,
    metalness: f32,
    blends: u32,
    is_lit: u32,
    has_normals: u32,
    normal_scale: f32,
    // Layers over the texture: where their shares are, factors of these, 1 if there are any, and
    // factors of coordinates.
    shares_at: vec4f,
    layers: vec3f,
    has_layers: f32,
    repeats: vec3f,
}

struct Lamp {
    color: vec3f,
    // 0: from far away, 1: from a place, 2: the same within a cone.
    kind: u32,
    // Its place, or the unit vector along it.
    at: vec3f,
    range: f32,
    // Constant, linear, quadratic.
    attenuation: vec3f,
    falloff: f32,
    along: vec3f,
    // Cosines of half the angles of the cone, and the colour in highlights between.
    inner: f32,
    specular: vec3f,
    outer: f32,
    // The shades that are its own; none if it casts no shadows.
    first_shade: u32,
    shade_count: u32,
}

// Maps of the shadows of a lamp.
struct Shade {
    // Columns and rows of samples, and depth along the light [m]; where the rays spread, the first
    // two are to be divided by the depth, and counted from the middle.
    placing: mat3x4f,
    // Least depths of the two maps and their ranges [m].
    fixed_depths: vec2f,
    moving_depths: vec2f,
    // Size of a sample [m]; where the rays spread, at a depth of 1 m.
    texel: f32,
    layer: u32,
    is_spread: u32,
}

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<storage, read> items: array<Item>;
@group(0) @binding(2) var<storage, read> looks: array<Look>;
@group(0) @binding(3) var<storage, read> lamps: array<Lamp>;
@group(0) @binding(4) var<storage, read> shades: array<Shade>;
@group(0) @binding(5) var far_fixed_maps: texture_depth_2d_array;
@group(0) @binding(6) var far_moving_maps: texture_depth_2d_array;
@group(0) @binding(7) var lamp_fixed_maps: texture_depth_2d_array;
@group(0) @binding(8) var lamp_moving_maps: texture_depth_2d_array;
@group(1) @binding(0) var texture_sampler: sampler;
@group(1) @binding(1) var color_texture: texture_2d<f32>;
@group(1) @binding(2) var emissive_texture: texture_2d<f32>;
@group(1) @binding(3) var normal_texture: texture_2d<f32>;
@group(1) @binding(4) var shares_texture: texture_2d<f32>;
@group(1) @binding(5) var first_layer: texture_2d<f32>;
@group(1) @binding(6) var second_layer: texture_2d<f32>;
@group(1) @binding(7) var third_layer: texture_2d<f32>;

struct Corner {
    @builtin(position) position: vec4f,
    @location(0) at: vec3f,
    @location(1) normal: vec3f,
    @location(2) texcoord: vec2f,
    @location(3) @interpolate(flat, either) item: u32,
}

@vertex
fn corner(
    @builtin(instance_index) number: u32,
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) texcoord: vec2f,
) -> Corner {
    let at = vec4f(position, 1.0) * items[number].placing;
    let turned = vec4f(normal, 0.0) * items[number].turning;
    let slope = 2.0 * view.focal / view.size;
    let shift = 2.0 * view.center / view.size - 1.0;
    let place = slope * at.xy + shift * at.z;
    var own: Corner;
    // One over the depth is what the depth buffer holds: what is nearer is greater.
    own.position = vec4f(place.x, -place.y, view.near, at.z);
    own.at = at;
    own.normal = unit_or(turned, vec3f(0.0, 0.0, 1.0));
    own.texcoord = texcoord;
    own.item = number;
    return own;
}

fn unit_or(a: vec3f, otherwise: vec3f) -> vec3f {
    let square = dot(a, a);
    return select(otherwise, a * inverseSqrt(square), square > 0.0);
}

// A texture as it is seen with this footprint along u and v.
fn sample_of(image: texture_2d<f32>, texcoord: vec2f, footprint: vec2f) -> vec4f {
    let edges = footprint * vec2f(textureDimensions(image));
    let covered = max(max(edges.x, edges.y), 1.0);
    let number = floor(log2(covered));
    let level = number + covered / exp2(number) - 1.0;
    return textureSampleLevel(image, texture_sampler, texcoord, level);
}

// A colour as layers leave it.
fn covered(own: Look, below: vec4f, texcoord: vec2f, footprint: vec2f) -> vec4f {
    let place = texcoord * own.shares_at.xy + own.shares_at.zw;
    let seen = sample_of(shares_texture, place, footprint * own.shares_at.xy);
    let shares = seen.rgb * own.layers;
    let at = own.repeats;
    var color = below;
    color = mix(color, sample_of(first_layer, texcoord * at.x, footprint * at.x), shares.r);
    color = mix(color, sample_of(second_layer, texcoord * at.y, footprint * at.y), shares.g);
    return mix(color, sample_of(third_layer, texcoord * at.z, footprint * at.z), shares.b);
}

// The unit vector to a lamp from a place, and the amount of light there.
fn lamp_at(lamp: Lamp, place: vec3f) -> vec4f {
    if lamp.kind == 0u {
        return vec4f(-lamp.at, 1.0);
    }
    let way = lamp.at - place;
    let distance = length(way);
    if distance > lamp.range || distance <= 0.0 {
        return vec4f(0.0);
    }
    let towards = way / distance;
    let divisor = dot(lamp.attenuation, vec3f(1.0, distance, distance * distance));
    var amount = 1.0 / max(divisor, 1e-3);
    if lamp.kind == 2u {
        let cosine = -dot(lamp.along, towards);
        var part = select(0.0, 1.0, cosine >= lamp.outer);
        if lamp.inner > lamp.outer {
            part = clamp((cosine - lamp.outer) / (lamp.inner - lamp.outer), 0.0, 1.0);
        }
        if lamp.falloff > 0.0 {
            part = power(part, lamp.falloff);
        }
        amount *= part;
    }
    return vec4f(towards, amount);
}

fn power(base: f32, exponent: f32) -> f32 {
    return select(0.0, pow(base, exponent), base > 0.0);
}

// The part of the light of a lamp that reaches a place on a surface, by the first map that shows the
// place; all of it beyond the maps.
fn unshaded(lamp: Lamp, at: vec3f, normal: vec3f) -> f32 {
    for (var number = 0u; number < lamp.shade_count; number++) {
        let own = shades[lamp.first_shade + number];
        var part = -1.0;
        if own.is_spread != 0u {
            part = spread_light(own, at, normal);
        } else {
            part = far_light(own, at, normal);
        }
        if part >= 0.0 {
            return part;
        }
    }
    return 1.0;
}

// The part of a light from far away that reaches a place; -1 beyond the map.
fn far_light(own: Shade, at: vec3f, normal: vec3f) -> f32 {
    // A surface that the light grazes would shade itself between two samples.
    let lifted = vec4f(at + normal * 1.5 * own.texel, 1.0);
    let place = lifted * own.placing;
    let limit = place.z - 0.5 * own.texel;
    let edge = f32(SHADOW_SIZE - 1);
    if any(place.xy < vec2f(1.0)) || any(place.xy >= vec2f(edge)) {
        return -1.0;
    }
    // Where nothing is, the maps are at their greatest depth, 1.
    let fixed_limit = min((limit - own.fixed_depths.x) / own.fixed_depths.y, 1.0);
    let moving_limit = min((limit - own.moving_depths.x) / own.moving_depths.y, 1.0);
    let first = vec2i(place.xy) - 1;
    var lit = 0.0;
    for (var row = 0; row < 3; row++) {
        for (var column = 0; column < 3; column++) {
            let texel = first + vec2i(column, row);
            let is_lit = textureLoad(far_fixed_maps, texel, own.layer, 0) >= fixed_limit
                && textureLoad(far_moving_maps, texel, own.layer, 0) >= moving_limit;
            lit += select(0.0, 1.0, is_lit);
        }
    }
    return lit / 9.0;
}

// The part of the light of a lamp that reaches a place; -1 beyond the map.
fn spread_light(own: Shade, at: vec3f, normal: vec3f) -> f32 {
    let depth = dot(vec4f(at, 1.0), own.placing[2]);
    if depth <= 0.0 {
        return -1.0;
    }
    let texel_size = own.texel * depth;
    let lifted = vec4f(at + normal * LAMP_SHADOW_LIFT * texel_size, 1.0) * own.placing;
    let before = lifted.z - 0.5 * texel_size;
    if before <= 0.0 {
        return -1.0;
    }
    let place = lifted.xy / lifted.z + 0.5 * f32(LAMP_SHADOW_SIZE);
    let edge = f32(LAMP_SHADOW_SIZE - 1);
    if any(place < vec2f(1.0)) || any(place >= vec2f(edge)) {
        return -1.0;
    }
    // Where nothing is, the maps are 0.
    let limit = LAMP_SHADOW_NEAR / before;
    let first = vec2i(place) - 1;
    var lit = 0.0;
    for (var row = 0; row < 3; row++) {
        for (var column = 0; column < 3; column++) {
            let texel = first + vec2i(column, row);
            let is_lit = textureLoad(lamp_fixed_maps, texel, own.layer, 0) <= limit
                && textureLoad(lamp_moving_maps, texel, own.layer, 0) <= limit;
            lit += select(0.0, 1.0, is_lit);
        }
    }
    return lit / 9.0;
}

// The normal that a texel makes of another: its parts along u, against v and outwards.
fn leaning(normal: vec3f, tangents: mat2x3f, texel: vec3f, scale: f32) -> vec3f {
    let parts = (2.0 * texel - 1.0) * vec3f(scale, scale, 1.0);
    let is_none = all(tangents[0] == vec3f(0.0)) || all(tangents[1] == vec3f(0.0));
    if is_none || length(parts) < LEAN_MIN {
        return normal;
    }
    // Both are brought onto the surface, whose normal is interpolated.
    let along = unit_or(tangents[0] - dot(tangents[0], normal) * normal, vec3f(0.0));
    let upwards = unit_or(tangents[1] - dot(tangents[1], normal) * normal, vec3f(0.0));
    return unit_or(along * parts.x + upwards * parts.y + normal * parts.z, vec3f(0.0));
}

// The light that comes back from a sample, by the normal of its surface and the one that its
// texture makes of that.
fn light(own: Look, at: vec3f, normals: mat2x3f, albedo: vec3f) -> vec3f {
    let towards_view = unit_or(-at, vec3f(0.0));
    var flat_normal = normals[0];
    var normal = normals[1];
    // What is seen from behind is lit from behind.
    if dot(flat_normal, towards_view) < 0.0 {
        flat_normal = -flat_normal;
        normal = -normal;
    }
    let dull = 1.0 - 0.6 * own.metalness;
    let above = 0.85 + 0.15 * dot(normal, view.up.xyz);
    var sum = AMBIENT_PART * albedo * view.ambient.rgb * above;
    let mirror = own.plain + own.of_color * albedo;
    let shines = any(mirror > vec3f(0.0));
    for (var number = 0u; number < view.lamp_count; number++) {
        let lit = lamp_at(lamps[number], at);
        let towards = lit.xyz;
        var amount = lit.w;
        let facing = dot(normal, towards);
        if amount <= 0.0 || facing <= 0.0 {
            continue;
        }
        if lamps[number].shade_count > 0u {
            amount *= unshaded(lamps[number], at, flat_normal);
            if amount <= 0.0 {
                continue;
            }
        }
        var back = lamps[number].color * dull * albedo;
        if shines {
            let halfway = unit_or(towards + towards_view, vec3f(0.0));
            let highlight = power(dot(normal, halfway), own.exponent);
            back += lamps[number].specular * mirror * highlight;
        }
        sum += LAMP_PART * amount * facing * back;
    }
    return sum;
}

// A colour as it is seen through the fog from so far away.
fn in_fog(color: vec3f, at: vec3f) -> vec3f {
    let distance = length(at);
    var part = 0.0;
    switch view.fog_kind {
        case 1u: {
            part = select(0.0, 1.0, distance >= view.fog.y);
            if view.fog.y > view.fog.x {
                part = (distance - view.fog.x) / (view.fog.y - view.fog.x);
            }
        }
        case 2u: {
            part = 1.0 - exp(-view.fog.z * distance);
        }
        case 3u: {
            let depth = view.fog.z * distance;
            part = 1.0 - exp(-depth * depth);
        }
        default: {}
    }
    return mix(color, view.fog_color.rgb, clamp(part, 0.0, 1.0));
}

// The colour of a sample, and its alpha; 0 where it is cut out.
fn shade(own: Look, in: Corner, sides: Sides) -> vec4f {
    let footprint = sides.edges * view.footprint;
    var color = own.color * sample_of(color_texture, in.texcoord, footprint);
    if own.has_layers > 0.0 {
        color = covered(own, color, in.texcoord, footprint);
    }
    if own.blends == 0u && color.a < own.cutoff {
        return vec4f(0.0);
    }
    let emissive = own.emissive * sample_of(emissive_texture, in.texcoord, footprint).rgb;
    var back = color.rgb;
    if own.is_lit != 0u {
        let normal = unit_or(in.normal, vec3f(0.0));
        var leans = normal;
        if own.has_normals != 0u {
            let texel = sample_of(normal_texture, in.texcoord, footprint);
            leans = leaning(normal, sides.tangents, texel.xyz, own.normal_scale);
        }
        back = light(own, in.at, mat2x3f(normal, leans), color.rgb);
    }
    let alpha = select(1.0, color.a, own.blends != 0u);
    return vec4f(in_fog(back + emissive, in.at), alpha);
}

struct Sides {
    // The extent of a sample on a texture.
    edges: vec2f,
    // Unit vectors along which u grows and v becomes less; none where both are in a line.
    tangents: mat2x3f,
}

// What a sample covers.
fn sides_of(in: Corner) -> Sides {
    let across = dpdx(in.texcoord);
    let down = dpdy(in.texcoord);
    let way_across = dpdx(in.at);
    let way_down = dpdy(in.at);
    let area = across.x * down.y - down.x * across.y;
    let side = sign(area);
    let along = (way_across * down.y - way_down * across.y) * side;
    let upwards = (way_across * down.x - way_down * across.x) * side;
    let none = vec3f(0.0);
    return Sides(
        max(abs(across), abs(down)),
        mat2x3f(unit_or(along, none), unit_or(upwards, none)),
    );
}

// Tells whether a sample is where its texture is invisible.
fn is_cut_out(own: Look, in: Corner, edges: vec2f) -> bool {
    let texel = sample_of(color_texture, in.texcoord, edges);
    return texel.a * own.color.a < own.cutoff;
}

@fragment
fn solid(in: Corner) -> @location(0) vec4f {
    let sides = sides_of(in);
    return vec4f(shade(looks[items[in.item].look], in, sides).rgb, 1.0);
}

@fragment
fn cut_out(in: Corner) -> @location(0) vec4f {
    let sides = sides_of(in);
    let own = looks[items[in.item].look];
    if is_cut_out(own, in, sides.edges) {
        discard;
    }
    return vec4f(shade(own, in, sides).rgb, 1.0);
}

@fragment
fn clear(in: Corner) -> @location(0) vec4f {
    let sides = sides_of(in);
    let color = shade(looks[items[in.item].look], in, sides);
    if color.a < ALPHA_MIN {
        discard;
    }
    return color;
}

// The visual of a pixel and the bits of its depth.
@fragment
fn visual(in: Corner) -> @location(0) vec2u {
    return vec2u(items[in.item].visual, bitcast<u32>(in.at.z));
}

@fragment
fn visual_cut_out(in: Corner) -> @location(0) vec2u {
    let sides = sides_of(in);
    if is_cut_out(looks[items[in.item].look], in, sides.edges) {
        discard;
    }
    return vec2u(items[in.item].visual, bitcast<u32>(in.at.z));
}

// A triangle over everything.
@vertex
fn everywhere(@builtin(vertex_index) number: u32) -> @builtin(position) vec4f {
    let place = vec2f(f32(number & 1u), f32(number >> 1u));
    return vec4f(place * 4.0 - 1.0, 0.0, 1.0);
}

// The colour behind everything.
@fragment
fn behind(@builtin(position) place: vec4f) -> @location(0) vec4f {
    if view.has_sky == 0u {
        return vec4f(view.background.rgb, 1.0);
    }
    let ray = vec3f((place.xy - view.center) / view.focal, 1.0);
    let height = clamp(dot(normalize(ray), view.up.xyz), 0.0, 1.0);
    let shown = mix(HORIZON, ZENITH, sqrt(height));
    let bright = pow((shown + 0.055) / 1.055, vec3f(2.4));
    return vec4f(select(bright, shown / 12.92, shown <= vec3f(0.04045)), 1.0);
}
