//! Headers, times and single values.

use crate::message::messages;

messages! {
    /// Seconds and nanoseconds.
    Time("gz.msgs.Time") {
        /// \[s\]
        sec: i64,
        /// \[ns\]
        nsec: i32,
    }
    /// A key with values.
    HeaderData {
        /// The key: `frame_id`, `seq`.
        key: String,
        /// Its values.
        value: Vec<String>,
    }
    /// Time and frame in which a message was made.
    Header("gz.msgs.Header") {
        /// Simulated time.
        stamp: Time,
        /// Further entries.
        data: Vec<HeaderData>,
    }
    /// Nothing but that it was sent.
    Empty("gz.msgs.Empty") {
        /// Time when it was made.
        header: Header,
        /// It means nothing, as in Gazebo.
        unused: bool,
    }
    /// A truth value.
    Boolean("gz.msgs.Boolean") {
        /// Time when it was made.
        header: Header,
        /// The value.
        data: bool,
    }
    /// A number.
    Double("gz.msgs.Double") {
        /// Time when it was made.
        header: Header,
        /// The value.
        data: f64,
    }
    /// Numbers.
    DoubleV("gz.msgs.Double_V") {
        /// Time when it was made.
        header: Header,
        /// The values.
        data: Vec<f64>,
    }
    /// A number of single precision.
    Float("gz.msgs.Float") {
        /// Time when it was made.
        header: Header,
        /// The value.
        data: f32,
    }
    /// A whole number.
    Int32("gz.msgs.Int32") {
        /// Time when it was made.
        header: Header,
        /// The value.
        data: i32,
    }
    /// A whole number.
    Int64("gz.msgs.Int64") {
        /// Time when it was made.
        header: Header,
        /// The value.
        data: i64,
    }
    /// Whole numbers.
    Int32V("gz.msgs.Int32_V") {
        /// Time when it was made.
        header: Header,
        /// The values.
        data: Vec<i32>,
    }
    /// Texts.
    StringMsgV("gz.msgs.StringMsg_V") {
        /// Time when it was made.
        header: Header,
        /// The texts.
        data: Vec<String>,
    }
    /// A natural number.
    UInt32("gz.msgs.UInt32") {
        /// Time when it was made.
        header: Header,
        /// The value.
        data: u32,
    }
    /// A natural number.
    UInt64("gz.msgs.UInt64") {
        /// Time when it was made.
        header: Header,
        /// The value.
        data: u64,
    }
    /// A text.
    StringMsg("gz.msgs.StringMsg") {
        /// Time when it was made.
        header: Header,
        /// The text.
        data: String,
    }
    /// Simulated, real and system time.
    Clock("gz.msgs.Clock") {
        /// Time when it was made.
        header: Header,
        /// Wall clock.
        system: Time,
        /// Time that the run has been running.
        real: Time,
        /// Simulated time.
        sim: Time,
    }
}

impl Time {
    /// Makes a time of nanoseconds.
    pub fn from_ns(ns: u64) -> Self {
        Self {
            sec: (ns / 1_000_000_000).cast_signed(),
            nsec: (ns % 1_000_000_000) as i32,
        }
    }

    /// Returns the time \[ns\]; 0 for one before the start.
    pub fn as_ns(&self) -> u64 {
        let ns = i128::from(self.sec) * 1_000_000_000 + i128::from(self.nsec);
        u64::try_from(ns.max(0)).unwrap_or(u64::MAX)
    }
}

impl Header {
    /// Makes the header of a message made at a simulated time \[ns\].
    pub fn at(sim_time_ns: u64) -> Self {
        Self {
            stamp: Time::from_ns(sim_time_ns),
            data: Vec::new(),
        }
    }

    /// Adds a key with one value: `frame_id`, `child_frame_id`.
    #[must_use]
    pub fn with(mut self, key: &str, value: &str) -> Self {
        self.data.push(HeaderData {
            key: key.to_owned(),
            value: vec![value.to_owned()],
        });
        self
    }
}
