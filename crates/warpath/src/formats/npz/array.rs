//! Reads a member of an archive, and converts its elements piece by piece.

use std::io::Read;

use bytemuck::Pod;
use rayon::prelude::*;
use zip::CompressionMethod;

use super::elements::Elements;
use super::header::{Header, Kind};
use super::{Archive, invalid};
use crate::formats::{Input, ReadOptions};
use crate::graph::{VertexId, Weights};
use crate::{Control, InputError, Result, memory};

/// A little-endian NumPy array of numbers, or of one string. Its header has been read, its elements have not.
pub(super) struct Array<'a> {
    name: &'static str,
    kind: Kind,
    pub(super) element_bytes: usize,
    /// How many elements there are.
    pub(super) length: usize,
    /// How many bytes the elements have, unpacked.
    bytes: usize,
    elements: Elements<'a>,
    control: &'a Control,
}

/// Runs an expression with `$type` standing for the integer type of an array, `bool` being `u8`.
macro_rules! with_integer_type {
    ($array:expr, $type:ident => $body:expr, else $other:expr) => {
        match ($array.kind, $array.element_bytes) {
            (Kind::Bool | Kind::Unsigned, 1) => {
                type $type = u8;
                $body
            }
            (Kind::Unsigned, 2) => {
                type $type = u16;
                $body
            }
            (Kind::Unsigned, 4) => {
                type $type = u32;
                $body
            }
            (Kind::Unsigned, 8) => {
                type $type = u64;
                $body
            }
            (Kind::Signed, 1) => {
                type $type = i8;
                $body
            }
            (Kind::Signed, 2) => {
                type $type = i16;
                $body
            }
            (Kind::Signed, 4) => {
                type $type = i32;
                $body
            }
            (Kind::Signed, 8) => {
                type $type = i64;
                $body
            }
            _ => $other,
        }
    };
}

impl<'a> Array<'a> {
    /// Finds an array in the archive, and checks the claims of its headers: a member holds no more than its packed
    /// bytes can stand for, and exactly the bytes of the array's elements.
    pub(super) fn open(
        archive: &'a mut Archive<'_>,
        input: &'a Input,
        options: &'a ReadOptions,
        name: &'static str,
    ) -> Result<Self> {
        /// No deflated byte stands for more than this many bytes.
        const MOST_DEFLATED: u64 = 1032;
        let whole = input.bytes();
        let failed = |error: &dyn std::fmt::Display| InputError::new(format!("archive member `{name}.npy`: {error}"));
        let member = archive.by_name(&format!("{name}.npy")).map_err(|error| failed(&error))?;
        let (size, packed) = (member.size(), member.compressed_size());
        let is_stored = member.compression() == CompressionMethod::Stored && !member.encrypted();
        let stored = member.data_start().filter(|_| is_stored);
        let mut elements = if let Some(start) = stored {
            let range = usize::try_from(start).ok().zip(usize::try_from(start.saturating_add(size)).ok());
            let bytes =
                range.and_then(|(start, end)| whole.get(start..end)).ok_or_else(|| failed(&"it is cut short"))?;
            Elements::Stored { bytes, checksum: crc32fast::Hasher::new(), expected: member.crc32() }
        } else {
            if packed > whole.len() as u64 || size / MOST_DEFLATED > packed {
                return Err(failed(&format!("{packed} bytes can't unpack to {size}")).into());
            }
            Elements::Packed(Box::new(member))
        };
        let about_array = |message: String| InputError::new(format!("array `{name}`: {message}"));
        let header = Header::read(&mut elements).map_err(about_array)?;
        let bytes = size.saturating_sub(header.bytes);
        let (count, element_bytes) = (header.count, header.element_bytes);
        if count.checked_mul(element_bytes as u64) != Some(bytes) {
            let message = format!("{count} elements of {element_bytes} bytes are announced, but it has {bytes} bytes");
            return Err(about_array(message).into());
        }
        let (length, bytes) = (count as usize, bytes as usize);
        let control = &options.control;
        Ok(Array { name, kind: header.kind, element_bytes, length, bytes, elements, control })
    }

    fn wrong_type<T>(&self, wanted: &str) -> Result<T> {
        invalid(format!("array `{}`: its elements are no {wanted}", self.name))
    }

    fn bad_element<T>(&self, index: usize, wanted: &str) -> Result<T> {
        invalid(format!("array `{}`: element {index} is not {wanted}", self.name))
    }

    /// An empty array for as many values as there are elements.
    fn room_for<T>(&self) -> Result<Vec<T>> {
        memory::with_capacity(&format!("array `{}`", self.name), self.length)
    }

