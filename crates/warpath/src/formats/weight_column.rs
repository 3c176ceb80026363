//! Weights parsed from text, before their type is known.
//!
//! Weights become `u32`, `i32` if any is negative, `f64` if any is a decimal or an integer beyond 32 bits. Only the end
//! of the text settles that. So each chunk collects its weights in the narrowest type that holds them, and [`settle`]
//! widens all chunks to the widest type found. The text is not needed after that.

use super::ReadOptions;
use super::text::{Fault, Held, Malformed, Parsed, Piece, finite};

use crate::graph::{EdgeList, Graph, GraphBuilder, Unit, VertexId, Weight, WeightKind, Weights};
use crate::memory::allocation::bytes_of;
use crate::{Error, Result, parallel};

/// Which decimals a text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decimals {
    /// 1.5
    Point,
    /// 1,5
    Comma,
    /// All of one of these kinds.
    OneOfBoth,
}

/// The weights of a chunk of edges.
#[derive(Debug, Clone)]
pub(super) struct WeightColumn {
    values: Values,
    decimals: Decimals,
    /// Whether some integer is out of the range of `i32`, if others are negative; and of both types.
    above_i32: bool,
    above_u32: bool,
    /// The first integer that `f64` may round.
    inexact: Option<Box<Fault>>,
    /// The first weights with a decimal comma and with a point, where a text may have one of both.
    comma: Option<Box<Fault>>,
    point: Option<Box<Fault>>,
    negative: bool,
    decimal: bool,
}

/// Up to here, `f64` holds every integer.
const EXACT: i128 = 1 << f64::MANTISSA_DIGITS;

#[derive(Debug, Clone)]
enum Values {
    U32(Vec<u32>),
    I32(Vec<i32>),
    F64(Vec<f64>),
}

impl WeightColumn {
    /// No weights yet; decimals have points.
    pub(super) fn new() -> Self {
        Self::with(Decimals::Point)
    }

    /// No weights yet.
    pub(super) fn with(decimals: Decimals) -> Self {
        WeightColumn {
            values: Values::U32(Vec::new()),
            decimals,
            above_i32: false,
            above_u32: false,
            inexact: None,
            comma: None,
            point: None,
            negative: false,
            decimal: false,
        }
    }

    /// Makes room for more weights.
    pub(super) fn reserve(&mut self, more: usize) {
        match &mut self.values {
            Values::U32(values) => values.reserve(more),
            Values::I32(values) => values.reserve(more),
            Values::F64(values) => values.reserve(more),
        }
    }

    /// Adds an unsigned integer that fits.
    #[inline]
    pub(super) fn push_unsigned(&mut self, value: u32) {
        self.above_i32 |= value > i32::MAX as u32;
        match &mut self.values {
            Values::U32(values) => values.push(value),
            Values::I32(values) if value <= i32::MAX as u32 => values.push(value as i32),
            _ => self.as_f64().push(value.into()),
        }
    }

    /// Adds a finite number that is a decimal by its type, whatever its value.
    #[cfg(feature = "parquet")]
    #[inline]
    pub(super) fn push_decimal(&mut self, value: f64) {
        self.decimal = true;
        self.as_f64().push(value);
    }

