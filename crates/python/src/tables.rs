//! Edges of tables. One batch of rows after another becomes numbers of vertices and weights, so that a table that is made on the way, such
//! as the answer to a query, is never there as a whole.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::downcast_integer_array;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_schema::DataType;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyList;
use warpath::VertexId;
use warpath::graph::StringLabels;

use crate::arrays::weights_too_wide;
use crate::arrow_stream::{Batch, Column, Field, Stream};
use crate::errors::exception;

/// Tails, heads, weights and the names of vertices.
type Edges<'py> = (Vertices<'py>, Vertices<'py>, Option<Bound<'py, PyAny>>, Option<Bound<'py, PyList>>);
type Vertices<'py> = Bound<'py, PyArray1<VertexId>>;

/// For `warpath._inputs`, of a table with Arrow's PyCapsule interface: tails, heads, weights if there are any, and the names of the
/// vertices in their order if one of the ends is text. `choose` is called with the names of all columns, and returns the places of those
/// of tails, heads and weights.
#[pyfunction]
pub(crate) fn _edges_of_stream<'py>(table: &Bound<'py, PyAny>, choose: &Bound<'py, PyAny>) -> PyResult<Edges<'py>> {
    let py = table.py();
    let mut stream = Stream::of(table)?;
    let schema = stream.schema()?;
    let names = schema.names();
    let (tails, heads, weights): (usize, usize, Option<usize>) = choose.call1((names,))?.extract()?;
    let ends = [schema.field(tails)?, schema.field(heads)?];
    let mut read = Read {
        names: ends.iter().any(|field| is_text(field.kind())).then(StringLabels::new),
        ends: ends.map(|field| (field, Vec::new())),
        weights: None,
    };
    if let Some(place) = weights {
        let field = schema.field(place)?;
        let values = WeightValues::of(field.kind());
        read.weights = Some((field, values));
    }
    // The package may need the interpreter to make the next batch, on another thread.
    while py.detach(|| stream.next()?.map(|batch| read.add(&batch)).transpose())?.is_some() {
        py.check_signals()?;
    }
    let Read { ends: [(_, mut tails), (_, mut heads)], names, weights } = read;
    let labels = match names {
        Some(names) => {
            let order = py.detach(|| put_in_order(&names, [&mut tails, &mut heads]));
            Some(PyList::new(py, order.into_iter().map(|v| names.get(v)))?)
        }
        None => None,
    };
    let weights = weights.map(|(_, weights)| weights.into_array(py)).transpose()?;
    Ok((tails.into_pyarray(py), heads.into_pyarray(py), weights, labels))
}

fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Numbers the vertices anew, in the order of their names, and returns the old numbers in this order.
fn put_in_order(names: &StringLabels, ends: [&mut Vec<VertexId>; 2]) -> Vec<VertexId> {
    let mut order: Vec<VertexId> = (0..names.len() as VertexId).collect();
    order.sort_unstable_by_key(|&v| names.get(v));
    let mut new = vec![0; order.len()];
    for (place, &old) in order.iter().enumerate() {
        new[old as usize] = place as VertexId;
    }
    ends.into_iter().flatten().for_each(|v| *v = new[*v as usize]);
    order
}

/// What was read so far, and of which columns.
struct Read {
    ends: [(Field, Vec<VertexId>); 2],
    /// Of the vertices in the order of their first appearance, if they have names.
    names: Option<StringLabels>,
    weights: Option<(Field, WeightValues)>,
}

impl Read {
    fn add(&mut self, batch: &Batch) -> PyResult<()> {
        for (field, ends) in &mut self.ends {
            let Some(column) = batch.column(field)? else { continue };
            match &mut self.names {
                Some(names) => add_names(&column, field, names, ends)?,
                None => add_vertices(&column, field, ends)?,
            }
        }
        if let Some((field, weights)) = &mut self.weights
            && let Some(column) = batch.column(field)?
        {
            weights.add(&column, field)?;
        }
        Ok(())
    }
}

/// What the ends of edges have to be.
const VERTICES: &str = "vertices are integers or text";

