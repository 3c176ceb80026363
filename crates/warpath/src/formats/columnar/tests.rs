//! Tables in columns against the same tables as text.

use std::sync::Arc;

use arrow_array::builder::{StringDictionaryBuilder, StringViewBuilder};
use arrow_array::types::{Int32Type, UInt8Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Decimal128Array, DictionaryArray, Float32Array, Float64Array,
    Int8Array, Int16Array, Int32Array, Int64Array, LargeStringArray, RecordBatch, StringArray, UInt8Array, UInt16Array,
    UInt32Array, UInt64Array,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::formats::Notes;
use crate::graph::{Direction, Graph, WeightKind};
use crate::{ErrorKind, Format, ReadOptions, Result};

type Columns = Vec<(&'static str, ArrayRef)>;

fn batch(columns: &Columns) -> RecordBatch {
    let fields: Vec<Field> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.iter().map(|(_, array)| array.clone()).collect())
        .unwrap()
}

/// A Parquet file with row groups of `rows`.
fn parquet(columns: &Columns, compression: Compression, rows: usize) -> Vec<u8> {
    let batch = batch(columns);
    let properties =
        WriterProperties::builder().set_compression(compression).set_max_row_group_row_count(Some(rows)).build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// An Arrow file with batches of `rows`.
fn arrow(columns: &Columns, compression: Option<CompressionType>, rows: usize) -> Vec<u8> {
    let batch = batch(columns);
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut bytes = Vec::new();
    let mut writer = FileWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
    for start in (0..batch.num_rows()).step_by(rows) {
        writer.write(&batch.slice(start, rows.min(batch.num_rows() - start))).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    bytes
}

/// An Arrow stream with batches of `rows`.
fn stream(columns: &Columns, rows: usize) -> Vec<u8> {
    let batch = batch(columns);
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, &batch.schema()).unwrap();
    for start in (0..batch.num_rows()).step_by(rows) {
        writer.write(&batch.slice(start, rows.min(batch.num_rows() - start))).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    bytes
}

/// The same table as files of every kind.
fn files(columns: &Columns) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("x.parquet", parquet(columns, Compression::SNAPPY, 2)),
        ("zstd.parquet", parquet(columns, Compression::ZSTD(ZstdLevel::default()), 100)),
        ("gzip.pq", parquet(columns, Compression::GZIP(GzipLevel::default()), 3)),
        ("lz4.parquet", parquet(columns, Compression::LZ4_RAW, 1)),
        ("plain.parquet", parquet(columns, Compression::UNCOMPRESSED, 100)),
        ("x.arrow", arrow(columns, None, 2)),
        ("lz4.feather", arrow(columns, Some(CompressionType::LZ4_FRAME), 100)),
        ("zstd.feather", arrow(columns, Some(CompressionType::ZSTD), 3)),
        ("x.arrows", stream(columns, 2)),
        ("without-extension", stream(columns, 100)),
    ]
}

fn ints(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

fn texts(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

fn dictionary(values: &[&str]) -> ArrayRef {
    let mut builder = StringDictionaryBuilder::<Int32Type>::new();
    values.iter().for_each(|value| builder.append_value(value));
    Arc::new(builder.finish())
}

fn views(values: &[&str]) -> ArrayRef {
    let mut builder = StringViewBuilder::new();
    values.iter().for_each(|value| builder.append_value(value));
    Arc::new(builder.finish())
}

/// The table as text, with whatever the arrays hold as fields in quotes.
fn csv(columns: &Columns) -> Vec<u8> {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let mut text = names.join(",") + "\n";
    for row in 0..columns[0].1.len() {
        let fields: Vec<String> = columns.iter().map(|(_, array)| field(array, row)).collect();
        text += &(fields.join(",") + "\n");
    }
    text.into_bytes()
}

fn field(array: &ArrayRef, row: usize) -> String {
    if let Some(value) = array.as_any().downcast_ref::<Float64Array>() {
        return format!("{:?}", value.value(row));
    }
    if let Some(value) = array.as_any().downcast_ref::<Decimal128Array>() {
        return value.value_as_string(row);
    }
    let array = super::values::plain(array).unwrap();
    let name = super::values::name_at(&array, row).into_owned();
    match super::values::text_at(&array, row) {
        Some(text) => format!("\"{}\"", text.replace('"', "\"\"")),
        None => name,
    }
}

/// Names, edges, type of weights, whether edges have a direction, and notes.
type Facts = (Vec<String>, Vec<(u32, u32, f64)>, WeightKind, bool, Vec<String>);

/// All that tells graphs apart, with the notes but that on the header.
fn facts(read: Result<Graph>, notes: &Notes) -> Facts {
    let graph = read.unwrap();
    let names = (0..graph.vertices() as u32).map(|v| graph.name(v).into_owned()).collect();
    let notes = notes.take().into_iter().filter(|note| !note.contains("edges lead") && !note.contains("edges join"));
    (names, graph.edges().collect(), graph.weight_kind(), graph.is_directed(), notes.collect())
}

fn check(columns: &Columns, options: &ReadOptions) {
    let notes = Notes::new();
    let options = options.clone().notes(&notes);
    let text = csv(columns);
    let expected = facts(options.read_bytes("x.csv", text.clone()), &notes);
    for (name, bytes) in files(columns) {
        let found = facts(options.read_bytes(name, bytes), &notes);
        assert_eq!(found, expected, "{name}: {}", String::from_utf8_lossy(&text));
    }
}

#[test]
fn a_list_in_columns_is_the_same_graph_as_in_text() {
    let wide = [7_i64, 1 << 40, 9, i64::MAX];
    let all: Vec<Columns> = vec![
        vec![("source", ints(&[1, 2, 3, 3, 1])), ("target", ints(&[2, 3, 1, 3, 2]))],
        vec![("source", ints(&[10, 200, 3])), ("target", ints(&[200, 3, 10])), ("weight", ints(&[5, 6, 7]))],
        vec![("from", ints(&wide)), ("to", ints(&[1, 2, 3, 4])), ("km", ints(&[1, -2, 3, -4]))],
        vec![("u", ints(&[1, -1, 2])), ("v", ints(&[2, 1, 1]))],
        // Not numbers until later, after numbers beyond 32 bits.
        vec![("source", texts(&["1", "9999999999", "07", "b", "1"])), ("target", texts(&["2", "1", "7", "1", "07"]))],
        vec![("source", texts(&["1", "3", "2"])), ("target", texts(&["2", "1", "3"]))],
        vec![("source", texts(&["a,b", "\"q\"", " x "])), ("target", texts(&["New York", "é", "a,b"]))],
        vec![
            ("source", dictionary(&["a", "b", "a", "c"])),
            ("target", views(&["b", "a long name beyond twelve bytes", "c", "a"])),
        ],
        vec![
            ("id", ints(&[1, 2, 3])),
            ("to", Arc::new(LargeStringArray::from(vec!["a", "b", "c"]))),
            ("from", texts(&["b", "c", "a"])),
            ("length", Arc::new(Float64Array::from(vec![1.0, 0.1, 1e300]))),
        ],
        vec![("endpoint1", ints(&[1, 2])), ("endpoint2", ints(&[2, 3])), ("weight", ints(&[1, 4294967296]))],
        vec![("source", ints(&[1, 2])), ("target", ints(&[2, 3])), ("type", texts(&["Undirected", "undirected"]))],
        vec![("source", ints(&[1, 2])), ("target", ints(&[2, 3])), ("type", dictionary(&["Directed", "directed"]))],
        vec![
            ("source", Arc::new(UInt64Array::from(vec![0, u64::MAX - 1, u64::MAX]))),
            ("target", Arc::new(UInt8Array::from(vec![0, 1, 255]))),
        ],
        vec![
            ("source", Arc::new(Int8Array::from(vec![0, 1, 2]))),
            ("target", Arc::new(UInt16Array::from(vec![3, 65535, 2]))),
            ("cost", Arc::new(UInt32Array::from(vec![3, u32::MAX, 2]))),
        ],
        vec![
            ("source", Arc::new(Int16Array::from(vec![1, 2]))),
            ("target", Arc::new(Int32Array::from(vec![2, 1]))),
            ("price", Arc::new(Decimal128Array::from(vec![150, -25]).with_precision_and_scale(10, 2).unwrap())),
        ],
    ];
    for columns in &all {
        check(columns, &ReadOptions::new());
        check(columns, &ReadOptions::new().leave_weights(true));
        check(columns, &ReadOptions::new().direction(Direction::Undirected));
        check(columns, &ReadOptions::new().ends(2, 1).weights(crate::formats::WeightSource::Unit));
    }
    check(&all[8], &ReadOptions::new().ends("from", "to").weights("id"));
    check(&all[8], &ReadOptions::new().ends("id", 2).weights(4));
    let many: Vec<i64> = (0..200_000).map(|i| i * i % 65_537).collect();
    let next: Vec<i64> = many.iter().map(|i| i * 7 % 65_537).collect();
    let columns: Columns = vec![("source", ints(&many)), ("target", ints(&next))];
    let notes = Notes::new();
    let options = ReadOptions::new().notes(&notes);
    let expected = facts(options.read_bytes("x.csv", csv(&columns)), &notes);
    let found = facts(options.read_bytes("x", parquet(&columns, Compression::SNAPPY, 70_000)), &notes);
    assert!(found == expected);
}

#[test]
fn a_note_tells_of_lists_that_have_each_edge_once() {
    let columns: Columns = vec![("source", ints(&(0..200).collect::<Vec<_>>())), ("target", ints(&[200; 200]))];
    check(&columns, &ReadOptions::new());
    let notes = Notes::new();
    ReadOptions::new().notes(&notes).read_bytes("x", arrow(&columns, None, 9)).unwrap();
    let notes = notes.take();
    assert!(notes[0].contains("edges lead from `source` to `target`, there are no weights"), "{notes:?}");
    assert!(notes[1].contains("no edge leads back"), "{notes:?}");
}

#[test]
fn floats_of_32_bits_stay_what_they_are() {
    let columns: Columns = vec![
        ("source", ints(&[1, 2])),
        ("target", ints(&[2, 1])),
        ("weight", Arc::new(Float32Array::from(vec![0.1, 7.0]))),
    ];
    for (name, bytes) in files(&columns) {
        let graph = ReadOptions::new().read_bytes(name, bytes).unwrap();
        assert_eq!(graph.weight_kind(), WeightKind::F32);
        assert_eq!(graph.edges().map(|edge| edge.2).collect::<Vec<_>>(), [f64::from(0.1_f32), 7.0]);
    }
}

#[test]
fn a_table_without_rows_is_a_graph_without_vertices() {
    let columns: Columns = vec![("source", ints(&[])), ("target", texts(&[]))];
    for (name, bytes) in files(&columns) {
        assert_eq!(ReadOptions::new().read_bytes(name, bytes).unwrap().vertices(), 0, "{name}");
    }
}

#[test]
fn what_is_no_edge_is_refused_with_its_row_and_column() {
    let ends = |third: (&'static str, ArrayRef)| -> Columns {
        vec![("source", ints(&[1, 2, 3])), ("target", ints(&[2, 3, 1])), third]
    };
    let nulls = |null: usize| Arc::new(Int64Array::from_iter((0..3).map(|row| (row != null).then_some(5)))) as ArrayRef;
    let null_text: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("b")]));
    let coded_null: ArrayRef = {
        let values = Arc::new(StringArray::from(vec![Some("a"), None]));
        Arc::new(DictionaryArray::<UInt8Type>::new(vec![0, 0, 1].into(), values))
    };
    for (columns, message) in [
        (ends(("weight", nulls(2))), "row 3, column `weight`: the weight is missing (null)"),
        (vec![("source", nulls(1)), ("target", ints(&[1, 2, 3]))], "row 2, column `source`: the vertex is missing"),
        (vec![("u", ints(&[1, 2, 3])), ("v", null_text)], "row 2, column `v`: the vertex is missing"),
        (vec![("u", ints(&[1, 2, 3])), ("v", coded_null)], "row 3, column `v`: the vertex is missing"),
        (vec![("u", ints(&[1, 2])), ("v", texts(&["a", ""]))], "row 2, column `v`: the name of a vertex is missing"),
        (vec![("u", ints(&[1, 2])), ("v", texts(&["a", "b\tc"]))], "row 2, column `v`: the name of a vertex contains"),
        (
            ends(("weight", Arc::new(Float64Array::from(vec![1.0, f64::NAN, 2.0])))),
            "row 2, column `weight`: a weight has to",
        ),
        (ends(("weight", Arc::new(Float32Array::from(vec![1.0, 2.0, f32::INFINITY])))), "row 3, column `weight`"),
        (ends(("weight", ints(&[1, 2, i64::MAX]))), "row 3, column `weight`: a weight is beyond 2^53"),
        (ends(("weight", Arc::new(BooleanArray::from(vec![true; 3])))), "the column `weight` holds booleans"),
        (ends(("weight", texts(&["1", "2", "3"]))), "the column `weight` holds text"),
        (vec![("u", ints(&[1])), ("v", Arc::new(Float64Array::from(vec![1.0])))], "the column `v` holds floats"),
        (
            vec![("u", ints(&[1])), ("v", Arc::new(BinaryArray::from(vec![&b"x"[..]])))],
            "the column `v` holds values of the type Binary",
        ),
        (vec![("u", ints(&[1]))], "two columns"),
        (ends(("type", texts(&["directed", "undirected", "x"]))), "some edges are directed and some are not"),
    ] {
        for (name, bytes) in files(&columns) {
            let error = ReadOptions::new().read_bytes(name, bytes).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{name}: {error}");
            let text = error.to_string();
            assert!(text.starts_with(name) && text.contains(message), "{name}: {text} is not {message}");
        }
    }
    let columns = ends(("weight", nulls(2)));
    let bytes = parquet(&columns, Compression::SNAPPY, 2);
    for (options, message) in [
        (ReadOptions::new().weights("length"), "there is no column `length`; there are source, target, weight"),
        (ReadOptions::new().ends("source", 7), "there is no column 7"),
        (ReadOptions::new().separator(crate::formats::Separator::Comma), "`--separator` is for edge lists"),
    ] {
        let error = options.read_bytes("x", bytes.clone()).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    // Columns that are not read may hold nulls.
    ReadOptions::new().leave_weights(true).read_bytes("x", bytes).unwrap();
}

#[test]
fn little_memory_is_an_error() {
    let many: Vec<i64> = (0..200_000).collect();
    let columns: Columns = vec![("source", ints(&many)), ("target", ints(&many))];
    for bytes in [parquet(&columns, Compression::SNAPPY, 10_000), arrow(&columns, None, 10_000)] {
        let error = ReadOptions::new().memory(bytes.len() as u64 + 200_000).read_bytes("x", bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Resources, "{error}");
    }
}

#[test]
fn a_damaged_file_is_one_error_and_no_panic() {
    let rows: Vec<i64> = (0..500).collect();
    let names: Vec<String> = rows.iter().map(|row| format!("name {}", row % 37)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let columns: Columns = vec![
        ("source", dictionary(&names)),
        ("target", views(&names)),
        ("weight", Arc::new(Float64Array::from(rows.iter().map(|&row| row as f64 / 7.0).collect::<Vec<_>>()))),
        ("id", ints(&rows)),
    ];
    let rounds = crate::testing::size(1_000, 4);
    let mut random = crate::testing::Random(7);
    for (name, bytes) in files(&columns) {
        let format = if name.ends_with("parquet") || name.ends_with("pq") { Format::Parquet } else { Format::Arrow };
        let options = ReadOptions::new().format(format).memory(1 << 24);
        let mut below = |bound: usize| random.below(bound.max(1) as u64) as usize;
        for round in 0..rounds / 10 {
            let mut damaged = bytes.clone();
            match round % 4 {
                0 => damaged.truncate(below(bytes.len())),
                1 => damaged.drain(below(bytes.len() / 2)..bytes.len() / 2).for_each(drop),
                // Metadata are at the end of files, and between the batches of streams.
                kind => {
                    let start = if kind == 2 { 0 } else { bytes.len() - bytes.len().min(1500) };
                    for _ in 0..1 + below(4) {
                        let at = start + below(bytes.len() - start);
                        damaged[at] = [0, 1, 0x7f, 0x80, 0xff, damaged[at] ^ 1 << below(8)][below(6)];
                    }
                }
            }
            if let Err(error) = options.read_bytes(name, damaged) {
                assert!(matches!(error.kind(), ErrorKind::Usage | ErrorKind::Resources), "{name} {round}: {error:?}");
            }
        }
    }
}

#[test]
fn a_panic_while_decoding_is_an_error_about_the_file() {
    let outcome = super::reading::contained(|| -> Result<()> {
        assert!(super::panics_are_contained());
        panic!("bad length")
    });
    assert_eq!(outcome.unwrap_err().to_string(), "<input>: the file is damaged or cut short: bad length");
    assert!(!super::panics_are_contained());
}

#[test]
fn other_files_with_these_extensions_are_named() {
    for (name, bytes, message) in [
        ("x.feather", &b"FEA1\0\0\0\0"[..], "x.feather: this looks like a Feather file of version 1"),
        ("x.arrow", b"1 2\n", "x.arrow: this is neither an Arrow file nor an Arrow stream"),
        ("x.parquet", b"1 2\n", "x.parquet: this is no Parquet file"),
        ("x.parquet", b"", "x.parquet: this is no Parquet file"),
        ("x.arrow", b"", "x.arrow: this is neither"),
    ] {
        let error = ReadOptions::new().read_bytes(name, bytes.to_vec()).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}