    /// Adds the number in `token`, a part of `piece`.
    ///
    /// # Errors
    ///
    /// If it is no number, or not finite.
    pub(super) fn push<'p>(&mut self, token: &'p [u8], piece: Piece<'p>) -> Parsed<'p, ()> {
        let digits = token.strip_prefix(b"-").or(token.strip_prefix(b"+")).unwrap_or(token);
        if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) {
            return self.push_integer(token, digits, piece);
        }
        let value = match token.iter().find(|byte| b".,".contains(byte)) {
            Some(b',') => self.after_comma(token, piece)?,
            Some(_) if self.decimals == Decimals::Comma => {
                return Err(Malformed::new(token, "a weight has a decimal point where commas were asked for"));
            }
            mark => {
                if mark.is_some() && self.decimals == Decimals::OneOfBoth {
                    self.point.get_or_insert_with(|| fault_of(token, piece));
                }
                finite(token)
            }
        };
        let Some(value) = value else {
            return Err(Malformed::new(token, "a weight has to be a finite number"));
        };
        self.decimal = true;
        self.as_f64().push(value);
        Ok(())
    }

    /// The number with a decimal comma, if commas are decimal here.
    #[cold]
    fn after_comma<'p>(&mut self, token: &'p [u8], piece: Piece<'p>) -> Parsed<'p, Option<f64>> {
        let with_point: Vec<u8> = token.iter().map(|&byte| if byte == b',' { b'.' } else { byte }).collect();
        let value = finite(&with_point).filter(|_| !token.contains(&b'.'));
        match self.decimals {
            Decimals::Point if value.is_some() => {
                let message = "a weight has to be a finite number; `--decimal comma` (`ReadOptions::decimal`) takes the \
                               comma for a decimal one";
                return Err(Malformed::new(token, message));
            }
            Decimals::Point => return Ok(None),
            Decimals::Comma => {}
            Decimals::OneOfBoth => drop(self.comma.get_or_insert_with(|| fault_of(token, piece))),
        }
        Ok(value)
    }

    fn push_integer<'p>(&mut self, token: &'p [u8], digits: &[u8], piece: Piece<'p>) -> Parsed<'p, ()> {
        // Saturates: more than 38 digits are out of range of every integer type here.
        let magnitude =
            digits.iter().fold(0_i128, |sum, &digit| sum.saturating_mul(10).saturating_add(i128::from(digit - b'0')));
        let value = if token[0] == b'-' { -magnitude } else { magnitude };
        self.negative |= value < 0;
        if let Ok(value) = u32::try_from(value) {
            self.push_unsigned(value);
        } else if let Ok(value) = i32::try_from(value) {
            if let Values::U32(values) = &self.values
                && !self.above_i32
            {
                self.values = Values::I32(values.iter().map(|&w| w as i32).collect());
            }
            match &mut self.values {
                Values::I32(values) => values.push(value),
                _ => self.as_f64().push(value.into()),
            }
        } else {
            self.above_u32 = true;
            if value.abs() > EXACT {
                self.inexact.get_or_insert_with(|| fault_of(token, piece));
            }
            let Some(value) = finite(token) else {
                return Err(Malformed::new(token, "a weight has to be a finite number"));
            };
            self.as_f64().push(value);
        }
        Ok(())
    }

    /// The values as `f64`, which holds the other types exactly.
    fn as_f64(&mut self) -> &mut Vec<f64> {
        if !matches!(self.values, Values::F64(_)) {
            self.values = Values::F64(std::mem::replace(&mut self.values, Values::U32(Vec::new())).into_f64());
        }
        match &mut self.values {
            Values::F64(values) => values,
            _ => unreachable!("converted above"),
        }
    }
}

impl Values {
    fn into_f64(self) -> Vec<f64> {
        match self {
            Values::U32(values) => values.into_iter().map(f64::from).collect(),
            Values::I32(values) => values.into_iter().map(f64::from).collect(),
            Values::F64(values) => values,
        }
    }

    /// The values as `i32`, which holds them all.
    fn into_i32(self) -> Vec<i32> {
        match self {
            Values::U32(values) => values.into_iter().map(|w| w as i32).collect(),
            Values::I32(values) => values,
            Values::F64(values) => values.into_iter().map(|w| w as i32).collect(),
        }
    }

    /// The values as `u32`, which holds them all.
    fn into_u32(self) -> Vec<u32> {
        match self {
            Values::U32(values) => values,
            Values::I32(values) => values.into_iter().map(|w| w as u32).collect(),
            Values::F64(values) => values.into_iter().map(|w| w as u32).collect(),
        }
    }
}

impl Held for WeightColumn {
    fn held_bytes(&self) -> u64 {
        match &self.values {
            Values::U32(values) => bytes_of::<u32>(values.capacity()),
            Values::I32(values) => bytes_of::<i32>(values.capacity()),
            Values::F64(values) => bytes_of::<f64>(values.capacity()),
        }
    }
}

impl<W: Weight> Held for EdgeList<W> {
    fn held_bytes(&self) -> u64 {
        // Values without bytes have endless capacity, and take no memory.
        bytes_of::<(VertexId, VertexId)>(self.edges.capacity()) + bytes_of::<W>(self.weights.len())
    }
}

impl Held for WeightedChunk {
    fn held_bytes(&self) -> u64 {
        bytes_of::<(VertexId, VertexId)>(self.edges.capacity()) + self.weights.as_ref().map_or(0, Held::held_bytes)
    }
}

