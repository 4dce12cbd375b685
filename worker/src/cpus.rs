//! [`Cpus`]: the CPUs that a process keeps to.

use std::fmt;
use std::str::FromStr;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The CPUs that a process keeps to, at least one, each once, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpus(Vec<usize>);

/// Reason why a process cannot keep to its CPUs.
#[derive(Debug, thiserror::Error)]
pub enum PinError {
    /// The system has no such CPU, or keeps it from this process.
    #[error("CPU {cpu} is not one of those that this process may use: {allowed}")]
    NotAllowed {
        /// The CPU.
        cpu: usize,
        /// Those that it may use.
        allowed: Cpus,
    },
    /// The system refuses.
    #[error("cannot keep to CPUs {cpus}: {source}")]
    Refused {
        /// The CPUs.
        cpus: Cpus,
        /// Error of the operating system.
        source: rustix::io::Errno,
    },
}

/// A text names no CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("use CPUs from 0 to {}, such as 0,2-3", CpuSet::MAX_CPU - 1)]
pub struct NoCpusError;

impl Cpus {
    /// Keeps this thread, and those that it starts from now on, to these CPUs.
    ///
    /// # Errors
    /// Fails if one of them is not there for this process.
    pub fn pin(&self) -> Result<(), PinError> {
        let refused = |source| PinError::Refused {
            cpus: self.clone(),
            source,
        };
        let allowed = sched_getaffinity(None).map_err(refused)?;
        self.check(&allowed)?;
        let mut set = CpuSet::new();
        for cpu in &self.0 {
            set.set(*cpu);
        }
        sched_setaffinity(None, &set).map_err(refused)
    }

    fn check(&self, allowed: &CpuSet) -> Result<(), PinError> {
        match self.0.iter().find(|cpu| !allowed.is_set(**cpu)) {
            None => Ok(()),
            Some(cpu) => Err(PinError::NotAllowed {
                cpu: *cpu,
                allowed: Self(
                    (0..CpuSet::MAX_CPU)
                        .filter(|cpu| allowed.is_set(*cpu))
                        .collect(),
                ),
            }),
        }
    }
}

impl FromStr for Cpus {
    type Err = NoCpusError;

    fn from_str(text: &str) -> Result<Self, NoCpusError> {
        let number = |text: &str| {
            let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let number = text.parse::<usize>().ok().filter(|_| is_plain);
            number
                .filter(|cpu| *cpu < CpuSet::MAX_CPU)
                .ok_or(NoCpusError)
        };
        let mut cpus = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return Err(NoCpusError);
            }
            cpus.extend(first..=last);
        }
        cpus.sort_unstable();
        cpus.dedup();
        Ok(Self(cpus))
    }
}

impl fmt::Display for Cpus {
    /// Writes runs of CPUs as ranges.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_slice();
        while let Some(first) = rest.first() {
            let is_next = |(index, cpu): (usize, &usize)| *cpu == first + index;
            let length = rest
                .iter()
                .enumerate()
                .take_while(|one| is_next(*one))
                .count();
            if rest.len() < self.0.len() {
                write!(f, ",")?;
            }
            match length {
                1 => write!(f, "{first}")?,
                _ => write!(f, "{first}-{}", first + length - 1)?,
            }
            rest = &rest[length..];
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        let cpus = text.parse::<Cpus>().ok().map(|cpus| cpus.to_string());
        assert_eq!(cpus.as_deref(), expected, "{text}");
    }

    #[test]
    fn cpus_are_numbers_and_ranges() {
        check("0", Some("0"));
        check("3,1,2,7", Some("1-3,7"));
        check("0-2,2-3,9", Some("0-3,9"));
        check("1023", Some("1023"));
        for text in [
            "",
            "a",
            "1,",
            "-1",
            "3-1",
            "1024",
            "0-99999999999",
            "+1",
            "1 2",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn a_process_keeps_to_the_cpus_that_it_has() {
        let allowed = sched_getaffinity(None).unwrap();
        let first = (0..CpuSet::MAX_CPU)
            .find(|cpu| allowed.is_set(*cpu))
            .unwrap();
        // A thread of its own, so that other tests keep all CPUs.
        let pinned = std::thread::spawn(move || {
            Cpus(vec![first]).pin().unwrap();
            sched_getaffinity(None).unwrap()
        });
        let pinned = pinned.join().unwrap();
        assert!(pinned.count() == 1 && pinned.is_set(first));
    }

    #[test]
    fn a_cpu_that_is_not_there_is_named_with_those_that_are() {
        let mut allowed = CpuSet::new();
        for cpu in [0, 1, 4] {
            allowed.set(cpu);
        }
        let error = Cpus(vec![0, 2]).check(&allowed).unwrap_err();
        let expected = "CPU 2 is not one of those that this process may use: 0-1,4";
        assert_eq!(error.to_string(), expected);
        assert!(Cpus(vec![0, 4]).check(&allowed).is_ok());
    }
}
