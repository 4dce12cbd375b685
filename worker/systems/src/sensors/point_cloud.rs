//! Point clouds as bytes, laid out as Gazebo's: each field begins at a multiple of 8 bytes.

use messages::Header;
use messages::sensor::{PointCloudField, PointCloudPacked};

/// The number that means single precision in [`PointCloudField::datatype`].
const FLOAT32: u32 = 7;

/// The number that means 16 bits without sign.
const UINT16: u32 = 4;

/// A cloud that is being written, point after point.
pub(super) struct Cloud {
    message: PointCloudPacked,
}

impl Cloud {
    /// Begins a cloud of points of a lidar: place, intensity and ring.
    pub(super) fn of_lidar(header: Header, width: u32, height: u32) -> Self {
        let mut fields = place_fields();
        fields.push(field("intensity", 16, FLOAT32));
        fields.push(field("ring", 24, UINT16));
        Self::new(header, fields, 32, [width, height])
    }

    /// Begins a cloud of places.
    pub(super) fn of_places(header: Header, width: u32, height: u32) -> Self {
        Self::new(header, place_fields(), 16, [width, height])
    }

    /// Begins a cloud of places with colours.
    pub(super) fn of_colors(header: Header, width: u32, height: u32) -> Self {
        let mut fields = place_fields();
        fields.push(field("rgb", 16, FLOAT32));
        Self::new(header, fields, 24, [width, height])
    }

    fn new(
        header: Header,
        field: Vec<PointCloudField>,
        point_step: u32,
        [width, height]: [u32; 2],
    ) -> Self {
        let row_step = point_step * width;
        let mut message = PointCloudPacked {
            header,
            field,
            height,
            width,
            is_bigendian: false,
            point_step,
            row_step,
            is_dense: true,
            ..PointCloudPacked::default()
        };
        message.data.reserve(row_step as usize * height as usize);
        Self { message }
    }

    /// Adds a place \[m\].
    pub(super) fn push(&mut self, place: [f64; 3]) {
        self.message.is_dense &= place.iter().all(|part| part.is_finite());
        self.write_place(place);
        self.message.data.extend_from_slice(&[0; 4]);
    }

    /// Adds a place \[m\] with its colour: blue, green and red from the least byte up.
    pub(super) fn push_color(&mut self, place: [f64; 3], [red, green, blue, _]: [u8; 4]) {
        self.push(place);
        let color = [blue, green, red, 0, 0, 0, 0, 0];
        self.message.data.extend_from_slice(&color);
    }

    /// Adds a place \[m\] that a lidar found.
    pub(super) fn push_return(&mut self, place: [f64; 3], intensity: f64, ring: u32) {
        self.push(place);
        let data = &mut self.message.data;
        data.extend_from_slice(&(intensity as f32).to_le_bytes());
        data.extend_from_slice(&[0; 4]);
        data.extend_from_slice(&(ring as u16).to_le_bytes());
        data.extend_from_slice(&[0; 6]);
    }

    /// Returns the message.
    pub(super) fn finish(self) -> PointCloudPacked {
        self.message
    }

    fn write_place(&mut self, place: [f64; 3]) {
        for part in place {
            let bytes = (part as f32).to_le_bytes();
            self.message.data.extend_from_slice(&bytes);
        }
    }
}

fn place_fields() -> Vec<PointCloudField> {
    let names = ["x", "y", "z"].iter().zip([0, 4, 8]);
    names
        .map(|(name, offset)| field(name, offset, FLOAT32))
        .collect()
}

fn field(name: &str, offset: u32, datatype: u32) -> PointCloudField {
    PointCloudField {
        name: name.to_owned(),
        offset,
        datatype,
        count: 1,
    }
}
