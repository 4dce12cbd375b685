//! [`Typed`]: scans, points and images of sensors in the forms that Foxglove draws.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as STANDARD;
use messages::foxglove::{self, CompressedImage};
use protocol::LinkPose;
use serde_json::{Value, json};

use super::{pose, time};
use crate::geometry::IDENTITY;

/// Range of a ray that hits nothing: beyond all that is drawn \[m\].
const NO_RANGE: f64 = 1e9;

/// A form that Foxglove draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Typed {
    /// `foxglove.LaserScan`
    LaserScan,
    /// `foxglove.PointCloud`
    PointCloud,
    /// `foxglove.RawImage`
    RawImage,
}

/// The place of a sensor: the link that it is on, and its pose there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SensorPlace {
    /// Frame of the link: `MODEL::LINK`.
    pub(crate) frame: String,
    /// Pose in that frame.
    pub(crate) pose: LinkPose,
}

impl Typed {
    /// Returns the form of messages of a kind, if there is one.
    pub(crate) fn of_kind(kind: &str) -> Option<Self> {
        match kind {
            "gz.msgs.LaserScan" => Some(Self::LaserScan),
            "gz.msgs.PointCloudPacked" => Some(Self::PointCloud),
            "gz.msgs.Image" => Some(Self::RawImage),
            _ => None,
        }
    }

    pub(crate) fn schema_name(self) -> &'static str {
        match self {
            Self::LaserScan => "foxglove.LaserScan",
            Self::PointCloud => "foxglove.PointCloud",
            Self::RawImage => "foxglove.RawImage",
        }
    }

    pub(crate) fn schema(self) -> Value {
        match self {
            Self::LaserScan => foxglove::laser_scan(),
            Self::PointCloud => foxglove::point_cloud(),
            Self::RawImage => foxglove::raw_image(),
        }
    }

    /// Returns a message of the run in this form; `None` for one that is not understood.
    pub(crate) fn convert(
        self,
        message: &Value,
        place: Option<&SensorPlace>,
        time_ns: u64,
    ) -> Option<Value> {
        let named = place
            .map(|place| place.frame.as_str())
            .or_else(|| frame_id(message));
        let frame = named.unwrap_or(super::WORLD_FRAME);
        let at = place.map_or(IDENTITY, |place| place.pose);
        let mut converted = match self {
            Self::LaserScan => laser_scan(message)?,
            Self::PointCloud => point_cloud(message)?,
            Self::RawImage => raw_image(message)?,
        };
        converted["timestamp"] = time(time_ns);
        converted["frame_id"] = json!(frame);
        if self != Self::RawImage {
            converted["pose"] = pose(&at);
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
    use messages::sensor::LaserScan;

    use super::*;

    #[test]
    fn rays_that_hit_nothing_are_numbers_and_the_frame_is_that_of_the_link() {
        let mut scan = LaserScan::default();
        (scan.count, scan.vertical_count) = (2, 1);
        scan.ranges = vec![1.5, f64::INFINITY];
        let kind = messages::find("gz.msgs.LaserScan").unwrap();
        let message = kind.to_recorded_json(&messages::encode(&scan)).unwrap();
        let place = SensorPlace {
            frame: "rover::base".to_owned(),
            pose: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        };
        let shown = Typed::LaserScan.convert(&message, Some(&place), 5).unwrap();
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
}
