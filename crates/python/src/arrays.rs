//! Arrays on the way in: vertices, offsets and weights of any type of number, in NumPy's arrays or on a GPU.
//!
//! *Invariants.* A list is as long as what was written to it.

use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};

use numpy::{Element, IntoPyArray, PyArray1, PyArrayMethods};
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use warpath::graph::{Weights, WholeNumbers, whole_numbers};
use warpath::resident::{self, ForeignArray};
use warpath::{VertexId, on_huge_pages};

use crate::errors::exception;
use crate::forks::with_threads;

/// The object as an array of one dimension without gaps, as `numpy.asarray` sees it.
fn asarray<'py>(object: &Bound<'py, PyAny>, what: &str) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = object.py();
    let options = PyDict::new(py);
    options.set_item("order", "C")?;
    let array = numpy::get_array_module(py)?.call_method("asarray", (object,), Some(&options))?;
    let array = array.cast_into::<PyUntypedArray>()?;
    if array.ndim() > 1 {
        return Err(PyValueError::new_err(format!("{what}: one dimension is wanted, not {}", array.ndim())));
    }
    let array = if array.ndim() == 0 { array.call_method1("reshape", (1,))?.cast_into()? } else { array };
    // A slice with steps has gaps.
    Ok(numpy::get_array_module(py)?.call_method1("ascontiguousarray", (array,))?.cast_into()?)
}

/// The values of an array of this type of number, if it is one.
fn values<'py, T: Element>(array: &Bound<'py, PyUntypedArray>) -> Option<PyReadonlyArray1<'py, T>> {
    array.cast::<numpy::PyArray1<T>>().ok().map(|array| array.readonly())
}

/// Runs an expression with `$values` bound to a slice of the array if its numbers are of one of these types, else `$otherwise`.
macro_rules! with_values {
    ($array:expr, [$($type:ty),*], $values:ident => $body:expr, $otherwise:expr) => {{
        let array = $array;
        $(if let Some(typed) = values::<$type>(array) {
            let $values = typed.as_slice()?;
            $body
        } else)* { $otherwise }
    }};
}

