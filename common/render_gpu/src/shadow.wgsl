// Maps of shadows: the least depth along a light.

@group(0) @binding(0) var<storage, read> casters: array<mat3x4f>;

@vertex
fn caster(
    @builtin(instance_index) number: u32,
    @location(0) position: vec3f,
) -> @builtin(position) vec4f {
    return vec4f(vec4f(position, 1.0) * casters[number], 1.0);
}
