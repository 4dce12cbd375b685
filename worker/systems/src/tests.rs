//! Systems of robots against closed forms and what Gazebo documents.

mod bases;
mod joints;
mod publishers;
mod tracks;
