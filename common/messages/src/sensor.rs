//! Measurements of sensors.

use crate::basic::Header;
use crate::geometry::{Pose, Quaternion, Vector2d, Vector3d};
use crate::message::messages;
use crate::motion::{FloatV, Wrench};

messages! {
    /// Ranges of a lidar: rows from the lowest angle up, each from the least angle to the greatest.
    LaserScan("gz.msgs.LaserScan") {
        /// Time when it was made, and its frame.
        header: Header,
        /// The frame of the sensor.
        frame: String,
        /// The sensor, world frame.
        world_pose: Pose,
        /// \[rad\]
        angle_min: f64,
        /// \[rad\]
        angle_max: f64,
        /// \[rad\]
        angle_step: f64,
        /// \[m\]
        range_min: f64,
        /// \[m\]
        range_max: f64,
        /// Rays in a row.
        count: u32,
        /// \[rad\]
        vertical_angle_min: f64,
        /// \[rad\]
        vertical_angle_max: f64,
        /// \[rad\]
        vertical_angle_step: f64,
        /// Rows.
        vertical_count: u32,
        /// \[m\]; infinite where nothing was met.
        ranges: Vec<f64>,
        /// Strength with which what was met reflects.
        intensities: Vec<f64>,
    }
    /// A field of a point cloud: 1 int8, 2 uint8, 3 int16, 4 uint16, 5 int32, 6 uint32, 7 float32,
    /// 8 float64.
    PointCloudField {
        /// `x`, `y`, `z`, `intensity`, `ring`.
        name: String,
        /// Within a point \[bytes\].
        offset: u32,
        /// The type of its numbers.
        datatype: u32,
        /// Number of values in the field.
        count: u32,
    }
    /// Points.
    PointCloudPacked("gz.msgs.PointCloudPacked") {
        /// Time when it was made, and its frame.
        header: Header,
        /// Fields of a point.
        field: Vec<PointCloudField>,
        /// Rows.
        height: u32,
        /// Points in a row.
        width: u32,
        /// True if numbers are big-endian.
        is_bigendian: bool,
        /// Size of a point \[bytes\].
        point_step: u32,
        /// Size of a row \[bytes\].
        row_step: u32,
        /// The points by rows.
        data: serde_bytes::ByteBuf,
        /// True if every point is finite.
        is_dense: bool,
    }
    /// An image; a depth image has single-precision metres.
    Image("gz.msgs.Image") {
        /// Time when it was made, and its frame.
        header: Header,
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
        /// Size of a row \[bytes\].
        step: u32,
        /// `R_FLOAT32`, `RGB_INT8`.
        pixel_format_type: String,
        /// The pixels by rows from the top left.
        data: serde_bytes::ByteBuf,
    }
    /// Projection of a camera: its intrinsic matrix.
    CameraIntrinsics {
        /// 3 x 3 by rows.
        k: Vec<f64>,
    }
    /// Projection of a camera: its projection matrix.
    CameraProjection {
        /// 3 x 4 by rows.
        p: Vec<f64>,
    }
    /// Distortion of a camera.
    CameraDistortion {
        /// `PLUMB_BOB`, `RATIONAL_POLYNOMIAL`, `EQUIDISTANT`.
        model: String,
        /// Coefficients, for the first k1, k2, p1, p2, k3.
        k: Vec<f64>,
    }
    /// A camera.
    CameraInfo("gz.msgs.CameraInfo") {
        /// Time when it was made, and its frame.
        header: Header,
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
        /// Difference of its images from the projection.
        distortion: CameraDistortion,
        /// Focal lengths and centre.
        intrinsics: CameraIntrinsics,
        /// Projection.
        projection: CameraProjection,
        /// 3 x 3 by rows.
        rectification_matrix: Vec<f64>,
    }
    /// An inertial measurement.
    Imu("gz.msgs.IMU") {
        /// Time when it was made, and its frame.
        header: Header,
        /// The sensor's scoped name.
        entity_name: String,
        /// In the frame that `orientation_reference_frame` says.
        orientation: Quaternion,
        /// Sensor frame \[rad/s\].
        angular_velocity: Vector3d,
        /// Sensor frame, gravity included: at rest it points up \[m/s^2\].
        linear_acceleration: Vector3d,
    }
    /// A height.
    Altimeter("gz.msgs.Altimeter") {
        /// Time when it was made, and its frame.
        header: Header,
        /// Above where the sensor was at the start \[m\].
        vertical_position: f64,
        /// \[m/s\]
        vertical_velocity: f64,
        /// World height at the start \[m\].
        vertical_reference: f64,
    }
    /// A magnetic field.
    Magnetometer("gz.msgs.Magnetometer") {
        /// Time when it was made, and its frame.
        header: Header,
        /// Sensor frame \[T\].
        field_tesla: Vector3d,
    }
    /// A pressure of air against a sensor that moves.
    AirSpeedSensor("gz.msgs.AirSpeedSensor") {
        /// Time when it was made, and its frame.
        header: Header,
        /// Pressure ahead over that of the air at rest, negative from behind \[Pa\].
        diff_pressure: f64,
        /// \[K\]
        temperature: f64,
        /// Noise in the pressure.
        pressure_noise: SensorNoise,
    }
    /// Noise of a measurement.
    SensorNoise {
        /// `NONE`, `GAUSSIAN`, `GAUSSIAN_QUANTIZED`.
        r#type: String,
        /// In the unit of what is measured.
        mean: f64,
        /// In the unit of what is measured.
        stddev: f64,
    }
    /// A pressure.
    FluidPressure("gz.msgs.FluidPressure") {
        /// Time when it was made, and its frame.
        header: Header,
        /// \[Pa\]
        pressure: f64,
        /// \[Pa^2\]
        variance: f64,
    }
    /// A place on earth.
    NavSat("gz.msgs.NavSat") {
        /// Time when it was made, and its frame.
        header: Header,
        /// \[degrees\]
        latitude_deg: f64,
        /// \[degrees\]
        longitude_deg: f64,
        /// \[m\]
        altitude: f64,
        /// \[m/s\]
        velocity_east: f64,
        /// \[m/s\]
        velocity_north: f64,
        /// \[m/s\]
        velocity_up: f64,
        /// The sensor's frame.
        frame_id: String,
    }
    /// An entity: by number, or by name and type.
    Entity("gz.msgs.Entity") {
        /// Its number; 0 for none.
        id: u64,
        /// Its scoped name.
        name: String,
        /// `MODEL`, `LINK`, `COLLISION`, `JOINT`.
        r#type: String,
    }
    /// Wrenches of a contact on both bodies.
    JointWrench {
        /// The first.
        body_1_name: String,
        /// The second.
        body_2_name: String,
        /// On the first.
        body_1_wrench: Wrench,
        /// On the second.
        body_2_wrench: Wrench,
    }
    /// Contact of two collisions; one entry per point in the lists.
    Contact("gz.msgs.Contact") {
        /// Time when it was made.
        header: Header,
        /// The first.
        collision1: Entity,
        /// The second.
        collision2: Entity,
        /// World frame \[m\].
        position: Vec<Vector3d>,
        /// World frame, from the second to the first.
        normal: Vec<Vector3d>,
        /// Depth to which they are in each other \[m\].
        depth: Vec<f64>,
        /// Wrenches that they exert.
        wrench: Vec<JointWrench>,
    }
    /// Contacts.
    Contacts("gz.msgs.Contacts") {
        /// Time when it was made.
        header: Header,
        /// The contacts.
        contact: Vec<Contact>,
    }
    /// A model in sight.
    LogicalCameraModel {
        /// Its name.
        name: String,
        /// In the frame of the camera.
        pose: Pose,
    }
    /// Models that are in sight.
    LogicalCameraImage("gz.msgs.LogicalCameraImage") {
        /// Time when it was made, and its frame.
        header: Header,
        /// The camera, world frame.
        pose: Pose,
        /// \[m\]
        near_clip: f64,
        /// \[m\]
        far_clip: f64,
        /// \[rad\]
        horizontal_fov: f64,
        /// Width over height.
        aspect_ratio: f64,
        /// The models.
        model: Vec<LogicalCameraModel>,
    }
    /// A box along the edges of an image.
    AxisAligned2DBox("gz.msgs.AxisAligned2DBox") {
        /// Time when it was made, and its frame.
        header: Header,
        /// Least column and row \[pixels\].
        min_corner: Vector2d,
        /// Greatest column and row \[pixels\].
        max_corner: Vector2d,
    }
    /// A box in an image with the label of what is in it.
    AnnotatedAxisAligned2DBox("gz.msgs.AnnotatedAxisAligned2DBox") {
        /// Time when it was made, and its frame.
        header: Header,
        /// The box.
        r#box: AxisAligned2DBox,
        /// The label.
        label: u32,
    }
    /// Boxes in an image.
    AnnotatedAxisAligned2DBoxV("gz.msgs.AnnotatedAxisAligned2DBox_V") {
        /// Time when they were made, and their frame.
        header: Header,
        /// The boxes.
        annotated_box: Vec<AnnotatedAxisAligned2DBox>,
    }
    /// A box in space.
    Oriented3DBox("gz.msgs.Oriented3DBox") {
        /// Time when it was made, and its frame.
        header: Header,
        /// Its middle \[m\].
        center: Vector3d,
        /// Turn of its edges.
        orientation: Quaternion,
        /// Lengths of its edges \[m\].
        boxsize: Vector3d,
    }
    /// A box in space with the label of what is in it.
    AnnotatedOriented3DBox("gz.msgs.AnnotatedOriented3DBox") {
        /// Time when it was made, and its frame.
        header: Header,
        /// The box.
        r#box: Oriented3DBox,
        /// The label.
        label: u32,
    }
    /// Boxes in space.
    AnnotatedOriented3DBoxV("gz.msgs.AnnotatedOriented3DBox_V") {
        /// Time when they were made, and their frame.
        header: Header,
        /// The boxes.
        annotated_box: Vec<AnnotatedOriented3DBox>,
    }
    /// Single-precision numbers in sensors' variances.
    Variances {
        /// The numbers.
        values: FloatV,
    }
}
