//! Judgement of the GPU on which a machine would draw cameras.

use protocol::RendererKind;
use protocol::error_chain::chain;
use protocol::report::GpuReport;
use run::RunSpec;

use super::{Finding, State};
use crate::launch::hosts::HostProblem;

/// Judges what a worker program says of the GPU of a machine, or why it says nothing: a problem
/// only for runs that are to be drawn by one.
pub(super) fn gpu_finding(
    machine: &str,
    spec: &RunSpec,
    report: Result<GpuReport, HostProblem>,
) -> Finding {
    let found = |text: String| Finding::ok(machine, "gpu", text);
    let state = match spec.run.renderer {
        RendererKind::Gpu => State::Problem,
        RendererKind::Cpu | RendererKind::Auto => State::Warning,
    };
    let report = match report {
        Ok(report) => report,
        Err(error) => {
            return found("the worker does not tell".to_owned()).worse(state, chain(&error));
        }
    };
    let Some(device) = report.device else {
        let text = if report.is_built {
            "none that draws"
        } else {
            "the worker was built without the feature gpu"
        };
        let remedy = report.problem.unwrap_or_default();
        return found(text.to_owned()).worse(state, remedy);
    };
    let text = format!(
        "{}, driver {}, by {}",
        device.name, device.driver, device.backend
    );
    if device.is_software {
        let remedy = "its driver draws on the processor, slower than the worker itself: install \
                      the driver of a GPU, or draw by the processor (--renderer cpu)";
        return found(text).worse(State::Warning, remedy);
    }
    found(text)
}

#[cfg(test)]
mod tests {
    use protocol::report::GpuDeviceReport;

    use super::*;

    fn judged(renderer: RendererKind, report: Result<GpuReport, HostProblem>) -> Finding {
        let mut spec = RunSpec::default();
        spec.run.renderer = renderer;
        gpu_finding("a", &spec, report)
    }

    #[test]
    fn a_device_is_named_with_driver_and_backend() {
        let device = GpuDeviceReport {
            name: "Card".to_owned(),
            driver: "maker 1.2".to_owned(),
            backend: "Vulkan".to_owned(),
            is_software: false,
        };
        let report = |is_software| GpuReport {
            is_built: true,
            device: Some(GpuDeviceReport {
                is_software,
                ..device.clone()
            }),
            problem: None,
        };
        let finding = judged(RendererKind::Gpu, Ok(report(false)));
        assert_eq!(
            (finding.state, &*finding.text),
            (State::Ok, "Card, driver maker 1.2, by Vulkan")
        );
        let finding = judged(RendererKind::Gpu, Ok(report(true)));
        assert_eq!(finding.state, State::Warning);
        assert!(finding.remedy.unwrap().contains("--renderer cpu"));
    }

    #[test]
    fn a_missing_device_is_a_problem_for_runs_that_need_it_alone() {
        let none = |is_built| GpuReport {
            is_built,
            device: None,
            problem: Some("do this".to_owned()),
        };
        for (renderer, state) in [
            (RendererKind::Cpu, State::Warning),
            (RendererKind::Auto, State::Warning),
            (RendererKind::Gpu, State::Problem),
        ] {
            for (is_built, part) in [(true, "none"), (false, "without the feature gpu")] {
                let finding = judged(renderer, Ok(none(is_built)));
                assert_eq!(
                    (finding.state, finding.remedy.as_deref()),
                    (state, Some("do this"))
                );
                assert!(finding.text.contains(part), "{}", finding.text);
            }
            let error = std::io::Error::other("it hangs");
            let finding = judged(renderer, Err(HostProblem::OwnWorker("w".into(), error)));
            assert_eq!(finding.state, state);
            let remedy = finding.remedy.unwrap();
            assert!(
                remedy.ends_with("w does not say what it is: it hangs"),
                "{remedy}"
            );
        }
    }
}