fn add_vertices(column: &Column<'_>, field: &Field, to: &mut Vec<VertexId>) -> PyResult<()> {
    let values = column.values();
    downcast_integer_array!(
        values => column.add(to, |place| {
            let value = i128::from(values.value(place));
            let vertex = VertexId::try_from(value).ok().filter(|&v| v < VertexId::MAX);
            vertex.ok_or_else(|| field.out_of_range(value))
        }),
        _ => Err(field.other_type(VERTICES))
    )
}

fn add_names(column: &Column<'_>, field: &Field, names: &mut StringLabels, to: &mut Vec<VertexId>) -> PyResult<()> {
    let mut number = |name: &str| names.intern(name).map_err(exception);
    let values = column.values();
    downcast_integer_array!(
        values => column.add(to, |place| number(&values.value(place).to_string())),
        DataType::Utf8 => {
            let texts = values.as_string::<i32>();
            column.add(to, |place| number(texts.value(place)))
        }
        DataType::LargeUtf8 => {
            let texts = values.as_string::<i64>();
            column.add(to, |place| number(texts.value(place)))
        }
        DataType::Utf8View => {
            let texts = values.as_string_view();
            column.add(to, |place| number(texts.value(place)))
        }
        _ => Err(field.other_type(VERTICES))
    )
}

/// Weights, of the type that an array of NumPy will have.
enum WeightValues {
    Booleans(Vec<bool>),
    /// The lowest 32 bits of each; the others follow from what is known of all.
    Integers {
        bits: Vec<u32>,
        any_below_0: bool,
        any_unsigned: bool,
    },
    Singles(Vec<f32>),
    Doubles(Vec<f64>),
}

impl WeightValues {
    /// None yet, for a column of this type.
    fn of(kind: &DataType) -> Self {
        match kind {
            DataType::Boolean => WeightValues::Booleans(Vec::new()),
            DataType::Float16 | DataType::Float32 => WeightValues::Singles(Vec::new()),
            DataType::Float64 => WeightValues::Doubles(Vec::new()),
            // A column of any other type will be refused, unless it is empty.
            _ => WeightValues::Integers { bits: Vec::new(), any_below_0: false, any_unsigned: false },
        }
    }

    fn add(&mut self, column: &Column<'_>, field: &Field) -> PyResult<()> {
        let values = column.values();
        match self {
            WeightValues::Booleans(to) => {
                let values = values.as_boolean();
                column.add(to, |place| Ok(values.value(place)))
            }
            WeightValues::Singles(to) => match values.as_primitive_opt::<Float32Type>() {
                Some(values) => column.add(to, |place| Ok(values.value(place))),
                None => {
                    let values = values.as_primitive::<Float16Type>();
                    column.add(to, |place| Ok(values.value(place).to_f32()))
                }
            },
            WeightValues::Doubles(to) => {
                let values = values.as_primitive::<Float64Type>();
                column.add(to, |place| Ok(values.value(place)))
            }
            WeightValues::Integers { bits, any_below_0, any_unsigned } => downcast_integer_array!(
                values => column.add(bits, |place| {
                    let value = i128::from(values.value(place));
                    let (unsigned, signed) = (u32::try_from(value).ok(), i32::try_from(value).ok());
                    *any_below_0 |= unsigned.is_none();
                    *any_unsigned |= signed.is_none();
                    unsigned.or(signed.map(|value| value as u32)).ok_or_else(weights_too_wide)
                }),
                _ => Err(field.other_type("weights are numbers"))
            ),
        }
    }

    fn into_array(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Ok(match self {
            WeightValues::Booleans(values) => values.into_pyarray(py).into_any(),
            WeightValues::Singles(values) => values.into_pyarray(py).into_any(),
            WeightValues::Doubles(values) => values.into_pyarray(py).into_any(),
            WeightValues::Integers { any_below_0: true, any_unsigned: true, .. } => return Err(weights_too_wide()),
            WeightValues::Integers { bits, any_below_0: true, .. } => {
                bytemuck::cast_vec::<u32, i32>(bits).into_pyarray(py).into_any()
            }
            WeightValues::Integers { bits, .. } => bits.into_pyarray(py).into_any(),
        })
    }
}
