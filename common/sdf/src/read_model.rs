//! A file as one model that comes into a running world.

use std::collections::BTreeSet;

use crate::parcel::{ModelParcel, StartJointError};
use crate::problem::{Problem, ReadWorldError, SourceSpan};
use crate::read::{BEYOND_LIMITS, ReadWorlds, beyond_limits, read_worlds, starts_at};
use crate::resolve::{Resolver, UsedFile};
use crate::visual_files::{VISUAL_FILES_BYTES_MAX, VisualFiles};

/// The most tags of a text: a robot of a thousand links has a tenth of them.
const TAGS_MAX: usize = 500_000;

/// Result of reading a file.
#[derive(Clone, Debug)]
pub struct ReadModel {
    /// Its model with all data; poses are in the world frame, as the file has them.
    pub parcel: ModelParcel,
    /// Warnings of ignored content, once per name, in file order.
    pub warnings: Vec<Problem>,
    /// The files that it rests on, besides its own.
    pub files: BTreeSet<UsedFile>,
    /// The name of the file.
    file: String,
}

impl ReadModel {
    /// Reads the meshes and images that its visuals name, for sensors that draw, and keeps them in
    /// its parcel; what is not found or not read is told among the warnings.
    pub fn keep_visual_files(&mut self, resolver: &dyn Resolver) {
        let models = std::slice::from_mut(&mut self.parcel.model);
        let mut left = VISUAL_FILES_BYTES_MAX;
        let found = VisualFiles::read(models, resolver, &mut left);
        found.bound(models);
        self.parcel.visual_files = found.files;
        self.files.extend(found.used);
        self.warnings
            .extend(found.problems.into_iter().map(|message| Problem {
                code: "VISUAL_FILE",
                message,
                place: SourceSpan {
                    file: self.file.as_str().into(),
                    line: 1,
                    column: 1,
                },
            }));
    }

    /// Takes note of the meshes and images that its visuals name, without keeping them, for who
    /// draws a recording. What is not found or not read is told where it is drawn.
    pub fn note_visual_files(&mut self, resolver: &dyn Resolver) {
        let models = std::slice::from_ref(&self.parcel.model);
        let mut left = VISUAL_FILES_BYTES_MAX;
        let found = VisualFiles::read(models, resolver, &mut left);
        self.files.extend(found.used);
    }

    /// Has a joint start elsewhere, as [`ModelParcel::start_joint`] does, and warns of its start
    /// there instead of in the file.
    ///
    /// # Errors
    /// Fails if there is no such joint, it has no position, or that is no finite number.
    pub fn start_joint(&mut self, name: &str, position: f64) -> Result<(), StartJointError> {
        self.parcel.start_joint(name, position)?;
        let old = starts_at(name);
        let is_old =
            |warning: &Problem| warning.code == BEYOND_LIMITS && warning.message.starts_with(&old);
        let joints = self.parcel.model.joints.iter();
        let axes = joints.filter(|joint| joint.name == name);
        let mut axes = axes.flat_map(|joint| joint.kind.axes());
        let message = axes.find_map(|axis| beyond_limits(name, axis));
        if let Some(index) = self.warnings.iter().position(is_old) {
            match message {
                Some(message) => self.warnings[index].message = message,
                None => drop(self.warnings.remove(index)),
            }
        } else if let Some(message) = message {
            self.warnings.push(Problem {
                code: BEYOND_LIMITS,
                message,
                place: SourceSpan {
                    file: self.file.as_str().into(),
                    line: 1,
                    column: 1,
                },
            });
        }
        Ok(())
    }
}