    /// Hands over the bytes of all elements in pieces, each with the number of elements before it.
    fn each_piece(&mut self, take: &mut Take<'_>) -> Result<()> {
        /// A multiple of every size that elements have.
        const PIECE: usize = 1 << 20;
        let mut elements = std::mem::replace(&mut self.elements, Elements::Packed(Box::new(std::io::empty())));
        let mut buffer = match elements {
            Elements::Stored { .. } => Vec::new(),
            Elements::Packed(_) => memory::zeroed("a piece of an array", PIECE.min(self.bytes))?,
        };
        let mut done = 0;
        while done < self.bytes {
            self.control.check()?;
            let length = PIECE.min(self.bytes - done);
            let piece = match &mut elements {
                Elements::Stored { bytes, checksum, .. } => {
                    let piece = &bytes[done..done + length];
                    checksum.update(piece);
                    piece
                }
                Elements::Packed(stream) => {
                    stream.read_exact(&mut buffer[..length]).map_err(|error| self.damaged(&error))?;
                    &buffer[..length]
                }
            };
            take(self, done / self.element_bytes, piece)?;
            done += length;
        }
        match elements {
            Elements::Stored { checksum, expected, .. } if checksum.clone().finalize() != expected => {
                Err(self.damaged(&"its checksum does not match").into())
            }
            Elements::Stored { .. } => Ok(()),
            // The stream compares the checksum at its end.
            Elements::Packed(mut stream) => match stream.read(&mut [0]) {
                Ok(0) => Ok(()),
                Ok(_) => Err(self.damaged(&"it unpacks to more bytes than it announces").into()),
                Err(error) => Err(self.damaged(&error).into()),
            },
        }
    }

    fn damaged(&self, error: &dyn std::fmt::Display) -> InputError {
        InputError::new(format!("archive member `{}.npy`: {error}", self.name))
    }

    /// The text of the array; empty if it is not text.
    pub(super) fn text(mut self) -> Result<String> {
        let Kind::Text(width) = self.kind else { return Ok(String::new()) };
        if self.length != 1 {
            return Ok(String::new());
        }
        let mut text = String::new();
        self.each_piece(&mut |_, _, piece| {
            let letters = piece.chunks_exact(width).map(|letter| char::from(letter[0]));
            text.extend(letters.filter(|&letter| letter != '\0'));
            Ok(())
        })?;
        Ok(text)
    }

    /// The elements, converted.
    fn convert<T: Default + Copy + Send>(mut self, convert: Conversion<T>, wanted: &str) -> Result<Vec<T>> {
        let mut values = self.room_for()?;
        self.each_piece(&mut |array, before, piece| array.extend(&mut values, before, piece, &convert, wanted))?;
        Ok(values)
    }

    /// Converts a piece of the elements; `before` elements precede it.
    fn extend<T: Default + Copy + Send>(
        &self,
        values: &mut Vec<T>,
        before: usize,
        piece: &[u8],
        convert: &(dyn Fn(&[u8], &mut [T]) -> Converted + Sync),
        wanted: &str,
    ) -> Result<()> {
        /// What a thread converts at one time.
        const AT_ONCE: usize = 1 << 12;
        let known = values.len();
        values.resize(known + piece.len() / self.element_bytes, T::default());
        let parts = values[known..].par_chunks_mut(AT_ONCE).zip(piece.par_chunks(AT_ONCE * self.element_bytes));
        let bad = parts.enumerate().find_map_first(|(part, (values, bytes))| {
            convert(bytes, values).err().map(|index| before + part * AT_ONCE + index)
        });
        bad.map_or(Ok(()), |index| self.bad_element(index, wanted))
    }

    /// The elements as integers that are not negative.
    pub(super) fn integers(self) -> Result<Vec<u64>> {
        with_integer_type!(self, S => self.convert(each_fitted::<S, u64>, "an integer from 0"),
            else self.wrong_type("integers"))
    }

    /// The elements as vertices of a graph with this many vertices.
    pub(super) fn vertices(self, vertices: usize) -> Result<Vec<VertexId>> {
        let mut all = self.room_for()?;
        self.each_vertex(vertices, &mut |piece| all.extend_from_slice(piece))?;
        Ok(all)
    }

    /// Hands over the elements in pieces, as vertices of a graph with this many vertices.
    pub(super) fn each_vertex(mut self, vertices: usize, take: &mut dyn FnMut(&[VertexId])) -> Result<()> {
        let wanted = format!("a vertex below {vertices}");
        let fitted: Conversion<VertexId> =
            with_integer_type!(self, S => each_fitted::<S, VertexId>, else return self.wrong_type("integers"));
        let convert = |bytes: &[u8], values: &mut [VertexId]| {
            let fitted = fitted(bytes, values);
            let known = fitted.err().unwrap_or(values.len());
            let beyond = values[..known].iter().position(|&vertex| vertex as usize >= vertices);
            beyond.map_or(fitted, Err)
        };
        let mut converted = Vec::new();
        self.each_piece(&mut |array, before, piece| {
            converted.clear();
            array.extend(&mut converted, before, piece, &convert, &wanted)?;
            take(&converted);
            Ok(())
        })
    }

