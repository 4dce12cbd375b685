//! [`Skeleton`]: bones that move the vertices of a mesh, and [`Clip`]s of how they move.
//!
//! All is in the frame of the mesh as it is drawn without a skeleton: whoever knows of no bones
//! draws it at rest.

use libm::{acos, sin};

use crate::transform::Transform;

/// The most bones of a skeleton.
pub const BONES_MAX: usize = 4096;

/// The most keys of all clips of a skeleton.
pub const KEYS_MAX: usize = 2_000_000;

/// Largest difference of quaternions that are still interpolated along a line.
const NEARLY_EQUAL: f64 = 1e-9;

/// Bones that move the vertices of a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skeleton {
    /// The bones; each stands after the one that it hangs on.
    pub bones: Vec<Bone>,
    /// The bone whose place is that of the whole body, as an index into the bones.
    pub root: usize,
    /// Motions of the bones.
    pub clips: Vec<Clip>,
}

/// A bone.
#[derive(Clone, Debug, PartialEq)]
pub struct Bone {
    /// Its name, by which clips of other files find it.
    pub name: String,
    /// The bone that it hangs on, as an index into those of the skeleton.
    pub parent: Option<usize>,
    /// Place at rest, in the frame of that bone.
    pub rest: Transform,
    /// Places of the mesh in the frame of the bone, for the pose in which the mesh was drawn.
    pub inverse_bind: Transform,
}

/// The bones that a vertex goes with, as indices into those of the skeleton, and by which part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grip {
    /// The bones.
    pub bones: [u16; 4],
    /// The part of each; they sum up to 1.
    pub parts: [f32; 4],
}

/// A motion of bones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clip {
    /// Its name.
    pub name: String,
    /// Bones that move; all others stay at rest.
    pub tracks: Vec<Track>,
}

/// Motion of a bone.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// The bone, as an index into those of the skeleton.
    pub bone: usize,
    /// At least one, ascending by time.
    pub keys: Vec<Key>,
}

/// Place of a bone in the frame of the one that it hangs on, at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// Since the clip began \[s\].
    pub time_s: f32,
    /// Position.
    pub position: [f32; 3],
    /// Orientation as a unit quaternion: x, y, z, w.
    pub orientation_xyzw: [f32; 4],
    /// Factors along x, y, z.
    pub scale: [f32; 3],
}

/// Moment of a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// The clip, as an index into those of the skeleton.
    pub clip: usize,
    /// Time since it began \[s\].
    pub time_s: f64,
    /// True if the root stays at the origin, as something else moves the body.
    pub holds_root: bool,
}

impl Grip {
    /// A grip of one bone alone.
    pub const fn of(bone: u16) -> Self {
        Self {
            bones: [bone, 0, 0, 0],
            parts: [1.0, 0.0, 0.0, 0.0],
        }
    }

    /// Makes a grip of the four strongest of some bones with their weights; none where there is no
    /// weight.
    pub fn strongest(weights: impl IntoIterator<Item = (u16, f64)>) -> Option<Self> {
        let weights = weights.into_iter();
        let is_weight = |weight: &(u16, f64)| weight.1 > 0.0 && weight.1.is_finite();
        let mut weights: Vec<(u16, f64)> = weights.filter(is_weight).collect();
        // Sorting keeps the order of those that are equal.
        weights.sort_by(|one, other| other.1.total_cmp(&one.1));
        weights.truncate(4);
        let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
        let mut own = Self {
            bones: [0; 4],
            parts: [0.0; 4],
        };
        for (i, (bone, weight)) in weights.iter().enumerate() {
            own.bones[i] = *bone;
            own.parts[i] = (weight / sum) as f32;
        }
        (sum > 0.0 && sum.is_finite()).then_some(own)
    }
}

impl Clip {
    /// Returns the time of its last key \[s\].
    pub fn length_s(&self) -> f64 {
        let last = |track: &Track| track.keys.last().map(|key| f64::from(key.time_s));
        let ends = self.tracks.iter().filter_map(last);
        ends.fold(0.0, f64::max)
    }