/// Reads SDF or URDF text that holds exactly one model, as Gazebo's `create` service takes it;
/// `file` is its name in places and for its includes.
///
/// # Errors
/// Fails if the text is wrong, or holds something else: a world, a light, an actor or nothing.
pub fn read_model(
    text: &str,
    file: &str,
    resolver: &dyn Resolver,
) -> Result<ReadModel, ReadWorldError> {
    // Looked at before the text is taken apart: that takes hundreds of times its bytes.
    if text.bytes().filter(|byte| *byte == b'<').count() > TAGS_MAX {
        let message = format!("what comes into a running world has at most {TAGS_MAX} tags");
        return Err(refusal(message, file));
    }
    let ReadWorlds {
        worlds,
        is_model_file,
        warnings,
        files,
    } = read_worlds(text, file, resolver)?;
    let refuse = |what: &str| {
        let message = format!("{what}: what comes into a running world is one <model>");
        Err(refusal(message, file))
    };
    if !is_model_file && !worlds.is_empty() {
        return refuse("the text holds a world");
    }
    let Some(mut world) = worlds.into_iter().next() else {
        return refuse("the text holds nothing");
    };
    let Some(model) = world.models.pop() else {
        return refuse("the text holds a light or an actor");
    };
    Ok(ReadModel {
        parcel: ModelParcel {
            model,
            meshes: world.meshes,
            height_grids: world.height_grids,
            visual_files: Vec::new(),
        },
        warnings,
        files,
        file: file.into(),
    })
}

