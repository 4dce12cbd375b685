//! Numbers of several samples at once: each lane is computed as a single sample is, to the same
//! bits, and processors do many lanes in one instruction.

/// A number of each sample.
pub(crate) type Lanes<const N: usize> = [f32; N];

/// A vector of each sample, by its parts.
pub(crate) type Vectors<const N: usize> = [Lanes<N>; 3];

/// Makes lanes, each by its number: a loop, of which compilers do several turns at once.
#[inline]
pub(crate) fn each<const N: usize>(lane: impl Fn(usize) -> f32) -> Lanes<N> {
    let mut lanes = [0.0; N];
    for (i, own) in lanes.iter_mut().enumerate() {
        *own = lane(i);
    }
    lanes
}

/// Makes vectors by their parts, each of the number of a part and of a lane.
#[inline]
pub(crate) fn vectors<const N: usize>(part: impl Fn(usize, usize) -> f32) -> Vectors<N> {
    [
        each(|i| part(0, i)),
        each(|i| part(1, i)),
        each(|i| part(2, i)),
    ]
}

/// Brings vectors of samples into lanes.
#[inline]
pub(crate) fn lanes_of<const N: usize>(of: impl Fn(usize) -> [f32; 3]) -> Vectors<N> {
    let all: [[f32; 3]; N] = std::array::from_fn(of);
    vectors(|part, i| all[i][part])
}

/// Returns the vector of one sample.
#[inline]
pub(crate) fn lane<const N: usize>(vectors: &Vectors<N>, lane: usize) -> [f32; 3] {
    vectors.each_ref().map(|part| part[lane])
}

/// Returns the scalar products of vectors.
#[inline]
pub(crate) fn dot<const N: usize>(a: &Vectors<N>, b: &Vectors<N>) -> Lanes<N> {
    each(|i| a[0][i] * b[0][i] + a[1][i] * b[1][i] + a[2][i] * b[2][i])
}

/// Returns vectors of length 1; those without a length stay as they are.
#[inline]
pub(crate) fn unit<const N: usize>(a: &Vectors<N>) -> Vectors<N> {
    let square = dot(a, a);
    let length: Lanes<N> = each(|i| {
        let length = square[i].sqrt();
        if length > 0.0 { length } else { 1.0 }
    });
    vectors(|part, i| a[part][i] / length[i])
}

/// Returns powers of numbers between 0 and 1 within a thousandth, the same on any machine: a
/// highlight needs no more, and each sample has one for each lamp.
#[inline]
pub(crate) fn power<const N: usize>(base: &Lanes<N>, exponent: f32) -> Lanes<N> {
    each(|i| {
        let base = base[i];
        // The base is 2^whole times a number from 1 to 2, whose logarithm is an odd series.
        let bits = base.to_bits();
        let whole = (bits >> 23).cast_signed() - 127;
        let rest = f32::from_bits((bits & 0x007f_ffff) | 0x3f80_0000);
        let part = (rest - 1.0) / (rest + 1.0);
        let square = part * part;
        let series = series(
            &[1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0, 1.0 / 5.0, 1.0 / 3.0, 1.0],
            square,
        );
        let logarithm = whole as f32 + std::f32::consts::LOG2_E * 2.0 * part * series;
        let wanted = logarithm * exponent;
        let is_some = base > 0.0 && wanted >= -30.0;
        let wanted = if is_some && wanted < 0.0 { wanted } else { 0.0 };
        // Cut towards zero, and so one too much unless it is whole.
        let cut = wanted as i32;
        let floor = cut - i32::from(cut as f32 > wanted);
        let along = (wanted - floor as f32) * std::f32::consts::LN_2;
        let grown = self::series(&[1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0], along);
        let power = grown * f32::from_bits(((floor + 127) as u32) << 23);
        if is_some { power } else { 0.0 }
    })
}

/// Returns a polynomial, whose first factor is that of the highest power.
#[inline]
fn series<const N: usize>(factors: &[f32; N], x: f32) -> f32 {
    let mut sum = factors[0];
    for factor in &factors[1..] {
        sum = sum * x + factor;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_is_right_within_a_thousandth() {
        for exponent in [1.0_f32, 2.9, 40.0, 1000.0] {
            for step in 0..=1000_u16 {
                let base = f32::from(step) / 1000.0;
                let expect = base.powf(exponent);
                let [found] = power(&[base], exponent);
                assert!((found - expect).abs() < 1e-3, "{base}^{exponent}: {found}");
            }
        }
        assert_eq!(power(&[-1.0, 1.0], 2.0), [0.0, 1.0]);
    }

    #[test]
    fn lanes_are_what_single_samples_are() {
        let several = [
            [1.0, -2.0, 0.3],
            [0.0; 3],
            [4.0, 0.1, 7.0],
            [-0.2, 0.0, 9.0],
        ];
        let together: Vectors<4> = unit(&lanes_of(|i| several[i]));
        for (i, vector) in several.into_iter().enumerate() {
            let alone: Vectors<1> = unit(&lanes_of(|_| vector));
            assert_eq!(lane(&together, i), lane(&alone, 0));
            for exponent in [0.4, 3.0, 70.0] {
                let powers = power(&together[2], exponent);
                assert_eq!([powers[i]], power(&alone[2], exponent));
            }
        }
        assert_eq!(lane(&together, 1), [0.0; 3]);
    }
}