/// A chunk of edges, and their weights in the same order.
#[derive(Debug)]
pub(super) struct WeightedChunk {
    /// Tails and heads.
    pub(super) edges: Vec<(VertexId, VertexId)>,
    /// One weight for each edge; `None` in every chunk for a graph without weights.
    pub(super) weights: Option<WeightColumn>,
}

/// The place of a number that may turn out to be a fault; the message is filled in then.
#[cold]
fn fault_of(token: &[u8], piece: Piece<'_>) -> Box<Fault> {
    Box::new(piece.fault(&Malformed::new(token, "")))
}

/// Lists of edges whose weights have one type, independent of the text.
pub(super) enum WeightedLists {
    Unit(Vec<EdgeList<Unit>>),
    U32(Vec<EdgeList<u32>>),
    I32(Vec<EdgeList<i32>>),
    #[cfg(feature = "parquet")]
    F32(Vec<EdgeList<f32>>),
    F64(Vec<EdgeList<f64>>),
}

impl WeightedLists {
    /// The same lists with 32-bit floats in the place of 64-bit ones, all of which have to be 32-bit ones in truth.
    #[cfg(feature = "parquet")]
    pub(super) fn with_single_floats(self) -> Self {
        let narrowed = |list: EdgeList<f64>| EdgeList {
            edges: list.edges,
            weights: list.weights.into_iter().map(|weight| weight as f32).collect(),
        };
        match self {
            WeightedLists::F64(lists) => WeightedLists::F32(lists.into_iter().map(narrowed).collect()),
            other => other,
        }
    }

    /// The graph of these edges.
    ///
    /// # Errors
    ///
    /// As [`GraphBuilder::build`].
    pub(super) fn build(self, builder: GraphBuilder) -> Result<Graph> {
        match self {
            WeightedLists::Unit(lists) => builder.build(lists),
            WeightedLists::U32(lists) => builder.build(lists),
            WeightedLists::I32(lists) => builder.build(lists),
            #[cfg(feature = "parquet")]
            WeightedLists::F32(lists) => builder.build(lists),
            WeightedLists::F64(lists) => builder.build(lists),
        }
    }
}

/// What is among weights, as bits: those of several readers can be or-ed.
mod found {
    pub(super) const DECIMAL: u64 = 1;
    pub(super) const NEGATIVE: u64 = 1 << 1;
    /// Some integer is out of the range of `i32`, if others are negative,
    pub(super) const ABOVE_I32: u64 = 1 << 2;
    /// or of both types.
    pub(super) const ABOVE_U32: u64 = 1 << 3;
    /// Some integer may be rounded by `f64`.
    pub(super) const INEXACT: u64 = 1 << 4;
    pub(super) const COMMA: u64 = 1 << 5;
    pub(super) const POINT: u64 = 1 << 6;
    /// There is a weight.
    pub(super) const ANY: u64 = 1 << 7;
}

impl WeightColumn {
    /// What is among the weights, as bits.
    pub(super) fn found(&self) -> u64 {
        let bits = [
            (found::DECIMAL, self.decimal),
            (found::NEGATIVE, self.negative),
            (found::ABOVE_I32, self.above_i32),
            (found::ABOVE_U32, self.above_u32),
            (found::INEXACT, self.inexact.is_some()),
            (found::COMMA, self.comma.is_some()),
            (found::POINT, self.point.is_some()),
            (found::ANY, self.length() > 0),
        ];
        bits.into_iter().filter(|(_, is_found)| *is_found).map(|(bit, _)| bit).sum()
    }

    fn length(&self) -> usize {
        match &self.values {
            Values::U32(values) => values.len(),
            Values::I32(values) => values.len(),
            Values::F64(values) => values.len(),
        }
    }

    /// The weights as a type that holds all of them.
    pub(super) fn into_weights(self, kind: WeightKind) -> Weights {
        match kind {
            WeightKind::U32 => Weights::U32(self.values.into_u32()),
            WeightKind::I32 => Weights::I32(self.values.into_i32()),
            // No negative zero.
            _ => Weights::F64(self.values.into_f64().into_iter().map(|weight| weight + 0.0).collect()),
        }
    }
}

