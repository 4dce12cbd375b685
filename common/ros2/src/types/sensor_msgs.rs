//! `sensor_msgs`: measurements of sensors, and states of joints and batteries.

use super::geometry_msgs::{Quaternion, Vector3};
use super::std_msgs::Header;

super::ros_types! {
    /// One row of ranges of a lidar.
    LaserScan("sensor_msgs/msg/LaserScan") {
        /// Time of the first ray, and frame.
        header: Header,
        /// \[rad\]
        angle_min: f32,
        /// \[rad\]
        angle_max: f32,
        /// \[rad\]
        angle_increment: f32,
        /// Between two rays \[s\].
        time_increment: f32,
        /// Between two scans \[s\].
        scan_time: f32,
        /// \[m\]
        range_min: f32,
        /// \[m\]
        range_max: f32,
        /// \[m\]; infinite where nothing was met.
        ranges: Vec<f32>,
        /// Strength with which what was met reflects.
        intensities: Vec<f32>,
    }
    /// The range of a narrow beam.
    Range("sensor_msgs/msg/Range") [
        ULTRASOUND: u8 = 0;
        INFRARED: u8 = 1;
    ] {
        /// Time and frame.
        header: Header,
        /// Ultrasound or infrared.
        radiation_type: u8,
        /// \[rad\]
        field_of_view: f32,
        /// \[m\]
        min_range: f32,
        /// \[m\]
        max_range: f32,
        /// \[m\]
        range: f32,
        /// \[m^2\]; 0 if it is not known.
        variance: f32,
    }
    /// A field of a point cloud.
    PointField("sensor_msgs/msg/PointField") [
        INT8: u8 = 1;
        UINT8: u8 = 2;
        INT16: u8 = 3;
        UINT16: u8 = 4;
        INT32: u8 = 5;
        UINT32: u8 = 6;
        FLOAT32: u8 = 7;
        FLOAT64: u8 = 8;
    ] {
        /// `x`, `y`, `z`, `intensity`, `ring`.
        name: String,
        /// Within a point \[bytes\].
        offset: u32,
        /// The type of its numbers.
        datatype: u8,
        /// Number of values in the field.
        count: u32,
    }
    /// Points.
    PointCloud2("sensor_msgs/msg/PointCloud2") {
        /// Time and frame.
        header: Header,
        /// Rows.
        height: u32,
        /// Points in a row.
        width: u32,
        /// Fields of a point.
        fields: Vec<PointField>,
        /// True if numbers are big-endian.
        is_bigendian: bool,
        /// Size of a point \[bytes\].
        point_step: u32,
        /// Size of a row \[bytes\].
        row_step: u32,
        /// The points by rows.
        data: Vec<u8>,
        /// True if every point is finite.
        is_dense: bool,
    }
    /// An image; a depth image has single-precision metres.
    Image("sensor_msgs/msg/Image") {
        /// Time and frame.
        header: Header,
        /// Rows.
        height: u32,
        /// Pixels in a row.
        width: u32,
        /// `32FC1`, `rgb8`.
        encoding: String,
        /// 1 if numbers are big-endian.
        is_bigendian: u8,
        /// Size of a row \[bytes\].
        step: u32,
        /// The pixels by rows from the top left.
        data: Vec<u8>,
    }
    /// An image in a compressed form.
    CompressedImage("sensor_msgs/msg/CompressedImage") {
        /// Time and frame.
        header: Header,
        /// `rgb8; jpeg compressed bgr8`, as `image_transport` writes it.
        format: String,
        /// The file.
        data: Vec<u8>,
    }
    /// A part of an image.
    RegionOfInterest("sensor_msgs/msg/RegionOfInterest") {
        /// Its first column.
        x_offset: u32,
        /// Its first row.
        y_offset: u32,
        /// Rows; 0 is all.
        height: u32,
        /// Columns; 0 is all.
        width: u32,
        /// True if it is of the rectified image.
        do_rectify: bool,
    }
    /// A camera.
    CameraInfo("sensor_msgs/msg/CameraInfo") {
        /// Time and frame.
        header: Header,
        /// Rows.
        height: u32,
        /// Pixels in a row.
        width: u32,
        /// `plumb_bob`, `rational_polynomial`, `equidistant`.
        distortion_model: String,
        /// Parameters of the distortion.
        d: Vec<f64>,
        /// Intrinsic matrix, 3 x 3 by rows.
        k: [f64; 9],
        /// Rectification matrix, 3 x 3 by rows.
        r: [f64; 9],
        /// Projection matrix, 3 x 4 by rows.
        p: [f64; 12],
        /// Columns in one; 0 is 1.
        binning_x: u32,
        /// Rows in one; 0 is 1.
        binning_y: u32,
        /// The part that is sent.
        roi: RegionOfInterest,
    }
    /// An inertial measurement.
    Imu("sensor_msgs/msg/Imu") {
        /// Time and frame.
        header: Header,
        /// The orientation.
        orientation: Quaternion,
        /// By rows; 0 is unknown.
        orientation_covariance: [f64; 9],
        /// Sensor frame \[rad/s\].
        angular_velocity: Vector3,
        /// By rows; 0 is unknown.
        angular_velocity_covariance: [f64; 9],
        /// Sensor frame, gravity included \[m/s^2\].
        linear_acceleration: Vector3,
        /// By rows; 0 is unknown.
        linear_acceleration_covariance: [f64; 9],
    }
    /// A magnetic field.
    MagneticField("sensor_msgs/msg/MagneticField") {
        /// Time and frame.
        header: Header,
        /// Sensor frame \[T\].
        magnetic_field: Vector3,
        /// By rows; 0 is unknown.
        magnetic_field_covariance: [f64; 9],
    }
    /// A pressure.
    FluidPressure("sensor_msgs/msg/FluidPressure") {
        /// Time and frame.
        header: Header,
        /// \[Pa\]
        fluid_pressure: f64,
        /// \[Pa^2\]
        variance: f64,
    }
    /// Quality of a fix of satellites.
    NavSatStatus("sensor_msgs/msg/NavSatStatus") [
        STATUS_UNKNOWN: i8 = -2;
        STATUS_NO_FIX: i8 = -1;
        STATUS_FIX: i8 = 0;
        STATUS_SBAS_FIX: i8 = 1;
        STATUS_GBAS_FIX: i8 = 2;
        SERVICE_UNKNOWN: u16 = 0;
        SERVICE_GPS: u16 = 1;
        SERVICE_GLONASS: u16 = 2;
        SERVICE_COMPASS: u16 = 4;
        SERVICE_GALILEO: u16 = 8;
    ] {
        /// Kind of fix.
        status: i8,
        /// Systems of satellites, one bit each.
        service: u16,
    }
    /// A place on earth.
    NavSatFix("sensor_msgs/msg/NavSatFix") [
        COVARIANCE_TYPE_UNKNOWN: u8 = 0;
        COVARIANCE_TYPE_APPROXIMATED: u8 = 1;
        COVARIANCE_TYPE_DIAGONAL_KNOWN: u8 = 2;
        COVARIANCE_TYPE_KNOWN: u8 = 3;
    ] {
        /// Time and frame.
        header: Header,
        /// Quality of the fix.
        status: NavSatStatus,
        /// North \[degrees\].
        latitude: f64,
        /// East \[degrees\].
        longitude: f64,
        /// \[m\]
        altitude: f64,
        /// East, north, up, by rows \[m^2\].
        position_covariance: [f64; 9],
        /// Meaning of the covariance.
        position_covariance_type: u8,
    }
    /// State of joints.
    JointState("sensor_msgs/msg/JointState") {
        /// Time and frame.
        header: Header,
        /// The joints.
        name: Vec<String>,
        /// \[rad or m\], per joint.
        position: Vec<f64>,
        /// \[rad/s or m/s\], per joint.
        velocity: Vec<f64>,
        /// \[N m or N\], per joint.
        effort: Vec<f64>,
    }
    /// A battery.
    BatteryState("sensor_msgs/msg/BatteryState") [
        POWER_SUPPLY_STATUS_UNKNOWN: u8 = 0;
        POWER_SUPPLY_STATUS_CHARGING: u8 = 1;
        POWER_SUPPLY_STATUS_DISCHARGING: u8 = 2;
        POWER_SUPPLY_STATUS_NOT_CHARGING: u8 = 3;
        POWER_SUPPLY_STATUS_FULL: u8 = 4;
        POWER_SUPPLY_HEALTH_UNKNOWN: u8 = 0;
        POWER_SUPPLY_HEALTH_GOOD: u8 = 1;
        POWER_SUPPLY_HEALTH_OVERHEAT: u8 = 2;
        POWER_SUPPLY_HEALTH_DEAD: u8 = 3;
        POWER_SUPPLY_HEALTH_OVERVOLTAGE: u8 = 4;
        POWER_SUPPLY_HEALTH_UNSPEC_FAILURE: u8 = 5;
        POWER_SUPPLY_HEALTH_COLD: u8 = 6;
        POWER_SUPPLY_HEALTH_WATCHDOG_TIMER_EXPIRE: u8 = 7;
        POWER_SUPPLY_HEALTH_SAFETY_TIMER_EXPIRE: u8 = 8;
        POWER_SUPPLY_TECHNOLOGY_UNKNOWN: u8 = 0;
        POWER_SUPPLY_TECHNOLOGY_NIMH: u8 = 1;
        POWER_SUPPLY_TECHNOLOGY_LION: u8 = 2;
        POWER_SUPPLY_TECHNOLOGY_LIPO: u8 = 3;
        POWER_SUPPLY_TECHNOLOGY_LIFE: u8 = 4;
        POWER_SUPPLY_TECHNOLOGY_NICD: u8 = 5;
        POWER_SUPPLY_TECHNOLOGY_LIMN: u8 = 6;
        POWER_SUPPLY_TECHNOLOGY_TERNARY: u8 = 7;
        POWER_SUPPLY_TECHNOLOGY_VRLA: u8 = 8;
    ] {
        /// Time and frame.
        header: Header,
        /// \[V\]
        voltage: f32,
        /// \[degrees Celsius\]; NaN if it is not measured.
        temperature: f32,
        /// Negative while it discharges \[A\].
        current: f32,
        /// \[A h\]
        charge: f32,
        /// At the last full charge \[A h\].
        capacity: f32,
        /// \[A h\]; NaN if it is not known.
        design_capacity: f32,
        /// From 0 to 1.
        percentage: f32,
        /// Whether it charges.
        power_supply_status: u8,
        /// Its health.
        power_supply_health: u8,
        /// Its chemistry.
        power_supply_technology: u8,
        /// True if there is one.
        present: bool,
        /// \[V\], per cell.
        cell_voltage: Vec<f32>,
        /// \[degrees Celsius\], per cell.
        cell_temperature: Vec<f32>,
        /// Its place in the robot.
        location: String,
        /// Its number.
        serial_number: String,
    }
    /// The axes and buttons of a joystick.
    Joy("sensor_msgs/msg/Joy") {
        /// Time.
        header: Header,
        /// From -1 to 1.
        axes: Vec<f32>,
        /// 1 while pressed.
        buttons: Vec<i32>,
    }
}