    /// Returns the time at which a bone has come so far along x, of a motion that begins again
    /// whenever it has come as far as it goes. `None` if it does not get on. Source: gz-common,
    /// `SkeletonAnimation::PoseAtX`.
    pub fn time_at_x(&self, bone: usize, x: f64) -> Option<f64> {
        let track = self.tracks.iter().find(|track| track.bone == bone)?;
        let along = |key: &Key| f64::from(key.position[0]);
        let (first, last) = (along(track.keys.first()?), along(track.keys.last()?));
        if last <= 0.0 || last <= first || !x.is_finite() {
            return None;
        }
        let x = x.max(first);
        let x = if x > last { libm::fmod(x, last) } else { x };
        let place = track.keys.iter().position(|key| along(key) >= x)?;
        let next = &track.keys[place];
        let Some(before) = place.checked_sub(1).map(|before| &track.keys[before]) else {
            return Some(f64::from(next.time_s));
        };
        let part = (x - along(before)) / (along(next) - along(before));
        let times = [before, next].map(|key| f64::from(key.time_s));
        Some(times[0] + (times[1] - times[0]) * part)
    }
}

impl Track {
    /// Returns the place at a time \[s\]; before the first key and after the last it stays.
    pub fn at(&self, time_s: f64) -> Key {
        let next = self
            .keys
            .partition_point(|key| f64::from(key.time_s) <= time_s);
        if next == 0 || next == self.keys.len() {
            return self.keys[next.max(1) - 1];
        }
        let (from, to) = (&self.keys[next - 1], &self.keys[next]);
        let begin = f64::from(from.time_s);
        let part = (time_s - begin) / (f64::from(to.time_s) - begin);
        let mean = |from: [f32; 3], to: [f32; 3]| {
            std::array::from_fn(|i| {
                let [from, to] = [from[i], to[i]].map(f64::from);
                (from + (to - from) * part) as f32
            })
        };
        Key {
            time_s: time_s as f32,
            position: mean(from.position, to.position),
            orientation_xyzw: turned(from.orientation_xyzw, to.orientation_xyzw, part),
            scale: mean(from.scale, to.scale),
        }
    }
}

impl Key {
    /// Makes the key of a place; what it has beside turning, stretching along the axes and moving
    /// is lost.
    pub fn of(time_s: f32, place: &Transform) -> Self {
        let (position, orientation, scale) = place.parts();
        Self {
            time_s,
            position: position.map(|x| x as f32),
            orientation_xyzw: orientation.map(|x| x as f32),
            scale: scale.map(|x| x as f32),
        }
    }

    /// Returns the place.
    pub fn place(&self) -> Transform {
        let move_there = Transform::translation(self.position.map(f64::from));
        let turn = Transform::quaternion(self.orientation_xyzw.map(f64::from));
        let stretch = Transform::scale(self.scale.map(f64::from));
        move_there.after(&turn).after(&stretch)
    }

    /// Tells whether all of it are numbers, and the quaternion is one.
    pub fn is_sound(&self) -> bool {
        let parts = [self.position, self.scale];
        let mut numbers = parts.iter().flatten().chain([&self.time_s]);
        let length: f32 = self.orientation_xyzw.iter().map(|x| x * x).sum();
        numbers.all(|number| number.is_finite()) && (length - 1.0).abs() < 1e-2
    }
}

impl Skeleton {
    /// Returns the motion of the vertices that go with each bone, at a moment of a clip or at rest:
    /// from where they are drawn without it, in the same frame.
    pub fn motions(&self, moment: Option<&Moment>) -> Vec<Transform> {
        let places = self.places(moment).into_iter().zip(&self.bones);
        let motions = places.map(|(place, bone)| place.after(&bone.inverse_bind));
        motions.collect()
    }

    /// Returns the places of all bones, frame of the mesh.
    fn places(&self, moment: Option<&Moment>) -> Vec<Transform> {
        let mut own: Vec<Transform> = self.bones.iter().map(|bone| bone.rest).collect();
        if let Some(moment) = moment
            && let Some(clip) = self.clips.get(moment.clip)
        {
            for track in &clip.tracks {
                let mut key = track.at(moment.time_s);
                if moment.holds_root && track.bone == self.root {
                    key.position = [0.0; 3];
                }
                own[track.bone] = key.place();
            }
        }
        for (index, bone) in self.bones.iter().enumerate() {
            if let Some(parent) = bone.parent {
                own[index] = own[parent].after(&own[index]);
            }
        }
        own
    }

