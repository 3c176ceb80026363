//! The names and weights in the arrays of a batch.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::damaged;
use crate::Result;
use crate::formats::edge_list::integer_name;
use crate::formats::text::{Malformed, Parsed, Piece};
use crate::formats::weight_column::WeightColumn;

/// Evaluates an expression with `$values` bound to the array of integers, whatever their width; `$otherwise` for an array
/// of another type.
macro_rules! with_integers {
    ($array:expr, $values:ident => $body:expr, $otherwise:expr) => {
        match $array.data_type() {
            DataType::Int8 => with_integers!(@ $array, Int8Type, $values => $body),
            DataType::Int16 => with_integers!(@ $array, Int16Type, $values => $body),
            DataType::Int32 => with_integers!(@ $array, Int32Type, $values => $body),
            DataType::Int64 => with_integers!(@ $array, Int64Type, $values => $body),
            DataType::UInt8 => with_integers!(@ $array, UInt8Type, $values => $body),
            DataType::UInt16 => with_integers!(@ $array, UInt16Type, $values => $body),
            DataType::UInt32 => with_integers!(@ $array, UInt32Type, $values => $body),
            DataType::UInt64 => with_integers!(@ $array, UInt64Type, $values => $body),
            _ => $otherwise,
        }
    };
    (@ $array:expr, $type:ty, $values:ident => $body:expr) => {{
        let $values = $array.as_primitive::<$type>().values();
        $body
    }};
}

/// Whether values of this type name vertices.
pub(super) fn names_vertices(kind: &DataType) -> bool {
    kind.is_integer() || is_text(kind) || matches!(kind, DataType::Dictionary(_, of) if of.is_integer())
}

/// Whether values of this type are text.
pub(super) fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, of) => is_text(of),
        _ => false,
    }
}

/// Whether values of this type are weights.
pub(super) fn is_weight(kind: &DataType) -> bool {
    let is_number = |kind: &DataType| {
        let is_float = matches!(kind, DataType::Float16 | DataType::Float32 | DataType::Float64);
        kind.is_integer() || is_float || matches!(kind, DataType::Decimal128(..))
    };
    is_number(kind) || matches!(kind, DataType::Dictionary(_, of) if is_number(of))
}

/// What values of a type are, for people.
pub(super) fn shown_type(kind: &DataType) -> Cow<'static, str> {
    match kind {
        DataType::Boolean => "booleans".into(),
        DataType::Null => "nothing but nulls".into(),
        kind if is_text(kind) => "text".into(),
        kind if kind.is_integer() => "integers".into(),
        kind if kind.is_floating() => "floats".into(),
        kind => format!("values of the type {kind}").into(),
    }
}

/// The same values without a dictionary.
pub(super) fn plain(array: &ArrayRef) -> Result<ArrayRef> {
    match array.as_any_dictionary_opt() {
        None => Ok(array.clone()),
        Some(dictionary) => arrow_select::take::take(dictionary.values(), dictionary.keys(), None).map_err(damaged),
    }
}

/// The text in a row; `None` if the array holds something else.
pub(super) fn text_at(array: &ArrayRef, row: usize) -> Option<&str> {
    match array.data_type() {
        DataType::Utf8 => Some(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => Some(array.as_string::<i64>().value(row)),
        DataType::Utf8View => Some(array.as_string_view().value(row)),
        _ => None,
    }
}

/// All names as integers; `None` if one is none. The array has no nulls and no dictionary.
pub(super) fn integer_names(array: &ArrayRef) -> Option<Vec<u64>> {
    // The greatest number is no name in a text, either.
    let name = |value: Option<u64>| value.filter(|&value| value != u64::MAX);
    with_integers!(
        array,
        values => values.iter().map(|&value| name(u64::try_from(i128::from(value)).ok())).collect(),
        (0..array.len()).map(|row| integer_name(text_at(array, row)?.as_bytes())).collect()
    )
}

/// The name in a row.
pub(super) fn name_at(array: &ArrayRef, row: usize) -> Cow<'_, str> {
    with_integers!(
        array,
        values => values[row].to_string().into(),
        text_at(array, row).unwrap_or_default().into()
    )
}

/// What is wrong with a name; `None` if it can be a vertex's.
pub(super) fn fault_of_name(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("the name of a vertex is missing");
    }
    name.chars().any(char::is_control).then_some("the name of a vertex contains control characters")
}

/// Adds the weights of an array, which has no nulls. An error has the row, counted from 0.
pub(super) fn push_weights(
    array: &ArrayRef,
    first_row: u64,
    weights: &mut WeightColumn,
) -> std::result::Result<(), (usize, String)> {
    weights.reserve(array.len());
    let push_text = |row: usize, weights: &mut WeightColumn, text: String| {
        let piece = Piece { bytes: text.as_bytes(), offset: first_row + row as u64 };
        let pushed: Parsed<'_, ()> = weights.push(piece.bytes, piece);
        pushed.map_err(|Malformed { message, .. }| (row, format!("{message}: `{text}`")))
    };
    let push_float = |row: usize, weights: &mut WeightColumn, value: f64| match value.is_finite() {
        true => {
            weights.push_decimal(value);
            Ok(())
        }
        false => Err((row, format!("a weight has to be a finite number: `{value}`"))),
    };
    match array.data_type() {
        DataType::Float16 => (array.as_primitive::<Float16Type>().values().iter().enumerate())
            .try_for_each(|(row, value)| push_float(row, weights, value.to_f64())),
        DataType::Float32 => (array.as_primitive::<Float32Type>().values().iter().enumerate())
            .try_for_each(|(row, &value)| push_float(row, weights, value.into())),
        DataType::Float64 => (array.as_primitive::<Float64Type>().values().iter().enumerate())
            .try_for_each(|(row, &value)| push_float(row, weights, value)),
        DataType::Decimal128(..) => {
            let values = array.as_primitive::<Decimal128Type>();
            (0..values.len()).try_for_each(|row| push_text(row, weights, values.value_as_string(row)))
        }
        _ => with_integers!(
            array,
            values => values.iter().enumerate().try_for_each(|(row, &value)| match u32::try_from(i128::from(value)) {
                Ok(value) => {
                    weights.push_unsigned(value);
                    Ok(())
                }
                Err(_) => push_text(row, weights, value.to_string()),
            }),
            Err((0, "a weight has to be a number".to_owned()))
        ),
    }
}
