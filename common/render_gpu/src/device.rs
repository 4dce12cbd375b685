//! [`Gpu`]: a device with its queue, and what is known of its health.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use render::Renderer;
use wgpu::{
    Backend, Backends, Device, DeviceDescriptor, DeviceType, ErrorFilter, Instance,
    InstanceDescriptor, MemoryHints, PowerPreference, Queue, RequestAdapterOptions, TextureView,
};

use crate::painter::{DrawError, GpuPainter};
use crate::pipelines::Pipelines;
use crate::targets::depth_maps;

/// A device that draws, for any number of painters on any threads.
pub struct Gpu {
    pub(crate) device: Device,
    pub(crate) queue: Queue,
    pub(crate) pipelines: Pipelines,
    /// Maps of shadows where there are none: shaders have one all the same.
    pub(crate) no_map: TextureView,
    name: String,
    /// Its driver, with its version, and the interface to that.
    driver: String,
    backend: Backend,
    /// True if it is a driver that draws on the processor.
    is_software: bool,
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
        Self::open_one(false)
    }

    /// Opens a driver that draws on the processor, to compare with [`render::Painter`].
    ///
    /// # Errors
    /// Fails if there is none, or it cannot be used.
    pub fn open_software() -> Result<Arc<Self>, OpenGpuError> {
        Self::open_one(true)
    }

    fn open_one(of_software: bool) -> Result<Arc<Self>, OpenGpuError> {
        let instance = Instance::new(InstanceDescriptor {
            backends: Backends::VULKAN,
            ..InstanceDescriptor::new_without_display_handle()
        });
        let options = RequestAdapterOptions {
            power_preference: PowerPreference::HighPerformance,
            force_fallback_adapter: of_software,
            ..RequestAdapterOptions::default()
        };
        let adapter = pollster::block_on(instance.request_adapter(&options));
        let adapter = adapter.map_err(|_| OpenGpuError::NoDevice)?;
        let info = adapter.get_info();
        let is_software = info.device_type == DeviceType::Cpu;
        let name = match info.device_type {
            DeviceType::Cpu => format!("{} (a processor)", info.name),
            _ => info.name,
        };
        let driver = format!("{} {}", info.driver, info.driver_info);
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
            no_map: depth_maps(&device, 1, 1).0,
            device,
            queue,
            pipelines,
            name,
            driver: driver.trim().to_owned(),
            backend: info.backend,
            is_software,
            health,
        };
        match own.failure() {
            Some(problem) => Err(OpenGpuError::Unfit {
                name: own.name.clone(),
                problem,
            }),
            None => Ok(Arc::new(own)),
        }
    }

    /// Returns its name, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name of its driver, with its version as far as that tells it.
    pub fn driver(&self) -> &str {
        &self.driver
    }

    /// Returns the name of the interface to its driver: `Vulkan`.
    pub fn backend(&self) -> String {
        format!("{:?}", self.backend)
    }

    /// Tells whether it is a driver that draws on the processor: slower than
    /// [`render::Painter`], and not to its bits.
    pub fn is_software(&self) -> bool {
        self.is_software
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

    /// Calls a function that uses the device. What the device does not take, such as more than fits
    /// into its memory, is an error of this call alone; a device that is lost while it is waited
    /// for makes wgpu panic, which is an error of the device.
    pub(crate) fn guarded<T>(
        &self,
        draw: impl FnOnce() -> Result<T, DrawError>,
    ) -> Result<T, DrawError> {
        let memory = self.device.push_error_scope(ErrorFilter::OutOfMemory);
        let validity = self.device.push_error_scope(ErrorFilter::Validation);
        let drawn = catch_unwind(AssertUnwindSafe(draw));
        let validity = pollster::block_on(validity.pop());
        let memory = pollster::block_on(memory.pop());
        if let Some(why) = self.failure() {
            return Err(DrawError::Failed(why));
        }
        match (validity.or(memory), drawn) {
            (Some(error), _) => Err(DrawError::Refused(error.to_string())),
            (None, Ok(drawn)) => drawn,
            (None, Err(panic)) => Err(DrawError::Failed(words_of(&*panic))),
        }
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

impl Drop for Gpu {
    fn drop(&mut self) {
        if self.failure().is_some() {
            // Whoever gives a queue back waits for its end, which does not come any more.
            std::mem::forget((self.device.clone(), self.queue.clone()));
        }
    }
}

/// Returns the words of a panic.
fn words_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("it was lost").to_owned()
}

impl Health {
    /// Keeps the first failure, and returns it.
    fn fail(&self, why: String) -> String {
        let failure = self.failure.lock();
        let mut failure = failure.unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(why).clone()
    }
}

#[cfg(test)]
mod tests {
    use wgpu::{BufferDescriptor, BufferUsages};

    use super::*;

    fn gpu() -> Option<Arc<Gpu>> {
        let opened = Gpu::open();
        if let Err(error) = &opened {
            assert!(std::env::var_os("PHALANX_REQUIRE_GPU").is_none(), "{error}");
            eprintln!("shows nothing: {error}");
        }
        opened.ok()
    }

    #[test]
    fn a_driver_that_draws_on_the_processor_is_found_beside_others() {
        if gpu().is_some_and(|gpu| gpu.is_software()) {
            let found = Gpu::open_software().expect("the one that is the fastest device");
            assert!(found.is_software());
        } else if let Ok(found) = Gpu::open_software() {
            assert!(found.is_software());
        }
    }

    #[test]
    fn what_does_not_fit_is_an_error_of_its_own_call() {
        let Some(gpu) = gpu() else { return };
        let limit = gpu.device.limits().max_buffer_size;
        let refused = gpu.guarded(|| {
            let _ = gpu.device.create_buffer(&BufferDescriptor {
                label: None,
                size: limit.saturating_add(4) / 4 * 4,
                usage: BufferUsages::STORAGE,
                mapped_at_creation: false,
            });
            Ok(())
        });
        assert!(matches!(refused, Err(DrawError::Refused(_))), "{refused:?}");
        assert_eq!(gpu.failure(), None);
        assert!(gpu.guarded(|| Ok(())).is_ok());
    }

    #[test]
    fn a_panic_of_the_driver_is_a_failure_of_the_device() {
        let Some(gpu) = gpu() else { return };
        let failed: Result<(), _> = gpu.guarded(|| panic!("Error in Device::poll: it is lost"));
        match failed {
            Err(DrawError::Failed(why)) => assert!(why.contains("it is lost"), "{why}"),
            other => panic!("it failed, and {other:?} came"),
        }
    }
}