    /// Returns the radius of a ball around the origin in which vertices stay that a bone moves and
    /// that are in balls around the origins of the bones, whatever clip is shown, also between its
    /// keys: each bone is taken to be as far from its parent, and as stretched, as it ever is.
    pub fn reach(&self, radii: &[f64]) -> f64 {
        let of_rest = self.bones.iter().map(|bone| extent(&bone.rest));
        let mut extents: Vec<[f64; 2]> = of_rest.collect();
        for track in self.clips.iter().flat_map(|clip| &clip.tracks) {
            for key in &track.keys {
                let own = extent(&key.place());
                let known = &mut extents[track.bone];
                *known = [known[0].max(own[0]), known[1].max(own[1])];
            }
        }
        let mut reach: f64 = 0.0;
        for (index, bone) in self.bones.iter().enumerate() {
            // Parents come before their children.
            let [from, stretch] = bone.parent.map_or([0.0, 1.0], |parent| extents[parent]);
            let own = extents[index];
            let far = [from + stretch * own[0], stretch * own[1]];
            extents[index] = far;
            if let Some(radius) = radii.get(index).filter(|radius| **radius > 0.0) {
                reach = reach.max(far[0] + radius * far[1]);
            }
        }
        reach
    }

    /// Takes over the first clip of another skeleton, as Gazebo does, under a name; bones are found
    /// by theirs. Returns `false` if no bone that moves there is here.
    pub fn take_clip(&mut self, name: &str, other: &Self) -> bool {
        let Some(clip) = other.clips.first() else {
            return false;
        };
        let tracks = clip.tracks.iter().filter_map(|track| {
            let wanted = &other.bones[track.bone].name;
            // Bones without a name are nobody else's.
            if wanted.is_empty() {
                return None;
            }
            Some(Track {
                bone: self.bones.iter().position(|bone| bone.name == *wanted)?,
                keys: track.keys.clone(),
            })
        });
        let own = Clip {
            name: name.to_owned(),
            tracks: tracks.collect(),
        };
        let is_found = !own.tracks.is_empty();
        if is_found {
            self.clips.push(own);
        }
        is_found
    }
}

/// Returns how far a place is from the origin, and by which factor it stretches at most.
fn extent(place: &Transform) -> [f64; 2] {
    let at = place.apply([0.0; 3]);
    let distance = at.iter().map(|x| x * x).sum::<f64>().sqrt();
    [distance, place.stretch()]
}

