//! Shared parts of the tests of the whole: worlds, a simulated cluster, transcripts, real
//! processes.

pub mod browser;
pub mod chaos;
pub mod checkers;
pub mod cluster;
pub mod cyclone_dds;
pub mod direct;
pub mod fast_dds;
pub mod fuel_server;
pub mod hostile;
pub mod json_process;
pub mod key_ring;
pub mod kills;
pub mod namespaces;
pub mod node;
pub mod peers;
pub mod primary_node;
pub mod processes;
pub mod python;
pub mod relay_load;
pub mod repository;
pub mod required;
pub mod ros2_readers;
pub mod screen;
pub mod secondary_node;
pub mod slow_cable;
pub mod slurm_cluster;
pub mod soak;
pub mod ssh_host;
pub mod standalone;
pub mod tls_front;
pub mod transcript;
pub mod truth;
pub mod witness;
pub mod worlds;
