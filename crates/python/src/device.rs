//! Answers in the memory of a GPU, and the arrays that they consist of.
//!
//! These speak the two languages that packages have for that: `__cuda_array_interface__` and DLPack.
//!
//! *Invariants.* The structures of DLPack are laid out as its header has them, version 0. Whoever takes a capsule calls its deleter
//! once; a capsule that nobody took does so when it goes.

use std::ffi::{CStr, c_void};
use std::sync::Arc;

use numpy::IntoPyArray;
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use warpath::resident::{DeviceArray as Array, Element, HostArray, ResidentGraph, ResidentTree};
use warpath::{Control, VertexId};

use crate::errors::exception;
use crate::graph::Graph;

/// DLPack's `DLDeviceType` for memory of CUDA.
const DL_CUDA: i32 = 2;
/// What a capsule is called that nobody has taken.
const CAPSULE: &CStr = c"dltensor";

/// DLPack's `DLTensor`.
#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    dimensions: i32,
    type_code: u8,
    type_bits: u8,
    type_lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// DLPack's `DLManagedTensor`.
#[repr(C)]
struct DlManagedTensor {
    tensor: DlTensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut DlManagedTensor)>,
}

/// A tensor with what it refers to.
struct Exported {
    managed: DlManagedTensor,
    /// One or two lengths.
    shape: Vec<i64>,
    _array: Arc<Array>,
}

/// Frees what [`DeviceArray::__dlpack__`] has made.
///
/// # Safety
///
/// `managed` is the first field of an `Exported` in a box, which nobody else frees.
unsafe extern "C" fn delete(managed: *mut DlManagedTensor) {
    if !managed.is_null() {
        // SAFETY: the context is the box, by the caller's promise.
        drop(unsafe { Box::from_raw((*managed).context.cast::<Exported>()) });
    }
}

/// The destructor of a capsule.
///
/// # Safety
///
/// `capsule` is one that [`DeviceArray::__dlpack__`] has made.
unsafe extern "C" fn forget(capsule: *mut ffi::PyObject) {
    // SAFETY: it is a capsule; whoever takes it gives it another name, and frees the tensor himself.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, CAPSULE.as_ptr()) == 1 {
            delete(ffi::PyCapsule_GetPointer(capsule, CAPSULE.as_ptr()).cast());
        }
    }
}

/// An array in the memory of a GPU: of one dimension, or a table row by row.
///
/// CuPy, PyTorch, JAX, Numba and others take it without a copy: `cupy.asarray(array)`, `torch.from_dlpack(array)`. The memory is freed
/// when nobody refers to it any more.
#[pyclass(frozen, module = "warpath")]
pub(crate) struct DeviceArray {
    array: Arc<Array>,
    /// Rows and columns, if it is a table.
    table: Option<[usize; 2]>,
}

impl DeviceArray {
    /// An array of one dimension.
    fn line(array: Arc<Array>) -> Self {
        DeviceArray { array, table: None }
    }

    fn lengths(&self) -> Vec<usize> {
        self.table.map_or_else(|| vec![self.array.len()], Vec::from)
    }

    /// The code of NumPy and DLPack's.
    fn code(&self) -> (&'static str, u8) {
        match self.array.element() {
            Element::F32 | Element::F64 => ("f", 2),
            _ => ("i", 0),
        }
    }

    fn type_string(&self) -> String {
        format!("<{}{}", self.code().0, self.array.element().bytes())
    }
}

