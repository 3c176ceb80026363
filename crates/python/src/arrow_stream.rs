//! Batches of rows from packages that have Arrow's PyCapsule interface.
//!
//! Only those columns are taken from a batch that are asked for: the others may be of types that Warpath does not know, and some packages
//! hand out columns of nulls that Arrow does not allow.
//!
//! Source: <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>.
//!
//! *Invariants.* The array of a column refers to memory of its batch. The column borrows the batch, and hands out no array of its own.

use std::ffi::{CStr, c_int};
use std::marker::PhantomData;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, ArrayRef, make_array};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

fn broken(why: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("the stream of the table can't be read: {why}"))
}

/// A stream of batches.
pub(crate) struct Stream(FFI_ArrowArrayStream);

impl Stream {
    /// The stream of a table.
    pub(crate) fn of(table: &Bound<'_, PyAny>) -> PyResult<Self> {
        let capsule = table.call_method0("__arrow_c_stream__")?;
        let pointer = capsule.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_array_stream"))?;
        // SAFETY: by the definition of its name, the capsule points to a stream of Arrow's C interface, which is moved out of it.
        let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.cast().as_ptr()) };
        match stream.release() {
            Some(_) => Ok(Stream(stream)),
            None => Err(broken("it was read before")),
        }
    }

    /// The names and types of the columns.
    pub(crate) fn schema(&mut self) -> PyResult<Schema> {
        let mut schema = FFI_ArrowSchema::empty();
        let get = self.0.get_schema().ok_or_else(|| broken("it has no schema"))?;
        // SAFETY: the function is that of this stream, which was not released.
        let status = unsafe { get(&raw mut self.0, &raw mut schema) };
        self.check(status)?;
        match schema.format() {
            "+s" => Ok(Schema(schema)),
            _ => Err(broken("it is one of values, and not of rows")),
        }
    }

    /// The next batch, if there is one.
    pub(crate) fn next(&mut self) -> PyResult<Option<Batch>> {
        let mut rows = FFI_ArrowArray::empty();
        let get = self.0.get_next().ok_or_else(|| broken("it has no batches"))?;
        // SAFETY: as for the schema.
        let status = unsafe { get(&raw mut self.0, &raw mut rows) };
        self.check(status)?;
        if rows.is_released() {
            return Ok(None);
        }
        let any_missing = rows.num_buffers() > 0 && !rows.buffer(0).is_null() && rows.null_count_opt() != Some(0);
        if any_missing { Err(broken("rows are missing")) } else { Ok(Some(Batch(rows))) }
    }

    /// The stream's own error, if its last call has failed.
    fn check(&mut self, status: c_int) -> PyResult<()> {
        if status == 0 {
            return Ok(());
        }
        let text = self.0.get_last_error().map(|get| {
            // SAFETY: the function is that of this stream, which was not released, and whose last call has failed.
            unsafe { get(&raw mut self.0) }
        });
        match text.filter(|text| !text.is_null()) {
            // SAFETY: the text ends by a zero, and stays until the next call.
            Some(text) => Err(broken(unsafe { CStr::from_ptr(text) }.to_string_lossy())),
            None => Err(broken(format_args!("error {status}"))),
        }
    }
}

/// The names and types of the columns of a stream.
pub(crate) struct Schema(FFI_ArrowSchema);

impl Schema {
    /// The names of all columns.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.0.children().map(|field| field.name().unwrap_or_default()).collect()
    }

    /// The name and type of a column.
    pub(crate) fn field(&self, place: usize) -> PyResult<Field> {
        let field = self.0.child(place);
        let kind = DataType::try_from(field).map_err(broken)?;
        Ok(Field { place, name: field.name().unwrap_or_default().to_owned(), kind })
    }
}

/// A column of all batches.
pub(crate) struct Field {
    place: usize,
    name: String,
    kind: DataType,
}

impl Field {
    /// The type of the values, which may be in a dictionary.
    pub(crate) fn kind(&self) -> &DataType {
        match &self.kind {
            DataType::Dictionary(_, of) => of,
            kind => kind,
        }
    }

    /// The error for a column of another type than the one that is wanted.
    pub(crate) fn other_type(&self, wanted: &str) -> PyErr {
        PyTypeError::new_err(format!("column '{}': {wanted}, not {}", self.name, self.kind()))
    }

    /// The error for an integer.
    pub(crate) fn out_of_range(&self, value: i128) -> PyErr {
        PyValueError::new_err(format!("column '{}': {value} is out of range", self.name))
    }

    fn has_missing_values(&self) -> PyErr {
        PyValueError::new_err(format!("column '{}' has missing values", self.name))
    }
}

/// A batch of rows.
pub(crate) struct Batch(FFI_ArrowArray);

impl Batch {
    /// The rows of a column, none of which is missing; `None` if there are no rows, whose type may be any.
    pub(crate) fn column(&self, field: &Field) -> PyResult<Option<Column<'_>>> {
        if self.0.is_empty() {
            return Ok(None);
        }
        if field.kind == DataType::Null {
            return Err(field.has_missing_values());
        }
        if field.place >= self.0.num_children() {
            return Err(broken("a batch has fewer columns than its schema"));
        }
        let array = self.array(field).map_err(broken)?;
        if array.logical_null_count() > 0 {
            return Err(field.has_missing_values());
        }
        let keys = array.as_any_dictionary_opt().map(|dictionary| dictionary.normalized_keys());
        Ok(Some(Column { array, keys, batch: PhantomData }))
    }

    /// The array of a column, which may be used while the batch is there.
    fn array(&self, field: &Field) -> Result<ArrayRef, ArrowError> {
        // SAFETY: it is a second owner of the column, which is no owner any more after the next line.
        let mut column = unsafe { std::ptr::read(self.0.child(field.place)) };
        // SAFETY: nothing has to be freed for this one: the batch does it.
        unsafe { column.set_release(None) };
        // SAFETY: a stream's batches have the types of its schema.
        let values = unsafe { from_ffi_and_data_type(column, field.kind.clone()) }?;
        Ok(make_array(values).slice(self.0.offset(), self.0.len()))
    }
}

/// The rows of a column in a batch.
pub(crate) struct Column<'b> {
    array: ArrayRef,
    /// Where the values of the rows are, if they are in a dictionary.
    keys: Option<Vec<usize>>,
    batch: PhantomData<&'b Batch>,
}

impl Column<'_> {
    /// The values, of which each row has one. They must not be kept.
    pub(crate) fn values(&self) -> &ArrayRef {
        self.array.as_any_dictionary_opt().map_or(&self.array, |dictionary| dictionary.values())
    }

    /// Adds the rows, whose values are looked up by their places among all values.
    pub(crate) fn add<T>(&self, to: &mut Vec<T>, mut value_at: impl FnMut(usize) -> PyResult<T>) -> PyResult<()> {
        to.reserve(self.array.len());
        for row in 0..self.array.len() {
            to.push(value_at(self.keys.as_ref().map_or(row, |keys| keys[row]))?);
        }
        Ok(())
    }
}
