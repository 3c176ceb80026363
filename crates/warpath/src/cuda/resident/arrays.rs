//! Arrays on a device that cross the border of this library: those that come in, and those that go out.

use std::sync::Arc;

use crate::cuda::device::Device;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::{Error, Result};

/// The type of the elements of an array on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Element {
    /// 32-bit integers.
    I32,
    /// 32-bit integers of 0 or more.
    U32,
    /// 64-bit integers.
    I64,
    /// 64-bit integers of 0 or more.
    U64,
    /// 32-bit floats.
    F32,
    /// 64-bit floats.
    F64,
}

impl Element {
    /// Its name, such as `i32`.
    pub fn name(self) -> &'static str {
        match self {
            Element::I32 => "i32",
            Element::U32 => "u32",
            Element::I64 => "i64",
            Element::U64 => "u64",
            Element::F32 => "f32",
            Element::F64 => "f64",
        }
    }

    /// How many bytes one takes.
    pub fn bytes(self) -> usize {
        match self {
            Element::I32 | Element::U32 | Element::F32 => 4,
            Element::I64 | Element::U64 | Element::F64 => 8,
        }
    }

    /// An error unless these are integers.
    pub(super) fn check_integer(self, what: &str) -> Result<()> {
        match self {
            Element::F32 | Element::F64 => {
                Err(Error::invalid(format!("{what}: integers are wanted, not {}", self.name())))
            }
            _ => Ok(()),
        }
    }
}

/// An array in the memory of a GPU that another library has: one dimension, no gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignArray {
    /// Where it is.
    pub address: u64,
    /// How many elements it has.
    pub length: u64,
    /// Their type.
    pub element: Element,
}

/// The elements of an array, on the host.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum HostArray {
    /// Of [`Element::I32`].
    I32(Vec<i32>),
    /// Of [`Element::I64`].
    I64(Vec<i64>),
    /// Of [`Element::F32`].
    F32(Vec<f32>),
    /// Of [`Element::F64`].
    F64(Vec<f64>),
}

/// An array in the memory of a GPU, in the process's primary context, where the CUDA runtime and every library on it can
/// read it. Complete when it is handed out. Dropping it frees the memory.
#[derive(Debug)]
pub struct DeviceArray {
    pool: Pool,
    words: DeviceSlice<u32>,
    element: Element,
}

impl DeviceArray {
    /// An array of this many elements, filled by `fill` in stream order; it waits until that is done.
    pub(super) fn filled(
        device: &Arc<dyn Device>,
        element: Element,
        length: u64,
        fill: impl FnOnce(&Pool, DeviceSlice<u32>) -> Result<()>,
    ) -> Result<Self> {
        let (pool, words) =
            Pool::lay_out(device, |arena| arena.take("an answer", length * element.bytes() as u64 / 4))?;
        fill(&pool, words)?;
        device.synchronize()?;
        Ok(DeviceArray { pool, words, element })
    }

    /// Where it is.
    pub fn address(&self) -> u64 {
        self.words.address()
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        (self.words.length() * 4) as usize / self.element.bytes()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of its elements.
    pub fn element(&self) -> Element {
        self.element
    }

    /// The number of the device that has it.
    pub fn device(&self) -> u32 {
        self.pool.device().properties().ordinal
    }

    /// A copy on the host.
    ///
    /// # Errors
    ///
    /// If the device fails, or the host has no memory for it.
    pub fn to_host(&self) -> Result<HostArray> {
        Ok(match self.element {
            Element::I32 | Element::U32 => HostArray::I32(self.pool.read(self.words.cast())?),
            Element::I64 | Element::U64 => HostArray::I64(self.pool.read(self.words.cast())?),
            Element::F32 => HostArray::F32(self.pool.read(self.words.cast())?),
            Element::F64 => HostArray::F64(self.pool.read(self.words.cast())?),
        })
    }
}
