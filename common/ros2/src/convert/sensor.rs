//! Measurements of sensors and batteries.

use messages::foxglove::CompressedImage;
use messages::sensor::{
    CameraDistortion, CameraInfo, CameraIntrinsics, CameraProjection, FluidPressure, Image, Imu,
    LaserScan, Magnetometer, NavSat, PointCloudField, PointCloudPacked,
};
use messages::state::BatteryState;
use serde_bytes::ByteBuf;

use super::geometry::{gazebo_quaternion, gazebo_vector, quaternion, vector};
use super::header::{frame, gazebo_header, header, time};
use super::{Converts, Unfit, converts};
use crate::types::sensor_msgs as ros;
use crate::types::std_msgs::Header;

/// Formats of pixels, as Gazebo and as ROS name them.
const PIXELS: &[(&str, &str)] = &[
    ("L_INT8", "mono8"),
    ("L_INT16", "mono16"),
    ("RGB_INT8", "rgb8"),
    ("RGBA_INT8", "rgba8"),
    ("BGRA_INT8", "bgra8"),
    ("RGB_INT16", "rgb16"),
    ("BGR_INT8", "bgr8"),
    ("BGR_INT16", "bgr16"),
    ("R_FLOAT32", "32FC1"),
    ("RGB_FLOAT32", "32FC3"),
    ("BAYER_RGGB8", "bayer_rggb8"),
    ("BAYER_BGGR8", "bayer_bggr8"),
    ("BAYER_GBRG8", "bayer_gbrg8"),
    ("BAYER_GRBG8", "bayer_grbg8"),
];

/// Encodings of compressed images whose files have colours.
const COLORS: [&str; 4] = ["rgb8", "bgr8", "rgba8", "bgra8"];
/// Encoding of compressed distances.
const DEPTH: &str = "16UC1";
/// Header before compressed distances: a format, and two parameters of inverse distances.
const DEPTH_HEADER: [u8; 12] = [0; 12];

/// Words for the state of a battery, by the constants of ROS.
const CHARGING: &[(&str, u8)] = &[
    ("UNKNOWN", ros::BatteryState::POWER_SUPPLY_STATUS_UNKNOWN),
    ("CHARGING", ros::BatteryState::POWER_SUPPLY_STATUS_CHARGING),
    (
        "DISCHARGING",
        ros::BatteryState::POWER_SUPPLY_STATUS_DISCHARGING,
    ),
    (
        "NOT_CHARGING",
        ros::BatteryState::POWER_SUPPLY_STATUS_NOT_CHARGING,
    ),
    ("FULL", ros::BatteryState::POWER_SUPPLY_STATUS_FULL),
];

converts! {
    LaserScan, ros::LaserScan: |message| scan(&message), |back| gazebo_scan(back);
    PointCloudPacked, ros::PointCloud2: |message| points(message), |back| gazebo_points(back);
    CameraInfo, ros::CameraInfo: |message| camera(&message), |back| gazebo_camera(back);
    Imu, ros::Imu: |message| Self {
            header: header(&message.header),
            orientation: quaternion(&message.orientation),
            angular_velocity: vector(&message.angular_velocity),
            linear_acceleration: vector(&message.linear_acceleration),
            ..Self::default()
        },
        |back| Imu {
            entity_name: back.header.frame_id.clone(),
            header: gazebo_header(back.header),
            orientation: gazebo_quaternion(&back.orientation),
            angular_velocity: gazebo_vector(&back.angular_velocity),
            linear_acceleration: gazebo_vector(&back.linear_acceleration),
        };
    Magnetometer, ros::MagneticField: |message| Self {
            header: header(&message.header),
            magnetic_field: vector(&message.field_tesla),
            ..Self::default()
        },
        |back| Magnetometer {
            header: gazebo_header(back.header),
            field_tesla: gazebo_vector(&back.magnetic_field),
        };
    FluidPressure, ros::FluidPressure: |message| Self {
            header: header(&message.header),
            fluid_pressure: message.pressure,
            variance: message.variance,
        },
        |back| FluidPressure {
            header: gazebo_header(back.header),
            pressure: back.fluid_pressure,
            variance: back.variance,
        };
    NavSat, ros::NavSatFix: |message| Self {
            header: framed(header(&message.header), &message.frame_id),
            status: ros::NavSatStatus {
                status: ros::NavSatStatus::STATUS_FIX,
                service: ros::NavSatStatus::SERVICE_GPS,
            },
            latitude: message.latitude_deg,
            longitude: message.longitude_deg,
            altitude: message.altitude,
            ..Self::default()
        },
        |back| NavSat {
            frame_id: back.header.frame_id.clone(),
            header: gazebo_header(back.header),
            latitude_deg: back.latitude,
            longitude_deg: back.longitude,
            altitude: back.altitude,
            ..NavSat::default()
        };
    BatteryState, ros::BatteryState: |message| battery(&message), |back| BatteryState {
            header: gazebo_header(back.header),
            voltage: back.voltage.into(),
            current: back.current.into(),
            charge: back.charge.into(),
            capacity: back.capacity.into(),
            percentage: back.percentage.into(),
            power_supply_status: charging(back.power_supply_status).to_owned(),
        };
}

