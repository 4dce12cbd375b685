//! [`Typed`]: scans, points and images of sensors in the forms that Foxglove draws.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as STANDARD;
use messages::foxglove::{self, CompressedImage};
use protocol::LinkPose;
use serde_json::{Value, json};

use super::{color, markers, pose, time, vector};
use crate::geometry::{IDENTITY, compose};

/// Range of a ray that hits nothing: beyond all that is drawn \[m\].
const NO_RANGE: f64 = 1e9;
/// The frame in which images lie, z ahead, x to the right and y down, in one with x ahead and z up.
const OPTICAL: LinkPose = [0.0, 0.0, 0.0, -0.5, 0.5, -0.5, 0.5];
/// The matrix of 3 x 3 that changes nothing, by rows.
const UNIT_MATRIX: [f64; 9] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
/// Covariance of places on earth whose exactness is not known.
const UNKNOWN_COVARIANCE: [f64; 9] = [0.0; 9];
/// Foxglove's number for points that are joined to a loop.
const LINE_LOOP: u8 = 2;
/// Colour of boxes around what is seen.
const OUTLINE: [f64; 4] = [1.0, 0.8, 0.1, 1.0];

/// Beginning of the part of a topic that names a sensor's model, link and name.
pub(crate) const MODEL_TOPIC: &str = "/model/";

/// A form that Foxglove draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Typed {
    /// `foxglove.LaserScan`
    LaserScan,
    /// `foxglove.PointCloud`
    PointCloud,
    /// `foxglove.RawImage`
    RawImage,
    /// `foxglove.CameraCalibration`
    CameraCalibration,
    /// `foxglove.LocationFix`
    LocationFix,
    /// `foxglove.ImageAnnotations`
    ImageAnnotations,
    /// `foxglove.SceneUpdate` of contacts.
    Contacts,
    /// `foxglove.SceneUpdate` of boxes in space.
    Boxes,
}

/// Kinds of messages with the forms that Foxglove draws of them.
const FORMS: &[(&str, Typed)] = &[
    ("gz.msgs.LaserScan", Typed::LaserScan),
    ("gz.msgs.PointCloudPacked", Typed::PointCloud),
    ("gz.msgs.Image", Typed::RawImage),
    ("gz.msgs.CameraInfo", Typed::CameraCalibration),
    ("gz.msgs.NavSat", Typed::LocationFix),
    (
        "gz.msgs.AnnotatedAxisAligned2DBox_V",
        Typed::ImageAnnotations,
    ),
    ("gz.msgs.Contacts", Typed::Contacts),
    ("gz.msgs.AnnotatedOriented3DBox_V", Typed::Boxes),
];

/// The place of a sensor.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SensorPlace {
    /// The frame that it is fixed to: `MODEL::LINK` of what moves, else the world's.
    pub(crate) frame: String,
    /// Pose in that frame, x ahead and z up.
    pub(crate) pose: LinkPose,
    /// Name of the frame of what it measures: `MODEL::LINK::SENSOR`.
    pub(crate) own_frame: String,
    /// The beginning of its topics: the one that the world names, or a part of those that follow
    /// from its name.
    pub(crate) topic: String,
    /// True of cameras, whose own frame has z ahead, x to the right and y down.
    pub(crate) is_camera: bool,
}

