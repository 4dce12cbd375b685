//! [`Eye`]: what a sensor sees of the visuals around it, by way of a lens.

use std::sync::{Arc, Weak};

use render::{Camera, Intrinsics, Renderer, Seen, View};
use sdf::{Content, Pose};

use super::lens::{Lens, Unfolding};
use super::parameters;
use crate::drawn_world::{DrawnWorld, MovingLinks, numbers};
use crate::{ConfigureError, Context};

/// An eye with its lens.
pub(super) struct Eye {
    pub(super) lens: Lens,
    unfolding: Option<Unfolding>,
    /// Near and far plane \[m\].
    clip: [f64; 2],
    visibility_mask: u32,
    /// Samples along an edge of a pixel.
    samples: usize,
    /// Its renderer, with the world that it has drawn, which it does not keep: while nobody looks,
    /// models come and leave. It is no state.
    renderer: Option<(Weak<DrawnWorld>, Box<dyn Renderer>)>,
}

impl Eye {
    /// Makes an eye that sees what is between two distances \[m\]; reads what else a `<camera>`
    /// says of how it sees.
    pub(super) fn read(
        camera: &Content,
        lens: Lens,
        clip: [f64; 2],
    ) -> Result<Self, ConfigureError> {
        let mask = parameters::count(camera, "visibility_mask", u32::MAX)?;
        let smoothness = parameters::count(camera, "image/anti_aliasing", 4)?;
        Ok(Self {
            unfolding: lens.unfolding(),
            samples: if smoothness > 1 { 2 } else { 1 },
            ..Self::bare(lens, clip, mask)
        })
    }

    /// Makes an eye that sees distances between two others \[m\], by visuals that have one of the
    /// bits of a mask.
    pub(super) fn bare(lens: Lens, clip: [f64; 2], visibility_mask: u32) -> Self {
        Self {
            lens,
            unfolding: None,
            clip,
            visibility_mask,
            samples: 1,
            renderer: None,
        }
    }

    /// Returns the world as it is drawn.
    pub(super) fn world(context: &Context<'_>) -> Arc<DrawnWorld> {
        context.stage.of(context.world())
    }

    /// Returns the renderer of a world.
    fn renderer(&mut self, world: &Arc<DrawnWorld>, context: &Context<'_>) -> &mut dyn Renderer {
        let known = self.renderer.take();
        let known = known.filter(|(known, _)| known.as_ptr() == Arc::as_ptr(world));
        let own = || (Arc::downgrade(world), context.stage.renderer());
        &mut *self.renderer.insert(known.unwrap_or_else(own)).1
    }

    /// Returns what it sees from a pose, world frame: pixels by rows from the top left, red, green,
    /// blue and alpha.
    pub(super) fn colors(&mut self, frame: &Pose, context: &Context<'_>) -> Vec<[u8; 4]> {
        let intrinsics = match &self.unfolding {
            Some(unfolding) => unfolding.drawn,
            None => self.lens.intrinsics(),
        };
        let moving = MovingLinks::of(context.cell);
        let drawn = self.see(frame, &intrinsics, &moving, context, |renderer, view| {
            renderer.paint(view).pixels
        });
        match &self.unfolding {
            Some(unfolding) => unfolding.fold(&drawn),
            None => drawn,
        }
    }

    /// Returns which visuals it sees through a lens without distortion, and how far away they are.
    pub(super) fn visuals(&mut self, frame: &Pose, context: &Context<'_>) -> Seen {
        let moving = MovingLinks::of(context.cell);
        let intrinsics = self.lens.intrinsics();
        self.see(frame, &intrinsics, &moving, context, |renderer, view| {
            renderer.look(view)
        })
    }

    /// Sees something through a lens of its own.
    pub(super) fn see<T>(
        &mut self,
        frame: &Pose,
        intrinsics: &Intrinsics,
        moving: &MovingLinks,
        context: &Context<'_>,
        look: impl FnOnce(&mut dyn Renderer, &View<'_>) -> T,
    ) -> T {
        let (clip, visibility_mask, samples) = (self.clip, self.visibility_mask, self.samples);
        let world = Self::world(context);
        let renderer = self.renderer(&world, context);
        let camera = Camera::pinhole(&numbers(frame), intrinsics, clip);
        let view = View {
            stage: &world.stage,
            place: &|model, link, start| world.place(moving, (model, link), start),
            elapsed_s: context.cell.actor_time().seconds(),
            camera: &camera,
            size: intrinsics.size,
            samples,
            visibility_mask,
            sees_backs: false,
            has_headlight: false,
        };
        let seen = look(renderer, &view);
        if let Some(problem) = renderer.take_problem() {
            tracing::warn!("{problem}");
        }
        seen
    }
}

/// Returns the mean of the four pixels around a place in an image so wide, by how near they are.
pub(super) fn between(pixels: &[[u8; 4]], width: usize, [x, y]: [f32; 2]) -> [u8; 4] {
    let height = pixels.len() / width;
    let (left, top) = (x as usize, y as usize);
    let (right, below) = ((left + 1).min(width - 1), (top + 1).min(height - 1));
    let (across, down) = (x - left as f32, y - top as f32);
    let row = |row: usize, i: usize| {
        let [first, second] =
            [left, right].map(|column| f32::from(pixels[row * width + column][i]));
        first + (second - first) * across
    };
    std::array::from_fn(|i| {
        let (above, under) = (row(top, i), row(below, i));
        (above + (under - above) * down + 0.5) as u8
    })
}