/// The edges of these chunks, with weights of a type that holds all of them. `locate` says where in the input a fault is.
/// Notes tell of what may surprise.
///
/// # Errors
///
/// As of [`kind_of`].
pub(super) fn settle(
    locate: impl Fn(Fault) -> Error,
    chunks: Vec<WeightedChunk>,
    options: &ReadOptions,
) -> Result<WeightedLists> {
    let columns = || chunks.iter().filter_map(|chunk| chunk.weights.as_ref());
    let found = columns().map(WeightColumn::found).fold(0, |all, some| all | some);
    let kind = kind_of(found, columns, locate, options)?;
    if columns().next().is_none() {
        let unit = |chunk: WeightedChunk| EdgeList { weights: vec![Unit; chunk.edges.len()], edges: chunk.edges };
        return Ok(WeightedLists::Unit(chunks.into_iter().map(unit).collect()));
    }
    Ok(match kind {
        WeightKind::U32 => WeightedLists::U32(widened(chunks, Values::into_u32)),
        WeightKind::I32 => WeightedLists::I32(widened(chunks, Values::into_i32)),
        _ => WeightedLists::F64(widened(chunks, Values::into_f64)),
    })
}

/// The type that holds all weights, among which `found` is: in these columns, or in those of other readers.
///
/// # Errors
///
/// If integers are so large that floats would round them, and no weight is a decimal; or if some decimals have a point
/// and some a comma. Whoever has no such weight among these columns sees no error.
pub(super) fn kind_of<'c, C: Iterator<Item = &'c WeightColumn>>(
    found: u64,
    columns: impl Fn() -> C,
    locate: impl Fn(Fault) -> Error,
    options: &ReadOptions,
) -> Result<WeightKind> {
    let has = |bit: u64| found & bit != 0;
    let refused =
        |fault: &Fault, message: &str| Err(locate(Fault { message: message.to_owned(), ..Fault::clone(fault) }));
    let comma = columns().find_map(|column| column.comma.as_deref());
    if has(found::COMMA) && has(found::POINT) {
        let point = columns().find_map(|column| column.point.as_deref());
        let message = "some weights have a decimal point and some a comma; `--decimal point` or `--decimal comma` \
                       (`ReadOptions::decimal`) tells what to expect";
        if let Some(later) = [comma, point].into_iter().flatten().max_by_key(|fault| fault.at) {
            return refused(later, message);
        }
    }
    if let Some(comma) = comma {
        let shown = String::from_utf8_lossy(&comma.part);
        options
            .notes
            .add(format!("weights such as `{shown}` are read with a decimal comma; `--decimal point` refuses them"));
    }
    let (decimal, negative) = (has(found::DECIMAL), has(found::NEGATIVE));
    if decimal {
        return Ok(WeightKind::F64);
    }
    if has(found::ABOVE_U32) || (negative && has(found::ABOVE_I32)) {
        if let Some(fault) = columns().find_map(|column| column.inexact.as_deref()) {
            let message = "a weight is beyond 2^53, where 64-bit floats, which hold weights of more than 32 bits, begin \
                           to skip integers; as a decimal, such as 1e16, it would be rounded";
            return refused(fault, message);
        }
        let range = if negative { "32-bit signed integers" } else { "32-bit unsigned integers" };
        options.notes.add(format!(
            "a weight exceeds the range of {range}, so all are read as 64-bit floats, which hold integers up to 2^53 \
             exactly"
        ));
        return Ok(WeightKind::F64);
    }
    Ok(if negative { WeightKind::I32 } else { WeightKind::U32 })
}

fn widened<W: Weight>(chunks: Vec<WeightedChunk>, widen: fn(Values) -> Vec<W>) -> Vec<EdgeList<W>> {
    parallel::collect_taken(chunks, |chunk| EdgeList {
        edges: chunk.edges,
        weights: chunk.weights.map_or(Vec::new(), |column| widen(column.values)),
    })
}

#[cfg(test)]
mod tests {
    use super::super::text::Text;
    use super::*;