#[pymethods]
impl DeviceArray {
    /// The array for packages that speak version 3 of this interface. All work on it is done.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("shape", self.shape(py)?)?;
        interface.set_item("typestr", self.type_string())?;
        let address = if self.array.is_empty() { 0 } else { self.array.address() };
        interface.set_item("data", (address, false))?;
        interface.set_item("strides", py.None())?;
        interface.set_item("stream", py.None())?;
        interface.set_item("version", 3)?;
        Ok(interface)
    }

    /// The array as a capsule of DLPack. It need not wait for a stream, since all work on the array is done.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<Bound<'py, PyAny>>,
        max_version: Option<Bound<'py, PyAny>>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = (stream, max_version);
        let here = self.__dlpack_device__();
        if dl_device.is_some_and(|wanted| wanted != here) || copy == Some(true) {
            return Err(PyBufferError::new_err("an array on a GPU is handed over where it is, without a copy"));
        }
        let tensor = DlTensor {
            data: self.array.address() as *mut c_void,
            device_type: here.0,
            device_id: here.1,
            dimensions: self.lengths().len() as i32,
            type_code: self.code().1,
            type_bits: 8 * self.array.element().bytes() as u8,
            type_lanes: 1,
            shape: std::ptr::null_mut(),
            strides: std::ptr::null_mut(),
            byte_offset: 0,
        };
        let managed = DlManagedTensor { tensor, context: std::ptr::null_mut(), deleter: Some(delete) };
        let shape = self.lengths().into_iter().map(|length| length as i64).collect();
        let exported = Box::into_raw(Box::new(Exported { managed, shape, _array: self.array.clone() }));
        // SAFETY: the box was just made, and stays where it is until the deleter frees it.
        let managed = unsafe {
            (*exported).managed.tensor.shape = (*exported).shape.as_mut_ptr();
            (*exported).managed.context = exported.cast();
            &raw mut (*exported).managed
        };
        // SAFETY: the pointer is not null, and the name lives as long as the program.
        let capsule = unsafe { ffi::PyCapsule_New(managed.cast(), CAPSULE.as_ptr(), Some(forget)) };
        if capsule.is_null() {
            // SAFETY: nobody else has it.
            unsafe { delete(managed) };
            return Err(PyErr::fetch(py));
        }
        // SAFETY: it is a new reference.
        Ok(unsafe { Bound::from_owned_ptr(py, capsule) })
    }

    /// DLPack's number for CUDA, and the number of the device.
    fn __dlpack_device__(&self) -> (i32, i32) {
        (DL_CUDA, self.array.device() as i32)
    }

    /// Its type, as NumPy has it.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("numpy")?.call_method1("dtype", (self.type_string(),))
    }

    /// Its length, or the numbers of its rows and columns, as a tuple.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.lengths())
    }

    /// The number of the device that has it.
    #[getter]
    fn device(&self) -> u32 {
        self.array.device()
    }

    /// A copy as a NumPy array.
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let found = py.detach(|| self.array.to_host()).map_err(exception)?;
        let values = match found {
            HostArray::I32(values) => values.into_pyarray(py).into_any(),
            HostArray::I64(values) => values.into_pyarray(py).into_any(),
            HostArray::F32(values) => values.into_pyarray(py).into_any(),
            HostArray::F64(values) => values.into_pyarray(py).into_any(),
            _ => return Err(PyValueError::new_err("elements of another type")),
        };
        match self.table {
            None => Ok(values),
            Some(lengths) => values.call_method1("reshape", (lengths,)),
        }
    }

    fn __len__(&self) -> usize {
        self.lengths()[0]
    }

    fn __repr__(&self) -> String {
        let (name, device) = (self.array.element().name(), self.array.device());
        let lengths: Vec<String> = self.lengths().iter().map(usize::to_string).collect();
        format!("<warpath.DeviceArray: {} of {name} on cuda:{device}>", lengths.join(" x "))
    }
}

/// The distances from a source, or from the nearest of several, and predecessors, in the memory of a GPU.
#[pyclass(frozen, module = "warpath")]
pub(crate) struct DeviceTree {
    distances: Arc<Array>,
    predecessors: Option<Arc<Array>>,
}

impl DeviceTree {
    fn new(tree: ResidentTree) -> Self {
        let (distances, predecessors) = tree.into_arrays();
        DeviceTree { distances: Arc::new(distances), predecessors: predecessors.map(Arc::new) }
    }
}

#[pymethods]
impl DeviceTree {
    /// The distance of each vertex. Integers: `int32` or, where they do not fit, `int64`, and -1 for what is unreachable. Floats as the
    /// weights are, and infinity.
    #[getter]
    fn distances(&self) -> DeviceArray {
        DeviceArray::line(self.distances.clone())
    }

    /// The vertex before each on its path, -1 for sources and for what is unreachable, `int32`; `None` if they were left out.
    #[getter]
    fn predecessors(&self) -> Option<DeviceArray> {
        self.predecessors.clone().map(DeviceArray::line)
    }

    fn __repr__(&self) -> String {
        let (count, name, device) = (self.distances.len(), self.distances.element().name(), self.distances.device());
        let before = if self.predecessors.is_some() { " and predecessors" } else { "" };
        format!("<warpath.DeviceTree: {count} distances ({name}){before} on cuda:{device}>")
    }
}

impl Graph {
    /// An answer that stays on the device, where the graph is or is copied to.
    pub(crate) fn tree_on_device(
        &self,
        py: Python<'_>,
        sources: &[VertexId],
        predecessors: bool,
        search: fn(&ResidentGraph, &[VertexId], bool, &Control) -> warpath::Result<ResidentTree>,
    ) -> PyResult<DeviceTree> {
        let control = self.kept.calls.control();
        let tree =
            self.kept.calls.run(py, false, || search(&*self.kept.resident()?, sources, predecessors, &control))?;
        Ok(DeviceTree::new(tree))
    }

    /// A table that stays on the device, where the graph is or is copied to: from some sources, or all vertices, to some targets, or all.
    pub(crate) fn table_on_device(
        &self,
        py: Python<'_>,
        sources: Option<Vec<VertexId>>,
        targets: Option<&[VertexId]>,
    ) -> PyResult<DeviceArray> {
        let control = self.kept.calls.control();
        let (table, rows) = self.kept.calls.run(py, false, || {
            let graph = self.kept.resident()?;
            let all = || (0..graph.vertices() as VertexId).collect();
            let sources = sources.clone().unwrap_or_else(all);
            Ok((graph.table(&sources, targets, &control)?, sources.len()))
        })?;
        let lengths = [rows, table.columns()];
        Ok(DeviceArray { array: Arc::new(table.into_distances()), table: Some(lengths) })
    }
}