/// Returns the orientation between two others, the shorter way at an even rate.
fn turned(from: [f32; 4], to: [f32; 4], part: f64) -> [f32; 4] {
    let (from, to) = (from.map(f64::from), to.map(f64::from));
    let dot = |one: [f64; 4], other: [f64; 4]| -> f64 {
        one.iter().zip(&other).map(|(a, b)| a * b).sum()
    };
    let cosine = dot(from, to);
    let (to, cosine) = if cosine < 0.0 {
        (to.map(|number| -number), -cosine)
    } else {
        (to, cosine)
    };
    let weights = if cosine > 1.0 - NEARLY_EQUAL {
        [1.0 - part, part]
    } else {
        let angle = acos(cosine);
        [1.0 - part, part].map(|share| sin(share * angle) / sin(angle))
    };
    let sum: [f64; 4] = std::array::from_fn(|i| weights[0] * from[i] + weights[1] * to[i]);
    let length = dot(sum, sum).sqrt();
    sum.map(|number| (number / length) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(time_s: f32, x: f32) -> Key {
        Key {
            time_s,
            position: [x, 0.0, 1.0],
            orientation_xyzw: [0.0, 0.0, 0.0, 1.0],
            scale: [1.0; 3],
        }
    }

    /// A root that goes along x, and an arm on it that turns.
    fn walker() -> Skeleton {
        let half = std::f32::consts::FRAC_1_SQRT_2;
        let bone = |name: &str, parent, at: [f64; 3]| Bone {
            name: name.to_owned(),
            parent,
            rest: Transform::translation(at),
            inverse_bind: Transform::IDENTITY,
        };
        let turned = Key {
            orientation_xyzw: [0.0, 0.0, half, half],
            ..key(2.0, 1.0)
        };
        let tracks = vec![
            Track {
                bone: 0,
                keys: vec![key(0.0, 0.0), key(1.0, 3.0), key(2.0, 4.0)],
            },
            Track {
                bone: 1,
                keys: vec![key(0.0, 1.0), turned],
            },
        ];
        Skeleton {
            bones: vec![
                bone("hips", None, [0.0, 0.0, 1.0]),
                bone("arm", Some(0), [1.0, 0.0, 1.0]),
            ],
            root: 0,
            clips: vec![Clip {
                name: "walk".to_owned(),
                tracks,
            }],
        }
    }

    fn at(skeleton: &Skeleton, moment: Option<Moment>, bone: usize) -> [f64; 3] {
        let place = skeleton.motions(moment.as_ref())[bone].apply([1.0, 0.0, 0.0]);
        place.map(|x| (x * 1e6).round() / 1e6)
    }

    #[test]
    fn bones_move_with_those_that_they_hang_on() {
        let walker = walker();
        assert_eq!(at(&walker, None, 1), [2.0, 0.0, 2.0]);
        let moment = |time_s, holds_root| {
            Some(Moment {
                clip: 0,
                time_s,
                holds_root,
            })
        };
        assert_eq!(at(&walker, moment(2.0, false), 1), [5.0, 1.0, 2.0]);
        assert_eq!(
            at(&walker, moment(9.0, false), 1),
            [5.0, 1.0, 2.0],
            "it stays"
        );
        assert_eq!(at(&walker, moment(2.0, true), 1), [1.0, 1.0, 1.0]);
        assert_eq!(at(&walker, moment(0.5, false), 0), [2.5, 0.0, 1.0]);
        let [x, y, _] = at(&walker, moment(1.0, true), 1);
        let half = std::f64::consts::FRAC_1_SQRT_2;
        assert!(
            (x - 1.0 - half).abs() < 1e-5 && (y - half).abs() < 1e-5,
            "{x} {y}"
        );
    }

    #[test]
    fn a_motion_goes_on_with_the_distance_and_begins_again() {
        let walker = walker();
        let time = |x| walker.clips[0].time_at_x(0, x);
        assert_eq!(time(0.0), Some(0.0));
        assert_eq!(time(1.5), Some(0.5));
        assert_eq!(time(4.0), Some(2.0));
        assert_eq!(time(4.0 + 3.5), Some(1.5));
        assert_eq!(time(f64::INFINITY), None);
        assert_eq!(
            walker.clips[0].time_at_x(1, 1.0),
            None,
            "it does not get on"
        );
        assert_eq!(walker.clips[0].length_s(), 2.0);
    }

    #[test]
    fn what_bones_move_stays_within_reach() {
        // The tip of the arm, which is farthest at the end: 4 + 1 along x, 1 along y, 2 up.
        let reach = walker().reach(&[0.0, 1.0]);
        let needed = (25.0_f64 + 1.0 + 4.0).sqrt();
        assert!(reach >= needed && reach < needed + 1.1, "{reach} {needed}");
    }

    #[test]
    fn reach_is_that_between_keys_too() {
        // The arm is beside the root at both keys, and points away from the origin between them.
        let mut skeleton = walker();
        skeleton.bones[1].rest = Transform::translation([0.0, 1.0, 0.0]);
        let turned = |time_s, [z, w]: [f32; 2]| Key {
            position: [3.0, 0.0, 0.0],
            orientation_xyzw: [0.0, 0.0, z, w],
            ..key(time_s, 3.0)
        };
        skeleton.clips[0].tracks = vec![Track {
            bone: 0,
            keys: vec![turned(0.0, [0.0, 1.0]), turned(1.0, [-1.0, 0.0])],
        }];
        let reach = skeleton.reach(&[0.0, 0.5]);
        let middle = Moment {
            clip: 0,
            time_s: 0.5,
            holds_root: false,
        };
        let [x, ..] = skeleton.motions(Some(&middle))[1].apply([0.0; 3]);
        assert!((x - 4.0).abs() < 1e-6, "{x}");
        assert!((4.5..4.6).contains(&reach), "{reach}");
    }

    #[test]
    fn clips_of_other_files_find_bones_by_their_names() {
        let mut own = walker();
        own.bones.swap(0, 1);
        own.bones[0].parent = None;
        own.clips.clear();
        assert!(own.take_clip("w", &walker()));
        assert_eq!(own.clips[0].tracks[0].bone, 1);
        assert_eq!(
            own.clips[0].tracks[0].keys,
            walker().clips[0].tracks[0].keys
        );
        for bone in &mut own.bones {
            bone.name.push('!');
        }
        assert!(!own.take_clip("w", &walker()));
        assert_eq!(own.clips.len(), 1);
        let mut other = walker();
        for bone in own.bones.iter_mut().chain(&mut other.bones) {
            bone.name.clear();
        }
        assert!(!own.take_clip("w", &other), "no name is no name");
    }

    #[test]
    fn a_grip_has_the_strongest_four_bones() {
        let weights = [(0, 0.1), (1, 0.2), (2, 0.0), (3, 0.4), (4, 0.2), (5, 0.2)];
        let grip = Grip::strongest(weights).unwrap();
        assert_eq!(grip.bones, [3, 1, 4, 5]);
        assert_eq!(grip.parts, [0.4, 0.2, 0.2, 0.2]);
        assert_eq!(Grip::strongest([(0, 0.0), (1, f64::NAN)]), None);
    }
}
