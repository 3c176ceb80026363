//! The driver, where there is one, and the errors where there is none.
//!
//! *Invariants.* Kernels and handles are those of the device under test, but where a test says otherwise.

use super::super::library::Status;
use super::*;

#[test]
fn no_driver_is_an_error_and_no_panic() {
    match devices() {
        Ok(devices) => assert!(!devices.is_empty()),
        Err(Error::NoDevice(reason)) => assert!(reason.contains("driver"), "{reason}"),
        Err(other) => panic!("{other}"),
    }
    assert!(matches!(Driver::open(4_000_000_000), Err(Error::NoDevice(_))));
    assert_eq!(show_version(13_020), "13.2");
}

/// A program may use CUDA itself, in the same thread.
#[test]
fn the_context_of_the_caller_stays() {
    let current = || {
        let mut handle = std::ptr::null_mut();
        // SAFETY: the pointer is to a live handle.
        assert_eq!(unsafe { library::cuCtxGetCurrent(&raw mut handle) }, Status::SUCCESS);
        handle as usize
    };
    let Ok(outer) = Driver::open(0) else { return };
    assert_eq!(current(), 0);
    let entered = outer.context.enter().unwrap();
    {
        let inner: Arc<dyn Device> = Arc::new(Driver::open(0).unwrap());
        assert_eq!(current(), outer.context.handle);
        let mut pool = super::super::memory::Pool::new(&inner, 1 << 24).unwrap();
        let values: Vec<u32> = (0..1 << 22).collect();
        let there = pool.take_filled(&values).unwrap();
        assert_eq!(pool.read(there).unwrap(), values);
        assert!(inner.allocate(u64::MAX / 2).is_err());
        assert_eq!(current(), outer.context.handle);
    }
    assert_eq!(current(), outer.context.handle);
    drop(entered);
    assert_eq!(current(), 0);
}

#[test]
#[ignore = "takes all contexts of the process with it: run it alone, on a machine with a GPU"]
fn a_ruined_device_says_so() {
    let device = Driver::open(0).unwrap();
    let kernel = device.function(&images::BFS_QUEUE, "bfs_queue").unwrap();
    let nowhere = 8_u64;
    let shape = LaunchShape::line(1, 32);
    // SAFETY: none at all: the kernel reads at an address that is not there, which is the test.
    let launched = unsafe {
        device.launch(
            kernel,
            &shape,
            super::super::arguments!(nowhere, nowhere, nowhere, nowhere, nowhere, nowhere, 1_u32, 1_u32),
        )
    };
    launched.unwrap();
    assert!(matches!(device.synchronize(), Err(Error::Device(_))));
    let Err(Error::Device(message)) = device.allocate(256) else { panic!("the device is lost") };
    assert!(message.contains("is lost"), "{message}");
    drop(device);
    // Since the driver takes a bad address as a fault of the process, a new context may not be had in it, either: that
    // is an error as well, and no crash.
    if let Err(error) = Driver::open(0) {
        assert!(matches!(error, Error::Device(_) | Error::NoDevice(_)), "{error}");
    }
}
