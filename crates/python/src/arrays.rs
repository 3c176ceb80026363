//! Arrays on the way in: vertices, offsets and weights of any type of number, in NumPy's arrays or on a GPU.

use numpy::{Element, IntoPyArray, PyArray1, PyArrayMethods};
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use warpath::graph::Weights;
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
    if let Ok(array) = object.cast::<numpy::PyArray1<i32>>()
        && let Ok(values) = array.readonly().as_slice()
    {
        // The usual type, and the quickest way. The copy is looked at: without the interpreter's lock, another thread may write to
        // the array meanwhile.
        let copied = copied(values);
        if copied.iter().fold(0, |signs, value| signs | value) >= 0 {
            return Ok(bytemuck::cast_vec::<i32, VertexId>(copied));
        }
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
    if let Ok(array) = object.cast::<numpy::PyArray1<i32>>()
        && let Ok(values) = array.readonly().as_slice()
    {
        // The usual type. Numbers below 0 become too great for any of them, and are found here.
        let mut wide = on_huge_pages(Vec::with_capacity(values.len()));
        wide.extend(values.iter().map(|&value| i64::from(value) as u64));
        if wide.iter().fold(0, |signs, value| signs | value) <= u64::from(u32::MAX) {
            return Ok(wide);
        }
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

/// What [`_survey`] finds: the least and the greatest number, whether all are finite and all finite ones whole, and all of them as
/// `uint32`.
type Survey<'py> = (f64, f64, bool, bool, Option<Bound<'py, PyArray1<u32>>>);

/// For `warpath.csgraph`, of an array of `float64`: the least and the greatest number, whether all are finite, and whether all finite ones
/// are whole; the latter counts if none is below 0 or above 2^51. Least and greatest are 0 if there is no finite one. If all are whole
/// and fit, they come as `uint32`, too. On all threads.
#[pyfunction]
pub(crate) fn _survey<'py>(data: PyReadonlyArray1<'py, f64>) -> PyResult<Survey<'py>> {
    /// What a thread looks at.
    const PART: usize = 1 << 16;
    let (py, values) = (data.py(), data.as_slice()?);
    let found = py.detach(|| {
        with_threads(|| {
            let mut whole = on_huge_pages(vec![0_u32; values.len()]);
            let parts = values.par_chunks(PART).zip(whole.par_chunks_mut(PART));
            let seen = parts.map(|(values, whole)| Seen::of(values, whole)).reduce(Seen::nothing, Seen::and);
            Ok((seen, whole))
        })
    });
    let (Seen { least, greatest, finite, whole }, integers) = found.map_err(exception)?;
    let (least, greatest) = if least <= greatest { (least, greatest) } else { (0.0, 0.0) };
    let fit = finite && whole && least >= 0.0 && greatest <= f64::from(u32::MAX);
    Ok((least, greatest, finite, whole, fit.then(|| integers.into_pyarray(py))))
}

/// What was seen of some numbers.
struct Seen {
    least: f64,
    greatest: f64,
    finite: bool,
    whole: bool,
}

impl Seen {
    fn nothing() -> Self {
        Seen { least: f64::INFINITY, greatest: f64::NEG_INFINITY, finite: true, whole: true }
    }

    /// Looks at these numbers, and writes down those that are whole and fit.
    fn of(values: &[f64], integers: &mut [u32]) -> Self {
        /// Beyond it, sums have no fractions left; any processor adds several numbers at a time, and few round them so. The last bits of
        /// a sum are those of the integer.
        const NO_FRACTIONS: f64 = 4_503_599_627_370_496.0;
        /// As many numbers as processors look at together.
        const LANES: usize = 8;
        let (mut least, mut greatest) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
        let (mut infinite, mut broken) = ([0_u64; LANES], [0_u64; LANES]);
        let mut look = |lane: usize, value: f64| {
            let is_finite = value.abs() < f64::INFINITY;
            let sum = value + NO_FRACTIONS;
            infinite[lane] |= u64::from(!is_finite);
            broken[lane] |= u64::from(is_finite & (sum - NO_FRACTIONS != value));
            let (low, high) = if is_finite { (value, value) } else { (f64::INFINITY, f64::NEG_INFINITY) };
            least[lane] = if low < least[lane] { low } else { least[lane] };
            greatest[lane] = if high > greatest[lane] { high } else { greatest[lane] };
            sum.to_bits() as u32
        };
        let ((groups, rest), (to, to_rest)) = (values.as_chunks::<LANES>(), integers.as_chunks_mut::<LANES>());
        for (group, to) in groups.iter().zip(to) {
            (0..LANES).for_each(|lane| to[lane] = look(lane, group[lane]));
        }
        for (&value, to) in rest.iter().zip(to_rest) {
            *to = look(0, value);
        }
        Seen {
            least: least.into_iter().fold(f64::INFINITY, f64::min),
            greatest: greatest.into_iter().fold(f64::NEG_INFINITY, f64::max),
            finite: infinite == [0; LANES],
            whole: broken == [0; LANES],
        }
    }

    fn and(self, other: Self) -> Self {
        Seen {
            least: self.least.min(other.least),
            greatest: self.greatest.max(other.greatest),
            finite: self.finite && other.finite,
            whole: self.whole && other.whole,
        }
    }
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
