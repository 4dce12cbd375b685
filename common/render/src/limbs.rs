//! [`Limbs`]: the bones of a surface, which move its vertices.

use std::sync::Arc;

use mesh::{Grip, Moment, Skeleton, Transform};

use crate::shape::Surface;

/// Bones of a surface.
pub(crate) struct Limbs {
    pub(crate) skeleton: Arc<Skeleton>,
    /// The bones that vertices go with, one for each.
    grips: Vec<Grip>,
    /// Radius of a ball around the origin in which all stays, whatever moves \[m\].
    pub(crate) reach: f64,
}

impl Limbs {
    /// Takes over the bones of a mesh, with those that the vertices of a surface go with.
    pub(crate) fn new(skeleton: &Arc<Skeleton>, grips: &[Grip], surface: &Surface) -> Self {
        let mut radii = vec![0.0_f64; skeleton.bones.len()];
        for (grip, position) in grips.iter().zip(&surface.positions) {
            for (bone, part) in grip.bones.iter().zip(grip.parts) {
                let Some(own) = skeleton.bones.get(usize::from(*bone)) else {
                    continue;
                };
                if part > 0.0 {
                    let at = own.inverse_bind.apply(position.map(f64::from));
                    let distance = at.iter().map(|x| x * x).sum::<f64>().sqrt();
                    let known = &mut radii[usize::from(*bone)];
                    // What is at the origin of its bone moves, too.
                    *known = known.max(distance).max(f64::MIN_POSITIVE);
                }
            }
        }
        Self {
            reach: skeleton.reach(&radii),
            skeleton: Arc::clone(skeleton),
            grips: grips.to_vec(),
        }
    }

    /// Returns a surface as its bones move it at a moment, or at rest.
    pub(crate) fn moved(&self, surface: &Surface, moment: Option<&Moment>) -> Surface {
        let motions = self.skeleton.motions(moment);
        let motions: Vec<[[f32; 4]; 3]> = motions.iter().map(single).collect();
        let mut own = surface.clone();
        let vertices = own.positions.iter_mut().zip(&mut own.normals);
        for ((position, normal), grip) in vertices.zip(&self.grips) {
            let mut motion = [[0.0_f32; 4]; 3];
            for (bone, part) in grip.bones.iter().zip(grip.parts) {
                let Some(own) = motions.get(usize::from(*bone)) else {
                    continue;
                };
                if part > 0.0 {
                    for (sum, number) in
                        motion.as_flattened_mut().iter_mut().zip(own.as_flattened())
                    {
                        *sum += number * part;
                    }
                }
            }
            let along = |row: [f32; 4], v: [f32; 3]| row[0] * v[0] + row[1] * v[1] + row[2] * v[2];
            let (at, up) = (*position, *normal);
            *position = motion.map(|row| along(row, at) + row[3]);
            let turned = motion.map(|row| along(row, up));
            let length = turned.iter().map(|x| x * x).sum::<f32>().sqrt();
            if length > 0.0 && length.is_finite() {
                *normal = turned.map(|x| x / length);
            }
        }
        own
    }
}

fn single(transform: &Transform) -> [[f32; 4]; 3] {
    transform.rows().map(|row| row.map(|number| number as f32))
}