impl Converts<LaserScan> for ros::Range {
    const HAS_INBOUND: bool = false;

    /// Returns the nearest of all ranges, as the reading of one wide beam.
    fn from_gazebo(message: LaserScan) -> Result<Self, Unfit> {
        let nearest = message.ranges.iter().copied().fold(f64::INFINITY, f64::min);
        Ok(Self {
            header: framed(header(&message.header), &message.frame),
            radiation_type: Self::INFRARED,
            field_of_view: (message.angle_max - message.angle_min) as f32,
            min_range: message.range_min as f32,
            max_range: message.range_max as f32,
            range: nearest as f32,
            variance: 0.0,
        })
    }

    fn into_gazebo(self) -> Result<LaserScan, Unfit> {
        Err(Unfit::OneWay)
    }
}

impl Converts<Image> for ros::Image {
    fn from_gazebo(message: Image) -> Result<Self, Unfit> {
        let format = message.pixel_format_type;
        let mut known = PIXELS.iter();
        let known = known.find(|(gazebo, _)| *gazebo == format);
        let (_, encoding) = known.ok_or(Unfit::Pixels { format })?;
        Ok(Self {
            header: header(&message.header),
            height: message.height,
            width: message.width,
            encoding: (*encoding).to_owned(),
            is_bigendian: 0,
            step: message.step,
            data: message.data.into_vec(),
        })
    }

    fn into_gazebo(self) -> Result<Image, Unfit> {
        let format = self.encoding;
        let mut known = PIXELS.iter();
        let known = known.find(|(_, encoding)| *encoding == format);
        let (pixels, _) = known.ok_or(Unfit::Pixels { format })?;
        Ok(Image {
            header: gazebo_header(self.header),
            width: self.width,
            height: self.height,
            step: self.step,
            pixel_format_type: (*pixels).to_owned(),
            data: ByteBuf::from(self.data),
        })
    }
}

impl Converts<CompressedImage> for ros::CompressedImage {
    const HAS_INBOUND: bool = false;

    /// Names the format as the plugins of `image_transport` do; distances are preceded by the
    /// header of `compressed_depth_image_transport`, which is of no use for whole numbers.
    fn from_gazebo(message: CompressedImage) -> Result<Self, Unfit> {
        let CompressedImage {
            timestamp,
            frame_id,
            data,
            format,
            encoding,
        } = message;
        let is_depth = encoding == DEPTH;
        let has_colors = COLORS.contains(&&*encoding);
        let mut bytes = Vec::with_capacity(DEPTH_HEADER.len() + data.len());
        if is_depth {
            bytes.extend(DEPTH_HEADER);
        }
        bytes.extend(data);
        Ok(Self {
            header: Header {
                stamp: time(&timestamp),
                frame_id: frame(&frame_id),
            },
            format: if is_depth {
                format!("{encoding}; compressedDepth {format}")
            } else {
                let target = if has_colors { "bgr8" } else { "" };
                format!("{encoding}; {format} compressed {target}")
            },
            data: bytes,
        })
    }

    fn into_gazebo(self) -> Result<CompressedImage, Unfit> {
        Err(Unfit::OneWay)
    }
}

/// Gives a header the frame that a message names beside it.
fn framed(header: Header, name: &str) -> Header {
    if name.is_empty() {
        return header;
    }
    Header {
        frame_id: frame(name),
        ..header
    }
}

/// Returns the middle one of a scan's rows.
fn scan(from: &LaserScan) -> ros::LaserScan {
    let count = from.count as usize;
    let begin = (from.vertical_count / 2) as usize * count;
    let row = |numbers: &[f64]| {
        let rest = numbers.get(begin..).unwrap_or_default();
        let row = rest.iter().take(count);
        row.map(|number| *number as f32).collect()
    };
    ros::LaserScan {
        header: framed(header(&from.header), &from.frame),
        angle_min: from.angle_min as f32,
        angle_max: from.angle_max as f32,
        angle_increment: from.angle_step as f32,
        time_increment: 0.0,
        scan_time: 0.0,
        range_min: from.range_min as f32,
        range_max: from.range_max as f32,
        ranges: row(&from.ranges),
        intensities: row(&from.intensities),
    }
}

