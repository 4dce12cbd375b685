//! Nodes and tasks of the Slurm job that this program runs in, as hosts of its run.

use std::collections::BTreeSet;
use std::io;
use std::process::Command;

use run::{Host, HostAccess, RunSpec};

/// The job that this program runs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Number of the job.
    pub job: String,
    /// Its nodes, with a secondary for each task.
    pub hosts: Vec<Host>,
}

/// Reason why the nodes of a job are not known.
#[derive(Debug, thiserror::Error)]
pub enum AllocationError {
    /// A program of Slurm does not run.
    #[error("cannot start scontrol to learn the nodes of job {job}")]
    Program {
        /// The job.
        job: String,
        /// Error of the operating system.
        #[source]
        source: io::Error,
    },
    /// Slurm says something else than was expected.
    #[error(
        "job {job} has nodes {nodes:?} with tasks {tasks:?}, which do not fit: name the nodes with \
         --hosts, or keep all here with --host-access ssh"
    )]
    Nodes {
        /// The job.
        job: String,
        /// Nodes that it has.
        nodes: Vec<String>,
        /// Tasks per node, as Slurm writes them.
        tasks: String,
    },
    /// A run that goes on has no job.
    #[error("the secondaries of this run were tasks of a Slurm job: resume it within one")]
    NoJob,
}

/// Gives a run that names no hosts those of the job that it is started in, if that has several
/// tasks; returns the job.
///
/// # Errors
/// Fails if the nodes of the job cannot be learned.
pub fn take_hosts(spec: &mut RunSpec) -> Result<Option<Allocation>, AllocationError> {
    let access = spec.network.host_access;
    if access == HostAccess::Ssh || !spec.used_hosts().is_empty() {
        return Ok(None);
    }
    let Some(allocation) = allocation(|name| std::env::var(name).ok(), node_names)? else {
        return if access == HostAccess::Srun {
            Err(AllocationError::NoJob)
        } else {
            Ok(None)
        };
    };
    let tasks: u32 = allocation.hosts.iter().map(|host| host.slots).sum();
    if access == HostAccess::Auto && tasks < 2 {
        return Ok(None);
    }
    spec.network.host_access = HostAccess::Srun;
    spec.hosts.clone_from(&allocation.hosts);
    spec.run.secondaries = 0;
    Ok(Some(allocation))
}

/// Gives a run that goes on the nodes of the job that it is resumed in.
///
/// # Errors
/// Fails if it had those of a job, and there is none now.
pub fn renew_hosts(spec: &mut RunSpec) -> Result<(), AllocationError> {
    if spec.network.host_access == HostAccess::Srun {
        spec.hosts.clear();
        spec.network.hosts = None;
        take_hosts(spec)?;
    }
    Ok(())
}

fn allocation(
    variable: impl Fn(&str) -> Option<String>,
    names: impl Fn(&str, &str) -> Result<Vec<String>, AllocationError>,
) -> Result<Option<Allocation>, AllocationError> {
    let (Some(job), Some(list)) = (variable("SLURM_JOB_ID"), variable("SLURM_JOB_NODELIST")) else {
        return Ok(None);
    };
    let tasks = variable("SLURM_TASKS_PER_NODE").unwrap_or_else(|| "1".to_owned());
    let nodes = names(&job, &list)?;
    let slots = tasks_per_node(&tasks);
    let distinct: BTreeSet<&String> = nodes.iter().collect();
    let fits = |slots: &Vec<u32>| slots.len() == nodes.len() && distinct.len() == nodes.len();
    let Some(slots) = slots.filter(fits) else {
        return Err(AllocationError::Nodes { job, nodes, tasks });
    };
    let host = |(name, slots): (&String, u32)| Host {
        slots,
        ..Host::named(name)
    };
    let hosts = nodes.iter().zip(slots).map(host).collect();
    Ok(Some(Allocation { job, hosts }))
}

/// Returns the names of nodes in a list such as `n[1-3,7]`, which Slurm itself reads best.
fn node_names(job: &str, list: &str) -> Result<Vec<String>, AllocationError> {
    let output = Command::new("scontrol")
        .args(["show", "hostnames", list])
        .output();
    let output = output.map_err(|source| AllocationError::Program {
        job: job.to_owned(),
        source,
    })?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

/// Reads numbers such as `2(x3),1`: three nodes with two tasks and one with one.
fn tasks_per_node(text: &str) -> Option<Vec<u32>> {
    const NODES_MAX: usize = 10_000;
    let mut all = Vec::new();
    for part in text.split(',') {
        let (tasks, times) = match part.split_once("(x") {
            Some((tasks, times)) => (tasks, times.strip_suffix(')')?.parse().ok()?),
            None => (part, 1),
        };
        let tasks: u32 = tasks.trim().parse().ok()?;
        if times > NODES_MAX || all.len() > NODES_MAX {
            return None;
        }
        all.extend(std::iter::repeat_n(tasks, times));
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(tasks: &str, nodes: &[&str]) -> Result<Option<Allocation>, AllocationError> {
        let variable = |name: &str| match name {
            "SLURM_JOB_ID" => Some("7".to_owned()),
            "SLURM_JOB_NODELIST" => Some("n[1-9]".to_owned()),
            "SLURM_TASKS_PER_NODE" => Some(tasks.to_owned()),
            _ => None,
        };
        let names = |_: &str, _: &str| Ok(nodes.iter().map(|&name| name.to_owned()).collect());
        allocation(variable, names)
    }

    #[test]
    fn each_task_of_a_job_is_a_secondary() {
        let job = found("2(x2),1", &["n1", "n2", "n3"]).unwrap().unwrap();
        let slots: Vec<_> = job
            .hosts
            .iter()
            .map(|host| (host.name.as_str(), host.slots))
            .collect();
        assert_eq!(slots, [("n1", 2), ("n2", 2), ("n3", 1)]);
        assert_eq!(job.job, "7");
    }

    #[test]
    fn what_slurm_says_must_fit() {
        assert!(found("2", &["n1", "n2"]).is_err());
        assert!(found("2(x", &["n1"]).is_err());
        assert!(found("1(x99999999999)", &["n1"]).is_err());
        assert!(found("1(x2)", &["n1", "n1"]).is_err());
        let outside = allocation(|_| None, |_, _| Ok(Vec::new())).unwrap();
        assert_eq!(outside, None);
    }
}