    /// The most bytes that the weight of an element takes.
    pub(super) fn bytes_of_weight(&self) -> u64 {
        if (self.kind, self.element_bytes) == (Kind::Float, 8) { 8 } else { 4 }
    }

    /// Weights of the narrowest type that holds them.
    ///
    /// A zero has no sign: adding 0 takes it away.
    pub(super) fn weights(self) -> Result<Weights> {
        match (self.kind, self.element_bytes) {
            (Kind::Bool, _) => self.booleans(),
            (Kind::Float, 4) => Ok(Weights::F32(self.convert(
                |bytes, values| each(bytes, values, |value: f32| value.is_finite().then_some(value + 0.0)),
                "a finite number",
            )?)),
            (Kind::Float, _) => Ok(Weights::F64(self.convert(
                |bytes, values| each(bytes, values, |value: f64| value.is_finite().then_some(value + 0.0)),
                "a finite number",
            )?)),
            _ => with_integer_type!(self, S => {
                self.integer_weights(has_negative::<S>, each_fitted::<S, u32>, each_fitted::<S, i32>)
            }, else self.wrong_type("numbers")),
        }
    }

    /// No weights if all booleans are true, else weights 0 and 1.
    fn booleans(mut self) -> Result<Weights> {
        let length = self.length;
        let mut values: Option<Vec<u32>> = None;
        self.each_piece(&mut |array, before, piece| {
            if values.is_none() && piece.par_iter().any(|&byte| byte == 0) {
                let mut first: Vec<u32> = array.room_for()?;
                first.resize(before, 1);
                values = Some(first);
            }
            if let Some(values) = &mut values {
                values.par_extend(piece.par_iter().map(|&byte| u32::from(byte != 0)));
            }
            Ok(())
        })?;
        Ok(values.map_or_else(|| Weights::unit(length), Weights::U32))
    }

    /// Weights in `u32`; the first negative weight converts all to `i32`.
    fn integer_weights(
        mut self,
        has_negative: fn(&[u8]) -> bool,
        to_unsigned: Conversion<u32>,
        to_signed: Conversion<i32>,
    ) -> Result<Weights> {
        const SIGNED: &str = "a signed 32-bit integer, though others are negative";
        let mut unsigned: Vec<u32> = self.room_for()?;
        let mut signed: Option<Vec<i32>> = None;
        self.each_piece(&mut |array, before, piece| {
            if signed.is_none() && has_negative(piece) {
                if let Some(bad) = unsigned.par_iter().position_first(|&value| value > i32::MAX as u32) {
                    return array.bad_element(bad, SIGNED);
                }
                signed = Some(bytemuck::allocation::cast_vec(std::mem::take(&mut unsigned)));
            }
            match &mut signed {
                Some(signed) => array.extend(signed, before, piece, &to_signed, SIGNED),
                None => array.extend(&mut unsigned, before, piece, &to_unsigned, "a 32-bit integer"),
            }
        })?;
        Ok(match signed {
            Some(signed) => Weights::I32(signed),
            None => Weights::U32(unsigned),
        })
    }
}

/// Converts elements, given as bytes, up to the first that has no value.
///
/// Such a function is all that is compiled for each pair of types. What calls it, on all threads, knows only the type of the values.
type Conversion<T> = fn(&[u8], &mut [T]) -> Converted;

/// Fails with the index of the first element that has no value.
type Converted = std::result::Result<(), usize>;

/// What takes pieces of an array.
type Take<'a> = dyn FnMut(&Array<'_>, usize, &[u8]) -> Result<()> + 'a;

/// Converts elements one by one; `None` is an element without a value. The bytes need not be aligned.
fn each<S: Pod, T>(bytes: &[u8], values: &mut [T], convert: impl Fn(S) -> Option<T>) -> Converted {
    for (index, (value, bytes)) in values.iter_mut().zip(bytes.chunks_exact(size_of::<S>())).enumerate() {
        *value = convert(bytemuck::pod_read_unaligned(bytes)).ok_or(index)?;
    }
    Ok(())
}

/// Converts integers to another type, up to the first that it does not have.
fn each_fitted<S: Pod, T: TryFrom<S>>(bytes: &[u8], values: &mut [T]) -> Converted {
    each(bytes, values, |value: S| T::try_from(value).ok())
}

/// Whether one of these integers is below zero.
fn has_negative<S: Pod>(bytes: &[u8]) -> bool
where
    i128: From<S>,
{
    bytes.chunks_exact(size_of::<S>()).any(|bytes| i128::from(bytemuck::pod_read_unaligned::<S>(bytes)) < 0)
}