/// Returns an error that is about a whole file.
fn refusal(message: String, file: &str) -> ReadWorldError {
    ReadWorldError {
        errors: vec![Problem {
            code: "MODEL_EXPECTED",
            message,
            place: SourceSpan {
                file: file.into(),
                line: 1,
                column: 1,
            },
        }],
        warnings: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NoFiles, Pose};

    const ARM: &str = "<sdf version='1.11'><model name='arm'><pose>1 2 3 0 0 0.5</pose>\
        <frame name='tip'><pose>0 0 1 0 0 0</pose></frame>\
        <link name='base'/><link name='upper'><pose>0 0 0.5 0 0 0</pose></link>\
        <joint name='hinge' type='revolute'><parent>base</parent><child>upper</child>\
        <axis><xyz>1 0 0</xyz></axis></joint>\
        <model name='hand'><pose>0 0 1 0 0 0</pose><link name='palm'/></model></model></sdf>";

    fn check_refused(text: &str, expected: &str) {
        let error = read_model(text, "text", &NoFiles).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }

    fn assert_near(one: &[f64], other: &[f64]) {
        let mut pairs = one.iter().zip(other);
        assert!(
            pairs.all(|(a, b)| (a - b).abs() < 1e-12),
            "{one:?} {other:?}"
        );
    }

    #[test]
    fn a_model_is_read_where_the_file_has_it() {
        let model = read_model(ARM, "arm.sdf", &NoFiles).unwrap().parcel.model;
        assert_eq!(model.name, "arm");
        assert_near(&model.pose.position, &[1.0, 2.0, 3.0]);
        assert_near(&model.links[1].pose.position, &[1.0, 2.0, 3.5]);
    }

    #[test]
    fn a_robot_of_urdf_is_a_model() {
        let text = "<robot name='r'><link name='body'><inertial><mass value='2'/><inertia \
            ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link></robot>";
        let model = read_model(text, "r.urdf", &NoFiles).unwrap().parcel.model;
        assert_eq!((model.name.as_str(), model.links.len()), ("r", 1));
        assert_eq!(model.urdf.as_deref(), Some(text));
        let model = read_model(ARM, "arm.sdf", &NoFiles).unwrap().parcel.model;
        assert_eq!(model.urdf, None);
    }

    #[test]
    fn anything_else_is_refused() {
        let world = "<sdf version='1.11'><world name='w'><model name='m'><link name='l'/></model>\
            </world></sdf>";
        check_refused(world, "the text holds a world");
        let light = "<sdf version='1.11'><light name='l' type='point'/></sdf>";
        check_refused(light, "a light or an actor");
        check_refused("<sdf version='1.11'/>", "the text holds nothing");
        let two = "<sdf version='1.11'><model name='a'><link name='l'/></model>\
            <model name='b'><link name='l'/></model></sdf>";
        check_refused(two, "at most one model");
        check_refused("", "text:1:");
        check_refused(&"<".repeat(TAGS_MAX + 1), "at most 500000 tags");
    }

    #[test]
    fn a_model_that_is_placed_moves_with_all_its_frames_and_axes() {
        let parcel = read_model(ARM, "arm.sdf", &NoFiles).unwrap().parcel;
        let quarter = std::f64::consts::FRAC_PI_2;
        let pose = Pose::from_xyz_rpy([10.0, 0.0, 0.0], [quarter, 0.0, 0.0]);
        let model = parcel.placed(Some("new".to_owned()), Some(pose)).model;
        assert_eq!(model.name, "new");
        assert_eq!(model.pose, pose);
        // What was up is along -y now.
        assert_near(&model.links[0].pose.position, &[10.0, 0.0, 0.0]);
        assert_near(&model.links[1].pose.position, &[10.0, -0.5, 0.0]);
        assert_near(&model.links[2].pose.position, &[10.0, -1.0, 0.0]);
        assert_near(&model.frames[0].pose.position, &[10.0, -1.0, 0.0]);
        assert_near(&model.nested[0].pose.position, &[10.0, -1.0, 0.0]);
        assert_near(&model.joints[0].pose.position, &[10.0, -0.5, 0.0]);
        let axis = model.joints[0].kind.axes()[0].xyz;
        assert_near(&axis, &[1.0, 0.0, 0.0]);
    }

    #[test]
    fn a_joint_may_start_elsewhere_and_those_that_mimic_it_follow() {
        let second = "<joint name='wrist' type='revolute'><parent>upper</parent>\
            <child>hand::palm</child><axis><xyz>1 0 0</xyz><mimic joint='hinge' axis='axis'>\
            <multiplier>2</multiplier><offset>0.5</offset><reference>0</reference></mimic></axis>\
            </joint><model name='hand'";
        let text = ARM.replace("<model name='hand'", second);
        let mut parcel = read_model(&text, "arm.sdf", &NoFiles).unwrap().parcel;
        let starts = |parcel: &ModelParcel| -> Vec<f64> {
            let joints = parcel.model.joints.iter();
            joints
                .map(|joint| joint.kind.axes()[0].initial_position)
                .collect()
        };
        assert_eq!(starts(&parcel), [0.0, 0.0]);
        parcel.start_joint("hinge", 1.0).unwrap();
        assert_eq!(starts(&parcel), [1.0, 2.5]);
        let error = parcel.start_joint("elbow", 1.0).unwrap_err().to_string();
        assert!(error.contains("there are hinge, wrist"), "{error}");
        assert!(parcel.start_joint("hinge", f64::NAN).is_err());
    }

    #[test]
    fn a_joint_that_starts_within_its_limits_after_all_is_not_warned_of() {
        let limits = "<axis><xyz>1 0 0</xyz><limit><lower>1</lower><upper>2</upper></limit>";
        let text = ARM.replace("<axis><xyz>1 0 0</xyz>", limits);
        let mut model = read_model(&text, "arm.sdf", &NoFiles).unwrap();
        let codes = |model: &ReadModel| -> Vec<_> {
            model.warnings.iter().map(|warning| warning.code).collect()
        };
        assert_eq!(codes(&model), [BEYOND_LIMITS]);
        model.start_joint("hinge", 1.5).unwrap();
        assert!(codes(&model).is_empty(), "{:?}", model.warnings);
        model.start_joint("hinge", 3.0).unwrap();
        assert_eq!(codes(&model), [BEYOND_LIMITS]);
        assert!(model.warnings[0].message.contains("starts at 3, beyond"));
    }

    #[test]
    fn a_model_that_is_placed_nowhere_stays() {
        let parcel = read_model(ARM, "arm.sdf", &NoFiles).unwrap().parcel;
        assert_eq!(parcel.clone().placed(None, None), parcel);
    }
}