impl SensorPlace {
    /// Tells whether a topic is one of its own.
    pub(crate) fn speaks_on(&self, topic: &str) -> bool {
        let mut found = topic.match_indices(&self.topic);
        found.any(|(at, _)| {
            let rest = &topic[at + self.topic.len()..];
            (at == 0 || self.topic.starts_with(MODEL_TOPIC))
                && (rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// Returns the pose of its own frame in the frame that it is fixed to.
    pub(crate) fn own_pose(&self) -> LinkPose {
        if self.is_camera {
            compose(&self.pose, &OPTICAL)
        } else {
            self.pose
        }
    }
}

impl Typed {
    /// Returns the form of messages of a kind, if there is one.
    pub(crate) fn of_kind(kind: &str) -> Option<Self> {
        let found = FORMS.iter().find(|(known, _)| *known == kind);
        found.map(|(_, typed)| *typed)
    }

    pub(crate) fn schema_name(self) -> &'static str {
        match self {
            Self::LaserScan => "foxglove.LaserScan",
            Self::PointCloud => "foxglove.PointCloud",
            Self::RawImage => "foxglove.RawImage",
            Self::CameraCalibration => "foxglove.CameraCalibration",
            Self::LocationFix => "foxglove.LocationFix",
            Self::ImageAnnotations => "foxglove.ImageAnnotations",
            Self::Contacts | Self::Boxes => "foxglove.SceneUpdate",
        }
    }

    pub(crate) fn schema(self) -> Value {
        match self {
            Self::LaserScan => foxglove::laser_scan(),
            Self::PointCloud => foxglove::point_cloud(),
            Self::RawImage => foxglove::raw_image(),
            Self::CameraCalibration => foxglove::camera_calibration(),
            Self::LocationFix => foxglove::location_fix(),
            Self::ImageAnnotations => foxglove::image_annotations(),
            Self::Contacts | Self::Boxes => foxglove::scene_update(),
        }
    }

    /// Returns a message of the run in this form; `None` for one that is not understood.
    pub(crate) fn convert(
        self,
        message: &Value,
        place: Option<&SensorPlace>,
        time_ns: u64,
    ) -> Option<Value> {
        let mut converted = match self {
            Self::LaserScan => laser_scan(message)?,
            Self::PointCloud => point_cloud(message)?,
            Self::RawImage => raw_image(message)?,
            Self::CameraCalibration => calibration(message)?,
            Self::LocationFix => location_fix(message)?,
            Self::ImageAnnotations => annotations(message, time_ns)?,
            Self::Contacts => return markers::contacts(message, time_ns),
            Self::Boxes => return markers::boxes(message, place, time_ns),
        };
        converted["timestamp"] = time(time_ns);
        let named = || frame_id(message).unwrap_or(super::WORLD_FRAME);
        match self {
            Self::LaserScan | Self::PointCloud => {
                let frame = place.map_or_else(named, |place| &place.frame);
                converted["frame_id"] = json!(frame);
                converted["pose"] = pose(&place.map_or(IDENTITY, |place| place.pose));
            }
            Self::RawImage | Self::CameraCalibration | Self::LocationFix => {
                let frame = place.map_or_else(named, |place| &place.own_frame);
                converted["frame_id"] = json!(frame);
            }
            Self::ImageAnnotations | Self::Contacts | Self::Boxes => {}
        }
        Some(converted)
    }
}

/// Returns the frame that a message names in its header.
pub(crate) fn frame_id(message: &Value) -> Option<&str> {
    let data = message["header"]["data"].as_array()?;
    let entry = data.iter().find(|entry| entry["key"] == "frame_id")?;
    entry["value"][0].as_str()
}

/// Of a scan with several rows, the middle one is shown.
fn laser_scan(message: &Value) -> Option<Value> {
    let columns = message["count"].as_u64()? as usize;
    let rows = (message["vertical_count"].as_u64().unwrap_or(1) as usize).max(1);
    let row = |list: &Value| {
        let numbers = list.as_array().map_or(&[][..], Vec::as_slice);
        let begin = (rows / 2).checked_mul(columns)?;
        let end = begin.checked_add(columns)?;
        let shown = numbers.get(begin..end)?.iter().map(finite);
        Some(shown.collect::<Vec<f64>>())
    };
    Some(json!({
        "start_angle": message["angle_min"], "end_angle": message["angle_max"],
        "ranges": row(&message["ranges"])?,
        "intensities": row(&message["intensities"]).unwrap_or_default(),
    }))
}

/// Returns a number; what is not finite is a text, and nothing was hit.
fn finite(number: &Value) -> f64 {
    number.as_f64().unwrap_or(NO_RANGE)
}

fn point_cloud(message: &Value) -> Option<Value> {
    let field = |field: &Value| {
        Some(json!({
            "name": field["name"], "offset": field["offset"].as_u64().unwrap_or(0),
            "type": numeric_type(&field["datatype"])?,
        }))
    };
    let fields = message["field"].as_array()?.iter().filter_map(field);
    Some(json!({
        "point_stride": message["point_step"].as_u64()?,
        "fields": fields.collect::<Vec<Value>>(), "data": message["data"].as_str()?,
    }))
}

/// Returns Foxglove's number for a type of `gz.msgs.PointCloudPacked`, which numbers signed ones
/// first.
fn numeric_type(datatype: &Value) -> Option<u8> {
    let number = datatype.as_u64()?;
    let types = [2, 1, 4, 3, 6, 5, 7, 8];
    types
        .get(usize::try_from(number).ok()?.checked_sub(1)?)
        .copied()
}

fn raw_image(message: &Value) -> Option<Value> {
    let (width, height) = (message["width"].as_u64()?, message["height"].as_u64()?);
    let (encoding, bytes) = match message["pixel_format_type"].as_str()? {
        "L_INT8" => ("mono8", 1),
        "L_INT16" => ("mono16", 2),
        "RGB_INT8" => ("rgb8", 3),
        "BGR_INT8" => ("bgr8", 3),
        "RGBA_INT8" => ("rgba8", 4),
        "BGRA_INT8" => ("bgra8", 4),
        "R_FLOAT32" => ("32FC1", 4),
        "BAYER_RGGB8" => ("bayer_rggb8", 1),
        "BAYER_BGGR8" => ("bayer_bggr8", 1),
        "BAYER_GBRG8" => ("bayer_gbrg8", 1),
        "BAYER_GRBG8" => ("bayer_grbg8", 1),
        _ => return None,
    };
    let step = message["step"].as_u64().filter(|step| *step > 0);
    Some(json!({
        "width": width, "height": height, "encoding": encoding,
        "step": step.unwrap_or(width * bytes), "data": message["data"].as_str()?,
    }))
}

/// Returns what is told of a camera.
fn calibration(message: &Value) -> Option<Value> {
    let numbers = |list: &Value| -> Vec<f64> {
        let list = list.as_array().map_or(&[][..], Vec::as_slice);
        list.iter().filter_map(Value::as_f64).collect()
    };
    let model = match message["distortion"]["model"].as_str() {
        Some("RATIONAL_POLYNOMIAL") => "rational_polynomial",
        Some("EQUIDISTANT") => "kannala_brandt",
        _ => "plumb_bob",
    };
    let matrix = |list: &Value, count: usize| Some(numbers(list)).filter(|all| all.len() == count);
    Some(json!({
        "width": message["width"].as_u64()?, "height": message["height"].as_u64()?,
        "distortion_model": model, "D": numbers(&message["distortion"]["k"]),
        "K": matrix(&message["intrinsics"]["k"], 9)?,
        "R": matrix(&message["rectification_matrix"], 9).unwrap_or_else(|| UNIT_MATRIX.to_vec()),
        "P": matrix(&message["projection"]["p"], 12)?,
    }))
}

/// Returns a place on earth; how exact it is, is not known.
fn location_fix(message: &Value) -> Option<Value> {
    let number = |key: &str| message[key].as_f64();
    Some(json!({
        "latitude": number("latitude_deg")?, "longitude": number("longitude_deg")?,
        "altitude": number("altitude").unwrap_or_default(),
        "position_covariance": UNKNOWN_COVARIANCE, "position_covariance_type": 0,
        "velocity": vector([
            number("velocity_east").unwrap_or_default(),
            number("velocity_north").unwrap_or_default(),
            number("velocity_up").unwrap_or_default(),
        ]),
    }))
}

/// Returns boxes around what is seen, each with its label.
fn annotations(message: &Value, time_ns: u64) -> Option<Value> {
    let corner = |found: &Value| Some([found["x"].as_f64()?, found["y"].as_f64()?]);
    let point = |[x, y]: [f64; 2]| json!({ "x": x, "y": y });
    let (mut outlines, mut texts) = (Vec::new(), Vec::new());
    for found in message["annotated_box"].as_array()? {
        let [left, top] = corner(&found["box"]["min_corner"])?;
        let [right, bottom] = corner(&found["box"]["max_corner"])?;
        let corners = [[left, top], [right, top], [right, bottom], [left, bottom]];
        outlines.push(json!({
            "timestamp": time(time_ns), "type": LINE_LOOP, "points": corners.map(point),
            "outline_color": color(OUTLINE), "outline_colors": [], "fill_color": color([0.0; 4]),
            "thickness": 2.0,
        }));
        texts.push(json!({
            "timestamp": time(time_ns), "position": point([left, top]),
            "text": found["label"].to_string(), "font_size": 12.0,
            "text_color": color([0.0, 0.0, 0.0, 1.0]), "background_color": color(OUTLINE),
        }));
    }
    Some(json!({ "circles": [], "points": outlines, "texts": texts }))
}

/// Returns a compressed image, which is seen from a frame.
pub(crate) fn compressed_image(image: &CompressedImage, frame: &str, time_ns: u64) -> Value {
    let frame = Some(frame).filter(|frame| !frame.is_empty());
    json!({
        "timestamp": time(time_ns), "frame_id": frame.unwrap_or(super::WORLD_FRAME),
        "data": STANDARD.encode(&image.data), "format": image.format, "encoding": image.encoding,
    })
}

#[cfg(test)]
mod tests {
    use messages::sensor::{
        AnnotatedAxisAligned2DBox, AnnotatedAxisAligned2DBoxV, CameraInfo, LaserScan, NavSat,
    };

    use super::*;

    fn place(kind: &str) -> SensorPlace {
        SensorPlace {
            frame: "rover::base".to_owned(),
            pose: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
            own_frame: "rover::base::eye".to_owned(),
            topic: "/model/rover/link/base/sensor/eye".to_owned(),
            is_camera: kind == "camera",
        }
    }

    /// Returns a message as recordings have it.
    fn told<M: messages::Message>(message: &M) -> Value {
        let kind = messages::find(M::KIND).unwrap();
        kind.to_recorded_json(&messages::encode(message)).unwrap()
    }

    #[test]
    fn rays_that_hit_nothing_are_numbers_and_the_frame_is_that_of_the_link() {
        let mut scan = LaserScan::default();
        (scan.count, scan.vertical_count) = (2, 1);
        scan.ranges = vec![1.5, f64::INFINITY];
        let place = place("gpu_lidar");
        let shown = Typed::LaserScan.convert(&told(&scan), Some(&place), 5);
        let shown = shown.unwrap();
        assert_eq!(shown["ranges"], json!([1.5, NO_RANGE]));
        assert_eq!(shown["frame_id"], "rover::base");
        assert_eq!(shown["pose"]["position"]["x"], 1.0);
    }

    #[test]
    fn scans_that_lie_about_their_size_are_not_shown() {
        let message = json!({ "count": u64::MAX, "vertical_count": u64::MAX, "ranges": [1.0] });
        assert_eq!(Typed::LaserScan.convert(&message, None, 0), None);
        assert_eq!(Typed::PointCloud.convert(&json!({}), None, 0), None);
        assert_eq!(
            Typed::RawImage.convert(&json!({ "width": 1 }), None, 0),
            None
        );
    }

    #[test]
    fn depth_images_are_images_of_metres() {
        let message = json!({
            "width": 2, "height": 1, "pixel_format_type": "R_FLOAT32", "data": "AAAA", "step": 8,
        });
        let shown = Typed::RawImage.convert(&message, None, 0).unwrap();
        assert_eq!(
            (&shown["encoding"], &shown["step"]),
            (&json!("32FC1"), &json!(8))
        );
    }

    #[test]
    fn a_sensor_is_known_by_its_topics() {
        let named = SensorPlace {
            topic: "/front".to_owned(),
            ..place("camera")
        };
        for (place, topic, expected) in [
            (&named, "/front", true),
            (&named, "/front/image", true),
            (&named, "/frontal", false),
            (&named, "/robot/front", false),
            (
                &place("camera"),
                "/world/w/model/rover/link/base/sensor/eye/image",
                true,
            ),
            (
                &place("camera"),
                "/world/w/model/rover/link/base/sensor/eyes/image",
                false,
            ),
        ] {
            assert_eq!(place.speaks_on(topic), expected, "{topic}");
        }
    }

    #[test]
    fn cameras_are_told_in_the_frame_in_which_their_images_lie() {
        let mut camera = CameraInfo {
            width: 4,
            height: 2,
            ..CameraInfo::default()
        };
        let convert = |camera: &CameraInfo| {
            Typed::CameraCalibration.convert(&told(camera), Some(&place("camera")), 0)
        };
        assert_eq!(convert(&camera), None, "its projection is not known");
        camera.intrinsics.k = vec![2.0, 0.0, 2.0, 0.0, 2.0, 1.0, 0.0, 0.0, 1.0];
        camera.projection.p = vec![0.5; 12];
        camera.distortion.model = "EQUIDISTANT".to_owned();
        let shown = convert(&camera).unwrap();
        assert_eq!(shown["frame_id"], "rover::base::eye");
        assert_eq!(shown["distortion_model"], "kannala_brandt");
        assert_eq!((&shown["K"][2], &shown["R"][8]), (&json!(2.0), &json!(1.0)));
        let ahead = compose(
            &place("camera").own_pose(),
            &[0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 1.0],
        );
        let down = compose(
            &place("camera").own_pose(),
            &[0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        );
        assert_eq!(ahead[..3], [4.0, 0.0, 0.0]);
        assert_eq!(down[..3], [1.0, 0.0, -2.0]);
    }

    #[test]
    fn places_on_earth_and_boxes_in_images_are_told() {
        let fix = NavSat {
            latitude_deg: 47.5,
            longitude_deg: 8.25,
            velocity_north: 3.0,
            ..NavSat::default()
        };
        let shown = Typed::LocationFix.convert(&told(&fix), None, 0).unwrap();
        assert_eq!(
            (&shown["latitude"], &shown["longitude"]),
            (&json!(47.5), &json!(8.25))
        );
        assert_eq!(shown["velocity"]["y"], 3.0);
        let mut found = AnnotatedAxisAligned2DBox {
            label: 7,
            ..AnnotatedAxisAligned2DBox::default()
        };
        (found.r#box.max_corner.x, found.r#box.max_corner.y) = (6.0, 4.0);
        let boxes = AnnotatedAxisAligned2DBoxV {
            annotated_box: vec![found],
            ..AnnotatedAxisAligned2DBoxV::default()
        };
        let shown = Typed::ImageAnnotations.convert(&told(&boxes), None, 0);
        let shown = shown.unwrap();
        assert_eq!(
            shown["points"][0]["points"][2],
            json!({ "x": 6.0, "y": 4.0 })
        );
        assert_eq!(shown["texts"][0]["text"], "7");
    }
}