fn gazebo_scan(from: ros::LaserScan) -> LaserScan {
    let wide = |numbers: Vec<f32>| numbers.into_iter().map(f64::from).collect();
    LaserScan {
        frame: from.header.frame_id.clone(),
        header: gazebo_header(from.header),
        angle_min: from.angle_min.into(),
        angle_max: from.angle_max.into(),
        angle_step: from.angle_increment.into(),
        range_min: from.range_min.into(),
        range_max: from.range_max.into(),
        count: from.ranges.len() as u32,
        vertical_count: 1,
        ranges: wide(from.ranges),
        intensities: wide(from.intensities),
        ..LaserScan::default()
    }
}

fn points(from: PointCloudPacked) -> ros::PointCloud2 {
    let fields = from.field.into_iter().map(|field| ros::PointField {
        name: field.name,
        offset: field.offset,
        datatype: field.datatype as u8,
        count: field.count,
    });
    ros::PointCloud2 {
        header: header(&from.header),
        height: from.height,
        width: from.width,
        fields: fields.collect(),
        is_bigendian: from.is_bigendian,
        point_step: from.point_step,
        row_step: from.row_step,
        data: from.data.into_vec(),
        is_dense: from.is_dense,
    }
}

fn gazebo_points(from: ros::PointCloud2) -> PointCloudPacked {
    let fields = from.fields.into_iter().map(|field| PointCloudField {
        name: field.name,
        offset: field.offset,
        datatype: field.datatype.into(),
        count: field.count,
    });
    PointCloudPacked {
        header: gazebo_header(from.header),
        field: fields.collect(),
        height: from.height,
        width: from.width,
        is_bigendian: from.is_bigendian,
        point_step: from.point_step,
        row_step: from.row_step,
        data: ByteBuf::from(from.data),
        is_dense: from.is_dense,
    }
}

/// Names of models of distortion in Gazebo and in ROS.
const DISTORTIONS: [(&str, &str); 3] = [
    ("PLUMB_BOB", "plumb_bob"),
    ("RATIONAL_POLYNOMIAL", "rational_polynomial"),
    ("EQUIDISTANT", "equidistant"),
];

/// Returns a camera; one that says nothing of distortion has none, and a matrix of another size is
/// all zeros.
fn camera(from: &CameraInfo) -> ros::CameraInfo {
    let mut models = DISTORTIONS.iter();
    let model = models.find(|(name, _)| *name == from.distortion.model);
    ros::CameraInfo {
        header: header(&from.header),
        height: from.height,
        width: from.width,
        distortion_model: model.map_or("plumb_bob", |(_, name)| name).to_owned(),
        d: if from.distortion.k.is_empty() {
            vec![0.0; 5]
        } else {
            from.distortion.k.clone()
        },
        k: matrix(&from.intrinsics.k),
        r: matrix(&from.rectification_matrix),
        p: matrix(&from.projection.p),
        ..ros::CameraInfo::default()
    }
}

fn gazebo_camera(from: ros::CameraInfo) -> CameraInfo {
    let mut models = DISTORTIONS.iter();
    let model = models.find(|(_, name)| *name == from.distortion_model);
    CameraInfo {
        distortion: CameraDistortion {
            model: model.map_or("PLUMB_BOB", |(name, _)| name).to_owned(),
            k: from.d,
        },
        header: gazebo_header(from.header),
        width: from.width,
        height: from.height,
        intrinsics: CameraIntrinsics { k: from.k.to_vec() },
        projection: CameraProjection { p: from.p.to_vec() },
        rectification_matrix: from.r.to_vec(),
    }
}

fn matrix<const N: usize>(from: &[f64]) -> [f64; N] {
    from.try_into().unwrap_or([0.0; N])
}

fn battery(from: &BatteryState) -> ros::BatteryState {
    let mut words = CHARGING.iter();
    let word = words.find(|(word, _)| *word == from.power_supply_status);
    ros::BatteryState {
        header: header(&from.header),
        voltage: from.voltage as f32,
        temperature: f32::NAN,
        current: from.current as f32,
        charge: from.charge as f32,
        capacity: from.capacity as f32,
        design_capacity: f32::NAN,
        percentage: from.percentage as f32,
        power_supply_status: word.map_or(CHARGING[0].1, |(_, number)| *number),
        present: true,
        ..ros::BatteryState::default()
    }
}

fn charging(number: u8) -> &'static str {
    let mut words = CHARGING.iter();
    let word = words.find(|(_, known)| *known == number);
    word.map_or(CHARGING[0].0, |(word, _)| *word)
}
