//! Messages of `ros_gz_interfaces`.

use messages::command::EntityWrench;
use messages::sensor::{
    Altimeter, Contact, Contacts, Entity, JointWrench, LogicalCameraImage, LogicalCameraModel,
};
use messages::state::WorldStatistics;

use super::converts;
use super::geometry::{gazebo_pose, gazebo_vector, gazebo_wrench, pose, vector, wrench};
use super::header::{gazebo_header, gazebo_time, header as ros_header, time};
use crate::types::{geometry_msgs, ros_gz_interfaces as ros, std_msgs};

/// Words for kinds of entities, by the constants of ROS.
const ENTITIES: &[(&str, u8)] = &[
    ("NONE", ros::Entity::NONE),
    ("LIGHT", ros::Entity::LIGHT),
    ("MODEL", ros::Entity::MODEL),
    ("LINK", ros::Entity::LINK),
    ("VISUAL", ros::Entity::VISUAL),
    ("COLLISION", ros::Entity::COLLISION),
    ("SENSOR", ros::Entity::SENSOR),
    ("JOINT", ros::Entity::JOINT),
];

converts! {
    Altimeter, ros::Altimeter: |message| Self {
            header: ros_header(&message.header),
            vertical_position: message.vertical_position,
            vertical_velocity: message.vertical_velocity,
            vertical_reference: message.vertical_reference,
        },
        |back| Altimeter {
            header: gazebo_header(back.header),
            vertical_position: back.vertical_position,
            vertical_velocity: back.vertical_velocity,
            vertical_reference: back.vertical_reference,
        };
    Entity, ros::Entity: |message| entity(message), |back| gazebo_entity(back);
    EntityWrench, ros::EntityWrench: |message| Self {
            header: ros_header(&message.header),
            entity: entity(message.entity),
            wrench: wrench(&message.wrench),
        },
        |back| EntityWrench {
            header: gazebo_header(back.header),
            entity: gazebo_entity(back.entity),
            wrench: gazebo_wrench(&back.wrench, messages::Header::default()),
        };
    Contact, ros::Contact: |message| contact(message), |back| gazebo_contact(back);
    Contacts, ros::Contacts: |message| Self {
            header: ros_header(&message.header),
            contacts: message.contact.into_iter().map(contact).collect(),
        },
        |back| Contacts {
            header: gazebo_header(back.header),
            contact: back.contacts.into_iter().map(gazebo_contact).collect(),
        };
    LogicalCameraImage, ros::LogicalCameraImage: |message| {
            let models = message.model.into_iter().map(|model| ros::LogicalCameraImageModel {
                name: model.name,
                pose: pose(&model.pose),
            });
            Self {
                header: ros_header(&message.header),
                pose: pose(&message.pose),
                model: models.collect(),
            }
        },
        |back| {
            let models = back.model.into_iter().map(|model| LogicalCameraModel {
                name: model.name,
                pose: gazebo_pose(&model.pose, messages::Header::default()),
            });
            LogicalCameraImage {
                model: models.collect(),
                header: gazebo_header(back.header),
                pose: gazebo_pose(&back.pose, messages::Header::default()),
                ..LogicalCameraImage::default()
            }
        };
    WorldStatistics, ros::WorldStatistics: |message| Self {
            header: ros_header(&message.header),
            sim_time: time(&message.sim_time),
            real_time: time(&message.real_time),
            paused: message.paused,
            iterations: message.iterations,
            real_time_factor: message.real_time_factor,
            step_size: time(&message.step_size),
            ..Self::default()
        },
        |back| WorldStatistics {
            header: gazebo_header(back.header),
            sim_time: gazebo_time(&back.sim_time),
            real_time: gazebo_time(&back.real_time),
            paused: back.paused,
            iterations: back.iterations,
            real_time_factor: back.real_time_factor,
            step_size: gazebo_time(&back.step_size),
        };
}

/// Returns an entity; one of a kind that ROS has no number for is of none.
fn entity(from: Entity) -> ros::Entity {
    let mut words = ENTITIES.iter();
    let word = words.find(|(word, _)| *word == from.r#type);
    ros::Entity {
        id: from.id,
        name: from.name,
        r#type: word.map_or(ros::Entity::NONE, |(_, number)| *number),
    }
}

fn gazebo_entity(from: ros::Entity) -> Entity {
    let mut words = ENTITIES.iter();
    let word = words.find(|(_, number)| *number == from.r#type);
    Entity {
        id: from.id,
        name: from.name,
        r#type: word.map_or("NONE", |(word, _)| word).to_owned(),
    }
}

fn contact(from: Contact) -> ros::Contact {
    ros::Contact {
        collision1: entity(from.collision1),
        collision2: entity(from.collision2),
        positions: from.position.iter().map(vector).collect(),
        normals: from.normal.iter().map(vector).collect(),
        depths: from.depth,
        wrenches: from.wrench.into_iter().map(joint_wrench).collect(),
    }
}

fn gazebo_contact(from: ros::Contact) -> Contact {
    let vectors = |list: &[geometry_msgs::Vector3]| list.iter().map(gazebo_vector).collect();
    Contact {
        header: messages::Header::default(),
        collision1: gazebo_entity(from.collision1),
        collision2: gazebo_entity(from.collision2),
        position: vectors(&from.positions),
        normal: vectors(&from.normals),
        depth: from.depths,
        wrench: from.wrenches.into_iter().map(gazebo_joint_wrench).collect(),
    }
}

fn joint_wrench(from: JointWrench) -> ros::JointWrench {
    let name = |data: String| std_msgs::String { data };
    ros::JointWrench {
        body_1_name: name(from.body_1_name),
        body_2_name: name(from.body_2_name),
        body_1_wrench: wrench(&from.body_1_wrench),
        body_2_wrench: wrench(&from.body_2_wrench),
        ..ros::JointWrench::default()
    }
}

fn gazebo_joint_wrench(from: ros::JointWrench) -> JointWrench {
    let plain = messages::Header::default;
    JointWrench {
        body_1_name: from.body_1_name.data,
        body_2_name: from.body_2_name.data,
        body_1_wrench: gazebo_wrench(&from.body_1_wrench, plain()),
        body_2_wrench: gazebo_wrench(&from.body_2_wrench, plain()),
    }
}
