//! [`Gpu`]: a device with its queue, and what is known of its health.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use render::Renderer;
use wgpu::{
    Backends, Device, DeviceDescriptor, DeviceType, Instance, InstanceDescriptor, MemoryHints,
    PowerPreference, Queue, RequestAdapterOptions, TextureView,
};

use crate::painter::GpuPainter;
use crate::pipelines::Pipelines;
use crate::targets::depth_map;

/// A device that draws, for any number of painters on any threads.
pub struct Gpu {
    pub(crate) device: Device,
    pub(crate) queue: Queue,
    pub(crate) pipelines: Pipelines,
    /// Map of shadows where there are none: shaders have one all the same.
    pub(crate) no_map: TextureView,
    name: String,
    health: Arc<Health>,
}

/// Failure of a device, from whichever thread heard of it.
#[derive(Default)]
struct Health {
    failure: Mutex<Option<String>>,
    is_told: AtomicBool,
}

/// Reason why no GPU draws.
#[derive(Debug, thiserror::Error)]
pub enum OpenGpuError {
    /// No device speaks Vulkan.
    #[error(
        "there is no GPU with a Vulkan driver: install its driver and the loader libvulkan.so.1 \
         (Debian's mesa-vulkan-drivers has both), or draw by the processor (--renderer cpu)"
    )]
    NoDevice,
    /// The device cannot be used.
    #[error("the GPU {name} cannot be used: draw by the processor (--renderer cpu)")]
    Refused {
        /// Name of the device.
        name: String,
        /// Reason.
        #[source]
        source: wgpu::RequestDeviceError,
    },
    /// The device lacks what pictures need.
    #[error("the GPU {name} cannot be used: {problem}; draw by the processor (--renderer cpu)")]
    Unfit {
        /// Name of the device.
        name: String,
        /// Missing ability, in words.
        problem: String,
    },
}

impl Gpu {
    /// Opens the fastest device that speaks Vulkan.
    ///
    /// # Errors
    /// Fails if there is none, or it cannot be used.
    pub fn open() -> Result<Arc<Self>, OpenGpuError> {
        let instance = Instance::new(InstanceDescriptor {
            backends: Backends::VULKAN,
            ..InstanceDescriptor::new_without_display_handle()
        });
        let options = RequestAdapterOptions {
            power_preference: PowerPreference::HighPerformance,
            ..RequestAdapterOptions::default()
        };
        let adapter = pollster::block_on(instance.request_adapter(&options));
        let adapter = adapter.map_err(|_| OpenGpuError::NoDevice)?;
        let info = adapter.get_info();
        let name = match info.device_type {
            DeviceType::Cpu => format!("{} (a processor)", info.name),
            _ => info.name,
        };
        let descriptor = DeviceDescriptor {
            required_limits: adapter.limits(),
            memory_hints: MemoryHints::Performance,
            ..DeviceDescriptor::default()
        };
        let opened = pollster::block_on(adapter.request_device(&descriptor));
        let (device, queue) = opened.map_err(|source| OpenGpuError::Refused {
            name: name.clone(),
            source,
        })?;
        let health = Arc::new(Health::default());
        let (of_errors, of_loss) = (Arc::clone(&health), Arc::clone(&health));
        device.on_uncaptured_error(Arc::new(move |error| {
            of_errors.fail(error.to_string());
        }));
        device.set_device_lost_callback(move |_, why| {
            of_loss.fail(why);
        });
        let pipelines = Pipelines::new(&device);
        let own = Self {
            no_map: depth_map(&device, 1),
            device,
            queue,
            pipelines,
            name,
            health,
        };
        match own.failure() {
            Some(problem) => Err(OpenGpuError::Unfit {
                name: own.name,
                problem,
            }),
            None => Ok(Arc::new(own)),
        }
    }

    /// Returns its name, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Makes a renderer on the device.
    pub fn renderer(self: &Arc<Self>) -> Box<dyn Renderer> {
        Box::new(GpuPainter::new(Arc::clone(self)))
    }

    /// Gives the device up, as if it was lost: the processor draws from then on.
    pub fn give_up(&self, why: &str) {
        self.health.fail(why.to_owned());
        self.device.destroy();
    }

    /// Returns why it draws no more, once it does not.
    pub(crate) fn failure(&self) -> Option<String> {
        let failure = self.health.failure.lock();
        failure.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes that it draws no more; returns the reason that was noted first.
    pub(crate) fn fail(&self, why: String) -> String {
        self.health.fail(why)
    }

    /// Tells whether nobody has told of the failure yet; once.
    pub(crate) fn is_first_to_tell(&self) -> bool {
        !self.health.is_told.swap(true, Ordering::Relaxed)
    }
}

impl Health {
    /// Keeps the first failure, and returns it.
    fn fail(&self, why: String) -> String {
        let failure = self.failure.lock();
        let mut failure = failure.unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(why).clone()
    }
}
