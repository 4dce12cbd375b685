// Maps of shadows: the least depth along a light. Constants in capitals stand before this text.

@group(0) @binding(0) var<storage, read> casters: array<mat3x4f>;

@vertex
fn caster(
    @builtin(instance_index) number: u32,
    @location(0) position: vec3f,
) -> @builtin(position) vec4f {
    return vec4f(vec4f(position, 1.0) * casters[number], 1.0);
}

// On the map of a lamp, which holds one over the depth: what is nearer is greater.
@vertex
fn lamp_caster(
    @builtin(instance_index) number: u32,
    @location(0) position: vec3f,
) -> @builtin(position) vec4f {
    let place = vec4f(position, 1.0) * casters[number];
    return vec4f(place.xy, LAMP_SHADOW_NEAR, place.z);
}
