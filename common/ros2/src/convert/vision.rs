//! Boxes around labelled things. The class of a detection is the label as a number; it is certain.

use messages::geometry::Vector2d;
use messages::sensor::{
    AnnotatedAxisAligned2DBox, AnnotatedAxisAligned2DBoxV, AnnotatedOriented3DBox,
    AnnotatedOriented3DBoxV, AxisAligned2DBox, Oriented3DBox,
};

use super::geometry::{gazebo_point, gazebo_quaternion, gazebo_vector, point, quaternion, vector};
use super::header::{gazebo_header, header};
use super::{Converts, Unfit};
use crate::types::std_msgs::Header;
use crate::types::{geometry_msgs, vision_msgs as ros};

impl Converts<AnnotatedAxisAligned2DBox> for ros::Detection2D {
    fn from_gazebo(message: AnnotatedAxisAligned2DBox) -> Result<Self, Unfit> {
        let (least, most) = (&message.r#box.min_corner, &message.r#box.max_corner);
        Ok(Self {
            header: header(&message.header),
            results: vec![hypothesis(message.label)],
            bbox: ros::BoundingBox2D {
                center: ros::Pose2D {
                    position: ros::Point2D {
                        x: f64::midpoint(least.x, most.x),
                        y: f64::midpoint(least.y, most.y),
                    },
                    theta: 0.0,
                },
                size_x: most.x - least.x,
                size_y: most.y - least.y,
            },
            id: String::new(),
        })
    }

    fn into_gazebo(self) -> Result<AnnotatedAxisAligned2DBox, Unfit> {
        let middle = &self.bbox.center.position;
        let corner = |side: f64| Vector2d {
            x: middle.x + side * self.bbox.size_x / 2.0,
            y: middle.y + side * self.bbox.size_y / 2.0,
            ..Vector2d::default()
        };
        Ok(AnnotatedAxisAligned2DBox {
            r#box: AxisAligned2DBox {
                min_corner: corner(-1.0),
                max_corner: corner(1.0),
                ..AxisAligned2DBox::default()
            },
            label: label(&self.results)?,
            header: gazebo_header(self.header),
        })
    }
}

impl Converts<AnnotatedOriented3DBox> for ros::Detection3D {
    fn from_gazebo(message: AnnotatedOriented3DBox) -> Result<Self, Unfit> {
        Ok(Self {
            header: header(&message.header),
            results: vec![hypothesis(message.label)],
            bbox: ros::BoundingBox3D {
                center: geometry_msgs::Pose {
                    position: point(&message.r#box.center),
                    orientation: quaternion(&message.r#box.orientation),
                },
                size: vector(&message.r#box.boxsize),
            },
            id: String::new(),
        })
    }

    fn into_gazebo(self) -> Result<AnnotatedOriented3DBox, Unfit> {
        Ok(AnnotatedOriented3DBox {
            r#box: Oriented3DBox {
                center: gazebo_point(&self.bbox.center.position),
                orientation: gazebo_quaternion(&self.bbox.center.orientation),
                boxsize: gazebo_vector(&self.bbox.size),
                ..Oriented3DBox::default()
            },
            label: label(&self.results)?,
            header: gazebo_header(self.header),
        })
    }
}

/// Defines the conversion of a list from that of its elements. A box without a header of its own
/// has that of the list.
macro_rules! lists {
    ($($gazebo:ident, $ros:ty, $element:ty;)*) => {$(
        impl Converts<$gazebo> for $ros {
            fn from_gazebo(message: $gazebo) -> Result<Self, Unfit> {
                let header = header(&message.header);
                let boxes = message.annotated_box.into_iter();
                let detections = boxes.map(|one| {
                    let mut detection = <$element>::from_gazebo(one)?;
                    if detection.header == Header::default() {
                        detection.header = header.clone();
                    }
                    Ok(detection)
                });
                Ok(Self { detections: detections.collect::<Result<_, Unfit>>()?, header })
            }

            fn into_gazebo(self) -> Result<$gazebo, Unfit> {
                let boxes = self.detections.into_iter().map(Converts::into_gazebo);
                Ok($gazebo {
                    annotated_box: boxes.collect::<Result<_, Unfit>>()?,
                    header: gazebo_header(self.header),
                })
            }
        }
    )*};
}

lists! {
    AnnotatedAxisAligned2DBoxV, ros::Detection2DArray, ros::Detection2D;
    AnnotatedOriented3DBoxV, ros::Detection3DArray, ros::Detection3D;
}

fn hypothesis(label: u32) -> ros::ObjectHypothesisWithPose {
    let mut hypothesis = ros::ObjectHypothesisWithPose {
        hypothesis: ros::ObjectHypothesis {
            class_id: label.to_string(),
            score: 1.0,
        },
        ..ros::ObjectHypothesisWithPose::default()
    };
    // The pose is not known, and still one.
    hypothesis.pose.pose.orientation.w = 1.0;
    hypothesis
}

/// Returns the label of the likeliest class, 0 without any.
fn label(results: &[ros::ObjectHypothesisWithPose]) -> Result<u32, Unfit> {
    let hypotheses = results.iter().map(|result| &result.hypothesis);
    let likeliest = hypotheses.max_by(|one, other| one.score.total_cmp(&other.score));
    likeliest.map_or(Ok(0), |one| {
        one.class_id.parse().map_err(|_| Unfit::Label {
            class_id: one.class_id.clone(),
        })
    })
}