    fn kind_of(chunks: &[&str]) -> Result<(WeightKind, Vec<f64>)> {
        let whole = chunks.concat();
        let text = Text::of(whole.as_bytes());
        let mut rest = whole.as_bytes();
        let mut parsed = Vec::new();
        let mut v = 0;
        for chunk in chunks {
            let (here, after) = rest.split_at(chunk.len());
            let piece = Piece { bytes: here, offset: (whole.len() - rest.len()) as u64 };
            let mut weights = WeightColumn::new();
            let mut edges = Vec::new();
            for token in here.split(|&byte| byte == b' ').filter(|token| !token.is_empty()) {
                weights.push(token, piece).map_err(|malformed| text.locate(piece.fault(&malformed)))?;
                edges.push((0, v));
                v += 1;
            }
            parsed.push(WeightedChunk { edges, weights: Some(weights) });
            rest = after;
        }
        let graph = settle(|fault| text.locate(fault), parsed, &ReadOptions::new())?.build(GraphBuilder::new())?;
        Ok((graph.weight_kind(), graph.edges().map(|edge| edge.2).collect()))
    }

    #[test]
    fn the_type_is_the_narrowest_for_all_chunks() {
        assert_eq!(kind_of(&["1 2 ", "4294967295"]).unwrap(), (WeightKind::U32, vec![1.0, 2.0, 4294967295.0]));
        assert_eq!(kind_of(&["1 +2 ", "3 -4 5"]).unwrap(), (WeightKind::I32, vec![1.0, 2.0, 3.0, -4.0, 5.0]));
        assert_eq!(kind_of(&["1 99999999999 ", "0.5"]).unwrap(), (WeightKind::F64, vec![1.0, 99999999999.0, 0.5]));
        assert_eq!(kind_of(&["1 -0 ", "1e3 -2"]).unwrap(), (WeightKind::F64, vec![1.0, 0.0, 1000.0, -2.0]));
        assert_eq!(kind_of(&["-2147483648 7"]).unwrap(), (WeightKind::I32, vec![-2147483648.0, 7.0]));
    }

    #[test]
    fn integers_beyond_32_bits_are_floats_as_long_as_these_are_exact() {
        for (chunks, last) in [
            (&["1 4294967296 ", "9999999999"][..], 9999999999.0),
            (&["1 2147483648 ", "-1"][..], -1.0),
            (&["-1 2147483648 5", ""][..], 5.0),
            (&["1 ", "-2147483649"][..], -2147483649.0),
            (&["9007199254740992 ", "-9007199254740992"][..], -9007199254740992.0),
            (&["9007199254740993 ", "0.5"][..], 0.5),
        ] {
            let (kind, weights) = kind_of(chunks).unwrap();
            assert_eq!((kind, weights.last()), (WeightKind::F64, Some(&last)), "{chunks:?}");
        }
        for (chunks, column) in [
            (&["1 9007199254740993 ", "9999999999999999999999"][..], 3),
            (&["1 ", "-9007199254740993"][..], 3),
            (&["5 ", "18446744073709551616"][..], 3),
        ] {
            match kind_of(chunks) {
                Err(crate::Error::Input(error)) => assert_eq!(error.column, Some(column), "{chunks:?}"),
                other => panic!("{chunks:?}: {other:?}"),
            }
        }
        for token in ["nan", "inf", "-inf", "1e999", "x", "", "1x", "--1"] {
            let piece = Piece { bytes: token.as_bytes(), offset: 0 };
            assert!(WeightColumn::new().push(piece.bytes, piece).is_err(), "{token}");
        }
    }

    #[test]
    fn decimals_have_the_mark_that_is_expected() {
        let push = |token: &'static str, decimals| {
            let piece = Piece { bytes: token.as_bytes(), offset: 0 };
            let mut column = WeightColumn::with(decimals);
            column.push(piece.bytes, piece).map_err(|malformed| malformed.message)?;
            Ok::<f64, String>(column.as_f64()[0])
        };
        for decimals in [Decimals::Comma, Decimals::OneOfBoth] {
            for (token, value) in
                [("1,5", 1.5), ("-0,25", -0.25), ("1,5e3", 1500.0), (",5", 0.5), ("7", 7.0), ("1e3", 1e3)]
            {
                assert_eq!(push(token, decimals), Ok(value), "{token}");
            }
            for token in ["1,5,0", "1.000,5", "1,000.5", ",", "1,x"] {
                assert!(push(token, decimals).is_err(), "{token}");
            }
        }
        assert_eq!(push("1.5", Decimals::OneOfBoth), Ok(1.5));
        assert!(push("1.5", Decimals::Comma).unwrap_err().contains("a decimal point where commas were asked for"));
        assert!(push("1,5", Decimals::Point).unwrap_err().contains("`--decimal comma`"));
    }
}