/// The vertices that an integer, or an array of integers of any type, stands for.
pub(crate) fn vertices(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<VertexId>> {
    // The usual types, and the quickest way: all below 2^31.
    const MOST: u64 = i32::MAX as u64;
    if let Some(found) = quickly(object, |value: i32| i64::from(value) as u64, |bits| bits as VertexId, MOST)? {
        return Ok(found);
    }
    if let Some(found) = quickly(object, |value: i64| value as u64, |bits| bits as VertexId, MOST)? {
        return Ok(found);
    }
    integers(object, what, |value: i128| VertexId::try_from(value).ok().filter(|&v| v < VertexId::MAX))
}

/// An array of another package, as `warpath._device` has it: address, length, type.
pub(crate) fn foreign(object: &Bound<'_, PyAny>) -> PyResult<ForeignArray> {
    let (address, length, name, _owner): (u64, u64, String, Bound<'_, PyAny>) = object.extract()?;
    let element = match name.as_str() {
        "i4" => resident::Element::I32,
        "u4" => resident::Element::U32,
        "i8" => resident::Element::I64,
        "u8" => resident::Element::U64,
        "f4" => resident::Element::F32,
        "f8" => resident::Element::F64,
        _ => return Err(PyValueError::new_err(format!("an array on a device of type {name}"))),
    };
    Ok(ForeignArray { address, length, element })
}

/// Pairs of vertices: an array of two columns, or a list of pairs.
pub(crate) fn pairs(object: &Bound<'_, PyAny>) -> PyResult<Vec<(VertexId, VertexId)>> {
    let array = numpy::get_array_module(object.py())?.call_method1("asarray", (object,))?;
    let shape: Vec<usize> = array.getattr("shape")?.extract()?;
    if shape.first() == Some(&0) {
        return Ok(Vec::new());
    }
    if shape.len() != 2 || shape[1] != 2 {
        return Err(PyValueError::new_err(format!("pairs: an array of two columns is wanted, not of shape {shape:?}")));
    }
    let all = vertices(&array.call_method1("reshape", (-1,))?, "pairs")?;
    Ok(all.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
}

/// The offsets of rows.
pub(crate) fn offsets(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<u64>> {
    // The usual types: none below 0.
    const MOST: u64 = i64::MAX as u64;
    if let Some(found) = quickly(object, |value: i32| i64::from(value) as u64, |bits| bits, MOST)? {
        return Ok(found);
    }
    if let Some(found) = quickly(object, |value: i64| value as u64, |bits| bits, MOST)? {
        return Ok(found);
    }
    integers(object, what, |value: i128| u64::try_from(value).ok())
}

/// Integers of any type as those of another one.
fn integers<T>(object: &Bound<'_, PyAny>, what: &str, narrow: impl Fn(i128) -> Option<T>) -> PyResult<Vec<T>> {
    let array = asarray(object, what)?;
    if array.len() == 0 {
        // An empty list has the type of floats.
        return Ok(Vec::new());
    }
    match integers_of(&array, &narrow)? {
        Some(Ok(values)) => Ok(values),
        Some(Err(value)) => Err(PyValueError::new_err(format!("{what}: {value} is out of range"))),
        None => Err(PyTypeError::new_err(format!("{what}: integers are wanted, not {}", array.dtype()))),
    }
}

/// The integers of an array as those of another type, if it has integers; or the first that does not fit.
fn integers_of<T>(
    array: &Bound<'_, PyUntypedArray>,
    narrow: impl Fn(i128) -> Option<T>,
) -> PyResult<Option<Result<Vec<T>, i128>>> {
    let checked = |value: i128| narrow(value).ok_or(value);
    Ok(with_values!(
        array,
        [i64, i32, u32, u64, i16, u16, i8, u8],
        values => Some(collected(values.len(), values.iter().map(|&value| checked(value.into())))),
        None
    ))
}

/// The integers of an array of this type, converted on all threads; `None` if it has another type, or an integer has a bit above those of
/// `most`, as those below 0 have. Each is read once: without the interpreter's lock, another thread may write to the array meanwhile.
fn quickly<T: Element + Copy, U: Send>(
    object: &Bound<'_, PyAny>,
    bits_of: impl Fn(T) -> u64 + Sync,
    convert: impl Fn(u64) -> U + Sync,
    most: u64,
) -> PyResult<Option<Vec<U>>> {
    /// What a thread converts at a time; less is done by one.
    const PART: usize = 1 << 16;
    let Ok(array) = object.cast::<PyArray1<T>>() else { return Ok(None) };
    let array = array.readonly();
    let Ok(values) = array.as_slice() else { return Ok(None) };
    let copy = |(to, from): (&mut [MaybeUninit<U>], &[T])| {
        let mut seen = 0;
        for (to, &value) in to.iter_mut().zip(from) {
            let bits = bits_of(value);
            seen |= bits;
            to.write(convert(bits));
        }
        seen
    };
    let mut list = on_huge_pages(Vec::with_capacity(values.len()));
    let room = &mut list.spare_capacity_mut()[..values.len()];
    let seen = if values.len() <= PART {
        copy((room, values))
    } else {
        let parts = || Ok(room.par_chunks_mut(PART).zip(values.par_chunks(PART)).map(copy).reduce(|| 0, |a, b| a | b));
        object.py().detach(|| with_threads(parts)).map_err(exception)?
    };
    // SAFETY: the list has room for as many, and all of them have been written.
    unsafe { list.set_len(values.len()) };
    Ok((seen <= most).then_some(list))
}

/// The numbers in memory of the library's own, where searches find them sooner.
fn copied<T: Copy>(values: &[T]) -> Vec<T> {
    let mut list = on_huge_pages(Vec::with_capacity(values.len()));
    list.extend_from_slice(values);
    list
}

/// The same of numbers that are converted on the way, or the first that can't be.
fn collected<T, E>(length: usize, values: impl Iterator<Item = Result<T, E>>) -> Result<Vec<T>, E> {
    let mut list = on_huge_pages(Vec::with_capacity(length));
    for value in values {
        list.push(value?);
    }
    Ok(list)
}

/// Weights of the narrowest type that has all of these numbers: integers as integers of 32 bits, floats as they are, `True` as a
/// length of 1. `None` stands for lengths of 1.
pub(crate) fn weights(object: Option<&Bound<'_, PyAny>>, arcs: usize) -> PyResult<Weights> {
    const WHAT: &str = "weights";
    let Some(object) = object.filter(|object| !object.is_none()) else { return Ok(Weights::unit(arcs)) };
    let array = asarray(object, WHAT)?;
    if array.len() != arcs {
        return Err(PyValueError::new_err(format!("there are {} weights for {arcs} edges", array.len())));
    }
    if let Some(typed) = values::<bool>(&array) {
        let values = typed.as_slice()?;
        let all = values.iter().all(|&value| value);
        return Ok(if all { Weights::unit(arcs) } else { Weights::U32(values.iter().map(|&v| v.into()).collect()) });
    }
    if let Some(typed) = values::<f32>(&array) {
        return Ok(Weights::F32(copied(typed.as_slice()?)));
    }
    if let Some(typed) = values::<f64>(&array) {
        return Ok(Weights::F64(copied(typed.as_slice()?)));
    }
    if let Some(typed) = values::<u32>(&array) {
        return Ok(Weights::U32(copied(typed.as_slice()?)));
    }
    match integers_of(&array, |value| u32::try_from(value).ok())? {
        Some(Ok(values)) => return Ok(Weights::U32(values)),
        Some(Err(_)) => {}
        None => return Err(PyTypeError::new_err(format!("{WHAT}: numbers are wanted, not {}", array.dtype()))),
    }
    match integers_of(&array, |value| i32::try_from(value).ok())? {
        Some(Ok(values)) => Ok(Weights::I32(values)),
        _ => Err(weights_too_wide()),
    }
}

/// The error for integers that are no weights.
pub(crate) fn weights_too_wide() -> PyErr {
    PyValueError::new_err("integer weights have to fit 32 bits, with a sign or all without; convert them to float64")
}

/// Floats that were found to be whole numbers, as such, for the one graph that is made of them: without another copy, nor another look.
#[pyclass(frozen, name = "_WholeWeights", module = "warpath")]
pub(crate) struct WholeWeights {
    values: Mutex<Option<Vec<u32>>>,
    range: (f64, f64),
}

impl WholeWeights {
    /// The numbers, the first time, with the least and the greatest.
    pub(crate) fn take(&self) -> PyResult<(Vec<u32>, (f64, f64))> {
        let values = self.values.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok((values.ok_or_else(|| PyValueError::new_err("a graph was made of these weights already"))?, self.range))
    }
}

/// What [`_survey`] finds: the least and the greatest number, whether all are finite and all finite ones whole, and all of them as
/// integers.
type Survey = (f64, f64, bool, bool, Option<WholeWeights>);

/// For `warpath.csgraph`, of an array of `float64`: the least and the greatest number, whether all are finite, and whether all finite ones
/// are whole; the latter counts if none is below 0 or above 2^51. Least and greatest are 0 if there is no finite one. If all are whole
/// and fit, they come as integers, too. On all threads.
#[pyfunction]
pub(crate) fn _survey(data: PyReadonlyArray1<'_, f64>) -> PyResult<Survey> {
    let (py, values) = (data.py(), data.as_slice()?);
    let seen = py.detach(|| with_threads(|| Ok(whole_numbers(values)))).map_err(exception)?;
    let WholeNumbers { least, greatest, finite, whole, integers } = seen;
    let (least, greatest) = if least <= greatest { (least, greatest) } else { (0.0, 0.0) };
    let fit = finite && whole && least >= 0.0 && greatest <= f64::from(u32::MAX);
    let integers = fit.then(|| WholeWeights { values: Mutex::new(Some(integers)), range: (least, greatest) });
    Ok((least, greatest, finite, whole, integers))
}

/// Offsets, columns and entries of sparse rows.
type SparseRows<'py> = (Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<f64>>);

/// For `warpath.csgraph`, of a matrix without gaps and with less than 2^31 cells: its finite entries other than 0 as sparse rows, on all
/// threads.
#[pyfunction]
pub(crate) fn _sparse_rows<'py>(matrix: PyReadonlyArray2<'py, f64>) -> PyResult<SparseRows<'py>> {
    fn is_edge(value: f64) -> bool {
        (value.abs() < f64::INFINITY) & (value != 0.0)
    }
    let (py, columns) = (matrix.py(), matrix.shape()[1].max(1));
    let cells = matrix.as_slice()?;
    if i32::try_from(cells.len()).is_err() {
        return Err(PyValueError::new_err("the matrix has 2**31 cells or more"));
    }
    let found = py.detach(|| {
        with_threads(|| {
            let rows = cells.par_chunks_exact(columns);
            let lengths: Vec<usize> =
                rows.clone().map(|row| row.iter().map(|&v| usize::from(is_edge(v))).sum()).collect();
            let mut offsets = Vec::with_capacity(lengths.len() + 1);
            offsets.push(0_i32);
            let mut end = 0;
            offsets.extend(lengths.iter().map(|length| {
                end += length;
                end as i32
            }));
            let mut heads = on_huge_pages(vec![0_i32; end]);
            let mut entries = on_huge_pages(vec![0.0; end]);
            let mut parts = Vec::with_capacity(lengths.len());
            let (mut rest, mut rest_entries) = (heads.as_mut_slice(), entries.as_mut_slice());
            for length in lengths {
                let (part, after) = rest.split_at_mut(length);
                let (part_entries, after_entries) = rest_entries.split_at_mut(length);
                parts.push((part, part_entries));
                (rest, rest_entries) = (after, after_entries);
            }
            rows.zip(parts).with_min_len(16).for_each(|(row, (heads, entries))| {
                let mut next = 0;
                for (column, &value) in row.iter().enumerate() {
                    // Written in any case, and kept if it is one.
                    let (Some(head), Some(entry)) = (heads.get_mut(next), entries.get_mut(next)) else { break };
                    (*head, *entry) = (column as i32, value);
                    next += usize::from(is_edge(value));
                }
            });
            Ok((offsets, heads, entries))
        })
    });
    let (offsets, heads, entries) = found.map_err(exception)?;
    Ok((offsets.into_pyarray(py), heads.into_pyarray(py), entries.into_pyarray(py)))
}
